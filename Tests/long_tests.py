"""Long tests run only where Tools/test --long asks for them; each conftest.py says so to pytest."""
import os

import pytest


def skip_long(items, reason="takes over a minute: Tools/test --long"):
    """Skips the tests that are marked as long, unless they were asked for."""
    if os.environ.get("PERIPHERAL_EMU_LONG"):
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason=reason))
