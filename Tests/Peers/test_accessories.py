"""Several accessories in one process: on one controller with sets, or each with a virtual one."""
import asyncio
import contextlib
import json
import os
import pty

import pytest
from bumble.core import UUID
from bumble.device import Device, DeviceConfiguration, Peer
from bumble.hci import Address
from bumble.transport import open_transport

import btsnoop
from central import Central
from controllers import SetLink, bumble_controllers
from emulator import Emulator, profile, run, running
from rootcanal_peer import rootcanal
from test_control import Client, ctl
from test_pairing import AUTHENTICATED, IO, pair, prepare
from test_pairing import PROFILE as LOCK
from tshark import assert_well_formed

SECONDS = 30
LISTENING = r"air: listening on (127\.0\.0\.1:\d+)"
SENSORS = ("two-sensors-indoors", "two-sensors-outdoors")
PROFILES = [word for name in SENSORS for word in ("--profile", profile(name))]
INDOORS, OUTDOORS = SENSORS
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


@contextlib.contextmanager
def accessories(controllers, *options, profiles=PROFILES):
    """Both accessories on virtual controllers or on one of Bumble's: (emulator, a central's)."""
    if controllers == "air":
        with running(*profiles, "--controller", "virtual", "--air", "127.0.0.1:0",
                     *options) as emulator:
            yield emulator, "tcp-client:" + emulator.wait_for(LISTENING).group(1)
    else:
        with bumble_controllers(count=2, link=SetLink()) as (first, second), \
                running(*profiles, "--controller", first, *options) as emulator:
            yield emulator, second


async def temperature(device, address):
    """What an accessory's temperature reads, in hundredths of a degree."""
    connection = await device.connect(address, timeout=SECONDS)
    async with asyncio.timeout(SECONDS):
        peer = Peer(connection)
        await peer.discover_services()
        await peer.discover_characteristics()
        one = peer.get_characteristics_by_uuid(UUID.from_16_bits(0x2A6E))[0]
        value = int.from_bytes(bytes(await peer.read_value(one)), "little", signed=True)
        await connection.disconnect()
    return value


async def temperatures(transport):
    """The temperatures of both accessories by their names."""
    async with central(transport, 5) as device:
        found = await addresses(device)
        return {name: await temperature(device, found[name]) for name in EXPECTED}


@pytest.mark.parametrize("controllers", ["air", "bumble"])
def test_a_control_socket_reaches_each_accessory(tmp_path, controllers):
    path = tmp_path / "control"
    with accessories(controllers, "--control", str(path)) as (emulator, transport):
        for name in SENSORS:
            emulator.wait_for(f"{name}: advertising connectable")
        watcher, only, client = Client(path), Client(path), Client(path)
        assert watcher.call("watch") == {"watching": True}
        only.socket.sendall(b'{"jsonrpc":"2.0","id":1,"method":"watch",'
                            b'"params":{"accessory":"two-sensors-outdoors"}}\n')
        assert only.line()["result"] == {"watching": True}
        assert ctl(path, "set", f"{INDOORS}/temperature=21.5") == \
            f"{INDOORS}: temperature = 21.50 °C\n"
        assert ctl(path, "--accessory", OUTDOORS, "set", "temperature", "-5") == \
            f"{OUTDOORS}: temperature = -5.00 °C\n"
        assert asyncio.run(temperatures(transport)) == {"Indoors": 2150, "Outdoors": -500}
        assert [watcher.event("read")["accessory"] for _ in range(2)] == list(SENSORS)
        assert only.event("read")["accessory"] == OUTDOORS
        assert client.call("get", f"{OUTDOORS}/temperature")["accessory"] == OUTDOORS
        both = client.call("list")["accessories"]
        assert [one["accessory"] for one in both] == list(SENSORS)
        assert [one["name"] for one in both] == list(EXPECTED)
        said = ctl(path, "get", "temperature", code=1)
        assert said.endswith(f"write NAME/temperature, where NAME is one of {', '.join(SENSORS)}\n")
        said = ctl(path, "--accessory", "two-sensor-indoors", "list", code=1)
        assert said == ("there is no accessory 'two-sensor-indoors'; "
                        "did you mean 'two-sensors-indoors'?\n")
        listed = ctl(path, "list").splitlines()
        assert listed[0].startswith(f"{INDOORS}: Indoors, ") and len(listed) > 10
        assert all(line.startswith(tuple(f"{name}: " for name in SENSORS)) for line in listed)
        assert ctl(path, "disconnect") == "".join(
            f"{name}: nobody is connected\n" for name in SENSORS)
        assert json.loads(ctl(path, "--json", "--accessory", OUTDOORS, "pairing")) == \
            {"questions": [], "accessory": OUTDOORS}


