"""A Bumble central pairs with the accessory in every way, on the own air and other controllers."""
import asyncio
import contextlib
import json

import pytest
from bumble.core import ProtocolError
from bumble.crypto import EccKey, f4
from bumble.hci import HCI_Error
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.smp import OobContext, OobLegacyContext, OobSharedData

from central import STEP_SECONDS, Central
from controllers import bumble_controllers
from emulator import running
from rootcanal_peer import rootcanal

LISTENING = r"air: listening on (127\.0\.0\.1:\d+)"
PROFILE = """
peripheral-emu: 1
device: {{name: Lock, connections: {connections}}}
security: {{{security}}}
advertising:
  - type: connectable
    interval: 20 ms
    data: [{{flags: [general-discoverable, no-br-edr]}}, {{name: complete}}]
services:
  - service: battery
    characteristics:
      - {{characteristic: battery-level, read: open, notify: encrypted, value: 50}}
  - service: 0x1234
    characteristics:
      - {{characteristic: 0x5678, read: encrypted, value: {{hex: "4711"}}}}
      - {{characteristic: 0x5679, read: authenticated, value: {{hex: "4712"}}}}
"""
ENCRYPTED, AUTHENTICATED = "5678", "5679"
IO = PairingDelegate.IoCapability
ATT_AUTHENTICATION, ATT_ENCRYPTION = 0x05, 0x0F


class Person(PairingDelegate):
    """The person at the central, who reads what the accessory says."""

    def __init__(self, emulator, io, wrong=False, passkey=None, key_size=16, address=".*"):
        super().__init__(io, maximum_encryption_key_size=key_size)
        self.emulator, self.wrong, self.passkey = emulator, wrong, passkey
        self.address = address

    async def get_number(self):
        shown = await asyncio.to_thread(self.emulator.wait_for, r"passkey (\d{6}): enter it at")
        return (int(shown.group(1)) + (1 if self.wrong else 0)) % 1_000_000

    async def generate_passkey(self):
        return self.passkey if not self.wrong else self.passkey + 1

    async def compare_numbers(self, number, digits):
        shown = await asyncio.to_thread(
            self.emulator.wait_for,
            rf"does {self.address} show (\d{{6}})|(\d{{6}}) compared with {self.address}")
        return int(shown.group(1) or shown.group(2)) == number and not self.wrong


@contextlib.contextmanager
def own_air(profile, *options):
    """The emulator on its own air; yields it and the transport for a central."""
    with running("--profile", profile, "--controller", "virtual", "--air", "127.0.0.1:0",
                 *options) as emulator:
        yield emulator, "tcp-client:" + emulator.wait_for(LISTENING).group(1)


@contextlib.contextmanager
def bumbles(profile, *options):
    """The emulator on one of two linked controllers of Bumble's."""
    with bumble_controllers() as (first, second):
        with running("--profile", profile, "--controller", first, *options) as emulator:
            yield emulator, second


def rootcanals(preset):
    """The emulator on a controller of RootCanal's."""
    @contextlib.contextmanager
    def both(profile, *options):
        with rootcanal(preset, "DEFAULT") as (first, second):
            with running("--profile", profile, "--controller", first, *options) as emulator:
                yield emulator, second
    return both


CONTROLLERS = {
    "air": own_air, "bumble": bumbles, "rootcanal-DEFAULT": rootcanals("DEFAULT"),
    "rootcanal-LAIRD": rootcanals("LAIRD_BL654"), "rootcanal-CSR": rootcanals("CSR_RCK_PTS_DONGLE"),
}
METHODS = {
    # The accessory's profile, the central's capabilities, what the accessory says of it.
    "just-works": ("io: none", IO.NO_OUTPUT_NO_INPUT, "Just Works"),
    "passkey-shown": ("io: display", IO.KEYBOARD_INPUT_ONLY, "Passkey Entry"),
    "passkey-entered": ("io: keyboard, passkey: 123456", IO.DISPLAY_OUTPUT_ONLY, "Passkey Entry"),
    "numeric-comparison": ("io: display-yes-no, confirm: true",
                           IO.DISPLAY_OUTPUT_AND_YES_NO_INPUT, "Numeric Comparison"),
}


