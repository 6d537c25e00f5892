"""Every command that README.md shows in an `sh` block works as a reader would type it."""
import os
import re
import signal
import subprocess
import time

import pytest

from emulator import ROOT

README = ROOT / "README.md"
# A command that runs until it is stopped is given this long, and must end with 0 when stopped.
RUN_SECONDS = 5
BUILD_SECONDS = 1200
# These are what this test is part of.
NOT_AGAIN = ("Tools/test", "Tools/check", "git clone", "cd ")


def commands():
    """The commands of the README's `sh` blocks; a line that ends in a backslash goes on."""
    if not README.exists():
        return []
    blocks = re.findall(r"^```sh\n(.*?)^```", README.read_text(encoding="utf-8"),
                        re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines
            if line.strip() and not line.lstrip().startswith(("#", *NOT_AGAIN))]


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The environment of a reader: the release is built and `peripheral-emu` is on the PATH."""
    subprocess.run([str(ROOT / "Tools/build-release")], check=True, timeout=BUILD_SECONDS)
    path = f"{ROOT / '.build/static/release'}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "TMPDIR": str(tmp_path_factory.mktemp("readme"))}


def test_the_readme_shows_the_two_commands():
    assert README.exists(), "README.md is missing"
    text = README.read_text(encoding="utf-8")
    assert "Tools/run" in text and "Tools/test" in text


@pytest.mark.xdist_group("release")
@pytest.mark.timeout(BUILD_SECONDS + 60)
@pytest.mark.parametrize("command", commands())
def test_the_command_works(command, environment):
    process = subprocess.Popen(
        ["bash", "-c", command], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        output, _ = process.communicate(
            timeout=60 if "--with-central" in command else RUN_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.1)
        output, _ = process.communicate(timeout=10)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, f"{command}\n{output}"
