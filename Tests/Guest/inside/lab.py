"""What the scenarios inside the virtual machine share: controllers, BlueZ, the accessory, records.

Every process writes its log to /mnt, which the test outside keeps when the scenario fails. Nothing
is cleaned up: the machine is gone when the scenario is over.
"""
import os
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
sys.path.append(str(ROOT / "Tests/Peers"))

LOGS = Path("/mnt")
PROGRAM = os.environ.get("PERIPHERAL_EMU", str(ROOT / ".build/static/release/peripheral-emu"))
PROFILES = HERE.parent / "profiles"
BLUETOOTH = Path("/sys/class/bluetooth")
# The emulated processor is slow, and the one outside has other work.
PATIENCE = 60
# How long the kernel may take to set up an adapter; how often an emulator of adapters is started.
SET_UP_SECONDS = 6
TRIES = 5
# What the kernel and controllers would load while a command of theirs waits for two seconds.
MODULES = ("hci_vhci", "algif_hash", "algif_skcipher", "ecb", "cmac", "ecdh_generic", "ccm")


def say(text):
    """A line of the scenario's own log, with the machine's time."""
    print(f"{time.monotonic():8.2f}  {text}", flush=True)


def start(name, *command):
    """A process in the background, both its outputs in NAME.log."""
    log = (LOGS / f"{name}.log").open("a", encoding="utf-8")
    return subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL,
                            stdout=log, stderr=subprocess.STDOUT)


def run(*command, check=True):
    """The output of a command, both streams.

    bluetoothctl itself crashes at times, most of all while bluetoothd begins: then it is asked
    again, since what it is asked for here can be asked for twice.
    """
    for _ in range(TRIES):
        done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False)
        if done.returncode >= 0 or command[0] != "bluetoothctl":
            break
        say(f"bluetoothctl crashed with signal {-done.returncode}")
    if check:
        assert done.returncode == 0, f"{command} ended with {done.returncode}: {done.stdout}"
    return done.stdout


def wait_for(what, condition, seconds=PATIENCE, pause=0.2):
    """The first true value of `condition()`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(pause)
    raise AssertionError(f"{what}: not within {seconds} s")


def log_text(name):
    """What a process has said so far."""
    path = LOGS / f"{name}.log"
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def wait_for_line(name, pattern, seconds=PATIENCE):
    """The match of `pattern` in a process's log."""
    return wait_for(f"\"{pattern}\" in {name}.log", lambda: re.search(pattern, log_text(name)),
                    seconds)


def load_modules():
    """Everything that the kernel would load at a bad moment."""
    run("modprobe", "-a", *MODULES)


def adapters(name, *command, first=0, count=2):
    """Starts the emulator of the adapters from `first` up to `count`, hci0, hci1, …, and waits
    until the kernel has set them up.

    A slow machine's emulator may miss the two seconds that the kernel gives an answer: then it is
    started again.
    """
    def are_there():
        return [(BLUETOOTH / f"hci{number}").exists() for number in range(first, count)]

    def set_up():
        states = run("hciconfig").split("\n\n")
        return sum("ACL MTU" in state and "ACL MTU: 0:0 " not in state for state in states) == count

    load_modules()
    for _ in range(TRIES):
        process = start(name, *command)
        wait_for(f"{count} adapters", lambda: all(are_there()))
        end = time.monotonic() + SET_UP_SECONDS
        while time.monotonic() < end and not set_up():
            time.sleep(0.2)
        if set_up():
            say(f"{count} adapters of {name}")
            return process
        say(f"{name} was too slow for the kernel; again")
        process.kill()
        process.wait()
        wait_for("the end of the adapters", lambda: not any(are_there()))
    raise AssertionError(f"{name} gave no usable adapters in {TRIES} tries")


def btvirt():
    """BlueZ's own virtual controllers, LE only."""
    run("btvirt", "--version")
    return adapters("btvirt", "btvirt", "-L", "-l2")


def bumble():
    """Bumble's virtual controllers, each behind a /dev/vhci of its own."""
    return adapters("bumble", sys.executable, HERE / "bumble_controllers.py")


def rootcanal():
    """RootCanal's virtual controllers, each behind a /dev/vhci of its own."""
    return adapters("rootcanal", sys.executable, HERE / "rootcanal_controllers.py")


def own():
    """The program's own virtual controllers."""
    return adapters("air", PROGRAM, "air", "--vhci", "2")


def own_apart():
    """The same, but the accessory's adapter, hci1, can be removed alone: ends with the process."""
    if not (BLUETOOTH / "hci0").exists():
        adapters("air", PROGRAM, "air", "--vhci", "1", count=1)
    return adapters("plug", sys.executable, HERE / "plug.py", first=1)


def record():
    """The kernel's record of all HCI traffic, which btmon writes."""
    process = start("btmon", "btmon", "-w", LOGS / "kernel.btsnoop")
    wait_for("the kernel's record", (LOGS / "kernel.btsnoop").exists)
    return process


def accessory(profile, *options, name="accessory"):
    """The program under test."""
    return start(name, PROGRAM, "--profile", PROFILES / f"{profile}.yaml", *options)


def bluetoothd(count=1):
    """BlueZ's daemon with `count` adapters; none is powered by itself."""
    Path("/run/dbus").mkdir(parents=True, exist_ok=True)
    run("dbus-uuidgen", "--ensure")
    run("dbus-daemon", "--system", "--fork")
    Path("/etc/bluetooth").mkdir(parents=True, exist_ok=True)
    Path("/etc/bluetooth/main.conf").write_text("[Policy]\nAutoEnable=false\n", encoding="utf-8")
    # What this machine knows of other devices is not for the scenario.
    run("mount", "-t", "tmpfs", "none", "/var/lib/bluetooth")
    process = start("bluetoothd", "/usr/libexec/bluetooth/bluetoothd", "-n", "-d")
    wait_for("adapters of bluetoothd",
             lambda: run("bluetoothctl", "list", check=False).count("Controller ") >= count,
             pause=0.5)
    say("bluetoothd is there")
    return process


def power_on():
    """Powers bluetoothd's adapter."""
    wait_for("a powered adapter",
             lambda: "succeeded" in run("bluetoothctl", "power", "on", check=False), pause=1)


def scan(name):
    """Scans with bluetoothctl until it knows a device of this name; its address and all it says."""
    def found():
        run("bluetoothctl", "--timeout", "2", "scan", "le", check=False)
        for line in run("bluetoothctl", "devices", check=False).splitlines():
            if line.startswith("Device ") and line.endswith(f" {name}"):
                return line.split()[1]
        return None

    address = wait_for(f"{name} in a scan", found)
    return address, run("bluetoothctl", "info", address)
