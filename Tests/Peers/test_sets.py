"""Several advertising sets on controllers by other authors, some without extended advertising."""
import asyncio
import contextlib
import time

import pytest
from bumble.device import Device, DeviceConfiguration
from bumble.hci import Address
from bumble.transport import open_transport

import btsnoop
from controllers import bumble_controllers
from emulator import profile, running
from rootcanal_peer import rootcanal

SECONDS = 30
LE_SET_PERIODIC_ADVERTISING_DATA = 0x203F


@contextlib.asynccontextmanager
async def scanner(name):
    """A Bumble device that scans: {address: advertising data} as it hears them."""
    async with await open_transport(name) as transport:
        device = Device.from_config_with_hci(
            DeviceConfiguration(name="scanner", address=Address("F0:F1:F2:F3:F4:F5")),
            transport.source, transport.sink)
        heard = {}
        device.on("advertisement", lambda report: heard.update(
            {str(report.address): bytes(report.data_bytes)}))
        await device.power_on()
        await device.start_scanning(active=False, filter_duplicates=False)
        yield heard


async def heard_until(name, is_enough):
    """What a scanner has heard once `is_enough` says so."""
    async with scanner(name) as heard:
        async with asyncio.timeout(SECONDS):
            while not is_enough(heard):
                await asyncio.sleep(0.05)
        return heard


