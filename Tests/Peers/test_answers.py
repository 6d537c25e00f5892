"""The person at the accessory answers a central that pairs: by ctl, a terminal, a pipe, a file."""
import asyncio
import contextlib
import os
import pty
import time

import pytest
from bumble.core import ProtocolError

from central import Central
from emulator import binary, run, running
from test_control import Client, ctl
from test_pairing import (AUTHENTICATED, CONTROLLERS, IO, LISTENING, connect, lock, pair, prepare,
                          session)

PASSKEY, NUMBERS = "io: keyboard", "io: display-yes-no"
CENTRALS = {PASSKEY: IO.DISPLAY_OUTPUT_ONLY, NUMBERS: IO.DISPLAY_OUTPUT_AND_YES_NO_INPUT}
SHOWN = 7042  # With leading zeros.


class Person:
    """At the accessory: sees what the control socket says, and answers by it."""

    def __init__(self, path):
        self.path, self.client, self.watcher = path, Client(path), Client(path)
        self.watcher.call("watch")

    def asked(self, kind):
        """The next question of this kind, as event and as `pairing` has it."""
        event = self.watcher.event(kind)
        assert event["answered"] is False and event["seconds"] == 25
        question = next(question for question in self.client.call("pairing")["questions"]
                        if question["link"] == event["link"])
        assert question["question"] == kind and question["peer"] == event["peer"]
        assert 0 < question["seconds"] <= 25
        return question

    def answer(self, kind, words):
        """Waits for the question and answers it by ctl."""
        peer = self.asked(kind)["peer"]
        assert ctl(self.path, "answer", words) == \
            f"{peer} has the answer; the log says what comes of it\n"
        told = self.watcher.event("answered")
        assert told["peer"] == peer and told["answer"] in ("passkey", words)


async def paired(central, answering, *arguments):
    """Pairs while a person answers."""
    await asyncio.gather(pair(central), asyncio.to_thread(answering, *arguments))
    assert await central.read(AUTHENTICATED) == b"\x47\x12"


async def not_paired(central, answering, *arguments):
    """The reason for which it does not pair, as the central hears it."""
    with pytest.raises(ProtocolError) as caught:
        await paired(central, answering, *arguments)
    return caught.value.error_code


@contextlib.contextmanager
def controlled(folder, security, controllers="air", connections=1):
    """The accessory with a control socket; yields it, the transport and the socket's path."""
    path = folder / "control"
    with lock(folder, security, CONTROLLERS[controllers],
              ["--control", str(path)], connections) as (emulator, transport):
        emulator.wait_for("control: listening at")
        yield emulator, transport, path


@pytest.mark.parametrize("controllers", CONTROLLERS)
@pytest.mark.parametrize("security, sc", [(PASSKEY, True), (PASSKEY, False), (NUMBERS, True)],
                         ids=["passkey-secure", "passkey-legacy", "numbers"])
def test_the_control_socket_answers(tmp_path, security, sc, controllers):
    with controlled(tmp_path, security, controllers) as (emulator, transport, path):
        person = Person(path)

        async def body(central):
            prepare(central, emulator, CENTRALS[security], sc, passkey=SHOWN)
            await connect(central)
            if security == PASSKEY:
                await paired(central, person.answer, "enter-passkey", f"{SHOWN:06}")
            else:
                await paired(central, person.answer, "compare", "yes")
            await central.disconnect()

        session(transport, body)
        assert person.client.call("pairing") == {"questions": []}
        emulator.wait_for("paired, bonded as")


def test_a_shown_passkey_is_on_the_control_socket(tmp_path):
    with controlled(tmp_path, "io: display") as (emulator, transport, path):
        person = Person(path)

        async def body(central):
            prepare(central, emulator, IO.KEYBOARD_INPUT_ONLY)
            await connect(central)

            def look():
                shown = person.watcher.event("show-passkey")
                assert shown["answered"] is True and len(shown["passkey"]) == 6
            await paired(central, look)
            await central.disconnect()

        session(transport, body)


