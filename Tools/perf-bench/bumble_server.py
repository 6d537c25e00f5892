"""A Bumble peripheral with the load profile, to compare speeds with.

    bumble_server.py TRANSPORT
"""
import asyncio
import sys

from bumble import hci
from bumble.core import UUID, AdvertisingData
from bumble.device import Device, DeviceConfiguration
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.transport import open_transport

NOTIFIED = bytes(range(244))
# Notifications handed to the stack before the loop gets a turn to read what came.
BURST = 8


def uuid(number):
    """One of the load profile's own UUIDs."""
    return UUID(f"5D2A{number:04X}-8A2B-4C1D-9E3F-0123456789AB")


class LoadServer:
    """The load profile on one Bumble device."""

    def __init__(self, device):
        self.device = device
        self.written = 0
        self.subscribers = set()
        properties = Characteristic.Properties
        readable, writeable = Characteristic.READABLE, Characteristic.WRITEABLE
        self.notified = Characteristic(uuid(4), properties.NOTIFY, readable, NOTIFIED)
        self.notified.on("subscription", self.subscribed)
        device.add_service(Service(uuid(0), [
            Characteristic(uuid(1), properties.READ, readable, bytes(range(20))),
            Characteristic(uuid(2), properties.READ, readable, bytes(range(244))),
            Characteristic(uuid(3), properties.WRITE | properties.WRITE_WITHOUT_RESPONSE,
                           writeable, CharacteristicValue(write=self.count)),
            self.notified,
            Characteristic(uuid(5), properties.READ | properties.WRITE, readable | writeable,
                           b"initial"),
            Characteristic(uuid(7), properties.READ, readable,
                           CharacteristicValue(read=self.counter)),
        ]))

    def count(self, _connection, _value):
        """Counts the writes to 0003."""
        self.written += 1

    def counter(self, _connection):
        """The value of 0007."""
        return (self.written & 0xFFFFFFFF).to_bytes(4, "little")

    def subscribed(self, connection, notify, _indicate):
        """Begins or ends the stream of notifications to one central."""
        if notify:
            self.subscribers.add(connection)
            asyncio.get_running_loop().create_task(self.stream(connection))
        else:
            self.subscribers.discard(connection)

    async def stream(self, connection):
        """Notifies as fast as the stack takes it, two windows ahead of the controller."""
        packets = self.device.host.le_acl_packet_queue
        while connection in self.subscribers:
            for _ in range(BURST):
                await self.device.gatt_server.notify_subscriber(
                    connection, self.notified, NOTIFIED)
            await asyncio.sleep(0)
            while packets.pending > 2 * packets.max_in_flight and connection in self.subscribers:
                await asyncio.sleep(0)


async def main(transport_name):
    """Advertises the load profile until the controller is gone."""
    async with await open_transport(transport_name) as transport:
        device = Device.from_config_with_hci(
            DeviceConfiguration(name="Load Test", address=hci.Address("F0:F1:F2:F3:F4:F5"),
                                advertising_interval_min=20, advertising_interval_max=20),
            transport.source, transport.sink)
        server = LoadServer(device)
        device.on("connection", lambda connection: connection.on(
            "disconnection", lambda *_: server.subscribers.discard(connection)))
        await device.power_on()
        device.advertising_data = bytes(AdvertisingData([
            (AdvertisingData.Type.FLAGS, b"\x06"),
            (AdvertisingData.Type.COMPLETE_LOCAL_NAME, b"Load Test")]))
        await device.start_advertising(auto_restart=True)
        await transport.source.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
