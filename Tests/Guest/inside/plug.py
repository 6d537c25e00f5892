"""An adapter that is on the program's air until this process ends: /dev/vhci and the air's door."""
import asyncio

from bumble.transport import open_transport

AIR = "tcp-client:127.0.0.1:6402"


async def main(*controllers):
    """Passes packets between each controller and an adapter of its own until it is killed."""
    plugs = []
    for name in controllers:
        # The kernel asks at once, so what answers must be there before.
        controller = await open_transport(name)
        host = await open_transport("vhci")
        controller.source.set_packet_sink(host.sink)
        host.source.set_packet_sink(controller.sink)
        plugs.append((controller, host))
    await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main(AIR))
