"""Reads btmon's record: btsnoop with the kernel's monitor packets (datalink 2001)."""
import struct

import btsnoop

DATALINK_MONITOR = 2001
# The monitor's own packet types, in the low half of a record's flags.
COMMAND, EVENT, ACL_SENT, ACL_RECEIVED = 2, 3, 4, 5
CONTROL_EVENT = 17
MGMT_DEVICE_FOUND = 0x0012


def records(path):
    """(seconds since 2000, adapter, monitor's packet type, content) of each record.

    btmon may be writing the last one, which is left out then.
    """
    content = path.read_bytes()
    magic, version, datalink = struct.unpack_from(">8sII", content)
    assert (magic, version, datalink) == (b"btsnoop\0", 1, DATALINK_MONITOR), "no monitor record"
    offset = 16
    while offset + 24 <= len(content):
        _, included, flags, _, time = struct.unpack_from(">IIIIq", content, offset)
        data = content[offset + 24:offset + 24 + included]
        if len(data) == included:
            yield (time - btsnoop.YEAR_2000) / 1e6, flags >> 16, flags & 0xFFFF, data
        offset += 24 + included


def read(path, adapter):
    """The commands, events and data of hciADAPTER, as `btsnoop.Packet`."""
    kinds = {COMMAND: btsnoop.COMMAND, EVENT: btsnoop.EVENT, ACL_SENT: btsnoop.ACL,
             ACL_RECEIVED: btsnoop.ACL}
    return [btsnoop.Packet(time, kind in (EVENT, ACL_RECEIVED), kinds[kind], data)
            for time, number, kind, data in records(path) if number == adapter and kind in kinds]


def devices_found(path, adapter):
    """(address, data) of each device that the kernel told bluetoothd of."""
    found = []
    for _, number, kind, data in records(path):
        if (number, kind) == (adapter, CONTROL_EVENT) and len(data) >= 20:
            code, = struct.unpack_from("<4xH", data)
            if code == MGMT_DEVICE_FOUND:
                address, length = struct.unpack_from("<6s6xH", data, 6)
                found.append((text(address), data[20:20 + length]))
    return found


def text(address):
    """A device address as it is written."""
    return ":".join(f"{octet:02X}" for octet in reversed(address))
