"""The program under test as a child process: started, watched line by line, always ended."""
import contextlib
import os
import queue
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 20
END_SECONDS = 10


def binary():
    """The executable to test: $PERIPHERAL_EMU, else this checkout's debug build."""
    return os.environ.get("PERIPHERAL_EMU") or str(ROOT / ".build/debug/peripheral-emu")


def profile(name):
    """The path of a bundled profile, or of one of the tests' own."""
    own = ROOT / "Tests/Peers/profiles" / f"{name}.yaml"
    return str(own if own.exists() else ROOT / "Profiles" / f"{name}.yaml")


class Emulator:
    """A running peripheral-emu, with the lines of both its outputs in the order they came."""

    def __init__(self, arguments, stdin=subprocess.DEVNULL):
        self.arguments = [binary(), *arguments]
        self.lines = []
        self.arrived = queue.Queue()
        self.process = subprocess.Popen(
            self.arguments, stdin=stdin, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors="replace")
        self.readers = [threading.Thread(target=self.read, args=(stream,), daemon=True)
                        for stream in (self.process.stdout, self.process.stderr)]
        for reader in self.readers:
            reader.start()

    def read(self, stream):
        """Collects the lines of one stream as they come; None marks its end."""
        for line in stream:
            self.arrived.put(line.rstrip("\n"))
        self.arrived.put(None)

    def wait_for(self, pattern, seconds=START_SECONDS):
        """The match of the first line, past or to come, that holds `pattern`."""
        end, seen, open_streams = time.monotonic() + seconds, 0, len(self.readers)
        while True:
            # Another thread that waits may have taken lines.
            while seen < len(self.lines):
                seen += 1
                if found := re.search(pattern, self.lines[seen - 1]):
                    return found
            if not open_streams or (left := end - time.monotonic()) <= 0:
                break
            with contextlib.suppress(queue.Empty):
                line = self.arrived.get(timeout=min(left, 0.2))
                if line is None:
                    open_streams -= 1
                else:
                    self.lines.append(line)
        raise AssertionError(f"no line with \"{pattern}\" within {seconds} s from\n{self}")

    def output(self):
        """All lines so far."""
        with contextlib.suppress(queue.Empty):
            while True:
                line = self.arrived.get_nowait()
                if line is not None:
                    self.lines.append(line)
        return "\n".join(self.lines)

    def stop(self, how=signal.SIGTERM):
        """Ends the process and returns its exit code; a process that will not end is killed."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            code = self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"did not end within {END_SECONDS} s:\n{self}") from None
        finally:
            for reader in self.readers:
                reader.join(1)
            self.process.stdout.close()
            self.process.stderr.close()
        return code

    def __str__(self):
        return f"{' '.join(self.arguments)}\n{self.output()}"


@contextlib.contextmanager
def running(*arguments, stdin=subprocess.DEVNULL):
    """A peripheral-emu that is ended by SIGTERM when the block ends, and must then exit with 0."""
    emulator = Emulator(arguments, stdin)
    try:
        yield emulator
    except BaseException as error:
        with contextlib.suppress(AssertionError):
            emulator.stop()
        if hasattr(error, "add_note"):
            error.add_note(str(emulator))
        raise
    code = emulator.stop()
    assert code == 0, f"exit code {code} after SIGTERM from\n{emulator}"


def run(*arguments, seconds=60, code=0):
    """Runs peripheral-emu to its end and returns (standard output, standard error)."""
    done = subprocess.run([binary(), *arguments], stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, timeout=seconds, check=False)
    assert done.returncode == code, \
        f"exit code {done.returncode}, expected {code}: {' '.join(arguments)}\n{done.stderr}"
    return done.stdout, done.stderr
