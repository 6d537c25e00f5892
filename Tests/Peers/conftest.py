"""What every peer test shares: long ones run only where asked for, and the binary is there."""
import pytest

from emulator import binary
from long_tests import skip_long


def pytest_collection_modifyitems(items):
    """Skips the long tests unless they were asked for."""
    skip_long(items)


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    """What accessories keep by themselves is each test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg-state"))


def pytest_report_header():
    """Names the program under test."""
    return f"program under test: {binary()}"
