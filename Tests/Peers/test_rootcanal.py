"""RootCanal's controllers between the program, or Bumble's peripheral, and a Bumble central."""
import asyncio

import pytest

from central import whole_run
from emulator import profile, running
from expectations import expectations
from rootcanal_peer import PRESETS, rootcanal
from test_central import bumble_peripheral, sample_expectations


@pytest.mark.parametrize("preset", PRESETS)
def test_a_central_finds_reads_writes_and_follows_the_accessory(preset):
    with rootcanal(preset, "DEFAULT") as (first, second):
        with running("--profile", profile("everything"), "--controller", first):
            asyncio.run(whole_run(second, expectations("everything")))


def test_the_whole_run_passes_against_bumbles_own_peripheral():
    async def run(first, second):
        async with bumble_peripheral(first) as device:
            await whole_run(second, sample_expectations(device))

    with rootcanal("LAIRD_BL654", "DEFAULT") as (first, second):
        asyncio.run(run(first, second))
