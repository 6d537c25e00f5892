"""What the device feels while it runs: lines of other processes, and what a central sees."""
import asyncio
import re
import statistics
import subprocess
import sys
import time

import pytest

import btsnoop
from central import Central
from controllers import bumble_controllers
from emulator import Emulator, profile, run, running
from fake_controller import COMMAND_DISALLOWED
from rootcanal_peer import rootcanal
from test_air import LISTENING

PROFILE = """
peripheral-emu: 1
device: {{name: Feeler}}
activity:
  source: {source}
  active-above: 0.12 g
  idle-below: 0.05 g
  hold: 1 s
  window: 500 ms
advertising:
  - type: connectable
    interval: {{policy: activity, active: 100 ms, idle: 300 ms, fallback: 500 ms}}
    data: [{{flags: [general-discoverable, no-br-edr]}}, {{name: complete}}]
"""
WINDOW = 0.5
# What the scheduler of a busy machine may add.
SCHEDULING_SECONDS = 0.25
CHANGE = r"interval ([\d.]+) ms -> ([\d.]+) ms"
GAP = r"every ([\d.]+) ms, after (\d+) us off the air"
ADV_DELAY_MEAN = 0.005


def feeler(folder, source="stdin"):
    """The path of a profile with this source."""
    path = folder / "feeler.yaml"
    path.write_text(PROFILE.format(source=source), encoding="utf-8")
    return str(path)


def write_line(path, line):
    """Lets another process write a line to a fifo; returns when it has."""
    subprocess.run([sys.executable, "-c", "import sys; print(sys.argv[1], file=open(sys.argv[2], "
                    "'w'), flush=True)", line, str(path)], check=True, timeout=20)
    return time.monotonic()


def test_lines_in_a_fifo_change_the_interval_within_a_window(tmp_path):
    fifo = tmp_path / "motion"
    with running("--profile", feeler(tmp_path, f"{{fifo: {fifo}}}"), "--controller", "virtual",
                 "--air", "127.0.0.1:0") as emulator:
        emulator.wait_for("advertising connectable")
        written = write_line(fifo, "0.5")
        emulator.wait_for("interval 300 ms -> 100 ms: activity above 0.12 g RMS over 500 ms")
        latency = time.monotonic() - written
        print(f"active {latency * 1000:.1f} ms after the line was written; window 500 ms")
        assert latency < WINDOW + SCHEDULING_SECONDS
        written = write_line(fifo, "0")
        emulator.wait_for("interval 100 ms -> 300 ms: idle: below 0.05 g for 1 s")
        latency = time.monotonic() - written
        print(f"idle {latency * 1000:.1f} ms after the line was written; hold 1 s")
        assert latency < 1 + WINDOW + SCHEDULING_SECONDS
        write_line(fifo, "0.3;0.4")
        emulator.wait_for("activity source fifo:.* is lost: line 3: '0.3;0.4' is no number")
        emulator.wait_for("interval 300 ms -> 500 ms: signal lost")
        write_line(fifo, "0")
        emulator.wait_for("interval 500 ms -> 300 ms: signal returned")
    assert not fifo.exists()


def test_the_same_lines_as_a_trace_change_it_at_the_exact_microsecond(tmp_path):
    (tmp_path / "lines.csv").write_text("time,magnitude\n2,0.5\n4,0\n", encoding="utf-8")
    capture = tmp_path / "lines.btsnoop"
    run("--profile", feeler(tmp_path, "{csv: lines.csv}"), "--virtual-time", "--duration", "10s",
        "--capture", str(capture))
    # Energies in (0.0001 g)^2 us: a signal is above when its energy is greater, not equal.
    window, value, above, below = 500_000, 5000, 1200, 500
    active = 2_000_000 + above ** 2 * window // value ** 2 + 1
    quiet = 4_000_000 + window - (below ** 2 * window - 1) // value ** 2
    expected = [(0, 480), (active, 160), (quiet + 1_000_000, 480)]
    seen = [(round(time * 1e6), round(interval / btsnoop.ADVERTISING_STEP_SECONDS))
            for time, interval in btsnoop.advertising_intervals(btsnoop.read(capture))]
    assert seen == expected


def test_a_socket_and_standard_input_are_followed_too(tmp_path):
    path = tmp_path / "motion"
    with running("--profile", feeler(tmp_path), "--controller", "virtual", "--air", "127.0.0.1:0",
                 "--activity", f"socket:{path}") as emulator:
        emulator.wait_for("advertising connectable")
        subprocess.run([sys.executable, "-c", "import socket, sys, time\n"
                        "one = socket.socket(socket.AF_UNIX)\none.connect(sys.argv[1])\n"
                        "one.send(b'0.3,0.4,1.2\\n')\ntime.sleep(1)", str(path)],
                       check=True, timeout=20)
        emulator.wait_for("interval 300 ms -> 100 ms")
        emulator.wait_for("socket:.* is lost: the client has gone")
        emulator.wait_for("interval 100 ms -> 500 ms")
    assert not path.exists()
    # The tests' standard input is /dev/null, which ends at once.
    with running("--profile", feeler(tmp_path), "--controller", "virtual",
                 "--air", "127.0.0.1:0") as emulator:
        emulator.wait_for("activity source stdin is lost: standard input has ended")