@contextlib.contextmanager
def lock(folder, security, controllers=own_air, options=(), connections=1):
    """The accessory with this security."""
    path = folder / "lock.yaml"
    path.write_text(PROFILE.format(security=security, connections=connections), encoding="utf-8")
    with controllers(str(path), *options) as (emulator, transport):
        yield emulator, transport


def prepare(central, emulator, io, sc=True, oob=None, **person):
    """How the central pairs from now on."""
    person.setdefault("passkey", 123456)
    central.device.pairing_config_factory = lambda connection: PairingConfig(
        sc=sc, mitm=io != IO.NO_OUTPUT_NO_INPUT, oob=oob,
        delegate=Person(emulator, io, **person))


async def connect(central):
    """Finds the accessory and discovers it."""
    found = await central.find("Lock")
    await central.connect(found.address)
    await central.discover()


async def pair(central):
    """Pairs; a failure is a ProtocolError with the reason."""
    await asyncio.wait_for(central.connection.pair(), STEP_SECONDS)


async def refused(central, uuid):
    """The error of a read that is refused."""
    with pytest.raises(ProtocolError) as caught:
        await central.read(uuid)
    return caught.value.error_code


def session(transport, body, seconds=90):
    """Runs `body` with a central."""
    async def run():
        async with Central.on(transport) as central:
            await body(central)

    asyncio.run(asyncio.wait_for(run(), seconds))


@pytest.mark.parametrize("controllers", CONTROLLERS)
@pytest.mark.parametrize("sc", [True, False], ids=["secure", "legacy"])
@pytest.mark.parametrize("method", METHODS)
def test_a_central_pairs_and_comes_back(tmp_path, method, sc, controllers):
    security, io, name = METHODS[method]
    if method == "numeric-comparison" and not sc:
        name = "Just Works"  # LE legacy pairing has no comparison.
    authenticated = name != "Just Works"
    with lock(tmp_path, security, CONTROLLERS[controllers]) as (emulator, transport):
        async def body(central):
            prepare(central, emulator, io, sc)
            await connect(central)
            assert await refused(central, ENCRYPTED) == ATT_AUTHENTICATION
            await pair(central)
            assert await central.read(ENCRYPTED) == b"\x47\x11"
            if authenticated:
                assert await central.read(AUTHENTICATED) == b"\x47\x12"
            else:
                assert await refused(central, AUTHENTICATED) == ATT_AUTHENTICATION
            emulator.wait_for("paired, bonded as")
            await central.disconnect()
            # The bond: refused for want of encryption, not of a key; then served without pairing.
            await connect(central)
            assert await refused(central, ENCRYPTED) == ATT_ENCRYPTION
            await asyncio.wait_for(central.connection.encrypt(), STEP_SECONDS)
            assert await central.read(ENCRYPTED) == b"\x47\x11"
            await central.disconnect()

        session(transport, body)
        kind = "LE Secure Connections" if sc else "LE legacy pairing"
        assert f"pairs: {name}, {kind}" in emulator.output()
        words = "encrypted: " + ("authenticated" if authenticated else "not authenticated")
        assert emulator.output().count(words) == 2


@pytest.mark.parametrize("controllers", CONTROLLERS)
@pytest.mark.parametrize("sc", [True, False], ids=["secure", "legacy"])
@pytest.mark.parametrize("method", ["passkey-shown", "passkey-entered"])
def test_a_wrong_passkey_fails_with_the_right_reason(tmp_path, method, sc, controllers):
    security, io, _ = METHODS[method]
    with lock(tmp_path, security, CONTROLLERS[controllers]) as (emulator, transport):
        async def body(central):
            prepare(central, emulator, io, sc, wrong=True)
            await connect(central)
            with pytest.raises(ProtocolError) as caught:
                await pair(central)
            assert caught.value.error_code == 0x04
            assert await refused(central, ENCRYPTED) == ATT_AUTHENTICATION
            # At once again it is one attempt too many.
            with pytest.raises(ProtocolError) as caught:
                await pair(central)
            assert caught.value.error_code == 0x09
            await central.disconnect()

        session(transport, body)
        emulator.wait_for(r"did not pair: Confirm Value Failed \(0x04\)")


