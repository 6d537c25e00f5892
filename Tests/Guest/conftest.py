"""What the guest tests share: the modules of the peer tests, and --long."""
import sys

from long_tests import skip_long
from machine import ROOT, obstacle

sys.path.append(str(ROOT / "Tests/Peers"))


def pytest_collection_modifyitems(items):
    """Skips the long tests unless they were asked for."""
    skip_long(items, "more than the smoke pass: Tools/test --long")


def pytest_report_header():
    """Says first where nothing can run."""
    return f"virtual machine: {obstacle() or 'Tools/vm'}"
