"""A bluetoothctl on a terminal of its own, which pairs as an agent: a person reads and types."""
import os
import pty
import re
import subprocess
import threading

import lab

# Colours, cursor movements, and what a line editor writes over its prompt.
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x01\x02\r]")


class Agent:
    """bluetoothctl with an agent of this capability; its terminal's text is in agent.log."""

    def __init__(self, capability):
        self.terminal, inside = pty.openpty()
        self.process = subprocess.Popen(["bluetoothctl", "--agent", capability], stdin=inside,
                                        stdout=inside, stderr=inside)
        os.close(inside)
        self.text = ""
        self.seen = 0
        threading.Thread(target=self._read, daemon=True).start()
        self.wait_for("Agent registered")

    def _read(self):
        with (lab.LOGS / "agent.log").open("a", encoding="utf-8") as log:
            while True:
                try:
                    part = os.read(self.terminal, 4096)
                except OSError:  # the program is gone
                    return
                text = CONTROL.sub("", part.decode("utf-8", "replace"))
                log.write(text)
                log.flush()
                self.text += text

    def wait_for(self, pattern):
        """The next match of `pattern` after the last one."""
        def found():
            return re.search(pattern, self.text[self.seen:])

        match = lab.wait_for(f"\"{pattern}\" of bluetoothctl", found)
        self.seen += match.end()
        return match

    def type(self, line):
        """Types a line."""
        os.write(self.terminal, f"{line}\n".encode())

    def leave(self):
        """Ends the program."""
        self.type("quit")
        self.process.wait(lab.PATIENCE)
