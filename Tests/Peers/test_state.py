"""What an accessory keeps over a restart, as a Bumble central with a bond sees it."""
import asyncio
import contextlib
import os
import random
import re
import signal
import sqlite3
import stat
import subprocess
import time
from pathlib import Path

import pytest
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate

from central import STEP_SECONDS, Central
from emulator import Emulator, binary, run, running

LISTENING = r"air: listening on (127\.0\.0\.1:\d+)"
PROFILE = """
peripheral-emu: 1
device: {{name: Keeper}}
security: {{io: none}}
advertising:
  - type: connectable
    interval: 20 ms
    data: [{{flags: [general-discoverable, no-br-edr]}}, {{name: complete}}]
services:
{more}
  - service: 0x1234
    characteristics:
      - {{characteristic: 0x5677, read: encrypted, notify: encrypted, format: uint8,
         value: {{counter: {{}}}}, update: every 100 ms}}
      - {{characteristic: 0x5678, read: encrypted, write: encrypted, format: utf8, persist: true,
         value: {{text: first}}, length: {{max: 20}}}}
      - {{characteristic: 0x5679, read: open, format: uint16, persist: true,
         value: {{writes-of: 0x5678}}}}
"""
MORE = """
  - service: battery
    characteristics:
      - {characteristic: battery-level, read: open, notify: open, value: 50}
"""
COUNT, TEXT, WRITES = "5677", "5678", "5679"
SERVICE_CHANGED = "2A05"


@pytest.fixture(name="profile")
def a_profile(tmp_path):
    """The profile's path; `write` puts another one there."""
    path = tmp_path / "keeper.yaml"
    path.write_text(PROFILE.format(more=""), encoding="utf-8")
    return path


@pytest.fixture(name="state")
def a_state(tmp_path):
    """A folder for state that is not there yet."""
    return tmp_path / "kept" / "state"


def accessory(profile, state, *more):
    """The accessory on its own air, keeping its state."""
    return running("--profile", str(profile), "--air", "127.0.0.1:0", "--state", str(state), *more)


def session(emulator, keystore, body, seconds=60):
    """Runs `body` with a central that has these keys."""
    async def go():
        transport = "tcp-client:" + emulator.wait_for(LISTENING).group(1)
        async with Central.on(transport) as central:
            central.device.keystore = keystore
            central.device.pairing_config_factory = lambda connection: PairingConfig(
                mitm=False, identity_address_type=PairingConfig.AddressType.RANDOM,
                delegate=PairingDelegate(
                    PairingDelegate.IoCapability.NO_OUTPUT_NO_INPUT))
            found = await central.find("Keeper")
            await central.connect(found.address)
            await body(central)

    asyncio.run(asyncio.wait_for(go(), seconds))


async def bond_and_subscribe(central):
    """The first meeting: pairs, subscribes, writes."""
    await central.discover()
    await asyncio.wait_for(central.connection.pair(), STEP_SECONDS)
    await central.characteristic(COUNT).subscribe(lambda value: None)
    await central.characteristic(SERVICE_CHANGED).subscribe(lambda value: None, prefer_notify=False)
    await central.write(TEXT, b"second")


async def first_values(central, count=3):
    """Notifications that come by themselves after the link is encrypted; no CCCD is written."""
    values, enough = [], asyncio.Event()

    def heard(value):
        values.append(bytes(value))
        if len(values) >= count:
            enough.set()

    client = central.peer.gatt_client
    await central.discover()
    handle = central.characteristic(COUNT).handle
    client.notification_subscribers.setdefault(handle, set()).add(heard)
    await asyncio.wait_for(central.connection.encrypt(), STEP_SECONDS)
    await asyncio.wait_for(enough.wait(), STEP_SECONDS)
    return values