def test_numbers_that_differ_fail(tmp_path):
    security, io, _ = METHODS["numeric-comparison"]
    with lock(tmp_path, security) as (emulator, transport):
        async def body(central):
            prepare(central, emulator, io, wrong=True)
            await connect(central)
            with pytest.raises(ProtocolError) as caught:
                await pair(central)
            # Bumble's word for it; the specification's is 0x0C.
            assert caught.value.error_code == 0x04
            await central.disconnect()

        session(transport, body)
        emulator.wait_for("did not pair: .*, says the central")


@pytest.mark.parametrize("security, sc, key_size, reason", [
    ("pairing: refused", True, 16, 0x05),
    ("io: none, pairing: secure-connections", False, 16, 0x03),
    ("io: display, authentication: required", True, 16, 0x03),
    ("io: none, key-size: 12", True, 11, 0x06), ("window: 1 s", True, 16, 0x05),
])
def test_what_the_profile_does_not_want_is_refused(tmp_path, security, sc, key_size, reason):
    with lock(tmp_path, security) as (emulator, transport):
        async def body(central):
            prepare(central, emulator, IO.NO_OUTPUT_NO_INPUT, sc, key_size=key_size)
            await connect(central)
            await asyncio.sleep(1 if "window" in security else 0)
            with pytest.raises(ProtocolError) as caught:
                await pair(central)
            assert caught.value.error_code == reason
            assert await refused(central, ENCRYPTED) == ATT_AUTHENTICATION
            await central.disconnect()

        session(transport, body)


@pytest.mark.parametrize("controllers", CONTROLLERS)
def test_a_bond_that_one_side_has_lost(tmp_path, controllers):
    security, io, _ = METHODS["just-works"]
    keys = {}

    def first(emulator):
        async def body(central):
            prepare(central, emulator, io)
            await connect(central)
            await pair(central)
            address = str(central.connection.peer_address)
            keys["address"], keys["keys"] = address, await central.device.keystore.get(address)
            # The central has lost it: it pairs anew.
            await central.disconnect()
            await central.device.keystore.delete(address)
            await connect(central)
            await pair(central)
            keys["keys"] = await central.device.keystore.get(address)
            assert await central.read(ENCRYPTED) == b"\x47\x11"
            await central.disconnect()
        return body

    def second(emulator):
        async def body(central):
            prepare(central, emulator, io)
            await connect(central)
            await central.device.keystore.update(str(central.connection.peer_address),
                                                 keys["keys"])
            # The accessory has lost it: it says so, and stays connected or goes.
            with pytest.raises(HCI_Error) as caught:
                await asyncio.wait_for(central.connection.encrypt(), STEP_SECONDS)
            # PIN or Key Missing; RootCanal says Authentication Failure instead.
            assert caught.value.error_code in (0x06, 0x05)
            assert await refused(central, ENCRYPTED) == ATT_AUTHENTICATION
            await pair(central)
            assert await central.read(ENCRYPTED) == b"\x47\x11"
            await central.disconnect()
        return body

    with lock(tmp_path, security, CONTROLLERS[controllers]) as (emulator, transport):
        session(transport, first(emulator))
    with lock(tmp_path, security, CONTROLLERS[controllers],
              ["--erase"]) as (emulator, transport):
        session(transport, second(emulator))


@pytest.mark.parametrize("controllers", CONTROLLERS)
def test_out_of_band_data_authenticate(tmp_path, controllers):
    key = "000102030405060708090A0B0C0D0E0F"
    with lock(tmp_path, f'io: none, out-of-band: {{temporary-key: "{key}"}}',
              CONTROLLERS[controllers]) as (emulator, transport):
        async def body(central):
            # Bumble holds it in wire order.
            context = OobLegacyContext(tk=bytes.fromhex(key)[::-1])
            prepare(central, emulator, IO.NO_OUTPUT_NO_INPUT, sc=False,
                    oob=PairingConfig.OobConfig(None, None, context))
            await connect(central)
            await pair(central)
            assert await central.read(AUTHENTICATED) == b"\x47\x12"
            await central.disconnect()

        session(transport, body)
        emulator.wait_for("pairs: Out of Band")


