"""RootCanal, a virtual controller by other authors, as a child process.

It binds every interface, so it is started only in a network namespace that has nothing but the
loopback interface (Tools/loopback makes one).
"""
import contextlib
import itertools
import os
import re
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

START_SECONDS = 15
PORTS = itertools.count()
PRESETS = ("DEFAULT", "LAIRD_BL654", "INTEL_BE200", "CSR_RCK_PTS_DONGLE")


def skip_unless_possible():
    """Skips the test, with the reason, where RootCanal must not or cannot run."""
    interfaces = [name for _, name in socket.if_nameindex()]
    if interfaces != ["lo"]:
        pytest.skip("no network namespace could be made: RootCanal binds every interface, "
                    f"and this one has {', '.join(interfaces)}")
    if not Path(executable()).exists():
        pytest.skip("RootCanal's package has no executable for this kind of machine")


def executable():
    """The path of the executable inside the Python package."""
    from rootcanal import binaries
    return binaries.get_package_binary_resource_path("rootcanal")


def free_ports(count):
    """TCP ports that nobody uses, from a range that belongs to this worker of pytest alone."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    ports = []
    while len(ports) < count:
        # Below the range from which the kernel takes ports by itself.
        port = 20000 + worker * 1000 + next(PORTS) % 1000
        with contextlib.suppress(OSError):
            socket.create_server(("127.0.0.1", port)).close()
            ports.append(port)
    return ports


@contextlib.contextmanager
def rootcanal(*presets):
    """A RootCanal with one controller port a preset; yields their `tcp-client:` names."""
    skip_unless_possible()
    ports = free_ports(len(presets) + 4)
    others = dict(zip(("hci_port", "test_port", "link_port", "link_ble_port"), ports))
    servers = ports[4:]
    with tempfile.TemporaryDirectory() as folder:
        configuration = Path(folder) / "controllers.txt"
        configuration.write_text("".join(
            f"tcp_server {{ tcp_port: {port} configuration {{ preset: {preset} }} }}\n"
            for port, preset in zip(servers, presets)), encoding="ascii")
        log = Path(folder) / "log"
        with open(log, "wb") as output:
            process = subprocess.Popen(
                [executable(), f"-configuration_file={configuration}",
                 *(f"-{name}={port}" for name, port in others.items())],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            wait_for_start(process, log)
            # RootCanal aborts when its test channel is closed under a write: it stays open.
            with socket.create_connection(("127.0.0.1", others["test_port"]), 5) as channel:
                command(channel, "set_timer_period", "1")
                yield [f"tcp-client:127.0.0.1:{port}" for port in servers]
            assert process.poll() is None, f"RootCanal has ended\n{last_lines(log)}"
        except Exception as error:
            if hasattr(error, "add_note"):
                error.add_note(f"RootCanal's last lines:\n{last_lines(log)}")
            raise
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def last_lines(log):
    """The end of RootCanal's log."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-12:])


def wait_for_start(process, log):
    """Waits until RootCanal has logged that it is ready."""
    end = time.monotonic() + START_SECONDS
    while b"initialize: Finished" not in (said := log.read_bytes()):
        if process.poll() is not None or time.monotonic() > end:
            raise AssertionError("RootCanal did not start")
        time.sleep(0.02)
    if unknown := re.search(rb'Unknown enumeration value of "(\w+)"', said):
        pytest.skip(f"this version of RootCanal has no preset {unknown.group(1).decode()}")


def command(channel, *words):
    """Sends one command to the test channel: a counted name, a count, counted arguments."""
    def counted(word):
        return bytes([len(word)]) + word.encode("ascii")

    channel.sendall(counted(words[0]) + bytes([len(words) - 1])
                    + b"".join(counted(word) for word in words[1:]))
    length = int.from_bytes(receive(channel, 4), "little")
    return receive(channel, length).decode("utf-8", "replace")


def receive(channel, count):
    """Exactly `count` bytes."""
    data = b""
    while len(data) < count:
        more = channel.recv(count - len(data))
        if not more:
            raise AssertionError("RootCanal closed its test channel")
        data += more
    return data
