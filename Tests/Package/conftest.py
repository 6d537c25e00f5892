"""What the tests of the Debian package share: the package itself, unpacked, and --long."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "Tools/debian"))


def pytest_collection_modifyitems(items):
    """Skips the long tests unless Tools/test --long asked for them."""
    if os.environ.get("PERIPHERAL_EMU_LONG"):
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="takes over a minute: Tools/test --long"))


def build(folder, **environment):
    """Builds the package; its path. $PERIPHERAL_EMU is a static release to take as it is."""
    given = os.environ.get("PERIPHERAL_EMU")
    done = subprocess.run(
        [str(ROOT / "Tools/package"), *(["--program", given] if given else []), str(folder)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


@pytest.fixture(scope="session")
def package(tmp_path_factory):
    """The package's file."""
    return build(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="session")
def tree(package, tmp_path_factory):
    """The package's files, unpacked and not installed."""
    folder = tmp_path_factory.mktemp("tree")
    subprocess.run(["dpkg-deb", "-x", str(package), str(folder)], check=True)
    return folder


@pytest.fixture(scope="session")
def program(tree):
    """The program of the package."""
    return tree / "usr/bin/peripheral-emu"


@pytest.fixture(scope="session")
def help_text(program):
    """What --help says."""
    return subprocess.run([str(program), "--help"], capture_output=True, text=True,
                          check=True).stdout
