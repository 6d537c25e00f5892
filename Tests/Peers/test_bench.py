"""The power benchmark on the command line: shared out, advised, refused, and as POWER.md says."""
import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from emulator import ROOT, binary

SWEEP = ["--profile", "Profiles/environment-sensor.yaml", "--duration", "2h", "--precision", "20%",
         "--scanner", "android-13-balanced", "--sweep", "policy=fixed,activity",
         "--sweep", "interval=apple"]

SECONDS = 30


def bench(*arguments, **kwargs):
    """Runs bench in the project's folder."""
    return subprocess.run(
        [str(binary()), "bench", *arguments], cwd=ROOT, capture_output=True, text=True,
        timeout=100, check=False, **kwargs)


@contextlib.contextmanager
def long_bench():
    """A benchmark of two processes that takes longer than a test."""
    process = subprocess.Popen(
        [str(binary()), "bench", "--profile", "Profiles/adaptive-tag.yaml", "--duration", "50y",
         "--precision", "0.1%", "--sweep", "active=apple", "--sweep", "idle=apple", "--jobs", "2"],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def workers(process):
    """The two processes that it has started."""
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    end = time.monotonic() + SECONDS
    while len(found := path.read_text(encoding="ascii").split()) < 2:
        assert process.poll() is None and time.monotonic() < end, process
        time.sleep(0.05)
    return [int(each) for each in found]


def test_output_is_equal_alone_in_two_processes_and_merged_from_four_shards(tmp_path):
    """Byte for byte, in every form."""
    parts = []
    for number in range(1, 5):
        done = bench(*SWEEP, "--shard", f"{number}/4")
        assert done.returncode == 0, done.stderr
        path = tmp_path / f"{number}.json"
        path.write_text(done.stdout)
        parts.append(str(path))
    for form in ([], ["--json"], ["--csv", str(tmp_path / "out.csv")],
                 ["--target-life", "1y", "--target-p95", "5s@any"]):
        outputs = []
        for command in ([*SWEEP, *form], [*SWEEP, "--jobs", "2", *form],
                        ["merge", *reversed(parts), *form]):
            done = bench(*command)
            assert done.returncode == 0, done.stderr
            assert done.stderr == ""
            table = tmp_path / "out.csv"
            outputs.append((done.stdout, table.read_text() if table.exists() else None))
        assert outputs[0][0]
        assert outputs[0] == outputs[1] == outputs[2]


def test_a_missing_part_is_named(tmp_path):
    """Merging less than all is refused."""
    part = tmp_path / "1.json"
    part.write_text(bench(*SWEEP, "--shard", "1/3").stdout)
    done = bench("merge", str(part))
    assert done.returncode == 2
    assert "2 of 3 parts are missing: 2, 3" in done.stderr
    part.write_text("{}")
    done = bench("merge", str(part))
    assert done.returncode == 2
    assert "is no part of a benchmark" in done.stderr


def test_parts_of_different_sweeps_are_not_joined(tmp_path):
    """As many policies, but others."""
    parts = []
    for number, values in ((1, "100ms,1s"), (2, "110ms,1s")):
        path = tmp_path / f"{number}.json"
        path.write_text(bench(*SWEEP[:8], "--sweep", f"interval={values}",
                              "--sweep", "policy=fixed", "--shard", f"{number}/2").stdout)
        parts.append(str(path))
    done = bench("merge", *parts)
    assert done.returncode == 2 and done.stdout == ""
    assert "policies is interval=110ms,1s policy=fixed, not interval=100ms,1s" in done.stderr


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_processes_end_with_the_one_that_started_them(how):
    with long_bench() as process:
        children = workers(process)
        process.send_signal(how)
        process.wait(SECONDS)
        end = time.monotonic() + SECONDS
        while any(Path(f"/proc/{child}/cmdline").exists() for child in children):
            assert time.monotonic() < end, children
            time.sleep(0.05)


def test_a_process_that_is_killed_ends_the_others_and_is_told():
    with long_bench() as process:
        children = workers(process)
        os.kill(children[0], signal.SIGKILL)
        assert process.wait(SECONDS) == 3
        assert "was ended by signal 9; run it again" in process.stderr.read()
        assert not any(Path(f"/proc/{child}/cmdline").exists() for child in children)


@pytest.mark.parametrize("option", ["--csv", "--html"])
def test_a_file_that_cannot_be_written_is_told_before_the_work(option, tmp_path):
    started = time.monotonic()
    done = bench("--profile", "Profiles/adaptive-tag.yaml", "--duration", "50y",
                 option, "/nowhere/x")
    assert done.returncode == 3 and time.monotonic() - started < 5
    assert done.stderr == "cannot write /nowhere/x: No such file or directory\n"
    done = bench("--profile", "Profiles/adaptive-tag.yaml", option, str(tmp_path))
    assert done.returncode == 3 and "Is a directory" in done.stderr
    # What is there stays until there is something to write.
    kept = tmp_path / "kept"
    kept.write_text("old")
    done = bench("--profile", "Profiles/adaptive-tag.yaml", "--target-p95", "1s@pickup",
                 "--tx-power", "99", option, str(kept))
    assert done.returncode != 0 and kept.read_text() == "old"


def test_targets_are_met_with_yaml_to_paste_or_missed_by_how_much(tmp_path):
    """What is pasted loads, and has the figures that were promised."""
    done = bench(*SWEEP, "--target-p95", "5s@any")
    assert done.returncode == 0, done.stderr
    assert "The cheapest policy with 95 of 100 found within 5 s at any time" in done.stdout
    interval = re.search(r"^interval: (.+)$", done.stdout, re.M).group(1)
    profile = tmp_path / "own.yaml"
    text = (ROOT / "Profiles/environment-sensor.yaml").read_text()
    text = re.sub(r"    interval:\n(      .*\n)+", f"    interval: {interval}\n", text)
    profile.write_text(text.replace("traces/", f"{ROOT}/Profiles/traces/"))
    again = bench("--profile", str(profile), "--duration", "2h", "--precision", "20%",
                  "--scanner", "android-13-balanced", "--json")
    assert again.returncode == 0, again.stderr
    latencies = json.loads(again.stdout)["points"][0]["latencies"][0]
    assert [each["p95_s"][0] <= 5 for each in latencies if each["start"] == "any"] == [True]
    done = bench(*SWEEP, "--target-life", "40y")
    assert done.returncode == 1
    assert "No policy has a life of 40 years. The nearest is" in done.stdout
    assert "off by" in done.stdout


BAD = [
    ("time,magnitude\n0,0\n10,0\n20,0\n30,0\n9000,0\n", "says nothing from 30 s to 9000 s"),
    ("time,magnitude\n10,0\n5,0\n", "the time does not rise"),
    ("time,magnitude\n0,nan\n", "'nan' is no decimal number"),
    ("time,magnitude\n", "the trace has no rows"),
    ("", "the trace has no rows"),
]


@pytest.mark.parametrize("trace,problem", BAD)
def test_a_bad_trace_is_refused_with_the_reason(tmp_path, trace, problem):
    """Each so, and with exit code 2."""
    path = tmp_path / "trace.csv"
    path.write_text(trace)
    done = bench("--profile", "Profiles/environment-sensor.yaml", "--activity", f"csv:{path}")
    assert done.returncode == 2
    assert problem in done.stderr
    assert done.stdout == ""


def test_a_trace_of_a_hundred_million_rows_is_refused_before_it_is_read(tmp_path):
    """The file has no blocks, so reading it would take long and prove nothing."""
    path = tmp_path / "trace.csv"
    with path.open("w") as file:
        file.write("time,magnitude\n0,0\n")
        os.truncate(path, 1_200_000_000)
    done = bench("--profile", "Profiles/environment-sensor.yaml", "--activity", f"csv:{path}")
    assert done.returncode == 2
    assert "1200000000 octets, the limit is" in done.stderr


@pytest.mark.parametrize("options,problem", [
    (["--sweep", "active"], "has no values"),
    (["--sweep", "night=1s"], 'nothing is called "night"'),
    (["--sweep", "slow=1s"], "no policy here has 'slow'; add --sweep policy=two-phase"),
    (["--target-life", "2"], "is no time"),
    (["--target-p95", "1s@night"], "is of no start"),
    (["--tx-power", "20"], "is not known at 20 dBm"),
    (["--voltage", "5"], "works at 1.7 V to 3.6 V, not at 5 V"),
    (["--scanner", "nobody"], 'there is no scanner "nobody"'),
    (["--activity", "stdin"], "lives in real time"),
    (["--shard", "3/2"], "is no part"),
    (["--jobs", "0"], "is no whole number"),
    (["--shard", "1/2", "--html", "x"], "--html belongs to all of them; write it with bench merge"),
    (["--sweep", "active=5s..10s/3"], "all 3 policies are slower in use than at rest"),
])
def test_what_cannot_be_run_is_said(options, problem):
    """With what to write instead."""
    done = bench("--profile", "Profiles/environment-sensor.yaml", "--duration", "1h", *options)
    assert done.returncode == 2
    assert problem in done.stderr


@pytest.mark.parametrize("words, problem", [
    ([], "bench merge needs the files that --shard wrote; write bench merge FILE…"),
    (["1.json", "--seed", "2"], "bench merge does not take --seed, which the parts hold"),
    (["1.json", "--profile", "battery"], "bench merge does not take --profile"),
])
def test_what_cannot_be_merged_is_said(words, problem):
    done = bench("merge", *words)
    assert done.returncode == 2 and done.stdout == "" and problem in done.stderr


def test_policies_that_are_left_out_are_counted():
    done = bench(*SWEEP[:6], "--sweep", "active=100ms,1s", "--sweep", "idle=200ms,2s", "--jobs",
                 "2")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ("left out 1 of 4 policies, which are slower in use than at rest\n")


def test_a_target_of_a_pickup_that_never_comes_is_said():
    done = bench("--profile", "Profiles/battery.yaml", *SWEEP[2:6], "--sweep", "interval=1s",
                 "--target-p95", "1s@pickup")
    assert done.returncode == 2 and done.stdout == ""
    assert "--target-p95: nobody searches when picked up: the accessory never becomes active" \
        in done.stderr


def test_a_trace_with_a_byte_order_mark_is_read(tmp_path):
    trace = tmp_path / "sheet.csv"
    trace.write_bytes(b"\xef\xbb\xbftime,magnitude\r\n0,0\r\n10,1\r\n")
    done = bench(*SWEEP[:6], "--activity", f"csv:{trace}")
    assert done.returncode == 0, done.stderr


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_memory_does_not_grow_with_the_duration():
    """The most that each run has held, in KiB; what is recorded is full within the first year."""
    held = {}
    for days in (30, 365, 3_650):
        process = subprocess.Popen(
            [str(binary()), "bench", "--profile", "Profiles/adaptive-tag.yaml", "--duration",
             f"{days}d", "--precision", "5%", "--scanner", "ios-foreground"],
            cwd=ROOT, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        held[days] = usage.ru_maxrss
    print(held)
    assert held[3_650] <= 1.2 * held[365] and held[365] <= 1.5 * held[30], held


def examples():
    """The commands of POWER.md with what each is said to print."""
    text = (ROOT / "Profiles/POWER.md").read_text()
    return re.findall(r"```sh\n(peripheral-emu bench [^`]*)```\n\n```text\n([^`]*)```", text)


def test_power_md_has_examples():
    """So that the next test tests something."""
    assert len(examples()) >= 2


@pytest.mark.parametrize("command,output", examples())
def test_power_md_shows_what_the_command_prints(command, output):
    """Word for word."""
    words = shlex.split(command.replace("\\\n", " "))[1:]
    done = subprocess.run([str(binary()), *words], cwd=ROOT, capture_output=True, text=True,
                          timeout=200, check=False)
    assert done.stderr == ""
    assert done.stdout.rstrip("\n") == output.rstrip("\n")


def extended_profile(folder, name, pdu, more=""):
    """A beacon with 200 octets of data."""
    path = folder / f"{name}.yaml"
    path.write_text(
        "peripheral-emu: 1\ndevice: {name: Beacon}\nadvertising:\n"
        f"  - {{set: main, type: non-connectable, interval: 500 ms, pdu: {pdu},\n"
        f"     data: [{{raw: {{type: 0xFF, data: {{hex: \"{'A5' * 198}\"}}}}}}]{more}}}\n")
    return str(path)


def test_a_set_is_sent_at_its_power_unless_another_is_asked_for(tmp_path):
    """The chip draws 6.24 mA at 0 dBm and 9.45 mA at 4 dBm."""
    path = tmp_path / "loud.yaml"
    path.write_text("peripheral-emu: 1\ndevice: {name: Loud}\nadvertising:\n"
                    "  - {type: non-connectable, interval: 1 s, tx-power: 4 dBm,\n"
                    "     data: [{name: complete}]}\n")

    def transmit(*options):
        done = bench("--profile", str(path), "--soc", "nrf52832", "--duration", "1h",
                     "--precision", "20%", "--scanner", "android-13-balanced", "--json", *options)
        assert done.returncode == 0, done.stderr
        shares = json.loads(done.stdout)["points"][0]["energy"]["shares"]
        return next(each["current_uA"] for each in shares
                    if each["cause"] == "advertising: transmit")

    own, asked = transmit(), transmit("--tx-power", "0")
    assert abs(own / asked - 9.45 / 6.24) < 1e-6
    assert transmit("--tx-power", "4") == own


def on_air(phy, payload):
    """Microseconds of a PDU (Core 6.0, Vol 6, Part B, 2.1, 2.2), LE Coded with S=8."""
    return {"1M": 8 * (10 + payload), "2M": 4 * (11 + payload),
            "coded": 376 + 8 * (40 + 8 * payload) + 24}[phy]


def test_an_extended_set_and_its_train_cost_what_is_on_the_air(tmp_path):
    """Transmit currents of one chip are to each other as the times on the air."""
    found = {}
    train = (', periodic: {interval: 100 ms, data: [{raw: {type: 0xFF, data: {hex: "'
             + "A5" * 98 + '"}}}]}')
    for name, pdu, more in (
            ("fast", "{extended: {primary: 1M, secondary: 2M}}", ""),
            ("usual", "extended", ""),
            ("far", "{extended: {primary: coded, secondary: coded}}", ""),
            ("train", "extended", train)):
        arguments = ["--profile", extended_profile(tmp_path, name, pdu, more), "--duration", "1h",
                     "--precision", "20%", "--scanner", "android-13-balanced"]
        done = bench(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        point = json.loads(done.stdout)["points"][0]
        shares = {each["cause"]: each["current_uA"] for each in point["energy"]["shares"]}
        found[name] = (shares["advertising: transmit"], point["uses"])
        text = bench(*arguments)
        assert text.returncode == 0, text.stderr
        heard = "LE Coded" if name == "far" else "extended advertisements"
        assert re.search(rf"^heard by +scanners o[nf] {heard}, which", text.stdout, re.M)
        printed = float(re.search(r"transmit +([\d.]+) uA", text.stdout).group(1))
        assert abs(printed - found[name][0]) < 0.006
        for use in point["uses"]:
            assert re.search(rf" {use['events']}$", text.stdout, re.M)
    # ADV_EXT_IND has 7 octets, AUX_ADV_IND 10 before the data, with SyncInfo 28, AUX_SYNC_IND 1.
    times = {"fast": (3 * on_air("1M", 7) + on_air("2M", 210),),
             "usual": (3 * on_air("1M", 7) + on_air("1M", 210),),
             "far": (3 * on_air("coded", 7) + on_air("coded", 210),),
             "train": (3 * on_air("1M", 7) + on_air("1M", 228), on_air("1M", 101))}
    each = {name: current / sum(time * use["events"] for time, use in zip(times[name], uses))
            for name, (current, uses) in found.items()}
    assert all(abs(value / each["usual"] - 1) < 1e-6 for value in each.values()), each
    assert [use.get("set") for use in found["train"][1]] == ["main", "main, train"]
    assert abs(found["train"][1][1]["events"] - 36_000) <= 2
    assert [use.get("set") for use in found["usual"][1]] == [None]
