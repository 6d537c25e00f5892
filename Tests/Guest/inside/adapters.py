"""The accessory's adapter: taken, refused, blocked, removed, brought back, and left as it was."""
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import lab

PROFILE = "lab-beacon"
ADVERTISING = r"advertising connectable"
NET_ADMIN = 1 << 12
STARTS = 200
IDLE_SECONDS = 60
END_SECONDS = 20


def program(*options):
    """The program's run to its end: (exit code, both outputs)."""
    done = subprocess.run([lab.PROGRAM, *options], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          timeout=lab.PATIENCE)
    lab.say(f"{' '.join(options)}: {done.returncode}\n{done.stdout}")
    return done.returncode, done.stdout


def refused(pattern, *options, controller="hci:1"):
    """The program cannot have the adapter, and says why."""
    code, text = program("--profile", str(lab.PROFILES / f"{PROFILE}.yaml"), "--controller",
                         controller, *options)
    assert code == 3, f"exit code {code}"
    assert re.search(pattern, text), f"\"{pattern}\" is not in {text}"


def listed(number):
    """What `adapters` says of an adapter."""
    code, text = program("adapters")
    assert code == 0
    return re.search(rf"^hci{number} .*(\n +.*)?", text, re.MULTILINE).group(0)


def is_up(number):
    """Whether the kernel has an adapter up."""
    return "UP RUNNING" in lab.run("hciconfig", f"hci{number}")


def end(process, how=signal.SIGTERM):
    """Ends a program; its exit code."""
    process.send_signal(how)
    return process.wait(END_SECONDS)


def refusals():
    """Each reason why an adapter cannot be had is a sentence of its own, with a remedy."""
    lab.own()
    assert "virtual" in listed(1) and "down, free" in listed(1)
    refused(r"there is no such adapter; peripheral-emu adapters", controller="hci:7")

    lab.run("hciconfig", "hci1", "up")
    assert "up, used by" in listed(1) and "--take-over" in listed(1)
    refused(r"the adapter is up; add --take-over")
    lab.run("hciconfig", "hci1", "down")

    lab.run("rfkill", "block", "bluetooth")
    assert "blocked by rfkill" in listed(1)
    refused(r"switched off by rfkill; run: sudo rfkill unblock bluetooth")
    lab.run("rfkill", "unblock", "bluetooth")

    holder = lab.accessory(PROFILE, "--controller", "hci:1")
    lab.wait_for_line("accessory", ADVERTISING)
    assert f"taken by peripheral-emu (PID {holder.pid})" in listed(1)
    refused(rf"another program has the adapter, used by .*\(PID {holder.pid}\); end that program")
    assert end(holder) == 0

    nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", lab.PROGRAM]
    text = lab.run(*nobody, "--profile", lab.PROFILES / f"{PROFILE}.yaml", "--controller", "hci:1",
                   check=False)
    lab.say(text)
    remedy = f"sudo setcap cap_net_admin+ep {Path(lab.PROGRAM).resolve()}"
    assert "CAP_NET_ADMIN" in text and remedy in text
    assert "may not open adapters" in lab.run(*nobody, "adapters")

    lab.bluetoothd(2)
    lab.power_on()
    up = next(number for number in (0, 1) if is_up(number))
    assert "used by bluetoothd" in listed(up)
    refused(r"the adapter is up, used by bluetoothd \(PID \d+\)", controller=f"hci:{up}")


def without_bluetooth():
    """A kernel without Bluetooth: one sentence, and the virtual controller is taken."""
    Path("/etc/modprobe.d/none.conf").write_text(
        "install bluetooth /bin/false\ninstall net-pf-31 /bin/false\n", encoding="utf-8")
    refused(r"no Bluetooth in this kernel; use --controller virtual")
    code, text = program("adapters")
    assert code == 3 and "no Bluetooth in this kernel" in text
    code, text = program("--profile", str(lab.PROFILES / f"{PROFILE}.yaml"), "--duration", "1s")
    assert code == 0 and "controller: the virtual one; no Bluetooth in this kernel" in text


def choice():
    """Without --controller: the first adapter that is free, else the virtual one, and why."""
    lab.own()
    lab.run("hciconfig", "hci0", "up")
    options = ["--profile", str(lab.PROFILES / f"{PROFILE}.yaml"), "--duration", "2s"]
    code, text = program(*options)
    assert code == 0 and "controller: hci1, the first adapter that is free" in text
    lab.run("hciconfig", "hci1", "up")
    code, text = program(*options)
    assert code == 0 and re.search("the virtual one; hci0 is up, .*; hci1 is up, ", text)
    code, text = program(*options, "--air-loss", "0%")
    assert code == 0 and "controller:" not in text
    code, text = program(*options, "--with-central", "--controller", "hci:0")
    assert code == 2 and "--with-central needs the virtual controller" in text


def take_over():
    """--take-over takes an adapter that is up, and it is up again after every kind of end."""
    lab.own()
    lab.run("hciconfig", "hci1", "up")
    for how, code in ((signal.SIGTERM, 0), (signal.SIGINT, 0), (signal.SIGKILL, -signal.SIGKILL)):
        name = f"accessory-{how.name}"
        process = lab.accessory(PROFILE, "--controller", "hci:1", "--take-over", name=name)
        lab.wait_for_line(name, ADVERTISING)
        assert end(process, how) == code
        lab.wait_for("an adapter that is up again", lambda: is_up(1), 10)
        lab.say(f"up again after {how.name}")
    lab.run("hciconfig", "hci1", "down")
    process = lab.accessory(PROFILE, "--controller", "hci:1", "--take-over", name="accessory-down")
    lab.wait_for_line("accessory-down", ADVERTISING)
    assert end(process) == 0
    time.sleep(1)
    assert not is_up(1), "it was down before"


