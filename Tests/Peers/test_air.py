"""A Bumble central on the air of the embedded virtual controller, over TCP."""
import asyncio

import pytest

from central import whole_run
from emulator import profile, running
from expectations import SESSIONS, expectations
from tshark import assert_well_formed, tshark

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


@pytest.mark.parametrize("name", SESSIONS)
def test_a_central_finds_reads_writes_and_follows_the_accessory(name):
    said = run_on_air(name)
    assert CENTRAL in said, f"no word of the central:\n{said}"


def test_a_capture_of_a_whole_session_is_well_formed(tmp_path):
    path = tmp_path / "session.btsnoop"
    run_on_air("everything", "--capture", str(path))
    opcodes = set(tshark(path, "-T", "fields", "-e", "btatt.opcode").split())
    # Exchange MTU, discovery, Read, Write Request, Write Command, notification, indication.
    assert {"0x02", "0x03", "0x08", "0x0a", "0x0b", "0x12", "0x52", "0x1b", "0x1d"} <= opcodes
    assert_well_formed(path)


def test_the_same_with_ideal_timing():
    run_on_air("everything", "--air-timing", "ideal")
