"""A page in headless Chromium, asked over its debugging pipe."""
import base64
import json
import os
import shutil
import subprocess
import tempfile

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One Chromium with one page."""

    def __init__(self):
        # The browser reads commands from descriptor 3 and writes answers to descriptor 4.
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        self.profile = tempfile.TemporaryDirectory()
        line = (f'exec "{CHROMIUM}" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage '
                f'--no-first-run --user-data-dir="{self.profile.name}" --remote-debugging-pipe '
                f'about:blank 3<&{commands} 4>&{answers}')
        self.process = subprocess.Popen(
            ["bash", "-c", line], pass_fds=(commands, answers), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.buffer = b""
        self.number = 0
        self.events = []
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target,
                                flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(domain + ".enable")

    def close(self):
        """Ends the browser."""
        os.close(self.commands)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.answers)
        self.profile.cleanup()

    def message(self):
        """The next message of the browser."""
        while b"\0" not in self.buffer:
            part = os.read(self.answers, 1 << 16)
            if not part:
                raise EOFError("the browser has ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, **parameters):
        """The answer to a command; events that come before it are kept."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                assert "error" not in message, message["error"]
                return message["result"]
            self.events.append(message)

    def open(self, url, width, scheme, media=""):
        """Loads a page for a screen of this width and this colour scheme."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=800,
                 deviceScaleFactor=2 if width < 600 else 1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", media=media,
                 features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.ask("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())

    def run(self, expression):
        """The value of an expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def errors(self):
        """What the page has complained about."""
        return [event for event in self.events
                if event.get("method") == "Runtime.exceptionThrown"
                or (event.get("method") == "Log.entryAdded"
                    and event["params"]["entry"]["level"] == "error")]

    def picture(self, path):
        """Saves the whole page as a picture."""
        data = self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))
