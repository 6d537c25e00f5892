"""Runs the fake controller with each peripheral in turn, several times, and prints medians."""
import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import beacons

HERE = Path(__file__).resolve().parent
RUN_SECONDS = 300
TESTS = "read20,read244,write-command,notify"

# The aim of an operation in process, in nanoseconds.
IN_PROCESS_NS = {"read20": 500}

# The power benchmark's speeds: name, field, and the aim as which way, how much.
SPEEDS = {
    "discovery samples, balanced Android, 1022.5 ms": ("per_second", "at least", 20e6),
    "advertising events of a device": ("per_second", "at least", 50e6),
    "a year of adaptive-tag, 4 scanners at 1 %": ("seconds", "at most", 2),
}

# Label, test, field, scale, digits; the aim where there is one, as (of whom, at most).
ROWS = [
    ("start to first Advertising Enable, ms", "startup", "advertising_ms", 1, 2, ("", 3)),
    ("resident memory then, MB", "startup", "resident_kb", 1 / 1024, 1, ("", 5)),
    ("CPU until then, ms", "startup", "cpu_ms", 1, 2, None),
    ("CPU per 20-byte read, us", "read20", "cpu_us", 1, 2, ("floor", 1.2)),
    ("20-byte reads per second", "read20", "per_second", 1, 0, None),
    ("CPU per 244-byte read, us", "read244", "cpu_us", 1, 2, None),
    ("CPU per 244-byte write command, us", "write-command", "cpu_us", 1, 3, ("floor", 5)),
    ("244-byte write commands per second", "write-command", "per_second", 1, 0, None),
    ("write commands delivered", "write-command", "delivered", 1, 0, None),
    ("CPU per 244-byte notification, us", "notify", "cpu_us", 1, 3, ("floor", 1.7)),
    ("244-byte notifications per second", "notify", "per_second", 1, 0, None),
]