def test_a_bond_and_its_subscriptions_survive_a_kill(profile, state):
    keys = MemoryKeyStore()
    emulator = Emulator(["--profile", str(profile), "--air", "127.0.0.1:0", "--state", str(state)])
    try:
        session(emulator, keys, bond_and_subscribe)
    finally:
        emulator.process.kill()
        emulator.process.wait()
    with accessory(profile, state) as emulator:
        async def body(central):
            await first_values(central)
            assert await central.read(TEXT) == b"second"
            assert await central.read(WRITES) == b"\x01\x00"
            await central.write(TEXT, b"third")
            assert await central.read(WRITES) == b"\x02\x00"

        session(emulator, keys, body)
        assert emulator.wait_for(r"state: .*, 1 bond$")
        assert "pairs:" not in emulator.output()


def test_a_changed_profile_is_told_to_a_bonded_central(profile, state):
    keys = MemoryKeyStore()
    with accessory(profile, state) as emulator:
        session(emulator, keys, bond_and_subscribe)
    profile.write_text(PROFILE.format(more=MORE), encoding="utf-8")
    with accessory(profile, state) as emulator:
        async def body(central):
            told = asyncio.get_running_loop().create_future()
            await central.discover()
            central.peer.gatt_client.indication_subscribers.setdefault(
                central.characteristic(SERVICE_CHANGED).handle, set()).add(
                    lambda value: told.done() or told.set_result(bytes(value)))
            # The subscription has moved with its characteristic.
            await first_values(central)
            assert await asyncio.wait_for(told, STEP_SECONDS) == b"\x01\x00\xff\xff"
            assert await central.read(TEXT) == b"second"

        session(emulator, keys, body)
        assert "pairs:" not in emulator.output()
    with accessory(profile, state) as emulator:
        async def body(central):
            await first_values(central)

        session(emulator, keys, body)
        assert "service-changed indicated" not in emulator.output()


def test_bonds_are_listed_exported_and_removed(profile, state):
    keys = MemoryKeyStore()
    with accessory(profile, state, "--log-level", "debug", "--json") as emulator:
        session(emulator, keys, bond_and_subscribe)
        # Looking is allowed meanwhile, changing is not.
        listed, _ = run("bonds", "list", "--state", str(state))
        _, refused = run("bonds", "remove", "all", "--state", str(state), code=3)
        assert f"the process {emulator.process.pid} holds it" in refused
        said = emulator.output()
    assert "C4:C3:C2:C1:C0:C9 (random)  not authenticated, LE Secure Connections" in listed
    database = sqlite3.connect(state / "state.db")
    secrets = [database.execute("SELECT key FROM bond").fetchone()[0],
               database.execute("SELECT identity_key FROM device").fetchone()[0]]
    database.close()
    exported, _ = run("bonds", "export", "--state", str(state))
    with_keys, _ = run("bonds", "export", "--keys", "--state", str(state))
    assert secrets[0].hex() in with_keys.lower()
    for secret in secrets:
        for octets in (secret, secret[::-1]):
            for text in (said, listed, exported):
                assert octets.hex() not in text.replace(" ", "").lower()
    _, error = run("bonds", "remove", "C0:00:00:00:00:01", "--state", str(state), code=1)
    assert "there is no bond with C0:00:00:00:00:01" in error
    removed, _ = run("bonds", "remove", "C4:C3:C2:C1:C0:C9", "--state", str(state))
    assert removed == "removed C4:C3:C2:C1:C0:C9 (random)\n"
    assert run("bonds", "list", "--state", str(state)) == ("", "nobody has paired yet\n")
    assert run("bonds", "export", "--state", str(state)) == ("", "")
    held = (state / "state.db").read_bytes()
    assert secrets[0] not in held, "the key is still in the file"


