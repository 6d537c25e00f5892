"""What every peer test shares: long ones run only where asked for, and the binary is there."""
import os

import pytest

from emulator import binary


def pytest_collection_modifyitems(items):
    """Skips the long tests unless Tools/test --long asked for them."""
    if os.environ.get("PERIPHERAL_EMU_LONG"):
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="takes over a minute: Tools/test --long"))


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    """What accessories keep by themselves is each test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg-state"))


def pytest_report_header():
    """Names the program under test."""
    return f"program under test: {binary()}"