def beacons(folder, count, extra=""):
    """A profile of so many sets, each with its number as manufacturer data."""
    lines = [f'  - {{set: s{number}, type: non-connectable, interval: 100 ms{extra}, data: '
             f'[{{manufacturer: {{company: 0xFFFF, data: {{hex: "{number:02X}"}}}}}}]}}'
             for number in range(count)]
    path = folder / "beacons.yaml"
    path.write_text("peripheral-emu: 1\ndevice: {name: Many}\nadvertising:\n"
                    + "\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def payloads(count):
    """The advertising data of `beacons`."""
    return {bytes([4, 0xFF, 0xFF, 0xFF, number]) for number in range(count)}


def check_all_heard(second, count):
    """Each of the sets is heard, from an address of its own."""
    expected = payloads(count)
    heard = asyncio.run(heard_until(
        second, lambda heard: expected <= set(heard.values())))
    ours = {address for address, data in heard.items() if data in expected}
    assert len(ours) == count


def test_sixteen_sets_at_once_on_rootcanal(tmp_path):
    with rootcanal("DEFAULT", "DEFAULT") as (first, second):
        with running("--profile", beacons(tmp_path, 16), "--controller", first) as emulator:
            emulator.wait_for("s15: advertising non-connectable every 100 ms")
            check_all_heard(second, 16)
            assert "take turns" not in emulator.output()


def test_sets_on_bumbles_controller(tmp_path):
    with bumble_controllers() as (first, second):
        with running("--profile", beacons(tmp_path, 4), "--controller", first) as emulator:
            emulator.wait_for("s3: advertising non-connectable every 100 ms")
            check_all_heard(second, 4)
            assert "refused" not in emulator.output()


@pytest.mark.parametrize("name, count", [("three-beacons", 3), ("retail-shelf", 20)])
def test_sets_take_turns_on_a_controller_without(name, count):
    with rootcanal("CSR_RCK_PTS_DONGLE", "DEFAULT") as (first, second):
        with running("--profile", profile(name), "--controller", first) as emulator:
            emulator.wait_for(f"{count} sets take turns on one advertiser")
            heard = asyncio.run(heard_until(second, lambda heard: len(heard) >= count))
            assert len(heard) == count
            assert "refused" not in emulator.output()


def test_the_shelf_is_more_than_rootcanal_has_sets(tmp_path):
    with rootcanal("DEFAULT", "DEFAULT") as (first, second):
        with running("--profile", profile("retail-shelf"), "--controller", first) as emulator:
            emulator.wait_for("has 16 advertising sets: 20 sets take turns")
            heard = asyncio.run(heard_until(second, lambda heard: len(heard) >= 20))
            assert len(heard) == 20


@pytest.mark.parametrize("preset", ["DEFAULT", "CSR_RCK_PTS_DONGLE"])
def test_a_connectable_set_beside_a_beacon(tmp_path, preset):
    path = tmp_path / "both.yaml"
    path.write_text("""
peripheral-emu: 1
device: {name: Both}
advertising:
  - {set: main, type: connectable, fallback: legacy, interval: 100 ms, data: [{name: complete}]}
  - set: beacon
    type: non-connectable
    interval: 100 ms
    data: [{manufacturer: {company: 0xFFFF, data: {hex: "01"}}}]
services:
  - {service: battery, characteristics: [{characteristic: battery-level, read: open, value: 50}]}
""", encoding="utf-8")

    async def connects(second):
        async with scanner(second) as heard:
            async with asyncio.timeout(SECONDS):
                while len(heard) < 2:
                    await asyncio.sleep(0.05)
        name = next(a for a, data in heard.items() if b"Both" in data)
        async with await open_transport(second) as transport:
            device = Device.from_config_with_hci(
                DeviceConfiguration(name="central", address=Address("F0:F1:F2:F3:F4:F6")),
                transport.source, transport.sink)
            await device.power_on()
            for _ in range(3):
                connection = await device.connect(Address(name), timeout=SECONDS)
                await connection.disconnect()

    with rootcanal(preset, "DEFAULT") as (first, second):
        with running("--profile", str(path), "--controller", first) as emulator:
            asyncio.run(connects(second))
            emulator.wait_for("disconnected")
            assert "refused" not in emulator.output()


@pytest.mark.parametrize("kind", ["non-connectable", "connectable"])
def test_two_hundred_octets_arrive_whole(tmp_path, kind):
    text = "0123456789" * 19
    path = tmp_path / "long.yaml"
    path.write_text(f"""
peripheral-emu: 1
device: {{name: Long}}
advertising:
  - type: {kind}
    interval: 100 ms
    pdu: extended
    data: [{{manufacturer: {{company: 0xFFFF, data: {{text: "{text}"}}}}}}]
""", encoding="utf-8")
    expected = bytes([3 + len(text), 0xFF, 0xFF, 0xFF]) + text.encode()
    with rootcanal("DEFAULT", "DEFAULT") as (first, second):
        with running("--profile", str(path), "--controller", first) as emulator:
            emulator.wait_for(f"advertising {kind} every 100 ms")
            asyncio.run(heard_until(second, lambda heard: expected in heard.values()))
            assert "refused" not in emulator.output()


def test_a_periodic_train_is_taken_and_its_data_change_while_it_is_on(tmp_path):
    path = tmp_path / "train.yaml"
    path.write_text("""
peripheral-emu: 1
device: {name: Train}
advertising:
  - set: train
    type: non-connectable
    interval: 100 ms
    pdu: extended
    update: every 300 ms
    data: [{name: complete}]
    periodic:
      interval: 100 ms
      data: [{manufacturer: {company: 0xFFFF, fields: [{format: uint8, value: {counter: {}}}]}}]
""", encoding="utf-8")
    capture = tmp_path / "train.btsnoop"
    with rootcanal("DEFAULT", "DEFAULT") as (first, second):
        with running("--profile", str(path), "--controller", first, "--capture",
                     str(capture)) as emulator:
            emulator.wait_for("advertising non-connectable every 100 ms")
            asyncio.run(heard_until(
                second, lambda heard: any(b"Train" in data for data in heard.values())))
            assert "refused" not in emulator.output()
            time.sleep(1)
            assert "refused" not in emulator.output()
    packets = btsnoop.read(capture)
    given = [packet.parameters for packet in packets
             if packet.opcode == LE_SET_PERIODIC_ADVERTISING_DATA]
    assert len(given) > 3 and len({data[-1] for data in given}) > 3, given
    assert btsnoop.statuses(packets) == {0}


@pytest.mark.parametrize("kind", ["DEFAULT", "CSR_RCK_PTS_DONGLE"])
def test_a_burst_beacon_is_on_and_off_beside_another_one(tmp_path, kind):
    """By the device's own timers: with sets of its own, and in turns on one advertiser."""
    path, capture = tmp_path / "burst.yaml", tmp_path / "burst.btsnoop"
    path.write_text("""
peripheral-emu: 1
device: {name: Burst}
advertising:
  - {set: burst, type: non-connectable, interval: 200 ms, duration: 1 s, period: 3 s}
  - {set: still, type: non-connectable, interval: 200 ms}
""", encoding="utf-8")
    with rootcanal(kind) as (controller,):
        with running("--profile", str(path), "--controller", controller, "--capture",
                     str(capture)) as emulator:
            said, end = "", time.monotonic() + SECONDS
            while said.count("burst: advertising non-connectable every 200 ms") < 3:
                assert time.monotonic() < end, emulator
                time.sleep(0.1)
                said = emulator.output()
    assert said.count("burst: advertising stopped") == 2
    assert said.count("still: advertising non-connectable every 200 ms") == 1
    assert "still: advertising stopped" not in said
    assert btsnoop.statuses(btsnoop.read(capture)) == {0}
