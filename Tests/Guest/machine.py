"""Runs the scenarios in the virtual machine of Tools/vm, and keeps their logs when they fail."""
import functools
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
LOGS = ROOT / ".build/guest-logs"
PROFILES = ROOT / "Tests/Guest/profiles"
# The time-out of a scenario, and what booting may take beyond, thrice.
SECONDS = 300
SPARE_SECONDS = 240


@functools.cache
def obstacle():
    """Why there can be no machine here; empty if there can."""
    done = subprocess.run([str(ROOT / "Tools/vm"), "--prepare"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


@functools.cache
def program():
    """The static release, which the machine runs as it is."""
    subprocess.run([str(ROOT / "Tools/build-release")], check=True, stdin=subprocess.DEVNULL)
    return str(ROOT / ".build/static/release/peripheral-emu")


def scenario(module, function, *arguments, seconds=SECONDS, expected=None):
    """Runs a function of Tests/Guest/inside in a machine of its own and returns what it printed.

    `expected` is for the scenario to compare with. All logs are in .build/guest-logs; those of a
    scenario that did not fail are removed.
    """
    if obstacle():
        pytest.skip(obstacle())
    program()
    logs = LOGS / "-".join([module, function, *arguments])
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    (logs / "expected.json").write_text(json.dumps(expected), encoding="utf-8")
    done = subprocess.run(
        [str(ROOT / "Tools/vm"), "--timeout", str(seconds), "--share", str(logs), "--",
         sys.executable, str(ROOT / "Tests/Guest/inside/run.py"), module, function, *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=seconds + SPARE_SECONDS, check=False)
    (logs / "scenario.log").write_text(done.stdout, encoding="utf-8")
    assert done.returncode == 0, \
        f"the scenario ended with {done.returncode}; its logs are in {logs}\n{done.stdout}"
    shutil.rmtree(logs)
    return done.stdout
