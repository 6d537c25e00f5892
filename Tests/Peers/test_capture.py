"""Captures of runs in virtual time: equal bytes for equal seeds, right for tshark and the trace."""
import time
from pathlib import Path

import pytest
import yaml

import activity
import btsnoop
from emulator import profile, run
from tshark import assert_well_formed, tshark

HOUR = 3600
# The controller takes a moment to stop and start advertising.
CHANGE_SECONDS = 0.05
STEP_SECONDS = btsnoop.ADVERTISING_STEP_SECONDS


def capture_hour(path, seed=1):
    """An hour of environment-sensor, captured to `path`."""
    run("--profile", profile("environment-sensor"), "--virtual-time", "--duration", "1h",
        "--seed", str(seed), "--capture", str(path))


@pytest.fixture(scope="module")
def hour(tmp_path_factory):
    """The path of one captured hour."""
    path = tmp_path_factory.mktemp("capture") / "hour.btsnoop"
    capture_hour(path)
    return path


def test_equal_seeds_give_byte_equal_captures_in_two_processes(hour, tmp_path):
    capture_hour(tmp_path / "again.btsnoop")
    assert (tmp_path / "again.btsnoop").read_bytes() == hour.read_bytes()


def test_another_seed_gives_another_capture(hour, tmp_path):
    capture_hour(tmp_path / "other.btsnoop", seed=2)
    assert (tmp_path / "other.btsnoop").read_bytes() != hour.read_bytes()


def test_tshark_reads_the_capture_and_names_no_malformed_packet(hour):
    assert len(tshark(hour).splitlines()) == len(btsnoop.read(hour))
    assert_well_formed(hour)


def test_the_capture_begins_in_2000_and_time_never_goes_back(hour):
    times = [packet.time for packet in btsnoop.read(hour)]
    assert 0 <= times[0] < 1
    assert times == sorted(times)
    assert times[-1] <= HOUR


def test_the_interval_in_the_capture_follows_the_activity_of_the_trace(hour):
    path = Path(profile("environment-sensor"))
    expected = activity.intervals(
        yaml.safe_load(path.read_text(encoding="utf-8")), path.parent, HOUR)
    seen = btsnoop.advertising_intervals(btsnoop.read(hour))
    assert len(expected) > 2, "the packaged trace has no activity"
    assert len(seen) == len(expected), f"expected {expected}, seen {seen}"
    for (when, interval), (time_seen, interval_seen) in zip(expected, seen):
        assert abs(interval_seen - interval) <= STEP_SECONDS / 2, f"at {when} s"
        assert 0 <= time_seen - when <= CHANGE_SECONDS, f"expected {expected}, seen {seen}"


def test_every_interval_change_of_a_day_is_that_of_trace_and_rules(tmp_path):
    capture, path = tmp_path / "day.btsnoop", Path(profile("adaptive-tag"))
    start = time.monotonic()
    _, said = run("--profile", str(path), "--virtual-time", "--duration", "24h", "--capture",
                  str(capture))
    seconds = time.monotonic() - start
    packets = btsnoop.read(capture)
    seen = btsnoop.advertising_intervals(packets)
    expected = activity.intervals(
        yaml.safe_load(path.read_text(encoding="utf-8")), path.parent, 24 * HOUR)
    print(f"{len(seen)} intervals of 24 h equal the computed ones; {seconds:.2f} s")
    assert len(expected) > 100, "the packaged trace has no activity"
    differences = [(ours, theirs) for ours, theirs in zip(expected, seen)
                   if abs(ours[0] - theirs[0]) > 2e-6 or abs(ours[1] - theirs[1]) > 1e-6]
    assert not differences and len(seen) == len(expected), f"(computed, seen): {differences[:3]}"
    assert btsnoop.statuses(packets) == {0}, "the controller refused a command"
    assert seconds < 10, f"{seconds:.1f} s"
    report = said[said.index("advertising intervals, 24:00:00.000 in all"):].splitlines()
    assert max(map(len, report)) <= 80
    assert f"{len(seen) - 1} changes, 0 us off the air each" in report[5], report[:8]


def test_an_hour_of_virtual_time_takes_under_two_seconds(tmp_path):
    start = time.monotonic()
    capture_hour(tmp_path / "timed.btsnoop")
    seconds = time.monotonic() - start
    assert seconds < 2, f"{seconds:.1f} s"