def test_values_of_the_command_line_are_their_accessory_s(tmp_path):
    del tmp_path
    with accessories("air", "--set", f"{INDOORS}/temperature=21.5",
                     "--set", f"{OUTDOORS}/temperature=-5") as (_, transport):
        assert asyncio.run(temperatures(transport)) == {"Indoors": 2150, "Outdoors": -500}
    for text, wrong in [("temperature=1", "does not say whose it is; write NAME/temperature=1"),
                        (f"{INDOORS}/temperature=hot",
                         f"--set {INDOORS}/temperature: 'hot' cannot stand here")]:
        assert wrong in run(*PROFILES, "--set", text, code=2)[1]


def activity_profile(folder, name):
    """A profile that is as fast as it is active."""
    path = folder / f"{name}.yaml"
    path.write_text(
        f"peripheral-emu: 1\ndevice: {{name: {name}}}\n"
        "activity: {source: {csv: still.csv, column: magnitude}, active-above: 0.2 g,"
        " idle-below: 0.1 g, hold: 1 min}\n"
        "advertising:\n  - type: connectable\n"
        "    interval: {policy: activity, active: 100 ms, idle: 1 s}\n"
        "    data: [{flags: [general-discoverable, no-br-edr]}, {name: complete}]\n"
        "services: []\n", encoding="utf-8")
    return str(path)


def test_activity_is_its_accessory_s(tmp_path):
    (tmp_path / "still.csv").write_text("time,magnitude\n0,0\n1,0\n", encoding="utf-8")
    (tmp_path / "moved.csv").write_text("time,magnitude\n0,0\n1,0.5\n2,0.5\n", encoding="utf-8")
    profiles = [word for name in ("left", "right")
                for word in ("--profile", activity_profile(tmp_path, name))]
    _, said = run(*profiles, "--activity", f"right/csv:{tmp_path / 'moved.csv'}",
                  "--virtual-time", "--duration", "10s")
    fast = [line for line in said.splitlines() if "every 100 ms" in line]
    assert fast and all("right: " in line for line in fast)
    said = run(*profiles, "--activity", "left/stdin", "--activity", "right/stdin", code=2)[1]
    assert "standard input can move one accessory" in said


CENTRALS = {"Left": "C4:C3:C2:C1:C0:C1", "Right": "C4:C3:C2:C1:C0:C2"}


def locks(folder, security):
    """The profiles of two locks, `left` and `right`."""
    for name in CENTRALS:
        text = LOCK.format(security=security, connections=1).replace("Lock", name)
        (folder / f"{name.lower()}.yaml").write_text(text, encoding="utf-8")
    return ["--profile", str(folder / "left.yaml"), "--profile", str(folder / "right.yaml")]


@contextlib.asynccontextmanager
async def at_lock(transport, name, emulator, io, **person):
    """A central that is connected to the lock of this name."""
    async with Central.on(transport, CENTRALS[name]) as one:
        prepare(one, emulator, io, address=CENTRALS[name], **person)
        await one.connect((await one.find(name)).address)
        await one.discover()
        yield one
        assert await one.read(AUTHENTICATED) == b"\x47\x12"
        await one.disconnect()


def test_a_terminal_answers_the_accessory_that_it_names_or_the_one_that_asks(tmp_path):
    ours, theirs = pty.openpty()
    profiles = locks(tmp_path, "io: display-yes-no")
    with running(*profiles, "--controller", "virtual", "--air", "127.0.0.1:0",
                 stdin=theirs) as emulator:
        transport = "tcp-client:" + emulator.wait_for(LISTENING).group(1)

        def answer():
            for name in ("left", "right"):
                emulator.wait_for(f"{name}: does .* show ")
            os.write(ours, b"yes\n")
            emulator.wait_for("2 accessories wait for an answer: left, right; write NAME/yes")
            os.write(ours, b"rihgt/yes\n")
            emulator.wait_for("there is no accessory 'rihgt'; did you mean 'right'?")
            os.write(ours, b"right/yes\n")
            emulator.wait_for("right: .* paired")
            os.write(ours, b"yes\n")

        async def body():
            io = IO.DISPLAY_OUTPUT_AND_YES_NO_INPUT
            async with at_lock(transport, "Left", emulator, io) as left, \
                    at_lock(transport, "Right", emulator, io) as right:
                await asyncio.gather(pair(left), pair(right), asyncio.to_thread(answer))

        asyncio.run(asyncio.wait_for(body(), 90))
        emulator.wait_for("left: .* paired")
    os.close(ours)
    os.close(theirs)


