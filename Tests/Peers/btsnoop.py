"""Reads btsnoop captures of HCI over H4 (datalink 1002), independently of the program's writer."""
import struct
from dataclasses import dataclass

DATALINK_H4 = 1002
# Microseconds from the year 0 to 2000-01-01T00:00:00Z, in btsnoop's reckoning.
YEAR_2000 = 0x00E03AB44A676000

COMMAND, ACL, EVENT = 1, 2, 4
COMMAND_COMPLETE, COMMAND_STATUS = 0x0E, 0x0F
LE_SET_ADVERTISING_PARAMETERS = 0x2006
LE_SET_ADVERTISING_ENABLE = 0x200A
LE_SET_EXTENDED_ADVERTISING_PARAMETERS = 0x2036
LE_SET_EXTENDED_ADVERTISING_ENABLE = 0x2039
ENABLES = (LE_SET_ADVERTISING_ENABLE, LE_SET_EXTENDED_ADVERTISING_ENABLE)
ADVERTISING_STEP_SECONDS = 0.000625


@dataclass
class Packet:
    """One packet: seconds since 2000, whether the controller sent it, H4 type and its content."""
    time: float
    from_controller: bool
    kind: int
    data: bytes

    @property
    def opcode(self):
        """A command's opcode."""
        return int.from_bytes(self.data[:2], "little") if self.kind == COMMAND else None

    @property
    def parameters(self):
        """A command's parameters."""
        return self.data[3:3 + self.data[2]]


def read(path):
    """All packets of a capture; every field that has only one right value is checked."""
    with open(path, "rb") as file:
        content = file.read()
    magic, version, datalink = struct.unpack_from(">8sII", content)
    assert (magic, version, datalink) == (b"btsnoop\0", 1, DATALINK_H4), "not an H4 capture"
    packets, offset = [], 16
    while offset < len(content):
        original, included, flags, drops, time = struct.unpack_from(">IIIIq", content, offset)
        assert original == included and drops == 0 and flags < 4, f"record at {offset}"
        data = content[offset + 24:offset + 24 + included]
        assert len(data) == included >= 4, f"the capture is cut off at {offset}"
        kind = data[0]
        assert kind in (COMMAND, ACL, EVENT), f"H4 type {kind} at {offset}"
        assert bool(flags & 2) == (kind != ACL), f"command or event flag at {offset}"
        assert kind == ACL or bool(flags & 1) == (kind == EVENT), f"direction at {offset}"
        packets.append(Packet((time - YEAR_2000) / 1e6, bool(flags & 1), kind, data[1:]))
        offset += 24 + included
    return packets


def statuses(packets):
    """The statuses of all Command Complete and Command Status events."""
    return {packet.data[5] if packet.data[0] == COMMAND_COMPLETE else packet.data[2]
            for packet in packets if packet.kind == EVENT
            and packet.data[0] in (COMMAND_COMPLETE, COMMAND_STATUS) and len(packet.data) > 5}


def advertising_intervals(packets):
    """(time, interval in seconds) each time advertising begins with another interval.

    The interval is that of the parameters last set when it is enabled, by legacy commands or by
    extended ones of one set.
    """
    intervals, interval = [], None
    for packet in packets:
        if packet.opcode == LE_SET_ADVERTISING_PARAMETERS:
            low, high = struct.unpack_from("<HH", packet.parameters)
            assert low == high, f"a range of intervals at {packet.time} s"
            interval = low * ADVERTISING_STEP_SECONDS
        elif packet.opcode == LE_SET_EXTENDED_ADVERTISING_PARAMETERS:
            low, high = packet.parameters[3:6], packet.parameters[6:9]
            assert low == high, f"a range of intervals at {packet.time} s"
            interval = int.from_bytes(low, "little") * ADVERTISING_STEP_SECONDS
        elif packet.opcode in ENABLES and packet.parameters[0] == 1:
            if not intervals or intervals[-1][1] != interval:
                intervals.append((packet.time, interval))
    return intervals