def test_a_held_state_is_refused_with_its_holder(profile, state):
    with accessory(profile, state) as emulator:
        emulator.wait_for("advertising connectable")
        _, error = run("--profile", str(profile), "--air", "127.0.0.1:0", "--state", str(state),
                       "--duration", "1s", code=3)
        assert f"cannot use {state}: the process {emulator.process.pid} holds it" in error
        assert "--state DIR" in error
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    for file in state.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_state_is_kept_by_itself_only_where_there_is_something(profile, tmp_path, monkeypatch):
    home = tmp_path / "xdg"
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    live = ("--air", "127.0.0.1:0", "--duration", "200ms")
    run("--profile", "battery", *live)
    run("--profile", str(profile), *live, "--state", "none")
    run("--profile", str(profile), "--virtual-time", "--duration", "1s")
    assert not home.exists()
    _, log = run("--profile", str(profile), *live)
    assert re.search(f"state: {home}/peripheral-emu/keeper-[0-9A-F]{{8}}, 0 bonds", log), log
    assert run("bonds", "list", "--profile", str(profile)) == ("", "nobody has paired yet\n")


def test_profiles_of_one_file_name_share_no_state(profile, tmp_path, monkeypatch):
    home, other = tmp_path / "xdg", tmp_path / "other"
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    other.mkdir()
    (other / profile.name).write_text(profile.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "link").symlink_to(other)
    monkeypatch.chdir(other)
    live = ("--air", "127.0.0.1:0", "--duration", "200ms")
    folders = [re.search(r"state: (\S+), 0 bonds", run("--profile", str(path), *live)[1]).group(1)
               for path in (profile, other / profile.name, profile.name, f"./{profile.name}",
                            f"../{profile.name}", tmp_path / "link" / profile.name)]
    assert len(set(folders)) == 2 and folders[0] == folders[4] != folders[1], folders
    assert len(set(folders[1:4] + folders[5:])) == 1, folders
    assert len(list((home / "peripheral-emu").iterdir())) == 2
    run("bonds", "list", "--profile", profile.name)
    _, log = run("--profile", "smart-lock", "--air", "127.0.0.1:0", "--duration", "200ms")
    assert f"state: {home}/peripheral-emu/smart-lock, 0 bonds" in log


def test_a_damaged_or_newer_state_is_refused_and_kept(profile, state):
    short = ("--profile", str(profile), "--air", "127.0.0.1:0", "--state", str(state),
             "--duration", "200ms")
    run(*short)
    file = state / "state.db"
    database = sqlite3.connect(file)
    database.execute("PRAGMA user_version = 99")
    database.close()
    newer = file.read_bytes()
    _, error = run(*short, code=3)
    assert "was written by a newer peripheral-emu" in error and "--erase" in error
    assert file.read_bytes() == newer
    for rubbish in (b"no database at all" * 100, newer[:5000], newer[:100] + bytes(8000)):
        file.write_bytes(rubbish)
        _, error = run(*short, code=3)
        assert f"{file} is damaged" in error and "--erase" in error, error
        assert file.read_bytes() == rubbish
    _, log = run(*short, "--erase")
    assert f"the damaged file is kept as {file}.damaged" in log and "0 bonds" in log
    assert (state / "state.db.damaged").read_bytes() == rubbish
    run(*short)
    file.write_bytes(b"another one" * 1000)
    assert f"keeps it as {file}.damaged-2" in run(*short, code=3)[1]
    assert f"the damaged file is kept as {file}.damaged-2" in run(*short, "--erase")[1]
    assert (state / "state.db.damaged").read_bytes() == rubbish
    assert (state / "state.db.damaged-2").read_bytes() == b"another one" * 1000


def test_values_that_no_longer_fit_are_dropped_with_a_word(profile, state):
    short = ("--profile", str(profile), "--air", "127.0.0.1:0", "--state", str(state),
             "--duration", "200ms")
    run(*short, "--set", "0x5678=text of 16 octets")
    assert "kept value" not in run(*short)[1]
    profile.write_text(PROFILE.format(more="").replace("format: utf8", "format: uint16")
                       .replace("{text: first}, length: {max: 20}", "7"), encoding="utf-8")
    _, log = run(*short)
    assert len(re.findall("warning: state: the kept value of '0x1234/0x5678' no longer fits the "
                          "profile, whose own is used", log)) == 1, log
    assert "kept value" not in run(*short)[1]
    database = sqlite3.connect(state / "state.db")
    kept = database.execute("SELECT octets FROM value WHERE place LIKE '%5678%'").fetchone()[0]
    database.close()
    assert kept == b"\x07\x00"