def test_each_accessory_has_its_own_passkey(tmp_path):
    profiles = locks(tmp_path, "io: keyboard")
    passkeys = {"Left": 111111, "Right": 222222}
    options = [word for name, passkey in passkeys.items()
               for word in ("--passkey", f"{name.lower()}/{passkey}")]
    with accessories("air", *options, profiles=profiles) as (emulator, transport):
        async def body():
            for name, passkey in passkeys.items():
                async with at_lock(transport, name, emulator, IO.DISPLAY_OUTPUT_ONLY,
                                   passkey=passkey) as one:
                    await pair(one)

        asyncio.run(asyncio.wait_for(body(), 90))


@pytest.mark.parametrize("controllers", ["air", "bumble"])
def test_each_new_version_of_a_profile_is_flashed_to_its_accessory(tmp_path, controllers):
    profiles = locks(tmp_path, "io: none")
    left, right = tmp_path / "left.yaml", tmp_path / "right.yaml"
    with accessories(controllers, "--watch", "--json", profiles=profiles) as (emulator, transport):
        emulator.wait_for(f"left: watching {left}")
        emulator.wait_for(f"right: watching {right}")

        async def levels():
            async with Central.on(transport) as one:
                values = []
                for name in CENTRALS:
                    await one.connect((await one.find(name)).address)
                    await one.discover()
                    values.append((await one.read("2A19"))[0])
                    await one.disconnect()
                return values

        assert asyncio.run(asyncio.wait_for(levels(), 60)) == [50, 50]
        text = right.read_text(encoding="utf-8")
        right.write_text(text.replace("value: 50", "value: 51"), encoding="utf-8")
        emulator.wait_for('"event":"flashed".*"accessory":"right"')
        left.write_text("nothing", encoding="utf-8")
        emulator.wait_for("left: .* was not flashed: the version before goes on")
        emulator.wait_for('"event":"flash-refused".*"accessory":"left"')
        left.write_text(text.replace("value: 50", "value: 52").replace("Right", "Left"),
                        encoding="utf-8")
        emulator.wait_for('"event":"flashed".*"accessory":"left"')
        assert asyncio.run(asyncio.wait_for(levels(), 60)) == [52, 51]
        assert emulator.output().count('"event":"flashed"') == 2


def test_the_built_in_central_visits_one_accessory_after_the_other():
    out, _ = run(*PROFILES, "--with-central", "--virtual-time", "--duration", "1min")
    lines = out.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith(OUTDOORS))
    assert all(line.startswith(f"{INDOORS}: ") for line in lines[:first])
    assert all(line.startswith(f"{OUTDOORS}: ") for line in lines[first:])
    for name, device, part in ((INDOORS, "Indoors", lines[:first]),
                               (OUTDOORS, "Outdoors", lines[first:])):
        assert f'{name}:   complete local name "{device}"' in part
        assert sum(" notified " in line for line in part) == 3
    told, _ = run(*PROFILES, "--with-central", "--virtual-time", "--duration", "1min", "--json")
    said = [json.loads(line) for line in told.splitlines()]
    assert [f"{one['accessory']}: {one['text']}"
            for one in said if one["event"] == "central"] == lines
    _, said = run(*PROFILES, "--with-central", "--virtual-time", "--duration", "3s", code=3)
    assert f"{INDOORS}: the duration is over and the central is missing: 3 notifications" in said


def test_each_accessory_on_the_virtual_air_has_a_capture_of_its_own(tmp_path):
    captures = {name: tmp_path / f"hour.{name}.btsnoop" for name in SENSORS}

    def capture(path):
        _, said = run(*PROFILES, "--with-central", "--virtual-time", "--duration", "1min",
                      "--seed", "3", "--capture", str(path))
        return said

    said = capture(tmp_path / "hour.btsnoop")
    assert not (tmp_path / "hour.btsnoop").exists()
    capture(tmp_path / "again.btsnoop")
    for name, device in zip(SENSORS, EXPECTED):
        assert f"{name}: capture in {captures[name]}" in said
        assert_well_formed(captures[name])
        content = captures[name].read_bytes()
        assert (tmp_path / f"again.{name}.btsnoop").read_bytes() == content
        assert [other for other in EXPECTED if other.encode() in content] == [device]
    said = run(*PROFILES, "--virtual-time", "--duration", "1s", "--capture", "-", code=2)[1]
    assert "2 accessories have a controller and a capture each; write --capture FILE" in said


def test_on_one_controller_there_is_one_capture(tmp_path):
    path = tmp_path / "both.btsnoop"
    with accessories("bumble", "--capture", str(path)) as (_, transport):
        assert set(asyncio.run(temperatures(transport))) == set(EXPECTED)
    packets = b"".join(packet.data for packet in btsnoop.read(path))
    assert all(name.encode() in packets for name in EXPECTED)
    assert [one.name for one in tmp_path.glob("*.btsnoop")] == ["both.btsnoop"]
