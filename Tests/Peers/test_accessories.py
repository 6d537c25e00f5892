"""Several accessories in one process, on one controller with advertising sets, for two centrals."""
import asyncio
import contextlib

import pytest
from bumble.core import UUID
from bumble.device import Device, DeviceConfiguration, Peer
from bumble.hci import Address
from bumble.transport import open_transport

from controllers import SetLink, bumble_controllers
from emulator import Emulator, profile, running
from rootcanal_peer import rootcanal

SECONDS = 30
SENSORS = ("two-sensors-indoors", "two-sensors-outdoors")
PROFILES = [word for name in SENSORS for word in ("--profile", profile(name))]
# The device's name and the characteristics of Environmental Sensing, by accessory.
EXPECTED = {"Indoors": ["2A6E"], "Outdoors": ["2A6E", "2A6F"]}


@contextlib.asynccontextmanager
async def central(name, number):
    """A Bumble central, powered on."""
    async with await open_transport(name) as transport:
        device = Device.from_config_with_hci(
            DeviceConfiguration(name="central", address=Address(f"F0:F1:F2:F3:F4:F{number}")),
            transport.source, transport.sink)
        await device.power_on()
        yield device


async def addresses(device):
    """The accessories' addresses by their names."""
    found = {}
    device.on("advertisement", lambda report: found.update(
        {name: report.address for name in EXPECTED if name.encode() in bytes(report.data_bytes)}))
    await device.start_scanning(active=False, filter_duplicates=False)
    async with asyncio.timeout(SECONDS):
        while len(found) < len(EXPECTED):
            await asyncio.sleep(0.05)
    await device.stop_scanning()
    assert len({str(address) for address in found.values()}) == len(EXPECTED)
    return found


async def visit(device, address, name):
    """Connects, and sees that accessory's database and no other's."""
    connection = await device.connect(address, timeout=SECONDS)
    async with asyncio.timeout(SECONDS):
        peer = Peer(connection)
        await peer.discover_services()
        await peer.discover_characteristics()
        assert await read_name(peer) == name
        service = peer.get_services_by_uuid(UUID.from_16_bits(0x181A))[0]
        uuids = [bytes(one.uuid)[::-1].hex().upper() for one in service.characteristics]
        assert uuids == EXPECTED[name]
        await connection.disconnect()


async def read_name(peer):
    """Device Name."""
    one = peer.get_characteristics_by_uuid(UUID.from_16_bits(0x2A00))[0]
    return bytes(await peer.read_value(one)).decode()


async def both(second, third, times):
    """Two centrals visit their own accessory, both at once, so many times."""
    async with central(second, 5) as one, central(third, 6) as other:
        found = await addresses(one)

        async def visits(device, name):
            for _ in range(times):
                await visit(device, found[name], name)

        await asyncio.gather(visits(one, "Indoors"), visits(other, "Outdoors"))
        # Crosswise: neither remembers whose central it was.
        await visit(one, found["Outdoors"], "Outdoors")
        await visit(other, found["Indoors"], "Indoors")


def check(first, second, third, times):
    with running(*PROFILES, "--controller", first) as emulator:
        for name in SENSORS:
            emulator.wait_for(f"{name}: advertising connectable every 20 ms")
        asyncio.run(both(second, third, times))
        assert "refused" not in emulator.output()
        for name in SENSORS:
            emulator.wait_for(f"{name}: .* disconnected")


@pytest.mark.parametrize("times", [100])
def test_two_centrals_see_their_own_accessory_on_bumbles_controller(times):
    with bumble_controllers(count=3, link=SetLink()) as (first, second, third):
        check(first, second, third, times)


@pytest.mark.parametrize("times", [100])
def test_two_centrals_see_their_own_accessory_on_rootcanal(times):
    with rootcanal("DEFAULT", "DEFAULT", "DEFAULT") as (first, second, third):
        check(first, second, third, times)


@pytest.mark.parametrize("times", [100])
def test_two_centrals_see_their_own_accessory_on_the_own_controller_over_hci(times):
    with running("air", "--air", "127.0.0.1:0", "--seed", "1") as air:
        address = air.wait_for(r"air: listening on (127\.0\.0\.1:\d+)").group(1)
        check(*[f"tcp-client:{address}"] * 3, times)


def test_a_controller_without_sets_is_refused():
    with rootcanal("CSR_RCK_PTS_DONGLE") as (first,):
        emulator = Emulator([*PROFILES, "--controller", first])
        try:
            assert emulator.process.wait(SECONDS) == 3
        finally:
            emulator.stop()
        assert "2 accessories need an advertising set each" in emulator.output()