@pytest.mark.parametrize("kilobytes", [0, 8, 44])
def test_on_a_full_disk_the_accessory_goes_on(profile, state, kilobytes, monkeypatch):
    """A limit of the files' size stands for the full disk."""
    keys = MemoryKeyStore()
    arguments = ["--profile", str(profile), "--air", "127.0.0.1:0", "--state", str(state)]
    limit = f"ulimit -f {kilobytes}; exec \"$0\" \"$@\""
    real = subprocess.Popen
    monkeypatch.setattr("emulator.subprocess.Popen",
                        lambda words, **more: real(["bash", "-c", limit, *words], **more))
    emulator = Emulator(arguments)
    monkeypatch.undo()
    try:
        async def body(central):
            await bond_and_subscribe(central)
            for number in range(60):
                await central.write(TEXT, b"%020d" % number)
            assert await central.read(TEXT) == b"%020d" % 59

        session(emulator, keys, body)
    finally:
        assert emulator.stop() == 0, emulator
    warnings = re.findall(r"warning: state: .*", emulator.output())
    if kilobytes < 44:
        assert len(warnings) == 1 and "the accessory goes on" in warnings[0], emulator
        assert re.search("too large|full|I/O error", warnings[0]), warnings


def test_a_named_folder_that_cannot_be_used_is_no_run(profile, tmp_path):
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    for path in ("/proc/nowhere", tmp_path / "file", tmp_path / "file" / "below"):
        _, log = run("--profile", str(profile), "--air", "127.0.0.1:0", "--duration", "300ms",
                     "--state", str(path), code=3)
        assert re.fullmatch("state: cannot .*; write another --state DIR, or --state none to "
                            "keep nothing\n", log.splitlines(True)[-1]), log
        assert "advertising" not in log


