"""What the guest tests share: the modules of the peer tests, and --long."""
import os
import sys

import pytest

from machine import ROOT, obstacle

sys.path.append(str(ROOT / "Tests/Peers"))


def pytest_collection_modifyitems(items):
    """Skips the long tests unless Tools/test --long asked for them."""
    if os.environ.get("PERIPHERAL_EMU_LONG"):
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="more than the smoke pass: Tools/test --long"))


def pytest_report_header():
    """Says first where nothing can run."""
    return f"virtual machine: {obstacle() or 'Tools/vm'}"