@pytest.mark.parametrize("security, words, reason, said", [
    (PASSKEY, "007043", 0x04, r"Confirm Value Failed \(0x04\)"),
    (PASSKEY, "no", 0x01, r"Passkey Entry Failed \(0x01\)"),
    (NUMBERS, "no", 0x0C, r"Numeric Comparison Failed \(0x0C\)"),
])
def test_a_wrong_answer_fails_with_the_right_reason(tmp_path, security, words, reason, said):
    with controlled(tmp_path, security) as (emulator, transport, path):
        person = Person(path)

        async def body(central):
            prepare(central, emulator, CENTRALS[security], passkey=SHOWN)
            await connect(central)
            kind = "enter-passkey" if security == PASSKEY else "compare"
            assert await not_paired(central, person.answer, kind, words) == reason
            await central.disconnect()

        session(transport, body)
        emulator.wait_for("did not pair: " + said)


def test_nobody_answers_in_time(tmp_path):
    with lock(tmp_path, PASSKEY) as (emulator, transport):
        async def body(central):
            prepare(central, emulator, IO.DISPLAY_OUTPUT_ONLY)
            await connect(central)
            with pytest.raises(ProtocolError) as caught:
                await asyncio.wait_for(central.connection.pair(), 40)
            assert caught.value.error_code == 0x01
            await central.disconnect()

        session(transport, body)
        emulator.wait_for(r"enter the passkey that .* shows, within 25 s$")
        emulator.wait_for("nobody can answer: standard input is no terminal; write --control")
        emulator.wait_for(
            r"did not pair: nobody answered within 25 s, Passkey Entry Failed \(0x01\)")


def test_what_is_no_answer_is_said_and_asked_again(tmp_path):
    with controlled(tmp_path, PASSKEY) as (emulator, transport, path):
        person = Person(path)
        assert "nothing is asked" in ctl(path, "answer", "123456", code=1)
        assert "nothing is asked" in person.client.call("answer", "yes")["message"]

        def answer():
            peer = person.asked("enter-passkey")["peer"]
            said = ctl(path, "answer", "12345", code=1)
            assert said == ("a passkey has six digits, and 12345 has 5; "
                            f"write the six digits that {peer} shows, or no\n")
            assert "is no answer to this" in ctl(path, "answer", "yes", code=1)
            assert "'9' does not wait for an answer" in ctl(path, "answer", "007042", "9", code=1)
            assert "must be \"123456\"" in person.client.call("answer", [1])["message"]
            # A number has no zeros in front; the link goes by its address too.
            assert person.client.call("answer", SHOWN, peer)["answered"] == "enter-passkey"

        async def body(central):
            prepare(central, emulator, IO.DISPLAY_OUTPUT_ONLY, passkey=SHOWN)
            await connect(central)
            await paired(central, answer)
            await central.disconnect()

        session(transport, body)


def test_two_centrals_wait_for_an_answer(tmp_path):
    addresses = ["C4:C3:C2:C1:C0:C1", "C4:C3:C2:C1:C0:C2"]
    with controlled(tmp_path, NUMBERS, connections=2) as (emulator, transport, path):
        person = Person(path)

        def answer():
            first, second = person.asked("compare"), person.asked("compare")
            said = ctl(path, "answer", "yes", code=1)
            assert said.startswith("2 centrals wait for an answer: ") and all(
                address in said for address in addresses)
            assert "the number of the link behind the answer" in said
            ctl(path, "answer", "yes", str(second["link"]))
            ctl(path, "answer", "no", first["peer"])
            return second["peer"]

        async def body():
            async with Central.on(transport, addresses[0]) as one, \
                    Central.on(transport, addresses[1]) as two:
                for central in (one, two):
                    prepare(central, emulator, IO.DISPLAY_OUTPUT_AND_YES_NO_INPUT,
                            address=str(central.device.random_address))
                    await connect(central)
                results = await asyncio.gather(
                    pair(one), pair(two), asyncio.to_thread(answer), return_exceptions=True)
                ends = [result is None for result in results[:2]]
                assert ends == [address == results[2] for address in addresses]
                await one.disconnect()
                await two.disconnect()

        asyncio.run(asyncio.wait_for(body(), 90))


@contextlib.contextmanager
def answered_by(folder, security, stdin, *options):
    """The accessory on its own air with this standard input."""
    path = folder / "lock.yaml"
    with lock(folder, security):
        pass
    with running("--profile", str(path), "--controller", "virtual", "--air", "127.0.0.1:0",
                 *options, stdin=stdin) as emulator:
        yield emulator, "tcp-client:" + emulator.wait_for(LISTENING).group(1)