def test_where_the_default_folder_cannot_be_used_the_accessory_goes_on(profile, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
    _, log = run("--profile", str(profile), "--air", "127.0.0.1:0", "--duration", "300ms")
    assert len(re.findall("warning: state: cannot .*the accessory goes on", log)) == 1
    assert "advertising connectable" in log


def mounted(mount):
    """The words before a program for which alone `mount` holds; a skip where that cannot be."""
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespace here")
    return ["unshare", "-rm", "bash", "-c", f"{mount} && exec \"$0\" \"$@\""]


@pytest.mark.parametrize("kilobytes", [4, 16, 48])
def test_on_a_file_system_that_is_full_the_accessory_goes_on(
        profile, state, kilobytes, monkeypatch):
    state.mkdir(parents=True)
    before = mounted(f"mount -t tmpfs -o size={kilobytes}k none '{state}'")
    real = subprocess.Popen
    monkeypatch.setattr("emulator.subprocess.Popen",
                        lambda words, **more: real([*before, *words], **more))
    emulator = Emulator(["--profile", str(profile), "--air", "127.0.0.1:0", "--state",
                         str(state / "s")])
    monkeypatch.undo()
    try:
        async def body(central):
            await bond_and_subscribe(central)
            for number in range(20):
                await central.write(TEXT, b"%020d" % number)
            assert await central.read(TEXT) == b"%020d" % 19

        session(emulator, MemoryKeyStore(), body)
    finally:
        assert emulator.stop() == 0, emulator
    warnings = re.findall(r"warning: state: .*", emulator.output())
    assert len(warnings) == 1 and "the accessory goes on" in warnings[0], emulator
    assert re.search("full|No space left", warnings[0]), warnings


def test_a_named_folder_of_a_read_only_file_system_is_no_run(profile, state):
    words = ["--profile", str(profile), "--air", "127.0.0.1:0", "--duration", "300ms", "--state",
             str(state)]
    run(*words)
    before = (state / "state.db").read_bytes()
    mount = f"mount --bind '{state}' '{state}' && mount -o remount,bind,ro '{state}'"
    done = subprocess.run([*mounted(mount), binary(), *words], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 3, done.stderr
    assert re.search("state: cannot .*: Read-only file system; write another --state DIR",
                     done.stderr), done.stderr
    assert (state / "state.db").read_bytes() == before


def test_a_capture_says_that_it_holds_keys(profile, tmp_path):
    words = ("--virtual-time", "--duration", "1s", "--capture", str(tmp_path / "c.btsnoop"))
    assert "keys of pairings" in run("--profile", str(profile), *words)[1]
    assert "keys" not in run("--profile", "battery", *words)[1]


def killed_at_random(count, seed=1):
    """Times after which something is killed, from before it begins to long into its work."""
    chance = random.Random(seed)
    return [chance.choice((0.02, 0.1, 0.3)) * chance.random() for _ in range(count)]


@pytest.mark.timeout(3600)
def test_what_was_stored_is_there_after_a_kill_at_any_moment(tmp_path):
    program = os.environ.get("PERIPHERAL_EMU_STATE_WORKLOAD") \
        or Path(binary()).parent / "state-workload"
    told, file = 0, tmp_path / "state.db"
    kills = 1000 if os.environ.get("PERIPHERAL_EMU_LONG") else 25
    begun = 0
    for number, seconds in enumerate(killed_at_random(kills)):
        child = subprocess.Popen([program, file, "7", str(told)], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)
        # One in four is killed while it opens the file, the others at work, however slow they are.
        first = child.stdout.readline() if number % 4 else ""
        time.sleep(seconds)
        child.kill()
        said = first + child.communicate()[0]
        assert child.returncode == -signal.SIGKILL, said
        # The last line may have been cut.
        lines = said.split("\n")[:-1]
        if lines:
            begun += 1
            told = int(lines[-1].removeprefix("at "))
    assert begun >= kills * 3 / 4 - 1 and told > begun, (begun, told)


@pytest.mark.timeout(3600)
def test_what_was_acknowledged_over_the_air_is_there_after_a_kill(profile, state):
    keys, last = MemoryKeyStore(), None
    chance = random.Random(3)
    for round_ in range(60 if os.environ.get("PERIPHERAL_EMU_LONG") else 4):
        emulator = Emulator(["--profile", str(profile), "--air", "127.0.0.1:0", "--air-timing",
                             "ideal", "--state", str(state)])
        acknowledged, sent = last, last

        async def body(central):
            nonlocal acknowledged, sent
            await central.discover()
            if round_ == 0:
                await asyncio.wait_for(central.connection.pair(), STEP_SECONDS)
            else:
                await asyncio.wait_for(central.connection.encrypt(), STEP_SECONDS)
                assert await central.read(TEXT) in (acknowledged, sent)
            asyncio.get_running_loop().call_later(
                0.02 + 0.3 * chance.random(), emulator.process.kill)
            number = 0
            while True:
                sent = b"%d of %d" % (number, round_)
                await central.write(TEXT, sent)
                acknowledged, number = sent, number + 1

        before = (last,)
        try:
            with contextlib.suppress(Exception, asyncio.CancelledError):
                session(emulator, keys, body)
        finally:
            emulator.process.kill()
            emulator.process.wait()
        database = sqlite3.connect(state / "state.db")
        held = database.execute(
            "SELECT octets FROM value WHERE place LIKE '%5678%'").fetchone()[0]
        bonds = database.execute("SELECT count(*) FROM bond").fetchone()[0]
        database.close()
        assert held in (acknowledged, sent), (before, held, acknowledged, sent, str(emulator))
        assert bonds == 1
        last = held