@pytest.mark.parametrize("controllers", CONTROLLERS)
def test_out_of_band_data_authenticate_in_secure_connections(tmp_path, controllers):
    private, own = bytes(range(1, 33)), bytes(range(16))
    x = EccKey.from_private_key_bytes(private).x
    # Bumble's values are in wire order, the profile's as they are printed.
    confirm = f4(x[::-1], x[::-1], own[::-1], bytes(1))
    context = OobContext()
    shared = context.share()
    data = (f'private-key: "{private.hex()}", random: "{own.hex()}", '
            f'peer-random: "{shared.r[::-1].hex()}", peer-confirm: "{shared.c[::-1].hex()}"')
    with lock(tmp_path, f"io: none, out-of-band: {{{data}}}",
              CONTROLLERS[controllers]) as (emulator, transport):
        async def body(central):
            prepare(central, emulator, IO.NO_OUTPUT_NO_INPUT, oob=PairingConfig.OobConfig(
                context, OobSharedData(c=confirm, r=own[::-1]), None))
            await connect(central)
            await pair(central)
            assert await central.read(AUTHENTICATED) == b"\x47\x12"
            await central.disconnect()

        session(transport, body)
        emulator.wait_for("pairs: Out of Band, LE Secure Connections")


def test_programs_see_what_a_person_sees_and_no_keys(tmp_path):
    security, io, _ = METHODS["passkey-shown"]
    keys = []
    with lock(tmp_path, security, options=["--json"]) as (emulator, transport):
        async def body(central):
            prepare(central, emulator, io)
            await connect(central)
            await pair(central)
            stored = await central.device.keystore.get(str(central.connection.peer_address))
            keys.extend(key.value.hex() for key in (stored.ltk, stored.irk))
            await central.disconnect()

        session(transport, body)
        emulator.wait_for('"paired"')
        said = emulator.output()
    events = {event["event"]: event for event in (
        json.loads(line) for line in said.splitlines() if line.startswith("{"))}
    assert events["pairing"]["method"] == "Passkey Entry"
    assert events["pairing"]["secure-connections"] is True
    assert len(events["show-passkey"]["passkey"]) == 6
    assert events["encryption"]["authenticated"] is True and events["encryption"]["key-size"] == 16
    assert events["paired"]["bonded"] is True
    assert not [key for key in keys if key in said.lower() or reversed_hex(key) in said.lower()]


def reversed_hex(text):
    """The same octets in the other order."""
    return bytes.fromhex(text)[::-1].hex()


def test_the_accessory_asks_for_security(tmp_path):
    with lock(tmp_path, "io: none, security-request: true") as (emulator, transport):
        async def body(central):
            prepare(central, emulator, IO.NO_OUTPUT_NO_INPUT)
            central.device.on("connection", lambda connection: connection.on(
                "security_request", lambda _: asyncio.ensure_future(connection.pair())))
            await connect(central)
            await asyncio.to_thread(emulator.wait_for, "paired, bonded as")
            assert await central.read(ENCRYPTED) == b"\x47\x11"
            await central.disconnect()

        session(transport, body)


def test_different_keys_end_the_link_as_on_air(tmp_path):
    with lock(tmp_path, "io: none") as (emulator, transport):
        async def body(central):
            prepare(central, emulator, IO.NO_OUTPUT_NO_INPUT)
            await connect(central)
            await pair(central)
            address = str(central.connection.peer_address)
            await central.disconnect()
            keys = await central.device.keystore.get(address)
            keys.ltk.value = bytes(16)
            await central.device.keystore.update(address, keys)
            await connect(central)
            with contextlib.suppress(Exception, asyncio.CancelledError):
                await asyncio.wait_for(central.connection.encrypt(), STEP_SECONDS)

        session(transport, body)
        emulator.wait_for(r"disconnected: Connection Terminated due to MIC Failure \(0x3D\)")
