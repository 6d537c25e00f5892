"""Many beacons in one process: CPU and memory of each, unheard and with a host that hears all."""
import contextlib
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

COUNTS = (100, 300, 1000)
# How long it takes a thousand to be on the air, on a slow machine, and how long each is measured.
START_SECONDS, SECONDS = 60, 5
LISTENING = re.compile(r"air: listening on 127\.0\.0\.1:(\d+)")
ADVERTISING = re.compile(r"advertising non-connectable every")
# Set Event Mask with LE Meta, LE Set Scan Enable (Core 6.0, Vol 4, Part E, 7.3.1, 7.8.11).
SCAN = bytes.fromhex("01010c080000000000000020") + bytes.fromhex("010c20020100")
# Advertising reports come one an event: H4 type, event, length, subevent.
REPORT = bytes([0x04, 0x3E])


@contextlib.contextmanager
def accessories(product, profile, count):
    """A process with so many accessories on the virtual air: (process, port of the air)."""
    command = [product, *["--profile", profile] * count, "--controller", "virtual",
               "--air", "127.0.0.1:0", "--state", "none", "--seed", "1"]
    with tempfile.NamedTemporaryFile() as log, subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process:
        try:
            yield process, wait_until_advertising(log.name, count)
        finally:
            process.terminate()


def wait_until_advertising(log, count):
    """Waits until the log tells of all: the port of the air."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        with open(log, encoding="utf-8") as file:
            text = file.read()
        listening, there = LISTENING.search(text), len(ADVERTISING.findall(text))
        if listening and there == count:
            return int(listening.group(1))
        time.sleep(0.1)
    sys.exit(f"Tools/perf: {there} of {count} beacons were on the air after {START_SECONDS} s")


def cpu_seconds(process):
    """What it has used so far, in user and kernel mode."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_kib(process):
    """Its memory apart from the pages of its file."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"RssAnon:\s*(\d+)", file.read()).group(1))


class Scanner:
    """A host on the air that scans without pause, and counts what it hears."""

    def __init__(self, port):
        self.reports = 0
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.sendall(SCAN)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        """Counts the reports until the connection ends."""
        rest = b""
        with contextlib.suppress(OSError):
            while got := self.socket.recv(1 << 16):
                rest += got
                at = 0
                while at + 3 <= len(rest) and at + 3 + rest[at + 2] <= len(rest):
                    self.reports += rest[at:at + 2] == REPORT
                    at += 3 + rest[at + 2]
                rest = rest[at:]


def measure(product, profile):
    """{count: figures of a beacon}; us of CPU a second, KiB, reports a second."""
    with accessories(product, profile, 1) as (process, _):
        one = memory_kib(process)
    return {count: measure_one(product, profile, count, one) for count in COUNTS}


def measure_one(product, profile, count, one):
    """The figures of so many; `one` is the memory of a process with one."""
    with accessories(product, profile, count) as (process, port):
        unheard = spent(process)
        scanner = Scanner(port)
        time.sleep(1)
        before = scanner.reports
        heard = spent(process)
        reports = scanner.reports - before
        return {"unheard_us": unheard / count * 1e6, "heard_us": heard / count * 1e6,
                "kib": (memory_kib(process) - one) / (count - 1),
                "reports": reports / SECONDS / count}


def spent(process):
    """CPU seconds a second."""
    before, start = cpu_seconds(process), time.monotonic()
    time.sleep(SECONDS)
    return (cpu_seconds(process) - before) / (time.monotonic() - start)


def print_table(figures):
    """A line a number of beacons, and how the cost of one grows with their number."""
    print(f"\n{'beacons in one process, 100 ms':32}{'CPU us a beacon and second':>28}"
          f"{'KiB a beacon':>14}{'reports/s':>11}")
    print(f"{'':32}{'unheard':>14}{'heard':>14}")
    for count, one in figures.items():
        print(f"{count:<32}{one['unheard_us']:>14.1f}{one['heard_us']:>14.1f}{one['kib']:>14.1f}"
              f"{one['reports'] * count:>11.0f}")
    least, most = figures[min(figures)], figures[max(figures)]
    growth = most["heard_us"] / least["heard_us"]
    print(f"cost of one among {max(figures)} in terms of one among {min(figures)}: {growth:.2f}"
          f"  at most 1.5: {'met' if growth <= 1.5 else 'missed'}")


def medians(runs):
    """The median of each figure."""
    return {count: {key: statistics.median(run[count][key] for run in runs)
                    for key in runs[0][count]} for count in runs[0]}
