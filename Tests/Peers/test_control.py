"""The control socket of a running accessory from outside: programs, people and rude clients."""
import asyncio
import contextlib
import json
import os
import socket
import stat
import subprocess
import time

import pytest

from central import Central
from controllers import bumble_controllers
from emulator import Emulator, binary, profile, run, running

LISTENING = r"air: listening on (127\.0\.0\.1:\d+)"
TEMPERATURE = "2A6E"
CENTRAL = "C4:C3:C2:C1:C0:C9"
SECONDS = 20


class Client:
    """A client of the control socket: one JSON object a line."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(SECONDS)
        self.socket.connect(str(path))
        self.file = self.socket.makefile("rb")
        self.id = 0

    def line(self):
        """The next line as an object; None at the end."""
        line = self.file.readline()
        return json.loads(line) if line else None

    def send(self, octets):
        """Sends octets, and returns the next line as an object."""
        self.socket.sendall(octets)
        return self.line()

    def call(self, method, *parameters):
        """The result of a method, or its error; events on the way are passed over."""
        self.id += 1
        self.socket.sendall(json.dumps({"jsonrpc": "2.0", "id": self.id, "method": method,
                                        "params": parameters}).encode() + b"\n")
        while (answer := self.line()).get("method") == "event":
            pass
        assert answer["jsonrpc"] == "2.0" and answer["id"] == self.id
        return answer.get("result", answer.get("error"))

    def event(self, name):
        """The next event of this name."""
        while (line := self.line()) is not None:
            if line.get("method") == "event" and line["params"]["event"] == name:
                return line["params"]
        raise AssertionError(f"no event {name}")

    def close(self):
        """Ends the connection."""
        self.file.close()
        self.socket.close()


@contextlib.contextmanager
def accessory(folder, *options, name="environment-sensor"):
    """A running accessory on the virtual air: (emulator, socket path, address of the air)."""
    path = folder / "control"
    with running("--profile", profile(name), "--controller", "virtual", "--air", "127.0.0.1:0",
                 "--control", str(path), *options) as emulator:
        address = emulator.wait_for(LISTENING).group(1)
        emulator.wait_for("control: listening at")
        emulator.wait_for("advertising connectable")
        yield emulator, path, address
    assert not path.exists()


def ctl(path, *arguments, code=0):
    """Runs ctl and returns what it prints, standard error behind standard output."""
    done = subprocess.run([binary(), "ctl", "--control", str(path), *arguments], text=True,
                          capture_output=True, timeout=SECONDS, check=False,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == code, f"{arguments}: exit code {done.returncode}\n{done.stderr}"
    return done.stdout + done.stderr


def test_a_central_sees_what_the_control_socket_does(tmp_path):
    async def session(address, client, watcher):
        async with Central.on(f"tcp-client:{address}", CENTRAL) as central:
            await central.connect((await central.find("Desk Sensor")).address)
            await central.discover()
            assert watcher.event("connected")["peer"] == CENTRAL

            stored = client.call("set", "temperature", 21.5)
            assert stored["hex"] == "6608" and stored["value"] == 21.5 and stored["unit"] == "°C"
            assert await central.read(TEMPERATURE) == bytes.fromhex("6608")
            read = watcher.event("read")
            assert read["characteristic"] == "temperature" and read["value"] == 21.5
            assert read["hex"] == "6608" and "read temperature" in read["text"]

            assert client.call("notify", "temperature")["links"] == []
            received = asyncio.Queue()
            await central.characteristic(TEMPERATURE).subscribe(received.put_nowait)
            assert watcher.event("subscribed")["characteristic"] == "temperature"
            assert client.call("notify", "temperature")["links"] == [0]
            assert await asyncio.wait_for(received.get(), SECONDS) == bytes.fromhex("6608")
            assert client.call("set", "temperature", "hex:0A00")["value"] == 0.1
            assert await asyncio.wait_for(received.get(), SECONDS) == bytes.fromhex("0A00")

            link, = client.call("list")["links"]
            assert link["peer"] == CENTRAL and link["subscribed"] == ["temperature"]
            gone = asyncio.Event()
            central.connection.on("disconnection", lambda _: gone.set())
            assert client.call("disconnect", 0)["links"] == [link]
            await asyncio.wait_for(gone.wait(), SECONDS)
            assert watcher.event("disconnected")["peer"] == CENTRAL
            assert watcher.event("advertising")["interval"] == 1285
            assert client.call("list")["links"] == []

    with accessory(tmp_path) as (_, path, address):
        client, watcher = Client(path), Client(path)
        assert watcher.call("watch") == {"watching": True}
        asyncio.run(asyncio.wait_for(session(address, client, watcher), 90))


def test_watchers_are_told_exactly_what_json_prints(tmp_path):
    with accessory(tmp_path, "--json", "--log-level", "debug") as (emulator, path, address):
        watcher = Client(path)
        watcher.call("watch")

        async def session():
            async with Central.on(f"tcp-client:{address}", CENTRAL) as central:
                await central.connect((await central.find("Desk Sensor")).address)
                await central.discover()
                await central.read(TEMPERATURE)
                await central.disconnect()

        asyncio.run(asyncio.wait_for(session(), 60))
        told = []
        while not told or told[-1]["event"] != "advertising":
            told.append(watcher.line()["params"])
        emulator.wait_for('"event":"disconnected"')
        emulator.wait_for('"level":"info","event":"mtu"')
        time.sleep(0.2)
        printed = [json.loads(line) for line in emulator.output().splitlines()
                   if line.startswith("{")]
    first = printed.index(told[0])
    assert printed[first:first + len(told)] == told
    assert {"connected", "mtu", "read", "disconnected"} <= {event["event"] for event in told}


def test_the_socket_is_for_its_owner_alone_and_goes_with_the_accessory(tmp_path):
    with accessory(tmp_path) as (_, path, _):
        status = path.stat()
        assert stat.S_ISSOCK(status.st_mode) and stat.S_IMODE(status.st_mode) == 0o600
        _, said = run("--profile", profile("battery"), "--air", "127.0.0.1:0",
                      "--control", str(path), code=3)
        assert "another program listens there" in said
        assert Client(path).call("list")["name"] == "Desk Sensor"
    other = tmp_path / "file"
    other.write_text("mine", encoding="utf-8")
    _, said = run("--profile", profile("battery"), "--air", "127.0.0.1:0",
                  "--control", str(other), code=3)
    assert "there is a file that is no socket" in said and other.read_text() == "mine"
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(path))
    stale.close()
    with accessory(tmp_path):
        pass


def test_root_is_told_which_socket_will_stay_behind(tmp_path):
    try:
        os.chown(tmp_path, 65534, 65534)
    except OSError:
        pytest.skip("only root can own a socket in another user's folder")
    path = tmp_path / "control"
    _, said = run("--profile", profile("battery"), "--air", "127.0.0.1:0",
                  "--control", str(path), "--duration", "1s", code=0)
    assert f"{path} cannot be removed or made anew later" in said


BAD = {
    b"{\n": -32700, b"\xff\xfe\n": -32700, b'"\\ud800"\n': -32700, b"\x00\n": -32700,
    b"[" * 10_000 + b"\n": -32700, b"9" * 5000 + b"\n": -32700,
    b'{"jsonrpc":"2.0","id":1,"method":"get","params":["\xc3("]}\n': -32700,
    b"[]\n": -32600, b"[1,2]\n": -32600, b"null\n": -32600, b"{}\n": -32600,
    b"x" * 100_000 + b"\n": -32600,
    b'{"jsonrpc":"2.0","id":true,"method":"list"}\n': -32600,
    b'{"jsonrpc":"2.0","id":1,"method":"gte"}\n': -32601,
    b'{"jsonrpc":"2.0","id":1,"method":"get"}\n': -32602,
    b'{"jsonrpc":"2.0","id":1,"method":"set","params":["temperature",1e999]}\n': -32700,
    b'{"jsonrpc":"2.0","id":1,"method":"set","params":["temperature",99999]}\n': -32602,
    b'{"jsonrpc":"2.0","id":1,"method":"set","params":["temperature",[[1]]]}\n': -32602,
}


def descriptors(emulator):
    """How many descriptors the accessory has open."""
    return len(os.listdir(f"/proc/{emulator.process.pid}/fd"))


def test_bad_input_is_answered_and_ends_nothing(tmp_path):
    with accessory(tmp_path) as (emulator, path, _):
        client = Client(path)
        for octets, code in BAD.items():
            answer = client.send(octets)
            assert answer["error"]["code"] == code, (octets[:80], answer)
            assert answer["error"]["message"]
        assert client.call("gte")["message"].endswith("did you mean 'get'?")
        assert client.call("get", "temperatur")["message"].endswith("write 'temperature'")
        # A notification has no answer, a last line no end, a client no manners.
        client.socket.sendall(b'{"jsonrpc":"2.0","method":"set","params":["temperature",3]}\n')
        assert client.call("get", "temperature")["value"] == 3
        client.socket.sendall(b'{"jsonrpc":"2.0","id":"z","method":"watch"}')
        client.socket.shutdown(socket.SHUT_WR)
        assert client.line() == {"jsonrpc": "2.0", "id": "z", "result": {"watching": True}}
        client.close()
        one = Client(path)
        one.call("list")
        before = descriptors(emulator)
        for number in range(60):
            rude = Client(path)
            rude.socket.sendall([b"", b'{"half', b'{"jsonrpc":"2.0","id":1,"method":"list"}\n',
                                 b"\xff" * 70_000][number % 4])
            rude.close()
        one.call("list")
        deadline = time.monotonic() + SECONDS
        while descriptors(emulator) > before and time.monotonic() < deadline:
            time.sleep(0.05)
        assert descriptors(emulator) == before


def test_a_watcher_that_does_not_read_is_dropped_and_the_others_go_on(tmp_path):
    text = tmp_path / "busy.yaml"
    text.write_text(
        "peripheral-emu: 1\ndevice: {name: Busy}\nadvertising:\n  - type: connectable\n"
        "    interval: 100 ms\n    data: [{flags: [general-discoverable, no-br-edr]},"
        " {name: complete}]\n"
        "services:\n  - service: 0x1234\n    characteristics:\n"
        "      - {characteristic: 0x5678, label: sink, write: open, write-without-response: open,"
        " format: utf8,\n"
        "         on-write: [{do: [{log: '" + "x" * 200 + "'}]}], length: {max: 200}}\n",
        encoding="utf-8")

    async def session(address):
        async with Central.on(f"tcp-client:{address}", CENTRAL) as central:
            await central.connect((await central.find("Busy")).address)
            await central.discover()
            for _ in range(3000):
                await central.write("5678", b"y" * 100, with_response=False)
            await central.write("5678", b"last")

    path = tmp_path / "control"
    with running("--profile", str(text), "--controller", "virtual", "--air", "127.0.0.1:0",
                 "--air-timing", "ideal", "--control", str(path)) as emulator:
        address = emulator.wait_for(LISTENING).group(1)
        emulator.wait_for("control: listening at")
        stalled, other = Client(path), Client(path)
        stalled.call("watch")
        asyncio.run(asyncio.wait_for(session(address), 90))
        emulator.wait_for("control: a client is dropped: it left more than 1 MiB unread")
        assert other.call("get", "sink")["value"] == "last"


def test_ctl_speaks_to_a_person(tmp_path):
    with accessory(tmp_path) as (emulator, path, _):
        assert ctl(path, "set", "temperature=21.5") == "temperature = 21.50 °C\n"
        assert ctl(path, "set", "temperature", "-5") == "temperature = -5.00 °C\n"
        assert ctl(path, "get", "temperature") == "temperature = -5.00 °C\n"
        assert json.loads(ctl(path, "get", "temperature", "--json"))["hex"] == "0CFE"
        assert ctl(path, "notify", "temperature") == "nobody has subscribed to temperature\n"
        assert ctl(path, "disconnect") == "nobody is connected\n"
        listed = ctl(path, "list")
        assert listed.startswith("Desk Sensor, ") and "read, notify = -5.00 °C" in listed
        assert len(json.loads(ctl(path, "--json", "list"))["services"]) == 3
        said = ctl(path, "set", "temperature", "hot", code=1)
        assert said == ("temperature: 'hot' cannot stand here; "
                        "write a number from -273.15 to 327.67\n")
        assert "write 'temperature'" in ctl(path, "get", "temperatur", code=1)
        assert "did you mean list?" in ctl(path, "lst", code=2)
        assert "write ctl get REFERENCE" in ctl(path, "get", code=2)
        environment = dict(os.environ, PERIPHERAL_EMU_CONTROL=str(path))
        done = subprocess.run([binary(), "ctl", "get", "humidity"], env=environment, text=True,
                              capture_output=True, timeout=SECONDS, check=True)
        assert done.stdout == "humidity = 45.00 %\n"
        watch = Emulator(["ctl", "--control", str(path), "watch"])
        # What it says first comes after it has begun to watch.
        time.sleep(0.5)
        emulator.process.terminate()
        watch.wait_for(r"^ +\d+\.\d{3}  advertising stopped$")
        watch.wait_for("the accessory has ended")
        assert watch.process.wait(SECONDS) == 0 and watch.stop() == 0
    said = ctl(path, "list", code=3)
    assert "No such file" in said and f"--control {path}" in said
    silent = socket.socket(socket.AF_UNIX)
    silent.bind(str(tmp_path / "closes"))
    silent.listen()
    process = subprocess.Popen([binary(), "ctl", "--control", str(tmp_path / "closes"), "list"],
                               stderr=subprocess.PIPE, text=True)
    accepted, _ = silent.accept()
    accepted.recv(100)
    accepted.close()
    _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 3 and "closed the connection" in said


def test_it_serves_beside_the_built_in_central_and_on_another_controller(tmp_path):
    path = tmp_path / "control"
    emulator = Emulator(["--profile", profile("environment-sensor"), "--with-central",
                         "--air", "127.0.0.1:0", "--control", str(path)])
    emulator.wait_for("subscribed to temperature")
    assert "temperature sent to 1 link" in ctl(path, "notify", "temperature")
    emulator.wait_for("temperature notified")
    assert emulator.process.wait(SECONDS) == 0
    assert emulator.stop() == 0 and not path.exists()
    with bumble_controllers(count=1) as (transport,), \
            running("--profile", profile("battery"), "--controller", transport,
                    "--control", str(path)) as emulator:
        emulator.wait_for("advertising connectable")
        assert ctl(path, "set", "battery-level=7") == "battery-level = 7 %\n"


def test_an_accessory_without_its_controller_answers_too(tmp_path):
    path = tmp_path / "control"
    emulator = Emulator(["--profile", profile("battery"), "--controller",
                         f"unix-server:{tmp_path / 'hci'}", "--control", str(path)])
    emulator.wait_for("waiting for a controller")
    assert "nobody is connected" in ctl(path, "list")
    assert "waits for its controller" in ctl(path, "set", "battery-level=7", code=1)
    emulator.stop()


def test_virtual_time_has_no_control_socket():
    _, said = run("--profile", profile("battery"), "--virtual-time", "--duration", "1s",
                  "--control", "/tmp/none", code=2)
    assert said == "who asks at --control lives in real time; leave out that or --virtual-time\n"


@pytest.mark.parametrize("arguments", [["check", profile("battery")], ["--version"], ["schema"]])
def test_an_output_that_is_full_is_an_error(arguments):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([binary(), *arguments], stdout=full, stderr=subprocess.PIPE,
                              text=True, timeout=SECONDS, check=False)
    assert done.returncode == 3
    assert "cannot write to standard output: No space left on device" in done.stderr


def test_a_capture_that_nobody_reads_holds_nothing_up(tmp_path):
    path = tmp_path / "control"
    process = subprocess.Popen(
        [binary(), "--profile", profile("everything"), "--air", "127.0.0.1:0", "--air-timing",
         "ideal", "--capture", "-", "--control", str(path)], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + SECONDS
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        for _ in range(20):
            ctl(path, "list")
        process.terminate()
        _, said = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, said
    finally:
        process.kill()


def test_lint_says_line_and_column(tmp_path):
    path = tmp_path / "plain.yaml"
    path.write_text("peripheral-emu: 1\ndevice: {name: Plain}\nadvertising:\n"
                    "  - type: connectable\n    interval: 100 ms\n", encoding="utf-8")
    _, said = run("check", str(path))
    assert f"warning: {path}:5:15: advertising[0].interval: " in said


def test_json_has_each_decision_about_the_interval():
    printed, _ = run("--profile", profile("environment-sensor"), "--virtual-time", "--duration",
                     "2min", "--json")
    events = [json.loads(line) for line in printed.splitlines()]
    decisions = [(event["from"], event["to"]) for event in events if event["event"] == "interval"]
    assert decisions == [(1285, 152.5), (152.5, 1285)]
    for event, following in zip(events, events[1:]):
        if event["event"] == "interval":
            assert event["reason"] and event["text"].endswith(event["reason"])
            assert following["event"] == "advertising"
            assert (following["interval"], following["reason"]) == (event["to"], event["reason"])
