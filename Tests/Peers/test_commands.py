"""The command line as a user types it: output, messages and exit codes."""
import re
import signal
import socket
import time
from pathlib import Path

import pytest

from emulator import Emulator, profile, run

BUNDLED = ["environment-sensor", "battery", "ibeacon", "bluetify", "core-bluetooth-sample"]


def has_bluetooth():
    """Whether this kernel has Bluetooth sockets at all."""
    try:
        socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW, socket.BTPROTO_HCI).close()
        return True
    except (AttributeError, OSError):
        return False


def test_with_central_shows_what_a_phone_would_see_and_ends_with_0():
    said = "\n".join(run("--profile", profile("environment-sensor"), "--controller", "virtual",
                         "--with-central", seconds=30))
    assert re.search("found", said, re.IGNORECASE), said
    assert re.search("environmental.sensing", said, re.IGNORECASE), said
    assert re.search(r"temperature.*\d+\.\d+ ?°?C", said, re.IGNORECASE), said
    notifications = re.findall(r"notified.*\d", said)
    assert len(notifications) >= 3, said
    assert "rawValue" not in said, f"a value of the program's own, not a word for a reader:\n{said}"


def test_with_central_ends_with_0_for_a_profile_without_notifications():
    run("--profile", profile("ibeacon"), "--controller", "virtual", "--with-central", seconds=30)


@pytest.mark.parametrize("name, is_told", [("smart-lock", True), ("environment-sensor", False)])
def test_with_central_says_that_it_does_not_pair_where_that_matters(name, is_told):
    _, log = run("--profile", profile(name), "--with-central", "--virtual-time", "--duration",
                 "100s")
    assert log.count("the built-in central does not pair") == int(is_told)


@pytest.mark.parametrize("how", ([], ["--virtual-time"], ["--air", "127.0.0.1:0"]))
def test_what_is_said_before_the_run_is_said_once(tmp_path, how):
    path = tmp_path / "silent.yaml"
    path.write_text("peripheral-emu: 1\ndevice: {name: Silent}\n")
    _, log = run("--profile", str(path), "--controller", "virtual", "--duration", "1s", *how)
    assert log.count("no central finds it") == 1, log


def test_with_central_shows_every_beacon_of_a_profile():
    said, _ = run("--profile", profile("three-beacons"), "--with-central", "--virtual-time",
                  "--duration", "1min")
    assert said.count("found ") == 3
    assert all(name in said for name in ("ibeacon", "eddystone-url", "eddystone-tlm")), said


def test_virtual_time_goes_to_the_end_of_the_duration(tmp_path):
    _, log = run("--profile", profile("ibeacon"), "--virtual-time", "--duration", "1234.5s",
                 "--capture", str(tmp_path / "c.btsnoop"))
    assert " 1234.500  advertising stopped" in log and "0:20:34.500 in all" in log
    epoch, records = 0x00E03AB44A676000, []
    octets = (tmp_path / "c.btsnoop").read_bytes()
    place = 16
    while place < len(octets):
        length = int.from_bytes(octets[place + 4:place + 8], "big")
        records.append(int.from_bytes(octets[place + 16:place + 24], "big") - epoch)
        place += 24 + length
    assert 1_234_500_000 <= records[-1] - records[0] < 1_235_000_000


@pytest.mark.parametrize("name", BUNDLED)
def test_check_accepts_each_bundled_profile(name):
    printed, _ = run("check", profile(name))
    assert printed.strip()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(how):
    emulator = Emulator(["--profile", profile("battery"), "--controller", "virtual",
                         "--air", "127.0.0.1:0"])
    emulator.wait_for("air: listening")
    assert emulator.stop(how) == 0


def test_duration_ends_it_with_0():
    start = time.monotonic()
    run("--profile", profile("battery"), "--controller", "virtual", "--air", "127.0.0.1:0",
        "--duration", "1s")
    assert 1 <= time.monotonic() - start < 10


def test_two_at_once_share_the_default_air_port_without_failing():
    arguments = ["--profile", profile("battery"), "--controller", "virtual"]
    first, second = Emulator(arguments), Emulator(arguments)
    try:
        for emulator in (first, second):
            emulator.wait_for("advertising")
    finally:
        codes = [emulator.stop() for emulator in (first, second)]
    assert codes == [0, 0], f"{first}\n{second}"


@pytest.mark.parametrize("arguments, said", [
    (["--profile"], "profile"),
    (["--no-such-option"], "no-such-option"),
    (["no-such-command"], "no-such-command"),
    (["--profile", "no/such/file.yaml"], "no/such/file.yaml"),
    (["--profile", profile("battery"), "--virtual-time"], "--duration"),
    (["--profile", profile("battery"), "--virtual-time", "--duration", "1s",
      "--air", "127.0.0.1:0"], "--air"),
    (["--profile", profile("battery"), "--duration", "soon"], "soon"),
    (["--profile", profile("battery"), "--controller", "no-such-transport:1"],
     "no-such-transport"),
])
def test_wrong_usage_ends_with_2_and_says_what(arguments, said):
    printed, messages = run(*arguments, code=2)
    assert said in messages and not printed, messages


# Ten mistakes, each on the line it is named with.
MISTAKES = {
    "peripheral-emu: 1": None,
    "device:": None,
    "  name: Ten": None,
    "  apperance: thermometer": "appearance",
    "  connections: 0": "connections",
    "advertising:": None,
    "  - type: conectable": "connectable",
    "    interval: 100": "ms",
    "    data: [{flags: [general-discoverable, no-bredr]}, {name: complete}]": "no-br-edr",
    "    colour: red": "colour",
    "services:": None,
    "  - service: 180F": "0x180F",
    "    characteristics:": None,
    "      - characteristic: temperatur": "temperature",
    "        read: opened": "open",
    "        value: {hex: '00'}": None,
    "      - characteristic: battery-level": None,
    "        read: open": None,
    "        value: 101": "100",
}


