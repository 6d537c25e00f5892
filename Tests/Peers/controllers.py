"""Bumble's virtual controllers, linked to each other, each on a transport of its own."""
import asyncio
import contextlib
import socket
import threading

from bumble.controller import Controller
from bumble.link import LocalLink
from bumble.transport import open_transport
from bumble.transport.tcp_server import open_tcp_server_transport_with_socket

START_SECONDS = 10
TRIES, TRY_SECONDS = 80, 0.1


class SetLink(LocalLink):
    """A link on which data come from the address of their connection.

    Bumble's own has them come from the controller's random address, by whichever advertising set
    the connection was made, and takes them for no connection's where the two differ.
    """

    def send_acl_data(self, sender_controller, destination_address, transport, data):
        connection = sender_controller.le_connections.get(destination_address)
        receiver = self.find_le_controller(destination_address)
        if connection and receiver:
            asyncio.get_running_loop().call_soon(
                receiver.on_link_acl_data, connection.self_address, transport, data)


@contextlib.contextmanager
def bumble_controllers(*others, count=2, link=None):
    """`count` controllers on TCP ports that were free, then one on each transport of `others`.

    They run in a thread of their own. Yields the `tcp-client:` names of the TCP ones.
    """
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    stack = contextlib.AsyncExitStack()

    def wait_for(coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(START_SECONDS)

    try:
        wait_for(start(stack, listeners, others, link or LocalLink()))
        yield [f"tcp-client:127.0.0.1:{one.getsockname()[1]}" for one in listeners]
    finally:
        wait_for(stack.aclose())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(START_SECONDS)
        loop.close()


async def start(stack, listeners, others, link):
    """Puts a controller on each listener and each transport; `stack` closes them."""
    for listener in listeners:
        transport = await open_tcp_server_transport_with_socket(listener)
        stack.callback(transport.server.close)
        attach(transport, link)
    for name in others:
        transport = await open_when_there(name)
        stack.push_async_callback(transport.close)
        attach(transport, link)


async def open_when_there(name):
    """Opens a transport, trying again while the other side is not yet there."""
    for _ in range(TRIES):
        with contextlib.suppress(OSError):
            return await open_transport(name)
        await asyncio.sleep(TRY_SECONDS)
    return await open_transport(name)


def attach(transport, link):
    """One controller between a host's transport and the link."""
    Controller(f"C{len(link.controllers)}", host_source=transport.source,
               host_sink=transport.sink, link=link)