def capabilities():
    """Once an adapter is open the process has CAP_NET_ADMIN alone, elsewhere nothing."""
    lab.own()
    for controller, kept in (
            ("hci:1", NET_ADMIN), ("virtual", 0), ("tcp-client:127.0.0.1:6402", 0)):
        name = "accessory-" + controller.split(":")[0]
        process = lab.accessory(PROFILE, "--controller", controller, name=name)
        lab.wait_for_line(name, ADVERTISING)
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
        found = {key: int(value, 16) for key, value in
                 re.findall(r"^(Cap(?:Prm|Eff|Inh|Amb)):\s*(\w+)", status, re.MULTILINE)}
        lab.say(f"{controller}: {found}")
        assert found == {"CapPrm": kept, "CapEff": kept, "CapInh": 0, "CapAmb": 0}
        assert end(process) == 0


def removal():
    """An adapter that is removed is waited for, while advertising and while connected."""
    air = lab.own()
    process = lab.accessory(PROFILE, "--controller", "hci:1")
    lab.wait_for_line("accessory", ADVERTISING)
    for times in (1, 2):
        air.kill()
        air.wait()
        lab.wait_for("the loss", lambda: lab.log_text("accessory").count("was removed") == times)
        air = lab.own()
        lab.wait_for("advertising again", lambda: len(
            re.findall(ADVERTISING, lab.log_text("accessory"))) > times)
    lab.say(lab.log_text("accessory"))
    assert end(process) == 0


def removal_while_connected():
    """The same with a central that is connected, which then connects again.

    The central keeps its adapter: Linux 6.1 crashes in hci_chan_del when an adapter is removed
    while bluetoothd closes its L2CAP socket.
    """
    plug = lab.own_apart()
    process = lab.accessory(PROFILE, "--controller", "hci:1")
    lab.wait_for_line("accessory", ADVERTISING)
    lab.bluetoothd()
    lab.power_on()
    for times in (1, 2):
        address, _ = lab.scan("Lab Beacon")

        def connected(address=address, times=times):
            lab.run("bluetoothctl", "connect", address, check=False)
            return len(re.findall(" connected: ", lab.log_text("accessory"))) >= times

        lab.wait_for("a connection", connected)
        if times == 2:
            break
        plug.kill()
        plug.wait()
        lab.wait_for_line("accessory", "was removed")
        plug = lab.own_apart()
    lab.say(lab.log_text("accessory"))
    assert end(process) == 0


def many_starts(count=STARTS):
    """Starts and stops leak nothing and leave the adapter as it was."""
    air = lab.own()
    # A new adapter stays on for two seconds.
    lab.wait_for("an adapter at rest", lambda: "RUNNING" not in lab.run("hciconfig", "hci1"))
    before = lab.run("hciconfig", "hci1").splitlines()[:3]
    descriptors = len(os.listdir(f"/proc/{air.pid}/fd"))
    for number in range(int(count)):
        process = lab.accessory(PROFILE, "--controller", "hci:1", name="one")
        lab.wait_for_line("one", ADVERTISING)
        assert end(process) == 0, lab.log_text("one")
        (lab.LOGS / "one.log").unlink()
        if number % 20 == 19:
            lab.say(f"{number + 1} starts")
    after = lab.run("hciconfig", "hci1").splitlines()[:3]
    assert after == before, f"{after}, before {before}"
    assert len(os.listdir(f"/proc/{air.pid}/fd")) == descriptors
    assert len(Path("/proc/net/hci").read_text(encoding="ascii").splitlines()) == 1
    assert not re.search(r"WARNING|BUG|Oops", lab.run("dmesg")), lab.run("dmesg")


def leaked_descriptors():
    """One process over many losses and returns holds as many descriptors as at first."""
    air = lab.own()
    process = lab.accessory(PROFILE, "--controller", "hci:1")
    lab.wait_for_line("accessory", ADVERTISING)
    before = sorted(os.listdir(f"/proc/{process.pid}/fd"))
    for times in range(1, 6):
        air.kill()
        air.wait()
        lab.wait_for("the loss", lambda t=times: lab.log_text("accessory").count("removed") == t)
        air = lab.own()
        lab.wait_for("advertising again", lambda t=times: len(
            re.findall(ADVERTISING, lab.log_text("accessory"))) > t)
    after = sorted(os.listdir(f"/proc/{process.pid}/fd"))
    lab.say(f"{before} {after}")
    assert len(after) == len(before)
    assert end(process) == 0


def idle(seconds=IDLE_SECONDS):
    """An accessory that advertises a static profile is not woken."""
    lab.own()
    process = lab.accessory(PROFILE, "--controller", "hci:1")
    lab.wait_for_line("accessory", ADVERTISING)
    time.sleep(2)
    before = switches(process)
    time.sleep(int(seconds))
    after = switches(process)
    lab.say(f"context switches before and after {seconds} s: {before}, {after}")
    assert after == before
    assert end(process) == 0


def switches(process):
    """(voluntary, involuntary) context switches of a process."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    return re.findall(r"ctxt_switches:\s*(\d+)", status)
