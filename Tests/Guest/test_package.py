"""The Debian package on a machine with adapters, with BlueZ as the phone."""
import re
import subprocess

import pytest

from machine import ROOT, obstacle, program, scenario

# Installing takes its time on an emulated processor.
SECONDS = 600


@pytest.fixture(scope="module")
def package():
    """The package's file."""
    if obstacle():
        pytest.skip(obstacle())
    program()
    return subprocess.run([str(ROOT / "Tools/package")], check=True, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL).stdout.strip()


def lines():
    """The lines of the README's block for a machine with an adapter; the first one builds."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"^```sh adapter\n(.*?)^```", text, re.MULTILINE | re.DOTALL).group(1)
    return [line.split("  #")[0].strip() for line in block.splitlines()]


@pytest.mark.long
def test_a_newcomers_phone_sees_the_accessory_after_the_lines_of_the_readme(package):
    first, *rest = lines()
    assert first == "Tools/package" and len(rest) <= 4 and package
    scenario("package", "newcomer", seconds=SECONDS, expected={"lines": rest})


@pytest.mark.long
def test_the_service_runs_with_little_power_and_comes_again(package):
    scenario("package", "service", seconds=SECONDS, expected={"package": package})
