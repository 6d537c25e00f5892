"""BlueZ as the central of the accessory on hci1, whoever makes the controllers."""
import asyncio
import json
import re
import shutil
from pathlib import Path

from bleak import BleakClient, BleakScanner

from dbus_fast import BusType, Message
from dbus_fast.aio import MessageBus

import btsnoop
import lab
import monitor

NAME = "Lab Lamp"
PROFILE = "lab-lamp"
TEMPERATURE = "00002a6e-0000-1000-8000-00805f9b34fb"
GREETING = "7c3e0002-52b1-4f0a-8e6d-91a2b3c4d5e6"
OWN_SERVICE = "7c3e0000-52b1-4f0a-8e6d-91a2b3c4d5e6"
SERVICE = "0000181a-0000-1000-8000-00805f9b34fb"
NOTIFICATIONS = 20
RECONNECTIONS = 10
# The most that the machine's load may move a change of the interval, in seconds.
LATENESS_MAX = 1
# btvirt reports an advertiser once a scan, sometimes before the kernel listens: many short scans.
TRIES = 30
# What `watch` adds to the profile, and the file it edits.
MANUFACTURER = "00002a29-0000-1000-8000-00805f9b34fb"
ADDED = """
  - service: device-information
    characteristics:
      - {characteristic: manufacturer-name-string, read: open, value: Acme}
"""
WATCHED = Path("/tmp/watched/lamp.yaml")
SCAN_SECONDS = 1.5


def central(controllers, reconnections=RECONNECTIONS):
    """The whole story with two adapters of a kind: hci1 for the accessory, hci0 for BlueZ."""
    getattr(lab, controllers)()
    lab.record()
    lab.accessory(PROFILE, "--controller", "hci:1", "--capture", lab.LOGS / "accessory.btsnoop")
    lab.wait_for_line("accessory", "advertising connectable")
    lab.bluetoothd()
    lab.power_on()
    check_intervals()
    address, info = lab.scan(NAME)
    # Bumble's controllers repeat the advertising data as the scan response.
    check_advertised(info, has_scan_response=controllers != "bumble")
    check_attributes(address)
    asyncio.run(talk(address, int(reconnections)))
    lab.say("done")


def watch():
    """A profile that is edited while BlueZ is connected: it learns the new service by itself."""
    lab.own()
    lab.record()
    WATCHED.parent.mkdir()
    shutil.copy(lab.PROFILES / "motion.csv", WATCHED.parent)
    shutil.copy(lab.PROFILES / f"{PROFILE}.yaml", WATCHED)
    lab.start("accessory", lab.PROGRAM, "--profile", WATCHED, "--controller", "hci:1", "--watch")
    lab.wait_for_line("accessory", "advertising connectable")
    lab.bluetoothd()
    lab.power_on()
    address, _ = lab.scan(NAME)
    asyncio.run(edit(address))
    assert lab.log_text("accessory").count(" connected: ") == 1, "the link has lasted"
    lab.say("done")


async def edit(address):
    """Edits the profile while a client is connected and follows the temperature."""
    whole = WATCHED.read_text(encoding="utf-8")
    values = []
    async with await connect(address) as client:
        await client.start_notify(TEMPERATURE, lambda _, value: values.append(bytes(value)))
        await client.write_gatt_char(GREETING, b"Good evening", response=True)

        async def goes_on():
            count = len(values)
            await until(lambda: len(values) >= count + 3)
            assert await client.read_gatt_char(GREETING) == b"Good evening"

        await goes_on()
        lab.say("a broken file")
        before = paths(address)
        WATCHED.write_text(whole.replace("read: open", "read: ajar"), encoding="utf-8")
        await until(lambda: "was not flashed" in lab.log_text("accessory"))
        assert re.search(r"lamp\.yaml:\d+:\d+: .*ajar", lab.log_text("accessory"))
        await goes_on()
        assert paths(address) == before and MANUFACTURER not in before
        lab.say("a service more")
        replacement = WATCHED.with_suffix(".new")
        replacement.write_text(whole + ADDED, encoding="utf-8")
        replacement.rename(WATCHED)
        await until(lambda: "Service Changed" in lab.log_text("accessory"))
        await until(lambda: MANUFACTURER in paths(address))
        assert await read_path(paths(address)[MANUFACTURER]) == b"Acme"
        lab.say("BlueZ has found and read it")
        await goes_on()
        assert client.is_connected
        lab.say("and gone again")
        WATCHED.write_text(whole, encoding="utf-8")
        await until(lambda: MANUFACTURER not in paths(address))
        await goes_on()


async def until(condition):
    """Waits until something is so, while notifications come in."""
    for _ in range(5 * lab.PATIENCE):
        if condition():
            return
        await asyncio.sleep(0.2)
    raise AssertionError("it did not come to that")


def paths(address):
    """BlueZ's object of each attribute that it knows, by UUID."""
    text = lab.run("bluetoothctl", "gatt.list-attributes", address, check=False)
    return {uuid: path for path, uuid in
            re.findall(r"(/org/bluez/\S+)\n\s+([0-9a-f-]{36})\n", text)}