def test_a_profile_with_ten_mistakes_prints_ten_errors_with_places_and_advice(tmp_path):
    path = tmp_path / "ten.yaml"
    path.write_text("\n".join(MISTAKES) + "\n", encoding="utf-8")
    _, messages = run("check", str(path), code=2)
    found = re.findall(rf"^{re.escape(str(path))}:(\d+):(\d+): (.+): (.+); (.+)$", messages,
                       re.MULTILINE)
    expected = [line for line, word in enumerate(MISTAKES.values(), 1) if word]
    assert [int(line) for line, *_ in found] == expected, messages
    words = [word for word in MISTAKES.values() if word]
    for word, (_, _, *parts) in zip(words, found):
        assert word in " ".join(parts), f"\"{word}\" is not in: {parts}"


def test_34_bytes_of_advertising_data_are_refused_with_the_bytes_itemised(tmp_path):
    path = tmp_path / "long.yaml"
    path.write_text(
        "peripheral-emu: 1\ndevice: {name: Thermometer}\nadvertising:\n"
        "  - type: connectable\n    interval: 100 ms\n    data:\n"
        "      - flags: [general-discoverable, no-br-edr]\n      - name: complete\n"
        "      - service-uuids: [5D2A0000-8A2B-4C1D-9E3F-0123456789AB]\n", encoding="utf-8")
    _, messages = run("check", str(path), code=2)
    assert "advertising data is 34 of 31 bytes" in messages
    assert "flags 3" in messages and "name 13" in messages and "uuid128 18" in messages


VECTORS = Path(__file__).resolve().parent.parent / "Vectors"


def test_check_replays_every_transcript_on_the_profile_beside_it():
    transcripts = sorted(path for path in VECTORS.glob("*/**/*.txt")
                         if (path.parent / "profile.yaml").exists())
    assert len(transcripts) > 150
    for transcript in transcripts:
        run("check", "--transcript", str(transcript), str(transcript.parent / "profile.yaml"))


def test_check_tells_the_first_difference_from_a_transcript_and_ends_with_1(tmp_path):
    server = str(VECTORS / "gatt/strictness/usual/profile.yaml")
    path = tmp_path / "other.txt"
    path.write_text("# what it does not do\n> 0A1200\n< 0B010204\n> 0A1400\n< 00\n",
                    encoding="utf-8")
    printed, _ = run("check", "--transcript", str(path), server, code=1)
    assert printed == f"{path}:3: the server sent 0B010203, expected 0B010204\n"
    path.write_text("> 0A12\n\nsend 0A1200\n", encoding="utf-8")
    _, messages = run("check", "--transcript", str(path), server, code=2)
    assert messages.startswith(f"{path}:3: cannot read")
    _, messages = run("check", "--transcript", str(tmp_path / "none"), server, code=2)
    assert "No such file" in messages


def test_hci_without_bluetooth_in_the_kernel_ends_with_3():
    if has_bluetooth():
        pytest.skip("this kernel has Bluetooth")
    _, messages = run("--profile", profile("battery"), "--controller", "hci:0", code=3)
    assert "no Bluetooth in this kernel" in messages


def test_help_and_version_go_to_standard_output():
    printed, messages = run("--help")
    assert "--profile" in printed and "--with-central" in printed and not messages
    printed, messages = run("--version")
    assert re.search(r"\d+\.\d+", printed) and not messages


def accessory(path, text):
    path.write_text("peripheral-emu: 1\n" + text)
    return str(path)


def test_what_is_wrong_with_each_of_several_profiles_is_told(tmp_path):
    wrong = accessory(tmp_path / "wrong.yaml", "device: {}\n")
    other = accessory(tmp_path / "other.yaml", "device: {name: T, nmae: U}\n")
    _, told = run("--profile", wrong, "--profile", str(tmp_path / "none.yaml"),
                  "--profile", other, code=2)
    lines = told.splitlines()
    assert len(lines) == 3, told
    assert lines[0].startswith(wrong) and "none.yaml: No such file" in lines[1]
    assert lines[2].startswith(other)


@pytest.mark.parametrize("kind", ["device", "set"])
def test_two_accessories_with_one_address_are_refused_with_both_names(kind, tmp_path):
    said = '{type: random-static, value: "C0:11:22:33:44:55"}'
    own = f"device: {{name: One, address: {said}}}\n"
    if kind == "set":
        own = ("device: {name: One}\nadvertising: "
               f"[{{type: non-connectable, interval: 1 s, address: {said}}}]\n")
    first = accessory(tmp_path / "first.yaml", own)
    second = accessory(tmp_path / "second.yaml", f"device: {{name: Two, address: {said}}}\n")
    _, told = run("--profile", first, "--profile", second, "--virtual-time", "--duration", "1s",
                  code=2)
    assert told == (f"One of {first} and Two of {second} have the same address "
                    "C0:11:22:33:44:55; write another into one of them\n")


def test_the_limit_of_a_profile_is_told_as_it_is(tmp_path):
    path = tmp_path / "large.yaml"
    path.write_text("#" * (4 * 1024 * 1024 + 1))
    _, told = run("check", str(path), code=2)
    assert "4194305 octets, the limit is 4194304" in told
