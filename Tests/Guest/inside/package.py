"""The Debian package on a machine with adapters: a newcomer's first lines, and the service."""
import asyncio
import json
import re
import signal
from pathlib import Path

from bleak import BleakClient, BleakScanner

import lab

NAME = "Strap"
HEART_RATE = "0000180d-0000-1000-8000-00805f9b34fb"
MEASUREMENT = "00002a37-0000-1000-8000-00805f9b34fb"
NET_ADMIN = 1 << 12
UNIT = "peripheral-emu@heart-rate"
GROUP = Path("/sys/fs/cgroup/system.slice/system-peripheral\\x2demu.slice")
CONTROL = "/run/peripheral-emu/heart-rate/control"
EXPOSURE_MAX = 3.0
END_SECONDS = 20
TRIES = 10


def expectations():
    """What the test outside knows: the package's file, and the README's lines."""
    return json.loads((lab.LOGS / "expected.json").read_text(encoding="utf-8"))


def is_up(number):
    """Whether the kernel has an adapter up for itself; the flag is no sign of that."""
    return bool(re.search(rf"^hci{number} .* up, used by", lab.run(lab.PROGRAM, "adapters"),
                          re.MULTILINE))


def forget_packages():
    """A package database that knows nothing: reading that of the machine outside takes minutes."""
    database = Path("/var/lib/dpkg")
    for folder in (database, Path("/var/lib/apt/lists"), Path("/var/cache/apt")):
        lab.run("mount", "-t", "tmpfs", "none", folder)
    for name in ("info", "updates", "triggers"):
        (database / name).mkdir()
    for path in (database / "status", database / "available", database / "diversions"):
        path.touch()


def laptop():
    """A machine as people have them: BlueZ has hci0 up. hci1 is the phone's."""
    lab.own()
    lab.bluetoothd(2)
    lab.run("hciconfig", "hci0", "up")
    lab.wait_for("an adapter that is up", lambda: is_up(0))


async def follow(address):
    """Connects as a phone would and waits for three heart rates."""
    enough, rates = asyncio.Event(), []

    def take(_, value):
        rates.append(value[1])
        if len(rates) >= 3:
            enough.set()

    for number in range(TRIES):
        device = await BleakScanner.find_device_by_address(address, timeout=2)
        if device is None:
            continue
        try:
            async with BleakClient(device, timeout=20) as client:
                await client.start_notify(MEASUREMENT, take)
                await asyncio.wait_for(enough.wait(), lab.PATIENCE)
            break
        except Exception as error:  # bleak has many, and the next try tells
            lab.say(f"try {number + 1}: {error!r}")
    lab.say(f"heart rates: {rates}")
    assert len(rates) >= 3 and all(40 < rate < 170 for rate in rates)


def phone():
    """What a phone sees: the name, the service, and heart rates that come by themselves."""
    lab.power_on()
    address, info = lab.scan(NAME)
    lab.say(info)
    assert HEART_RATE in info
    asyncio.run(follow(address))


def newcomer():
    """The README's lines after the build, as a user who may use sudo types them."""
    forget_packages()
    laptop()
    lab.run("useradd", "--create-home", "newcomer")
    Path("/etc/sudoers.d/newcomer").write_text("newcomer ALL=(ALL) NOPASSWD: ALL\n",
                                               encoding="ascii")
    lines = expectations()["lines"]
    for line in lines[:-1]:
        lab.say(f"$ {line}")
        text = lab.run("setpriv", "--reuid=newcomer", "--regid=newcomer", "--init-groups", "sh",
                       "-c", line)
        lab.say(text)
        if "adapters" in line:
            assert re.search(r"^hci0 .* up, used by ", text, re.MULTILINE)
            assert "--controller hci:0 --take-over" in text
    lab.say(f"$ {lines[-1]}")
    process = lab.start("accessory", "setpriv", "--reuid=newcomer", "--regid=newcomer",
                        "--init-groups", "sh", "-c", f"exec {lines[-1]}")
    lab.wait_for_line("accessory", "advertising connectable")
    phone()
    process.send_signal(signal.SIGTERM)
    assert process.wait(END_SECONDS) == 0
    lab.wait_for("the laptop's adapter", lambda: is_up(0))
    lab.say("the adapter is up as before")


def systemctl(*arguments, check=True):
    """systemctl's output; it must be of systemd's own name spaces."""
    process = lab.run("pgrep", "-x", "systemd").split()[0]
    return lab.run("nsenter", "--target", process, "--pid", "--mount", "--root", "systemctl",
                   *arguments, check=check)


def show(unit, name):
    """A property of a unit."""
    return systemctl("show", "--value", "-p", name, unit).strip()


