"""Reads btmon's record: btsnoop with the kernel's monitor packets (datalink 2001)."""
import struct

import btsnoop

DATALINK_MONITOR = 2001
# The monitor's own packet types, in the low half of a record's flags.
COMMAND, EVENT, ACL_SENT, ACL_RECEIVED = 2, 3, 4, 5


def read(path, adapter):
    """The commands, events and data of hciADAPTER, as `btsnoop.Packet`."""
    content = path.read_bytes()
    magic, version, datalink = struct.unpack_from(">8sII", content)
    assert (magic, version, datalink) == (b"btsnoop\0", 1, DATALINK_MONITOR), "no monitor record"
    kinds = {COMMAND: btsnoop.COMMAND, EVENT: btsnoop.EVENT, ACL_SENT: btsnoop.ACL,
             ACL_RECEIVED: btsnoop.ACL}
    packets, offset = [], 16
    while offset + 24 <= len(content):
        _, included, flags, _, time = struct.unpack_from(">IIIIq", content, offset)
        data = content[offset + 24:offset + 24 + included]
        if flags >> 16 == adapter and flags & 0xFFFF in kinds:
            kind = flags & 0xFFFF
            packets.append(btsnoop.Packet(
                (time - btsnoop.YEAR_2000) / 1e6, kind in (EVENT, ACL_RECEIVED),
                kinds[kind], data))
        offset += 24 + included
    return packets
