"""Two of Bumble's controllers, linked, each behind a /dev/vhci of its own.

They claim less than Bumble's usual ones: those have the feature LL Privacy and yet report plain LE
Connection Complete events, for which the kernel does not wait then.
"""
import asyncio

from bumble.controller import Controller
from bumble.hci import LeFeatureMask
from bumble.link import LocalLink
from bumble.transport import open_transport

NOT_CLAIMED = LeFeatureMask.LL_PRIVACY | LeFeatureMask.LE_EXTENDED_ADVERTISING


async def main():
    """Serves until it is killed."""
    link = LocalLink()
    transports = []
    for name in ("C0", "C1"):
        transport = await open_transport("vhci")
        transports.append(transport)
        controller = Controller(
            name, host_source=transport.source, host_sink=transport.sink, link=link)
        controller.le_features &= ~NOT_CLAIMED
    await asyncio.get_running_loop().create_future()


asyncio.run(main())
