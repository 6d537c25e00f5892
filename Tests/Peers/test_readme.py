"""Every command that README.md shows in an `sh` block works as a reader would type it."""
import os
import re
import signal
import subprocess

import pytest

from emulator import ROOT, binary

README = ROOT / "README.md"
# A command that runs until it is stopped is given this long, and must end with 0 when stopped.
RUN_SECONDS = 5
CENTRAL_SECONDS = 60
END_SECONDS = 10
BUILD_SECONDS = 1200
LINES_MAX = 200
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
    assert output.strip(), f"{command} shows nothing"


@pytest.mark.timeout(BUILD_SECONDS + 300)
def test_every_command_works_in_the_order_of_the_readme():
    # Built first, so that no command's time is the compiler's.
    subprocess.run([str(ROOT / "Tools/build-release")], check=True, timeout=BUILD_SECONDS)
    for command in commands():
        run_command(command)


def test_the_session_with_a_control_socket_is_as_the_readme_shows_it(tmp_path):
    text = README.read_text(encoding="utf-8")
    block = re.search(r"^```\n(\$ .*?)^```", text, re.MULTILINE | re.DOTALL).group(1)
    socket = tmp_path / "desk"
    (tmp_path / "peripheral-emu").symlink_to(binary())
    script, expected = ["set -eu"], []
    for line in block.splitlines():
        if not line.startswith("$ "):
            expected.append(line)
            continue
        command = line.removeprefix("$ ").replace("/tmp/desk", str(socket))
        script.append(command.replace(" &", " 2>/dev/null &"))
        if command.endswith("&"):
            script.append(f"while ! [ -S {socket} ]; do sleep 0.1; done")
    script.append("kill $!; wait $!")
    done = subprocess.run(["bash", "-c", "\n".join(script)], cwd=ROOT, stdin=subprocess.DEVNULL,
                          env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
                          capture_output=True, text=True, timeout=RUN_SECONDS * 6, check=False)
    assert done.returncode == 0 and done.stdout.splitlines() == expected, done.stdout + done.stderr


def test_the_readme_is_short_and_its_other_commands_are_run_elsewhere():
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LINES_MAX
    kinds = re.findall(r"^```(.+)$", text, re.MULTILINE)
    # Tests/Guest runs those for a machine with an adapter.
    assert set(kinds) == {"sh", "sh adapter", "yaml"}, kinds