async def read_path(path):
    """The value of a characteristic by its object: bleak knows those of its connection's begin."""
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    reply = await bus.call(Message(
        destination="org.bluez", path=path, interface="org.bluez.GattCharacteristic1",
        member="ReadValue", signature="a{sv}", body=[{}]))
    bus.disconnect()
    assert not reply.error_name, f"{reply.error_name}: {reply.body}"
    return bytes(reply.body[0])


def expectations():
    """What the test outside has computed from the profile."""
    return json.loads((lab.LOGS / "expected.json").read_text(encoding="utf-8"))


def check_intervals():
    """The kernel saw the profile's interval, and its changes with the motion, on hci1."""
    expected = expectations()["intervals"]
    seen = lab.wait_for("the last change of the interval", lambda: seen_intervals(len(expected)))
    told = [(round(time - seen[0][0], 2), round(interval, 5)) for time, interval in seen]
    lab.say(f"the kernel's record has the intervals {told}")
    for (time, interval), (seen_time, seen_interval) in zip(expected, seen):
        assert seen_interval == interval, f"{seen}, expected {expected}"
        assert abs(seen_time - seen[0][0] - time) < LATENESS_MAX, f"{seen}, expected {expected}"


def seen_intervals(count):
    """The intervals in the kernel's record once there are `count`."""
    seen = btsnoop.advertising_intervals(monitor.read(lab.LOGS / "kernel.btsnoop", 1))
    return seen if len(seen) >= count else None


def check_advertised(info, has_scan_response):
    """What bluetoothctl tells of a device that it has only seen."""
    lab.say(info)
    assert f"Name: {NAME}" in info
    assert SERVICE in info
    assert "ManufacturerData Key: 0xffff" in info and re.search(r"c0 ff ee", info)
    assert "Connected: no" in info
    assert OWN_SERVICE in info or not has_scan_response


def check_attributes(address):
    """BlueZ finds the attributes that `check` prints, at their handles."""
    def connected():
        lab.run("bluetoothctl", "connect", address, check=False)
        return "Connected: yes" in lab.run("bluetoothctl", "info", address)

    lab.wait_for("a connection", connected)
    expected = {(handle, uuid) for handle, uuid in expectations()["attributes"]}
    seen = lab.wait_for("all attributes", lambda: listed(address, len(expected)))
    assert seen == expected, f"only {seen - expected}, missing {expected - seen}"
    lab.say(f"list-attributes has the {len(seen)} attributes of check")
    lab.run("bluetoothctl", "disconnect", address)


def listed(address, count):
    """(handle, UUID) of each entry of list-attributes; nothing while there are below `count`."""
    text = lab.run("bluetoothctl", "gatt.list-attributes", address, check=False)
    pairs = re.findall(r"/\w+?([0-9a-f]{4})\n\s+([0-9a-f-]{36})\n", text)
    found = {(int(handle, 16), uuid) for handle, uuid in pairs}
    return found if len(found) >= count else None


async def talk(address, reconnections):
    """Reads, writes and subscribes, then connects again and again."""
    async with await connect(address) as client:
        assert await client.read_gatt_char(GREETING) == b"Hello"
        for text, response in ((b"Good evening", True), (b"Good night", False)):
            await client.write_gatt_char(GREETING, text, response=response)
            assert await client.read_gatt_char(GREETING) == text
        lab.say("bleak has read and written")
        await follow(client)
    for number in range(reconnections):
        async with await connect(address) as client:
            assert await client.read_gatt_char(GREETING) == b"Good night", number
        lab.say(f"reconnection {number + 1}")


async def follow(client):
    """Waits for 20 notifications, each another temperature of the profile's ramp."""
    values, enough = [], asyncio.Event()

    def take(_, value):
        values.append(int.from_bytes(value, "little", signed=True) / 100)
        if len(values) >= NOTIFICATIONS:
            enough.set()

    await client.start_notify(TEMPERATURE, take)
    await asyncio.wait_for(enough.wait(), lab.PATIENCE)
    await client.stop_notify(TEMPERATURE)
    lab.say(f"{len(values)} notifications: {values}")
    assert all(-40 <= value <= 85 for value in values) and len(set(values)) == len(values)


async def connect(address):
    """A client to be entered: bleak needs a device that a scan has just seen."""
    for number in range(TRIES):
        device = await BleakScanner.find_device_by_address(address, timeout=SCAN_SECONDS)
        if device is None:
            continue
        client = BleakClient(device, timeout=20)
        try:
            await client.connect()
        except Exception as error:  # bleak has many, and the next try tells
            lab.say(f"try {number + 1}: {error!r}")
            continue
        return Connected(client)
    raise AssertionError(f"no connection in {TRIES} tries")


class Connected:
    """A connected client as a context that disconnects it."""

    def __init__(self, client):
        self.client = client

    async def __aenter__(self):
        return self.client

    async def __aexit__(self, *_):
        await self.client.disconnect()