def start_systemd():
    """systemd with nothing but itself to run, as the first process of a name space."""
    lab.run("mount", "-t", "cgroup2", "none", "/sys/fs/cgroup")
    units = Path("/etc/systemd/system")
    (units / "lab.target").write_text("[Unit]\nDescription=Lab\nDefaultDependencies=no\n",
                                      encoding="ascii")
    folder = units / "peripheral-emu@.service.d"
    folder.mkdir()
    # The journal is not there; the rest of the machine is not started for the accessory.
    (folder / "lab.conf").write_text(
        "[Unit]\nDefaultDependencies=no\n[Service]\n"
        f"StandardOutput=append:{lab.LOGS}/service.log\nStandardError=inherit\n",
        encoding="ascii")
    lab.start("systemd", "env", "container=lab", "unshare", "--pid", "--fork", "--mount-proc",
              "/lib/systemd/systemd", "--system", "--unit=lab.target", "--log-target=console")
    lab.wait_for("systemd", Path("/run/systemd/private").exists)
    lab.wait_for("its readiness", lambda: systemctl("is-system-running", check=False).strip()
                 in ("running", "degraded"))


def processes(unit):
    """The processes of a unit."""
    path = GROUP / f"{unit}.service/cgroup.procs"
    return [int(line) for line in path.read_text(encoding="ascii").split()]


def main_process(unit):
    """The unit's process that is not the keeper."""
    found = [number for number in processes(unit) if b"keep-adapter" not in
             Path(f"/proc/{number}/cmdline").read_bytes()]
    assert len(found) == 1, found
    return found[0]


def times(pattern):
    """How often the service has said it."""
    return len(re.findall(pattern, lab.log_text("service")))


def service():
    """The unit: started, restricted, killed, restarted, stopped, with profiles of the machine."""
    forget_packages()
    lab.say(lab.run("dpkg", "-i", expectations()["package"]))
    laptop()
    start_systemd()
    lab.say(lab.run("systemd-analyze", "verify", f"{UNIT}.service"))
    text = lab.run("systemd-analyze", "security", "--offline=yes", "--no-pager",
                   f"{UNIT}.service")
    exposure = float(re.search(r"exposure level for \S+: ([\d.]+)", text).group(1))
    lab.say(f"exposure {exposure}")
    assert exposure < EXPOSURE_MAX

    systemctl("start", UNIT)
    lab.wait_for_line("service", "advertising connectable")
    check_rights(main_process(UNIT))
    phone()
    assert "heart-rate-measurement" in lab.run("peripheral-emu", "ctl", "--control", CONTROL,
                                               "list")
    check_ends()
    check_profiles()


def check_rights(process):
    """It is nobody, and may do nothing but have its adapter."""
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{process}/status").read_text(
        encoding="ascii").splitlines() if ":\t" in line)
    lab.say({key: status[key] for key in ("Uid", "CapPrm", "CapEff", "CapAmb", "CapBnd",
                                          "NoNewPrivs", "Seccomp")})
    assert int(status["Uid"].split()[0]) > 60000
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == NET_ADMIN
    assert int(status["CapAmb"], 16) == 0
    assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"


def check_ends():
    """After SIGKILL the adapter is as it was and the service comes again; so after stop."""
    systemctl("kill", "--kill-who=main", "--signal=KILL", UNIT)
    lab.wait_for("an adapter that is up after SIGKILL", lambda: is_up(0), 4, pause=0.05)
    lab.wait_for("another start", lambda: times("controller ready") == 2)
    assert show(UNIT, "NRestarts") == "1"
    assert not is_up(0)
    lab.say("killed: the adapter was up again, then the service was back")
    systemctl("kill", "--kill-who=all", "--signal=KILL", UNIT)
    lab.wait_for("a third start", lambda: times("controller ready") == 3)
    systemctl("stop", UNIT)
    assert show(UNIT, "ActiveState") == "inactive"
    lab.say(f"stopped after its keeper was killed too: the adapter is up: {is_up(0)}")
    lab.run("hciconfig", "hci0", "up")
    systemctl("start", UNIT)
    lab.wait_for("a fourth start", lambda: times("controller ready") == 4)
    assert not is_up(0)
    systemctl("stop", UNIT)
    lab.wait_for("an adapter that is up after stop", lambda: is_up(0))
    lab.say("stopped: the adapter is up again")


def check_profiles():
    """A profile of the machine goes before the bundled one; a wrong one is not tried again."""
    own = Path("/etc/peripheral-emu")
    bundled = Path("/usr/share/peripheral-emu/profiles/battery.yaml").read_text(encoding="utf-8")
    (own / "heart-rate.yaml").write_text(bundled, encoding="utf-8")
    systemctl("start", UNIT)
    lab.wait_for("a fifth start", lambda: times("controller ready") == 5)
    assert "battery-level" in lab.run("peripheral-emu", "ctl", "--control", CONTROL, "list")
    systemctl("stop", UNIT)
    (own / "wrong.yaml").write_text("peripheral-emu: 1\n", encoding="utf-8")
    unit = "peripheral-emu@wrong"
    systemctl("start", unit, check=False)
    lab.wait_for("the end", lambda: show(unit, "ActiveState") == "failed")
    assert show(unit, "ExecMainStatus") == "2" and show(unit, "NRestarts") == "0"
    assert times("/etc/peripheral-emu/wrong.yaml:") > 0
    lab.say("profiles of the machine go first, a wrong one is told")
