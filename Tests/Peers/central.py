"""A Bumble central that scans, connects, discovers, reads, writes and follows any accessory.

`Central` is one central on one HCI transport. `whole_run` takes an accessory through everything a
phone does with it and raises AssertionError with the step's name where something is not right.
"""
import asyncio
import contextlib
import difflib
import functools
import statistics
import time
from dataclasses import dataclass, field

from bumble import hci
from bumble.core import AdvertisingData
from bumble.device import Device, DeviceConfiguration, Peer
from bumble.gatt import Characteristic
from bumble.transport import open_transport

# Long enough for a slow machine; no step of a right accessory comes near it.
STEP_SECONDS = 20
# How many notifications of the slowest characteristic make its period sure.
NOTIFICATIONS = 4

PROPERTIES = {
    "broadcast": 0x01, "read": 0x02, "write-without-response": 0x04, "write": 0x08,
    "notify": 0x10, "indicate": 0x20, "authenticated-signed-writes": 0x40,
    "extended-properties": 0x80,
}


def uuid_text(uuid):
    """`180F` for a 16-bit UUID, else the usual 128-bit form; both in upper case."""
    octets = bytes(uuid)
    if len(octets) == 2:
        return octets[::-1].hex().upper()
    text = uuid.to_bytes(force_128=True)[::-1].hex().upper()
    return "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])


@dataclass
class CharacteristicEntry:
    """One characteristic of a discovered or printed tree."""
    handle: int
    uuid: str
    properties: set
    descriptors: list = field(default_factory=list)  # (handle, UUID)


@dataclass
class ServiceEntry:
    """One primary service of a discovered or printed tree; `handle` to `end` is its range."""
    handle: int
    end: int
    uuid: str
    characteristics: list = field(default_factory=list)


def tree_lines(tree):
    """A tree as text, one line an entry, for messages."""
    for service in tree:
        yield f"{service.handle:04X} to {service.end:04X} service {service.uuid}"
        for entry in service.characteristics:
            properties = " ".join(sorted(entry.properties))
            yield f"  {entry.handle:04X} characteristic {entry.uuid}: {properties}"
            for handle, uuid in entry.descriptors:
                yield f"    {handle:04X} descriptor {uuid}"


@dataclass
class Found:
    """What one scan heard of an accessory."""
    address: object
    name: str
    services: set
    connectable: bool
    seconds: float


@dataclass
class Expectations:
    """What a central must see of one profile."""
    name: str
    advertised: set
    tree: list
    followed: dict = field(default_factory=dict)  # UUID → seconds between two notifications
    write: str = None           # UUID of one written by request
    write_command: str = None   # UUID of one written by command
    values: dict = field(default_factory=dict)  # UUID → expected value
    mtu: int = 247
    scan_seconds: float = STEP_SECONDS


