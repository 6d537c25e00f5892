"""Two of RootCanal's controllers on one air, each behind a /dev/vhci of its own."""
import asyncio
import sys
from pathlib import Path

import plug

sys.path.append(str(Path(__file__).resolve().parent.parent.parent / "Peers"))
import rootcanal_peer  # noqa: E402

# The emulated processor is slow.
rootcanal_peer.START_SECONDS = 60

with rootcanal_peer.rootcanal("DEFAULT", "DEFAULT") as controllers:
    asyncio.run(plug.main(*controllers))
