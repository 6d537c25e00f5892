"""Bumble's virtual controllers, linked to each other, each on a transport of its own."""
import contextlib
import socket

from bumble.controller import Controller
from bumble.link import LocalLink
from bumble.transport import open_transport
from bumble.transport.tcp_server import open_tcp_server_transport_with_socket


@contextlib.asynccontextmanager
async def bumble_controllers(*others, count=2):
    """`count` controllers on TCP ports that were free, then one on each transport of `others`.

    Yields the `tcp-client:` names of the TCP ones.
    """
    link, controllers, names = LocalLink(), [], []
    async with contextlib.AsyncExitStack() as stack:
        for index in range(count):
            listener = socket.create_server(("127.0.0.1", 0))
            names.append(f"tcp-client:127.0.0.1:{listener.getsockname()[1]}")
            transport = await open_tcp_server_transport_with_socket(listener)
            stack.callback(transport.server.close)
            controllers.append(controller(f"C{index}", transport, link))
        for name in others:
            transport = await open_transport(name)
            stack.push_async_callback(transport.close)
            controllers.append(controller(name, transport, link))
        yield names


def controller(name, transport, link):
    """One controller between a host's transport and the link."""
    return Controller(
        name, host_source=transport.source, host_sink=transport.sink, link=link)
