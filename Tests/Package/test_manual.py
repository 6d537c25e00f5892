"""The man page and the completions say what --help says, and work in their programs."""
import gzip
import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest

import completions

# What stands for an argument that the program will look at.
SAMPLES = {"HOST:PORT": "127.0.0.1:0", "T": "ideal", "P": "1%", "N": "1", "LEVEL": "info"}
SHELL_SECONDS = 30
UP_AND_DOWN = {"TERM": "dumb", "LC_ALL": "C.UTF-8"}


def needs(name):
    """Skips where a program is missing."""
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")


def rows(help_text, section):
    """The left columns of a section of the help text."""
    body = re.search(rf"^{section}:\n((?:  .*\n|\n(?=  ))*)", help_text, re.MULTILINE).group(1)
    return [re.split(r" {2,}", line.strip())[0] for line in body.splitlines()
            if re.match(r"  \S", line)]


def options(help_text):
    """The names of all options."""
    return [left.split()[0] for left in rows(help_text, "Options")]


@pytest.fixture(scope="session")
def page(tree, tmp_path_factory):
    """The man page, not compressed."""
    path = tmp_path_factory.mktemp("man") / "peripheral-emu.1"
    path.write_bytes(gzip.decompress(
        (tree / "usr/share/man/man1/peripheral-emu.1.gz").read_bytes()))
    return path


def test_the_man_page_names_all_that_help_names(page, help_text):
    needs("man")
    shown = subprocess.run(["man", "-l", str(page)], capture_output=True, text=True, check=True,
                           env={**os.environ, **UP_AND_DOWN, "MANWIDTH": "200"}).stdout
    assert len(options(help_text)) > 15
    for section in ("Commands", "Options", "Options of bench", "Controllers",
                    "Activity sources", "Methods of ctl"):
        for left in rows(help_text, section):
            assert re.search(rf"^ +{re.escape(left)}( |$)", shown, re.MULTILINE), left
    for title in ("EXIT STATUS", "FILES", "EXAMPLES", "ENVIRONMENT"):
        assert f"\n{title}\n" in shown
    text = " ".join(shown.split())
    for word in ("a bundled one's name", "hex:01FF", "heart-rate --controller hci:0 --take-over"):
        assert word in text, word


def test_the_man_page_has_no_faults(page):
    needs("man")
    done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(page)],
                          capture_output=True, text=True, check=False,
                          env={**os.environ, **UP_AND_DOWN, "MANROFFSEQ": "", "MANWIDTH": "80"})
    assert done.returncode == 0 and not done.stderr, done.stderr
    if shutil.which("mandoc"):
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", str(page)],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name, form", [
    ("usr/share/bash-completion/completions/peripheral-emu", "--{}[ ')]"),
    ("usr/share/zsh/vendor-completions/_peripheral-emu", r"--{}[=[]"),
    ("usr/share/fish/vendor_completions.d/peripheral-emu.fish", "-l {} ")])
def test_completions_name_every_option_command_and_method(tree, help_text, name, form):
    text = (tree / name).read_text(encoding="utf-8")
    for option in options(help_text):
        assert re.search(form.format(option.removeprefix("--")), text), option
    for section in ("Commands", "Methods of ctl"):
        for left in rows(help_text, section):
            assert re.search(rf"[ ']{left.split()[0]}[ ':]", text), left


def test_completions_offer_each_command_the_options_that_it_takes(program, help_text):
    for left in rows(help_text, "Options"):
        option, _, argument = left.partition(" ")
        name = option.removeprefix("--")
        if name in completions.GENERAL:
            continue
        given = [option] + ([SAMPLES.get(argument, "x=1")] if argument else [])
        for command in ("air", "check", "ctl"):
            said = subprocess.run([str(program), command, *given], capture_output=True, text=True,
                                  timeout=10, check=False).stderr if (
                command != "air" or name not in completions.OF_COMMAND["air"]) else ""
            is_refused = f"{command} does not take {option}" in said
            assert is_refused == (name not in completions.OF_COMMAND[command]), said