class Central:
    """One Bumble host in the central role. Make one with `Central.on`."""

    def __init__(self, device):
        self.device = device
        self.connection = None
        self.peer = None

    @staticmethod
    @contextlib.asynccontextmanager
    async def on(transport_name, address="C4:C3:C2:C1:C0:C9", **more):
        """A central, powered on, on the controller at `transport_name`."""
        async with await open_transport(transport_name) as transport:
            configuration = DeviceConfiguration(
                name="central", address=hci.Address(address), **more)
            device = Device.from_config_with_hci(
                configuration, transport.source, transport.sink)
            await asyncio.wait_for(device.power_on(), STEP_SECONDS)
            yield Central(device)

    async def find(self, name, services=(), seconds=STEP_SECONDS):
        """Scans until an accessory of this name, with all these services, is heard."""
        found = asyncio.get_running_loop().create_future()
        near = []
        start = time.monotonic()

        def heard(advertisement):
            entry = self.describe(advertisement, time.monotonic() - start)
            if entry.name == name and not found.done():
                near.append(entry.services)
                if set(services) <= entry.services:
                    found.set_result(entry)

        self.device.on("advertisement", heard)
        try:
            await self.device.start_scanning(active=True)
            return await asyncio.wait_for(found, seconds)
        except asyncio.TimeoutError:
            raise AssertionError(
                f"scan: \"{name}\" with {services or 'any services'} not heard within {seconds} s"
                f"; heard by that name: {near[-1:]}") from None
        finally:
            self.device.remove_listener("advertisement", heard)
            await self.device.stop_scanning()

    async def heard_at(self, name, count, seconds=STEP_SECONDS):
        """The times of `count` advertising reports in a row of an accessory of this name."""
        times, done = [], asyncio.get_running_loop().create_future()

        def heard(advertisement):
            now = time.monotonic()
            if self.describe(advertisement, 0).name == name:
                times.append(now)
                if len(times) == count and not done.done():
                    done.set_result(times)

        self.device.on("advertisement", heard)
        try:
            await self.device.start_scanning(active=False, filter_duplicates=False)
            return await asyncio.wait_for(done, seconds)
        except asyncio.TimeoutError:
            raise AssertionError(f"scan: {len(times)} of {count} reports in {seconds} s") from None
        finally:
            self.device.remove_listener("advertisement", heard)
            await self.device.stop_scanning()

    @staticmethod
    def describe(advertisement, seconds):
        """An advertisement's name and services as text."""
        data = advertisement.data
        name = data.get(AdvertisingData.Type.COMPLETE_LOCAL_NAME) \
            or data.get(AdvertisingData.Type.SHORTENED_LOCAL_NAME)
        services = set()
        for kind in (AdvertisingData.Type.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS,
                     AdvertisingData.Type.INCOMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS,
                     AdvertisingData.Type.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS,
                     AdvertisingData.Type.INCOMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS):
            services |= {uuid_text(uuid) for uuid in data.get(kind) or []}
        return Found(advertisement.address, name, services, advertisement.is_connectable, seconds)

    async def connect(self, address, mtu=247):
        """Connects and exchanges the MTU; 23 leaves it at the default. Returns the MTU in use."""
        self.connection = await asyncio.wait_for(
            self.device.connect(address, timeout=STEP_SECONDS), STEP_SECONDS + 1)
        self.peer = Peer(self.connection)
        if mtu > 23:
            return await asyncio.wait_for(self.peer.request_mtu(mtu), STEP_SECONDS)
        return 23

    async def discover(self):
        """Everything the accessory has, by the procedures a phone uses."""
        return await asyncio.wait_for(self.discover_tree(), STEP_SECONDS)

    async def discover_tree(self):
        """`discover` without its time limit."""
        tree = []
        for service in await self.peer.discover_services():
            entry = ServiceEntry(service.handle, service.end_group_handle,
                                 uuid_text(service.uuid))
            tree.append(entry)
            for characteristic in await service.discover_characteristics():
                descriptors = await characteristic.discover_descriptors()
                properties = int(characteristic.properties)
                entry.characteristics.append(CharacteristicEntry(
                    characteristic.handle, uuid_text(characteristic.uuid),
                    {name for name, bit in PROPERTIES.items() if properties & bit},
                    [(descriptor.handle, uuid_text(descriptor.type))
                     for descriptor in descriptors]))
        return tree

    def characteristic(self, uuid):
        """The discovered characteristic of this UUID."""
        for service in self.peer.services:
            for characteristic in service.characteristics:
                if uuid_text(characteristic.uuid) == uuid:
                    return characteristic
        raise AssertionError(f"discover: no characteristic {uuid}")

    async def read(self, uuid):
        """The value of the characteristic of this UUID, long ones whole."""
        return await self.read_handle(self.characteristic(uuid).handle)

    async def read_handle(self, handle):
        """The value of one attribute, long ones whole."""
        return bytes(await asyncio.wait_for(
            self.peer.gatt_client.read_value(handle), STEP_SECONDS))

    async def write(self, uuid, value, with_response=True):
        """Writes by request, or by command."""
        await asyncio.wait_for(
            self.characteristic(uuid).write_value(value, with_response=with_response),
            STEP_SECONDS)

    async def follow(self, counts, seconds):
        """Subscribes to each UUID of `counts` and waits until that many values of each have come.

        Then unsubscribes from all. Returns the (time, value) pairs of each UUID.
        """
        received = {uuid: [] for uuid in counts}
        enough = asyncio.Event()

        def notified(uuid, value):
            received[uuid].append((time.monotonic(), bytes(value)))
            if all(len(received[one]) >= count for one, count in counts.items()):
                enough.set()

        subscribers = {uuid: functools.partial(notified, uuid) for uuid in counts}
        for uuid, subscriber in subscribers.items():
            await asyncio.wait_for(
                self.characteristic(uuid).subscribe(subscriber), STEP_SECONDS)
        try:
            await asyncio.wait_for(enough.wait(), seconds)
        except asyncio.TimeoutError:
            come = {uuid: len(values) for uuid, values in received.items()}
            raise AssertionError(
                f"notify: within {seconds:.1f} s came {come}, expected {counts}") from None
        finally:
            for uuid, subscriber in subscribers.items():
                await asyncio.wait_for(
                    self.characteristic(uuid).unsubscribe(subscriber), STEP_SECONDS)
        return received

    async def disconnect(self):
        """Ends the connection."""
        await asyncio.wait_for(self.connection.disconnect(), STEP_SECONDS)
        self.connection = self.peer = None


