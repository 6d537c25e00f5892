"""The Bumble central checked against Bumble's own peripheral, so that it can be trusted later."""
import asyncio
import contextlib

import pytest
from bumble import hci
from bumble.core import AdvertisingData
from bumble.core import UUID as BumbleUUID
from bumble.device import Device, DeviceConfiguration
from bumble.gatt import Characteristic, Descriptor, Service
from bumble.transport import open_transport

from central import (CharacteristicEntry, Expectations, PROPERTIES, ServiceEntry, uuid_text,
                     whole_run)
from controllers import bumble_controllers

NOTIFY_PERIOD = 0.2
CHARACTERISTIC = "2803"


def sample_service():
    """One service with a value to read, write and follow."""
    properties = Characteristic.Properties
    value = Characteristic(
        BumbleUUID.from_16_bits(0x5678),
        properties.READ | properties.WRITE | properties.WRITE_WITHOUT_RESPONSE
        | properties.NOTIFY,
        Characteristic.READABLE | Characteristic.WRITEABLE, b"\x01",
        [Descriptor(BumbleUUID.from_16_bits(0x2901), Descriptor.READABLE, b"Sample")])
    own = Characteristic(
        BumbleUUID("5D2A0001-8A2B-4C1D-9E3F-0123456789AB"), properties.READ,
        Characteristic.READABLE, bytes(range(200)))
    return Service(BumbleUUID.from_16_bits(0x1234), [value, own]), value


def server_tree(device):
    """The tree of a Bumble GATT server, from its own list of attributes."""
    types = {one.handle: uuid_text(one.type) for one in device.gatt_server.attributes}
    tree = []
    for service in device.gatt_server.services:
        entry = ServiceEntry(service.handle, service.end_group_handle, uuid_text(service.uuid))
        tree.append(entry)
        for characteristic in service.characteristics:
            properties = int(characteristic.properties)
            descriptors = []
            handle = characteristic.handle + 1
            while handle <= service.end_group_handle and types[handle] != CHARACTERISTIC:
                descriptors.append((handle, types[handle]))
                handle += 1
            entry.characteristics.append(CharacteristicEntry(
                characteristic.handle, uuid_text(characteristic.uuid),
                {name for name, bit in PROPERTIES.items() if properties & bit}, descriptors))
    return tree


@contextlib.asynccontextmanager
async def bumble_peripheral(transport_name, period=NOTIFY_PERIOD):
    """A Bumble peripheral that notifies its value every `period` seconds."""
    async with await open_transport(transport_name) as transport:
        device = Device.from_config_with_hci(
            DeviceConfiguration(name="Peer Sample", address=hci.Address("F0:F1:F2:F3:F4:F5"),
                                advertising_interval_min=20, advertising_interval_max=20),
            transport.source, transport.sink)
        service, value = sample_service()
        device.add_service(service)

        async def notify():
            while True:
                await asyncio.sleep(period)
                await device.notify_subscribers(value)

        await device.power_on()
        device.advertising_data = bytes(AdvertisingData([
            (AdvertisingData.Type.FLAGS, b"\x06"),
            (AdvertisingData.Type.COMPLETE_LOCAL_NAME, b"Peer Sample"),
            (AdvertisingData.Type.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, b"\x34\x12")]))
        await device.start_advertising(auto_restart=True)
        notifier = asyncio.create_task(notify())
        try:
            yield device
        finally:
            notifier.cancel()


def sample_expectations(device):
    """What the sample peripheral shows."""
    return Expectations(
        name="Peer Sample", advertised={"1234"}, tree=server_tree(device),
        followed={"5678": NOTIFY_PERIOD}, scan_seconds=3, write="5678", write_command="5678",
        values={"5D2A0001-8A2B-4C1D-9E3F-0123456789AB": bytes(range(200))})


def run_against_bumble(change=lambda expected: None):
    """The whole run against Bumble's peripheral, with the expectations changed first."""
    async def run(first, second):
        async with bumble_peripheral(first) as device:
            expected = sample_expectations(device)
            change(expected)
            await whole_run(second, expected)

    with bumble_controllers() as (first, second):
        asyncio.run(run(first, second))


def test_the_whole_run_passes_against_bumbles_own_peripheral():
    run_against_bumble()


@pytest.mark.parametrize("step, change", [
    ("scan", lambda expected: expected.advertised.add("180F")),
    ("discover", lambda expected: expected.tree.pop()),
    ("discover", lambda expected: setattr(expected.tree[-1], "end", 0xFFFF)),
    ("read", lambda expected: expected.values.update({"5678": b"\x02"})),
    ("notify", lambda expected: expected.followed.update({"5678": 2 * NOTIFY_PERIOD})),
    ("mtu", lambda expected: setattr(expected, "mtu", 600)),
])
def test_a_wrong_accessory_fails_at_the_step_that_is_wrong(step, change):
    with pytest.raises(AssertionError, match=f"^{step}"):
        run_against_bumble(change)