def test_the_choices_that_completions_offer_are_all_there_are(program, help_text):
    for name, choices in completions.CHOICES.items():
        run = [str(program), "--profile", "battery", "--virtual-time", "--duration", "1s"]
        if name in completions.CHOICES_OF_BENCH:
            run = [str(program), "bench", "--profile", "adaptive-tag", "--duration", "1d",
                   "--precision", "20%", "--scanner", "android-13-low-latency"]
        for choice in choices:
            subprocess.run([*run, f"--{name}", choice], capture_output=True, check=True)
        done = subprocess.run([*run, f"--{name}", "none"], capture_output=True, text=True,
                              check=False)
        told = re.search(r"write (?:one of )?(.*)", done.stderr).group(1)
        assert sorted(re.split(r", | or ", told)) == sorted(choices)


# What is typed, and what must be among the offers.
TYPED = [("peripheral-emu --with-c", "--with-central"), ("peripheral-emu a", "adapters"),
         ("peripheral-emu --profile heart-", "heart-rate"),
         ("peripheral-emu ctl dis", "disconnect"),
         ("peripheral-emu --log-level de", "debug"), ("peripheral-emu check batt", "battery"),
         ("peripheral-emu --controller virt", "virtual"),
         ("peripheral-emu air --air-t", "--air-timing"),
         ("peripheral-emu bench mer", "merge"), ("peripheral-emu bench merge par", "part-1.json")]


@pytest.fixture(scope="session")
def environment(tree):
    """Where a shell finds the program of the package."""
    return {**os.environ, **UP_AND_DOWN, "PATH": f"{tree}/usr/bin:{os.environ['PATH']}"}


def test_bash_completes(tree, environment, tmp_path):
    script = (f"source {tree}/usr/share/bash-completion/completions/peripheral-emu\n"
              'COMP_LINE=$1 COMP_POINT=${#1}; _peripheral_emu; printf "%s\\n" "${COMPREPLY[@]}"')

    def offers(line):
        return subprocess.run(["bash", "--norc", "-uc", script, "bash", line], cwd=tmp_path,
                              env=environment, capture_output=True, text=True,
                              check=True).stdout.split()

    (tmp_path / "part-1.json").touch()
    for line, offer in TYPED:
        assert offer in offers(line), line
    assert offers("peripheral-emu --profile=heart-r") == ["heart-rate"]
    assert offers("peripheral-emu --controller=tcp-c") == ["tcp-client:"]
    assert "--take-over" not in offers("peripheral-emu air --")
    (tmp_path / "own file.yaml").touch()
    assert "own" in offers("peripheral-emu --profile ow")


def test_fish_completes(tree, environment, tmp_path):
    needs("fish")
    (tmp_path / "part-1.json").touch()
    source = f"source {tree}/usr/share/fish/vendor_completions.d/peripheral-emu.fish"
    for line, offer in TYPED:
        done = subprocess.run(["fish", "--no-config", "-c", f"{source}; complete -C '{line}'"],
                              cwd=tmp_path, env={**environment, "HOME": str(tmp_path)},
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0 and not done.stderr, done.stderr
        assert offer in [row.split("\t")[0] for row in done.stdout.splitlines()], done.stdout


def test_zsh_completes(tree, environment, tmp_path):
    needs("zsh")
    (tmp_path / "part-1.json").touch()
    zsh = Typed(["zsh", "-f", "-i"], {**environment, "HOME": str(tmp_path)}, tmp_path)
    try:
        zsh.type(f"fpath=({tree}/usr/share/zsh/vendor-completions $fpath); "
                 "PS1='> '; autoload -U compinit; compinit -u -D; echo rea\\dy\n")
        zsh.wait_for("ready")
        for line, offer in TYPED:
            start = len(zsh.said)
            zsh.type(line + "\t")
            rest = offer[len(line.split()[-1]):]
            zsh.wait_for(re.escape(rest), start)
            zsh.type("\x15")
    finally:
        zsh.end()


class Typed:
    """A shell at a terminal of its own."""

    def __init__(self, command, environment, folder):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self.said = ""

    def type(self, text):
        """Types it."""
        os.write(self.terminal, text.encode())

    def wait_for(self, pattern, start=0):
        """Waits until the terminal shows it."""
        end = time.monotonic() + SHELL_SECONDS
        while not re.search(pattern, self.said[start:]):
            assert time.monotonic() < end, f"no {pattern} in {self.said[start:]!r}"
            if select.select([self.terminal], [], [], 0.2)[0]:
                self.said += os.read(self.terminal, 4096).decode(errors="replace")

    def end(self):
        """Hangs up."""
        os.close(self.terminal)
        os.waitpid(self.process, 0)