@pytest.mark.parametrize("security", CENTRALS)
def test_a_terminal_answers(tmp_path, security):
    ours, theirs = pty.openpty()
    with answered_by(tmp_path, security, theirs) as (emulator, transport):
        os.write(ours, b"yes\n")
        emulator.wait_for("warning: nothing is asked: no central waits for an answer")

        def answer():
            emulator.wait_for("answer by a line here")
            if security == PASSKEY:
                os.write(ours, b"\n 12345 \n")
                emulator.wait_for("warning: a passkey has six digits, and 12345 has 5")
                os.write(ours, f"{SHOWN:06}\n".encode())
            else:
                os.write(ours, b"Y\n")

        async def body(central):
            prepare(central, emulator, CENTRALS[security], passkey=SHOWN)
            await connect(central)
            await paired(central, answer)
            await central.disconnect()

        session(transport, body)
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_a_pipe_or_a_file_answers_where_it_is_asked_to(tmp_path, kind):
    lines = f"what\n{SHOWN:06}\n".encode()
    if kind == "pipe":
        stdin, end = os.pipe()
        os.write(end, lines)
        os.close(end)
    else:
        (tmp_path / "answers").write_bytes(lines)
        stdin = os.open(tmp_path / "answers", os.O_RDONLY)
    with answered_by(tmp_path, PASSKEY, stdin, "--answers", "stdin") as (emulator, transport):
        async def body(central):
            prepare(central, emulator, IO.DISPLAY_OUTPUT_ONLY, passkey=SHOWN)
            await connect(central)
            await pair(central)
            assert await central.read(AUTHENTICATED) == b"\x47\x12"
            await central.disconnect()

        session(transport, body)
        emulator.wait_for("'what' is no passkey")
        emulator.wait_for("answer by a line on standard input")
    os.close(stdin)


@pytest.mark.parametrize("security, io", [
    ("io: display", IO.KEYBOARD_INPUT_ONLY), ("io: keyboard", IO.DISPLAY_OUTPUT_ONLY),
])
def test_the_option_answers(tmp_path, security, io):
    with lock(tmp_path, security, options=["--passkey", "007042"]) as (emulator, transport):
        async def body(central):
            prepare(central, emulator, io, passkey=SHOWN)
            await connect(central)
            await pair(central)
            assert await central.read(AUTHENTICATED) == b"\x47\x12"
            await central.disconnect()

        session(transport, body)
        emulator.wait_for("passkey 007042: enter it" if "display" in security
                          else "the passkey given before is entered")


@pytest.mark.parametrize("security, options, said", [
    ("io: display", ["--passkey", "12345"], "--passkey: a passkey has six digits, and 12345 has 5"),
    ("io: none", ["--passkey", "123456"], "--passkey: with 'io: none' there is no passkey"),
    ("pairing: refused", ["--passkey", "123456"], "--passkey: nobody can pair with"),
    ("io: display", ["--answers", "tty"], "there is no \"tty\" to answer; write stdin or none"),
    ("io: display", ["--answers", "stdin", "--virtual-time", "--duration", "1s"], "real time"),
])
def test_what_cannot_be_answered_is_refused(tmp_path, security, options, said):
    with lock(tmp_path, security):
        pass
    assert said in run("--profile", str(tmp_path / "lock.yaml"), *options, code=2)[1]


def state_of(process):
    """The kernel's letter for what a process does: T where it is stopped."""
    with open(f"/proc/{process}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0]


def test_in_the_background_it_leaves_the_terminal_alone(tmp_path):
    with lock(tmp_path, PASSKEY):
        pass
    said = tmp_path / "said"
    control = tmp_path / "control"
    script = (f"set -m; {binary()} --profile {tmp_path / 'lock.yaml'} --controller virtual "
              f"--air 127.0.0.1:0 --control {control} --duration 60s 2>{said} & "
              "echo pid $!; read line; echo got $line; kill $!; wait")
    child, ours = pty.fork()
    if not child:
        os.execvp("bash", ["bash", "-c", script])
    text = b""
    while b"pid " not in text or not text.endswith(b"\n"):
        text += os.read(ours, 1000)
    process = int(text.split(b"pid ")[1].split()[0])
    while not control.exists():
        time.sleep(0.05)
    os.write(ours, b"yes\n")
    while b"got yes" not in text:
        text += os.read(ours, 1000)
    with contextlib.suppress(OSError):
        while os.read(ours, 1000):
            assert state_of(process) != "T"
    os.waitpid(child, 0)
    os.close(ours)
    assert "nothing is asked" not in said.read_text(encoding="utf-8")
