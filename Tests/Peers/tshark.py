"""tshark as an independent reader of captures."""
import shutil
import subprocess

READ_SECONDS = 100


def tshark(path, *arguments):
    """What tshark prints about a capture."""
    assert shutil.which("tshark"), "tshark is missing: Tools/install test installs it"
    done = subprocess.run(["tshark", "-r", str(path), *arguments], capture_output=True,
                          text=True, timeout=READ_SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_well_formed(path):
    """tshark names no packet malformed and no error."""
    assert tshark(path, "-Y", "_ws.malformed") == ""
    assert tshark(path, "-Y", "_ws.expert.severity == error") == ""
