"""The program as HCI host of Bumble's virtual controller, a Bumble central on the other one."""
import asyncio

import pytest

from central import whole_run
from controllers import bumble_controllers
from emulator import profile, running
from expectations import SESSIONS, expectations


@pytest.mark.parametrize("name", SESSIONS)
def test_a_central_finds_reads_writes_and_follows_the_accessory(name):
    with bumble_controllers() as (first, second):
        with running("--profile", profile(name), "--controller", first, "--seed", "1"):
            # These controllers answer a scan request with the advertising data again.
            asyncio.run(whole_run(second, expectations(name, parts=("data",))))
