"""The systemd unit: right in systemd's eyes, and with little power."""
import re
import shutil
import subprocess

import pytest

EXPOSURE_MAX = 3.0
UNIT = "usr/lib/systemd/system/peripheral-emu@.service"


@pytest.fixture(autouse=True)
def systemd():
    """Skips where there is no systemd."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd is not installed")


def test_systemd_finds_nothing_wrong_with_the_unit(tree, tmp_path):
    text = (tree / UNIT).read_text(encoding="utf-8")
    copy = tmp_path / "peripheral-emu@.service"
    # The package is not installed, so the program is where it was unpacked.
    copy.write_text(text.replace("=/usr/bin/", f"={tree}/usr/bin/"), encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(copy)],
                          capture_output=True, text=True, check=False)
    said = "\n".join(line for line in (done.stdout + done.stderr).splitlines()
                     if "peripheral-emu" in line)
    assert done.returncode == 0 and not said, said


def test_the_unit_gives_away_little(tree):
    done = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager",
                           str(tree / UNIT)], capture_output=True, text=True, check=False)
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert found and float(found.group(1)) < EXPOSURE_MAX, done.stdout + done.stderr