def options():
    """The command line."""
    parser = argparse.ArgumentParser(prog="Tools/perf", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="interleaved runs (5)")
    parser.add_argument("--count", type=int, default=10000, help="operations a test (10000)")
    parser.add_argument("--seconds", type=float, default=1, help="length of the notify test (1)")
    parser.add_argument("--mtu", type=int, default=247, help="ATT_MTU, 23 to 247 (247)")
    parser.add_argument("--two-cores", action="store_true",
                        help="peripheral and controller on a core each")
    parser.add_argument("--json", help="write all figures to this file")
    for name in ("--fake-controller", "--floor", "--in-process", "--product", "--profile",
                 "--beacon"):
        parser.add_argument(name, required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def peripherals(chosen):
    """The command of each peripheral, {PORT} being the fake controller's."""
    return {
        "product": [chosen.product, "--profile", chosen.profile,
                    "--controller", "tcp-client:127.0.0.1:{PORT}", "--log-level", "warning"],
        "Bumble": [sys.executable, str(HERE / "bumble_server.py"), "tcp-client:127.0.0.1:{PORT}"],
        "floor": [chosen.floor, "{PORT}"],
    }


def cores(two):
    """The cores of controller and peripheral; no figures without a core each for --two-cores."""
    allowed = sorted(os.sched_getaffinity(0))
    if two and len(allowed) < 2:
        sys.exit("Tools/perf: --two-cores needs a machine with two cores")
    return allowed[0], allowed[1] if two else allowed[0]


def run_once(chosen, command):
    """One run of the fake controller: {(test, field): figure}."""
    own, child = cores(chosen.two_cores)
    done = subprocess.run(
        [chosen.fake_controller, "--count", str(chosen.count), "--seconds", str(chosen.seconds),
         "--mtu", str(chosen.mtu), "--cpu", str(own), "--child-cpu", str(child),
         "--tests", TESTS, "--", *command],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=RUN_SECONDS,
        check=False)
    if done.returncode != 0:
        sys.exit(f"Tools/perf: {' '.join(command)}: {done.stderr.strip()}")
    figures = {}
    for line in done.stdout.splitlines():
        result = json.loads(line)
        for field, figure in result.items():
            if isinstance(figure, (int, float)):
                figures[result["test"], field] = figure
    if any(figure for (_, field), figure in figures.items() if field == "oversized"):
        sys.exit(f"Tools/perf: {command[0]} sent a PDU longer than the MTU")
    return figures


def measure(chosen):
    """All runs, interleaved: {peripheral: {(test, field): [figures]}}."""
    commands = peripherals(chosen)
    figures = {name: {} for name in commands}
    for run in range(chosen.runs):
        for name, command in commands.items():
            if sys.stderr.isatty():
                print(f"\rrun {run + 1} of {chosen.runs}: {name:10}", end="\r", file=sys.stderr)
            for key, figure in run_once(chosen, command).items():
                figures[name].setdefault(key, []).append(figure)
    return figures


def ratio(one, other):
    """One median in terms of another, three significant digits."""
    return f"{one / other:.3g}" if one is not None and other else "-"


def aim_text(aim, medians):
    """The aim, and whether it is met."""
    if aim is None or medians["product"] is None:
        return ""
    of, most = aim
    reached = medians["product"] / medians[of] if of else medians["product"]
    return f"at most {most:g}{' of ' + of if of else ''}: {'met' if reached <= most else 'missed'}"


def print_table(chosen, figures):
    """One line a figure: the medians and the product's ratios."""
    where = "two cores" if chosen.two_cores else "one core"
    print(f"medians of {chosen.runs} interleaved runs of {chosen.count} operations, {where}, "
          f"MTU {chosen.mtu}, TCP loopback")
    print(f"{'':38}{'product':>10}{'Bumble':>10}{'floor':>10}{'/ floor':>9}{'/ Bumble':>9}"
          + ("" if chosen.two_cores else "  aim"))
    for label, test, field, scale, digits, aim in ROWS:
        medians = {}
        for name, measured in figures.items():
            values = measured.get((test, field))
            median = statistics.median(values) * scale if values else None
            medians[name] = None if median is not None and median < 0 else median
        if all(median is None for median in medians.values()):
            continue
        cells = "".join(f"{'-' if median is None else format(median, f'.{digits}f'):>10}"
                        for median in medians.values())
        product = medians["product"]
        aims = "" if chosen.two_cores else aim_text(aim, medians)
        print(f"{label:38}{cells}{ratio(product, medians['floor']):>9}"
              f"{ratio(product, medians['Bumble']):>9}  {aims}".rstrip())


def measure_in_process(chosen):
    """The device without a socket: {test: [results]}, counted and timed."""
    results = {}
    for _ in range(chosen.runs):
        done = subprocess.run(
            ["taskset", "-c", str(cores(False)[0]), chosen.in_process, chosen.profile],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=RUN_SECONDS,
            check=False)
        if done.returncode != 0:
            sys.exit(f"Tools/perf: {chosen.in_process}: {done.stdout}{done.stderr}".rstrip())
        for line in done.stdout.splitlines():
            result = json.loads(line)
            results.setdefault(result.get("test") or result["speed"], []).append(result)
    return results


def print_in_process(results):
    """One line an operation; allocations are exact, so the worst run is told."""
    print(f"\n{'in process, without a socket':38}{'ns each':>24}{'allocations':>13}"
          f"{'operations':>12}")
    for test, runs in results.items():
        if test in SPEEDS:
            continue
        nanoseconds = statistics.median(run["nanoseconds"] for run in runs)
        allocated = max(run["allocations"] for run in runs)
        most = IN_PROCESS_NS.get(test)
        aims = [] if most is None else [(f"at most {most} ns", nanoseconds <= most)]
        aims.append(("no allocation", allocated == 0))
        told = ", ".join(f"{aim}: {'met' if met else 'missed'}" for aim, met in aims)
        print(f"{test:38}{nanoseconds:>24.0f}{allocated:>13}{runs[0]['operations']:>12}  {told}")


def print_speeds(results):
    """The power benchmark on one core, each speed with its aim."""
    print(f"\n{'power benchmark, one core':52}{'':>16}")
    for name, (field, way, aim) in SPEEDS.items():
        value = statistics.median(run[field] for run in results[name])
        met = value >= aim if way == "at least" else value <= aim
        shown = f"{value / 1e6:.1f} million/s" if field == "per_second" else f"{value:.2f} s"
        asked = f"{aim / 1e6:.0f} million/s" if field == "per_second" else f"{aim} s"
        print(f"{name:52}{shown:>16}  {way} {asked}: {'met' if met else 'missed'}")


def main():
    """Measures and prints."""
    chosen = options()
    figures = measure(chosen)
    print_table(chosen, figures)
    results = measure_in_process(chosen)
    print_in_process(results)
    print_speeds(results)
    many = beacons.medians([beacons.measure(chosen.product, chosen.beacon)
                            for _ in range(chosen.runs)])
    beacons.print_table(many)
    if chosen.json:
        rows = {name: {" ".join(key): values for key, values in measured.items()}
                for name, measured in figures.items()}
        rows["beacons"] = many
        Path(chosen.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