def test_a_central_measures_the_interval_before_and_after(tmp_path):
    fifo = tmp_path / "motion"

    async def measure(central, count):
        times = await central.heard_at("Feeler", count)
        spacings = [later - earlier for earlier, later in zip(times, times[1:])]
        return statistics.median(spacings) - ADV_DELAY_MEAN

    async def session(transport):
        async with Central.on(transport) as central:
            before = await measure(central, 41)
            write_line(fifo, "0.5")
            await asyncio.sleep(0.2)
            return before, await measure(central, 81)

    with running("--profile", feeler(tmp_path), "--controller", "virtual", "--air", "127.0.0.1:0",
                 "--activity", f"fifo:{fifo}") as emulator:
        address = emulator.wait_for(LISTENING).group(1)
        measured = asyncio.run(session(f"tcp-client:{address}"))
    for interval, seen in zip((0.3, 0.1), measured):
        print(f"interval {interval * 1000:g} ms, measured {seen * 1000:.2f} ms")
        assert abs(seen - interval) < 0.02 * interval


def test_the_gap_of_a_change_on_another_controller_is_measured(tmp_path):
    fifo, capture = tmp_path / "motion", tmp_path / "gaps.btsnoop"
    with bumble_controllers(count=1) as (transport,):
        emulator = Emulator(["--profile", feeler(tmp_path), "--controller", transport,
                             "--activity", f"fifo:{fifo}", "--capture", str(capture)])
        emulator.wait_for("advertising connectable every 300 ms")
        write_line(fifo, "0.5")
        gap = int(emulator.wait_for(GAP).group(2))
        print(f"{gap} us off the air on Bumble's controller")
        assert 0 < gap < 1_000_000
        code, said = emulator.stop(), emulator.output()
    assert code == 0
    assert f"1 change, {gap} us off the air each" in said
    assert btsnoop.statuses(btsnoop.read(capture)) == {0}


HASTY = """
peripheral-emu: 1
device: {name: Hasty}
advertising:
  - type: connectable
    interval:
      policy: loop
      phases: [{interval: 20 ms, for: 30 ms}, {interval: 100 ms, for: 10 ms}]
    data: [{flags: [general-discoverable, no-br-edr]}, {name: complete}]
"""
HASTY_SECONDS = 3


async def come_and_go(transport, times):
    """A central that comes and goes, so that connections meet changes of the interval."""
    async with Central.on(transport) as central:
        for _ in range(times):
            await central.connect((await central.find("Hasty")).address)
            await central.disconnect()
        await asyncio.sleep(HASTY_SECONDS)


def hasty_run(folder, first, second, times):
    """Changes and connections on `first`; the statuses of its controller, and how many changes."""
    path, capture = folder / "hasty.yaml", folder / "hasty.btsnoop"
    path.write_text(HASTY, encoding="utf-8")
    with running("--profile", str(path), "--controller", first, "--capture", str(capture)):
        asyncio.run(come_and_go(second, times))
    packets = btsnoop.read(capture)
    changes = len(btsnoop.advertising_intervals(packets)) - 1
    print(f"{changes} changes of the interval, statuses {sorted(btsnoop.statuses(packets))}")
    return btsnoop.statuses(packets), changes


def test_hasty_changes_and_connections_never_earn_command_disallowed_of_rootcanal(tmp_path):
    with rootcanal("DEFAULT", "DEFAULT") as (first, second):
        statuses, changes = hasty_run(tmp_path, first, second, times=2)
    assert COMMAND_DISALLOWED not in statuses
    assert changes > 10


def test_hasty_changes_never_earn_command_disallowed_of_bumbles_controller(tmp_path):
    # A connection that meets a change is lost in Bumble's controller: none is made here.
    with bumble_controllers() as (first, second):
        statuses, changes = hasty_run(tmp_path, first, second, times=0)
    assert COMMAND_DISALLOWED not in statuses
    assert changes > 10


@pytest.mark.parametrize("source", ["stdin", "fifo:/no/fifo", "socket:/no/socket", "iio:lis3dh"])
def test_virtual_time_refuses_what_lives_in_real_time(source):
    _, messages = run("--profile", profile("adaptive-tag"), "--virtual-time", "--duration", "1s",
                      "--activity", source, code=2)
    assert f"--virtual-time cannot follow {source}" in messages and "csv:FILE" in messages


def test_a_trace_takes_the_place_of_the_profiles_source(tmp_path):
    trace = tmp_path / "own.csv"
    trace.write_text("time,x\n1,0.5\n2,0\n", encoding="utf-8")
    _, said = run("--profile", profile("environment-sensor"), "--virtual-time", "--duration", "20s",
                  "--activity", f"csv:{trace},x")
    assert re.findall(CHANGE, said) == [("1285", "152.5"), ("152.5", "1285")]
    _, said = run("--profile", profile("environment-sensor"), "--virtual-time", "--duration", "20s",
                  "--activity", f"csv:{trace}", code=2)
    assert "has no column 'magnitude'" in said


@pytest.mark.parametrize("source", ["", "csv:", "fifo", "gatt", "tape:x"])
def test_an_unknown_activity_source_is_refused_with_those_there_are(source):
    _, messages = run("--profile", profile("adaptive-tag"), "--activity", source, code=2)
    assert "is no activity source" in messages and "fifo:PATH" in messages


def test_a_profile_without_activity_has_nothing_to_replace():
    _, messages = run("--profile", profile("battery"), "--activity", "stdin", code=2)
    assert "has no 'activity:'" in messages


def test_a_sensor_that_is_not_there_ends_with_3():
    _, messages = run("--profile", profile("adaptive-tag"), "--controller", "virtual",
                      "--air", "127.0.0.1:0", "--activity", "iio:no-such-sensor", code=3)
    assert "cannot find the sensor no-such-sensor" in messages
