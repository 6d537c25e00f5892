"""BlueZ hears extended advertising whole, and a periodic train by the one tool it has for that."""
import json
import re

import btsnoop
import lab
import monitor
import reports

PROFILE = "lab-panel"
NAME = "Lab Panel"
# BlueZ's adapter and the accessory's.
CENTRAL, ACCESSORY = 0, 1
COMPLETE_LOCAL_NAME, SERVICE_DATA, MANUFACTURER_DATA = 0x09, 0x16, 0xFF
BASE = "-0000-1000-8000-00805f9b34fb"
SCAN_SECONDS = 200
# LE commands for hcitool.
LE, LE_SET_EVENT_MASK, LE_PERIODIC_ADVERTISING_CREATE_SYNC = "0x08", "0x01", "0x44"
# The first 40 LE events, with those of trains, which the kernel masks.
EVENTS = [*5 * ["ff"], *3 * ["00"]]
RANDOM, TEN_SECONDS = "01", ["e8", "03"]
PACKETS = 10


def extended(controllers):
    """Several sets of an accessory on hci1, BlueZ on hci0."""
    getattr(lab, controllers)()
    lab.record()
    lab.accessory(PROFILE, "--controller", f"hci:{ACCESSORY}")
    lab.wait_for_line("accessory", "main: advertising connectable")
    lab.bluetoothd()
    lab.power_on()
    # BlueZ forgets a device that is not connectable when the scan ends.
    scan = lab.start("scan", "bluetoothctl", "--timeout", str(SCAN_SECONDS), "scan", "le")
    expected = json.loads((lab.LOGS / "expected.json").read_text(encoding="utf-8"))
    heard = check_reports(expected)
    check_found(expected, heard)
    check_shown(bytes.fromhex(expected["panel"]["data"]), heard["panel"].address)
    train = bytes.fromhex(expected["panel"]["train"])
    sync = synchronize(heard["panel"])
    count = follow(sync, train, PACKETS)
    # RootCanal says LE 1M of every train, and reports none while it does not scan.
    if controllers != "rootcanal":
        assert sync.phy == expected["panel"]["phy"]
        scan.terminate()
        scan.wait()
        follow(sync, train, count + PACKETS)
    statuses = btsnoop.statuses(packets(ACCESSORY))
    assert statuses == {0}, f"the accessory's controller answered with {statuses}"
    lab.say("done")


def packets(adapter=CENTRAL):
    """The kernel's record of an adapter so far."""
    return monitor.read(lab.LOGS / "kernel.btsnoop", adapter)


def check_reports(expected):
    """The kernel's record has the data of each extended set whole, in one report or several."""
    names = {bytes.fromhex(one["data"]): name for name, one in expected.items()}

    def all_heard():
        heard = {names[one.data]: one for one in reports.advertisements(packets())
                 if one.data in names}
        return heard if len(heard) == len(names) else None

    heard = lab.wait_for(f"{list(expected)} whole", all_heard)
    for name, one in heard.items():
        lab.say(f"{name}: {one.address}, sid {one.sid}, {len(one.data)} octets in {one.reports} "
                f"reports, secondary PHY {one.secondary_phy}, train {one.periodic_interval}")
        assert one.secondary_phy == expected[name]["phy"]
        assert (one.periodic_interval > 0) == bool(expected[name]["train"])
    assert {name: one.reports > 1 for name, one in heard.items()} == {
        "panel": False, "slab": False, "roll": True}
    return heard


def check_found(expected, heard):
    """The kernel hands on to bluetoothd what came in one report: Linux 6.1 joins no fragments."""
    found = monitor.devices_found(lab.LOGS / "kernel.btsnoop", CENTRAL)
    for name in ("panel", "slab"):
        assert (heard[name].address, bytes.fromhex(expected[name]["data"])) in found, name


def check_shown(data, address):
    """bluetoothctl shows every octet of the AD structures."""
    expected = structures(data)
    lab.wait_for("all of it in bluetoothctl info", lambda: shown(address) == expected, pause=1)
    lab.say(f"bluetoothctl shows {sum(map(len, expected.values()))} octets in {len(expected)}")
    assert f"Name: {NAME}\n" in lab.run("bluetoothctl", "info", address)


def structures(data):
    """The contents of advertising data by what BlueZ calls them; all but the flags."""
    found, offset = {}, 0
    while offset < len(data):
        length, kind = data[offset], data[offset + 1]
        content = data[offset + 2:offset + 1 + length]
        code = int.from_bytes(content[:2], "little")
        if kind == MANUFACTURER_DATA:
            found[f"0x{code:04x}"] = content[2:]
        elif kind == SERVICE_DATA:
            found[f"0000{code:04x}{BASE}"] = content[2:]
        offset += 1 + length
    return found


def shown(address):
    """The same from what bluetoothctl prints of a device."""
    found, key = {}, None
    for line in lab.run("bluetoothctl", "info", address, check=False).splitlines():
        if match := re.match(r"\t(?:Manufacturer|Service)Data Key: (\S+)", line):
            key = match.group(1)
            found[key] = b""
        elif match := re.match(r"  ((?:[0-9a-f]{2} )+) ", line):
            found[key] += bytes.fromhex(match.group(1))
    return found


def synchronize(advertisement):
    """The controller follows the train of an advertisement that it hears.

    BlueZ 5.66 has two tools for it: isotest, whose request Linux 6.1 sends with a synchronization
    timeout of 0, which every controller must refuse; and hcitool with commands as octets.
    """
    command(LE_SET_EVENT_MASK, *EVENTS)
    octets = [octet.lower() for octet in reversed(advertisement.address.split(":"))]
    command(LE_PERIODIC_ADVERTISING_CREATE_SYNC, "00", f"{advertisement.sid:02x}", RANDOM, *octets,
            "00", "00", *TEN_SECONDS, "00")
    sync, = lab.wait_for("a sync", lambda: reports.syncs(packets()))
    assert (sync.status, sync.address, sync.sid, sync.interval) == (
        0, advertisement.address, advertisement.sid, advertisement.periodic_interval), sync
    return sync


def command(*octets):
    """An LE command by BlueZ's hcitool."""
    lab.say(lab.run("hcitool", "-i", f"hci{CENTRAL}", "cmd", LE, *octets))


def follow(sync, data, count):
    """Waits for `count` packets of a train, each of which has the data; how many there were."""
    def enough():
        found = reports.train(packets(), sync.handle)
        return found if len(found) >= count else None

    found = lab.wait_for(f"{count} packets of the train", enough)
    assert set(found) == {data}
    lab.say(f"{len(found)} packets of the train, {len(data)} octets each")
    return len(found)
