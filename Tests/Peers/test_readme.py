"""Every command that README.md shows in an `sh` block works as a reader would type it."""
import os
import re
import signal
import subprocess

import pytest

from emulator import ROOT

README = ROOT / "README.md"
# A command that runs until it is stopped is given this long, and must end with 0 when stopped.
RUN_SECONDS = 5
CENTRAL_SECONDS = 60
END_SECONDS = 10
BUILD_SECONDS = 1200
# These are what this test is part of.
NOT_AGAIN = ("Tools/test", "Tools/check", "git clone", "cd ")


def commands():
    """The commands of the README's `sh` blocks; a line that ends in a backslash goes on."""
    blocks = re.findall(r"^```sh\n(.*?)^```", README.read_text(encoding="utf-8"),
                        re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines
            if line.strip() and not line.lstrip().startswith(("#", *NOT_AGAIN))]


def test_the_readme_shows_the_two_commands():
    assert README.exists(), "README.md is missing"
    text = README.read_text(encoding="utf-8")
    assert "Tools/run" in text and "Tools/test" in text


def run_command(command):
    """Runs one command as a reader would, stops it if it goes on, and wants exit code 0."""
    process = subprocess.Popen(
        ["bash", "-c", command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        output, _ = process.communicate(
            timeout=CENTRAL_SECONDS if "--with-central" in command else RUN_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=END_SECONDS)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, f"{command}\n{output}"


@pytest.mark.timeout(BUILD_SECONDS + 300)
def test_every_command_works_in_the_order_of_the_readme():
    # Built first, so that no command's time is the compiler's.
    subprocess.run([str(ROOT / "Tools/build-release")], check=True, timeout=BUILD_SECONDS)
    for command in commands():
        run_command(command)
