"""A long time on a lossy air: nothing is lost for ever, and the process does not grow."""
import os
import re
import subprocess
from pathlib import Path

from emulator import binary

# What an hour may have taken more than its first ten minutes had, in KiB: pages that the allocator
# happens to touch. A leak of one answer a procedure would be more.
GROWTH_MAX = 256


def test_an_hour_of_thirty_per_cent_loss_takes_no_more_memory_than_ten_minutes():
    program = os.environ.get("PERIPHERAL_EMU_LOSSY_HOUR") or Path(binary()).parent / "lossy-hour"
    done = subprocess.run([program, "10", "60"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
    procedures, resident = zip(*(
        (int(count), int(size))
        for count, size in re.findall(r"(\d+) procedures.* at most (\d+) kB", done.stdout)))
    assert procedures[1] >= 4 * procedures[0] >= 400
    assert resident[1] - resident[0] <= GROWTH_MAX, done.stdout
