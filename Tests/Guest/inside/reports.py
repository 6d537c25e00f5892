"""Extended advertising reports and periodic trains in a record of HCI packets (Core 6.0, Vol 4,
Part E, 7.7.65)."""
import struct
from dataclasses import dataclass

import btsnoop
from monitor import text

LE_META = 0x3E
EXTENDED_ADVERTISING_REPORT, SYNC_ESTABLISHED, PERIODIC_ADVERTISING_REPORT = 0x0D, 0x0E, 0x0F
# The data status of a report.
COMPLETE, MORE_TO_COME = 0, 1


@dataclass
class Advertisement:
    """An extended advertisement whose data came in so many reports."""
    address: str
    sid: int
    secondary_phy: int
    periodic_interval: int
    data: bytes = b""
    reports: int = 0


@dataclass
class Sync:
    """LE Periodic Advertising Sync Established."""
    status: int
    handle: int
    sid: int
    address: str
    phy: int
    interval: int


def meta(packets, subevent):
    """The parameters of each LE event of a kind."""
    return [packet.data[3:] for packet in packets if packet.kind == btsnoop.EVENT
            and packet.data[0] == LE_META and packet.data[2] == subevent]


def advertisements(packets):
    """Every extended advertisement that came whole."""
    whole, begun = [], {}
    for parameters in meta(packets, EXTENDED_ADVERTISING_REPORT):
        offset = 1
        for _ in range(parameters[0]):
            kind, address, phy, sid, interval, length = struct.unpack_from(
                "<Hx6sxBBxxH7xB", parameters, offset)
            offset += 24
            key = (address, sid)
            one = begun.pop(key, Advertisement(text(address), sid, phy, interval))
            one.data += parameters[offset:offset + length]
            one.reports += 1
            offset += length
            status = kind >> 5 & 3
            if status == MORE_TO_COME:
                begun[key] = one
            elif status == COMPLETE:
                whole.append(one)
    return whole


def syncs(packets):
    """Every LE Periodic Advertising Sync Established."""
    found = []
    for parameters in meta(packets, SYNC_ESTABLISHED):
        status, handle, sid, address, phy, interval = struct.unpack_from(
            "<BHBx6sBH", parameters)
        found.append(Sync(status, handle, sid, text(address), phy, interval))
    return found


def train(packets, handle):
    """The data of each packet of a train that came whole."""
    whole, begun = [], b""
    for parameters in meta(packets, PERIODIC_ADVERTISING_REPORT):
        sync, status, length = struct.unpack_from("<H3xBB", parameters)
        if sync == handle:
            begun += parameters[7:7 + length]
            if status == COMPLETE:
                whole.append(begun)
            if status != MORE_TO_COME:
                begun = b""
    return whole
