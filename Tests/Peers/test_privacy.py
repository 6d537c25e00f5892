"""Private addresses: a Bumble central that changes its own, and an accessory that does."""
import asyncio
import contextlib

import pytest
from bumble.hci import Address, HCI_LE_Set_Random_Address_Command
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate

from central import STEP_SECONDS, Central
from emulator import run
from test_pairing import (ATT_AUTHENTICATION, ATT_ENCRYPTION, CONTROLLERS, ENCRYPTED, pair,
                          refused)

PROFILE = """
peripheral-emu: 1
device: {{name: Lock, address: {address}}}
{security}
advertising:
  - type: connectable
    interval: 20 ms
    data: [{{flags: [general-discoverable, no-br-edr]}}, {{name: complete}}]
services:
  - service: 0x1234
    characteristics:
      - {{characteristic: 0x5677, read: encrypted, notify: encrypted, format: uint8,
         value: {{counter: {{}}}}, update: every 100 ms}}
      - {{characteristic: 0x5678, read: encrypted, value: {{hex: "4711"}}}}
"""
COUNT = "5677"
SECURITY = "security: {io: none}"
IRK = bytes(range(1, 17))
TRIES = 4
RENEWAL_SECONDS = 4


def profile(folder, address="random-static", security=SECURITY):
    """The accessory with this kind of address."""
    path = folder / "lock.yaml"
    path.write_text(PROFILE.format(address=address, security=security), encoding="utf-8")
    return str(path)


def session(transport, keystore, body, irk=IRK, **more):
    """Runs `body` with a central that has these keys and goes by private addresses."""
    async def go():
        async with Central.on(transport, irk=irk, le_privacy_enabled=True, **more) as central:
            central.device.keystore = keystore
            await central.device.refresh_resolving_list()
            central.device.pairing_config_factory = lambda connection: PairingConfig(
                mitm=False, identity_address_type=PairingConfig.AddressType.RANDOM,
                delegate=PairingDelegate(PairingDelegate.IoCapability.NO_OUTPUT_NO_INPUT))
            await body(central)

    asyncio.run(asyncio.wait_for(go(), 90))


async def change_address(central):
    """The central takes its next private address, which Bumble's own way does not send."""
    device = central.device
    before, address = device.random_address, Address.generate_private_address(device.irk)
    await device.send_sync_command(HCI_LE_Set_Random_Address_Command(random_address=address))
    device.random_address = address
    assert address != before and address.is_resolvable


async def connect(central, wanted=lambda address: True):
    """Connects to the accessory, whose address may be another one at any moment."""
    for _ in range(TRIES):
        found = await central.find("Lock")
        if not wanted(found.address):
            await asyncio.sleep(0.5)
            continue
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(central.connect(found.address), RENEWAL_SECONDS * 2)
            await central.discover()
            return found.address
    raise AssertionError("no connection")


async def is_served(central):
    """Whether the link, encrypted with the bond's key, is a bonded central's with its CCCD."""
    assert await refused(central, ENCRYPTED) == ATT_ENCRYPTION
    await asyncio.wait_for(central.connection.encrypt(), STEP_SECONDS)
    assert await central.read(ENCRYPTED) == b"\x47\x11"
    cccd = central.characteristic(COUNT).descriptors[0]
    assert await central.read_handle(cccd.handle) == b"\x01\x00"


@pytest.mark.parametrize("controllers", CONTROLLERS)
def test_a_bonded_central_is_known_behind_each_new_private_address(tmp_path, controllers):
    keystore, path = MemoryKeyStore(), profile(tmp_path)

    async def first(central):
        await connect(central)
        assert central.device.random_address.is_resolvable
        await pair(central)
        await central.characteristic(COUNT).subscribe(lambda value: None)
        await central.disconnect()
        await comes_back(central)

    async def comes_back(central):
        for _ in range(2):
            await change_address(central)
            await connect(central)
            await is_served(central)
            await central.disconnect()

    async def stranger(central):
        await connect(central)
        assert await refused(central, ENCRYPTED) == ATT_AUTHENTICATION
        await central.disconnect()

    for bodies in ([(first, IRK)], [(comes_back, IRK), (stranger, IRK[::-1])]):
        # The accessory's state outlives the restart.
        with CONTROLLERS[controllers](path) as (emulator, transport):
            for body, irk in bodies:
                session(transport, keystore, body, irk)
            # Bumble tells its static address as its identity.
            if (first, IRK) in bodies:
                emulator.wait_for(r"bonded as C4:C3:C2:C1:C0:C9 \(random\)")


@pytest.mark.parametrize("controllers", CONTROLLERS)
def test_a_bonded_central_finds_the_accessory_behind_each_new_address(tmp_path, controllers):
    keystore = MemoryKeyStore()
    path = profile(
        tmp_path, f"{{type: resolvable-private, value: \"C0:11:22:33:44:55\", "
                  f"renewal: {RENEWAL_SECONDS} s}}")
    seen = set()

    async def is_found(central):
        resolver = central.device.address_resolver
        address = await connect(
            central, lambda address: address not in seen and resolver.resolve(address) is not None)
        seen.add(address)
        assert str(resolver.resolve(address)) == "C0:11:22:33:44:55"
        await is_served(central)
        await central.disconnect()

    async def first(central):
        address = await connect(central)
        assert address.is_resolvable
        seen.add(address)
        await pair(central)
        await central.characteristic(COUNT).subscribe(lambda value: None)
        # The link stays while the address changes.
        await asyncio.sleep(RENEWAL_SECONDS)
        assert await central.read(ENCRYPTED) == b"\x47\x11"
        await central.disconnect()
        await is_found(central)

    for body in (first, is_found):
        with CONTROLLERS[controllers](path) as (emulator, transport):
            session(transport, keystore, body)
            emulator.wait_for("resolvable private, identity C0:11:22:33:44:55")
    assert len(seen) == 3


def test_another_stack_uses_the_virtual_controllers_resolving_list(tmp_path):
    keystore = MemoryKeyStore()
    path = profile(tmp_path, "{type: resolvable-private, value: \"C0:11:22:33:44:55\"}")

    async def pairs(central):
        await connect(central)
        await pair(central)
        await central.disconnect()

    async def comes_back(central):
        found = await central.find("Lock")
        # The controller has resolved it.
        assert str(found.address).startswith("C0:11:22:33:44:55")
        assert found.address.is_resolved
        await central.connect(found.address)
        await central.discover()
        await asyncio.wait_for(central.connection.encrypt(), STEP_SECONDS)
        assert await central.read(ENCRYPTED) == b"\x47\x11"
        await central.disconnect()

    with CONTROLLERS["air"](path) as (_, transport):
        session(transport, keystore, pairs)
        session(transport, keystore, comes_back, address_resolution_offload=True)


def test_check_and_the_lines_name_the_address(tmp_path):
    said, _ = run("check", profile(tmp_path, "{type: resolvable-private, renewal: 1 min}"))
    assert "address resolvable-private, a new one every 60 s; identity random-static, from the " \
        "seed" in said
    path = profile(tmp_path, "non-resolvable-private", "")
    said, _ = run("check", path)
    assert "address non-resolvable-private, a new one every 900 s" in said
    _, log = run("--profile", path, "--controller", "virtual", "--virtual-time", "--duration",
                 "1 h")
    assert log.count("from now on") == 4