def same(step, expected, seen):
    """Fails the step with both values where they differ."""
    assert seen == expected, f"{step}: expected {expected}, seen {seen}"


def same_tree(step, expected, seen):
    """Fails the step with the lines that differ."""
    if seen != expected:
        raise AssertionError(f"{step}: - expected, + seen\n" + "\n".join(
            difflib.unified_diff(list(tree_lines(expected)), list(tree_lines(seen)),
                                 lineterm="", n=1)))


async def read_everything(central, tree, values):
    """Reads each readable characteristic and all descriptors; known values are compared.

    Returns the values that do not move by themselves, by handle.
    """
    constant = {}
    for service in tree:
        for entry in service.characteristics:
            if "read" in entry.properties:
                value = await central.read_handle(entry.handle)
                if entry.uuid in values:
                    same(f"read {entry.uuid}", values[entry.uuid], value)
                if not entry.properties & {"notify", "indicate"}:
                    constant[entry.handle] = value
            for handle, _ in entry.descriptors:
                constant[handle] = await central.read_handle(handle)
    return constant


async def check_notifications(central, periods):
    """Follows these characteristics: their values come at the profile's periods."""
    if not periods:
        return
    longest = max(periods.values())
    # As many of each as come while the slowest brings its own.
    counts = {uuid: int((NOTIFICATIONS - 1) * longest / period) + 1
              for uuid, period in periods.items()}
    received = await central.follow(counts, longest * (NOTIFICATIONS + 2) + STEP_SECONDS)
    for uuid, period in periods.items():
        times = [when for when, _ in received[uuid]]
        # One that a busy machine has held up comes late and the next one soon after it.
        seen = statistics.median(after - before for before, after in zip(times, times[1:]))
        assert abs(seen - period) <= max(0.2 * period, 0.05), \
            f"notify: {uuid} every {seen:.3f} s, expected every {period} s"
    await check_silence(central, periods)


async def check_silence(central, periods):
    """Nothing comes from these characteristics while nobody is subscribed."""
    if not periods:
        return
    received = []
    for uuid in periods:
        central.characteristic(uuid).on("update", received.append)
    # What was on its way when the unsubscription was answered has arrived by now.
    await asyncio.sleep(0.2)
    received.clear()
    await asyncio.sleep(1.5 * max(periods.values()))
    same("unsubscribe", [], received)


async def check_writes(central, expected):
    """A write request and a write command each change the value that is read back."""
    for step, uuid, octet, with_response in (
            ("write and read back", expected.write, b"*", True),
            ("write without response", expected.write_command, b"+", False)):
        if not uuid:
            continue
        readable = central.characteristic(uuid).properties & Characteristic.Properties.READ
        # As long as the value there, so that it fits its format.
        value = octet * max(len(await central.read(uuid)) if readable else 1, 1)
        await central.write(uuid, value, with_response)
        if readable:
            same(step, value, await central.read(uuid))


async def check_session(central, expected):
    """Finds the accessory, connects, uses everything, and disconnects.

    Returns the values that a second session must read again.
    """
    found = await central.find(expected.name, expected.advertised, expected.scan_seconds)
    mtu = await central.connect(found.address, expected.mtu)
    same("mtu", expected.mtu, mtu)
    tree = await central.discover()
    same_tree("discover", expected.tree, tree)
    await read_everything(central, tree, expected.values)
    await check_writes(central, expected)
    await check_notifications(central, expected.followed)
    constant = await read_everything(central, tree, {})
    await central.disconnect()
    return constant


async def check_second_session(central, expected, constant):
    """Finds the accessory again; at the default MTU it shows the same, and nobody is subscribed."""
    found = await central.find(expected.name)
    await central.connect(found.address, 23)
    tree = await central.discover()
    same_tree("discover at MTU 23", expected.tree, tree)
    same("read at MTU 23", constant, await read_everything(central, tree, {}))
    await check_silence(central, expected.followed)
    await central.disconnect()
    await central.find(expected.name)


async def whole_run(transport_name, expected, seconds=100):
    """Two sessions, so that advertising is seen to resume after each."""
    async def run():
        async with Central.on(transport_name) as central:
            constant = await check_session(central, expected)
            await check_second_session(central, expected, constant)

    await asyncio.wait_for(run(), seconds)
