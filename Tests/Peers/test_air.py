"""A Bumble central on the air of the embedded virtual controller, over TCP."""
import asyncio

import pytest

from central import whole_run
from emulator import profile, running
from expectations import expectations

LISTENING = r"air: listening on (127\.0\.0\.1:\d+)"
CENTRAL = "C4:C3:C2:C1:C0:C9"


def run_on_air(name, *options):
    """A central's whole run with the profile of this name; returns what the program said."""
    expected = expectations(name)
    with running("--profile", profile(name), "--controller", "virtual", "--seed", "1",
                 "--air", "127.0.0.1:0", *options) as emulator:
        address = emulator.wait_for(LISTENING).group(1)
        asyncio.run(whole_run(f"tcp-client:{address}", expected))
        return emulator.output()


@pytest.mark.parametrize("name", ["environment-sensor", "core-bluetooth-sample", "bluetify"])
def test_a_central_finds_reads_writes_and_follows_the_accessory(name):
    said = run_on_air(name)
    assert CENTRAL in said, f"no word of the central:\n{said}"


def test_the_same_with_ideal_timing():
    run_on_air("core-bluetooth-sample", "--air-timing", "ideal")
