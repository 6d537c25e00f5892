"""The Debian package: what is in it, what lintian says, and life in a clean system."""
import math
import os
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, build

DOC = "usr/share/doc/peripheral-emu"
NAMES = sorted(path.stem for path in (ROOT / "Profiles").glob("*.yaml"))


def output(*command, **options):
    """What a command that must work prints."""
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)
    assert done.returncode == 0, f"{command} ended with {done.returncode}\n{done.stdout}"
    return done.stdout


def field(package, name):
    """A field of the package's control file."""
    return output("dpkg-deb", "--field", package, name).strip()


def test_the_package_has_all_its_parts_owned_by_root(package, tree):
    for name in ("usr/bin/peripheral-emu", "usr/share/man/man1/peripheral-emu.1.gz",
                 "usr/lib/systemd/system/peripheral-emu@.service", f"{DOC}/copyright",
                 f"{DOC}/changelog.gz", "usr/share/bash-completion/completions/peripheral-emu",
                 "usr/share/zsh/vendor-completions/_peripheral-emu",
                 "usr/share/fish/vendor_completions.d/peripheral-emu.fish"):
        assert (tree / name).stat().st_size > 0, name
    for line in output("dpkg-deb", "-c", package).splitlines():
        mode, owner = line.split()[:2]
        assert owner == "root/root" and mode in ("drwxr-xr-x", "-rwxr-xr-x", "-rw-r--r--"), line


def test_its_fields_are_those_of_the_program_and_the_files(package, tree, program):
    version = output(program, "--version").split()[1]
    assert field(package, "Version") == version
    assert field(package, "Architecture") == output("dpkg", "--print-architecture").strip()
    assert package.name == f"peripheral-emu_{version}_{field(package, 'Architecture')}.deb"
    assert not field(package, "Depends"), "a static program needs nothing"
    size = sum(math.ceil(path.stat().st_size / 1024) if path.is_file() else 1
               for path in [tree, *tree.rglob("*")])
    assert int(field(package, "Installed-Size")) == size


def test_the_program_finds_every_profile_by_its_name_wherever_the_tree_is(program, tmp_path):
    printed = output(program, "profiles", cwd=tmp_path)
    assert [line.split()[0] for line in printed.splitlines()] == NAMES
    output(program, "check", *NAMES, cwd=tmp_path)
    said = output(program, "--profile", "heart-rate", "--controller", "virtual", "--virtual-time",
                  "--duration", "1s", cwd=tmp_path)
    assert "advertising connectable every 20 ms" in said


def test_the_benchmark_finds_its_models_wherever_the_tree_is(program, tmp_path):
    assert output(program, "bench", "validate", cwd=tmp_path).rstrip().endswith("all met")
    done = subprocess.run([str(program), "bench", "--profile", "adaptive-tag", "--soc", "none"],
                          capture_output=True, text=True, check=False, cwd=tmp_path)
    for name in (ROOT / "Profiles/power/socs").glob("*.yaml"):
        assert name.stem in done.stderr, done.stderr


def test_nothing_in_it_is_of_the_machine_that_built_it(tree):
    for path in tree.rglob("*"):
        assert path.is_dir() or str(ROOT).encode() not in path.read_bytes(), path


def test_a_program_that_needs_libraries_is_refused(tmp_path):
    done = subprocess.run([str(ROOT / "Tools/package"), "--program", shutil.which("dpkg-deb"),
                           str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "Tools/build-release" in done.stderr, done.stderr


@pytest.mark.long
def test_equal_files_give_equal_packages(package, tmp_path):
    other = build(tmp_path, TMPDIR=str(tmp_path), TZ="Asia/Kathmandu", LC_ALL="C")
    assert other.read_bytes() == package.read_bytes()


@pytest.mark.long
def test_lintian_finds_nothing(package):
    if not shutil.which("lintian"):
        pytest.skip("lintian is not installed")
    said = output("lintian", "--allow-root", "--display-info", "--pedantic", "--fail-on",
                  "error,warning,info,pedantic", package)
    assert not re.search("^[EWIP]:", said, re.MULTILINE), said


@pytest.fixture(scope="session")
def clean_system(tmp_path_factory):
    """A minimal system of this distribution's newest packages, and how to run a command in it."""
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        pytest.skip("a clean system needs root and debootstrap")
    form = "$(CREATED_BY) $(REPO_URI) $(CODENAME)"
    lines = output("apt-get", "indextargets", "--format", form).splitlines()
    # The base suite, not its updates.
    found = next((line.split()[1:] for line in lines
                  if re.fullmatch(r"Packages \S+ [a-z]+", line)), None)
    if not found:
        pytest.skip("apt knows no repository")
    folder = tmp_path_factory.mktemp("system")
    done = subprocess.run(["debootstrap", "--variant=minbase", found[1], str(folder), found[0]],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stdout + done.stderr).strip().splitlines()[-1]
        pytest.skip(f"no clean system could be made: {last}")
    yield folder
    shutil.rmtree(folder)


@pytest.mark.long
def test_it_installs_runs_and_goes_in_a_clean_system(clean_system, package):
    shutil.copy(package, clean_system / "package.deb")

    def inside(*command):
        return output("unshare", "--pid", "--fork", f"--mount-proc={clean_system}/proc", "chroot",
                      clean_system, "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin", *command)

    before = {path for path in clean_system.rglob("*") if "/var/lib/dpkg" not in str(path)}
    inside("dpkg", "-i", "/package.deb")
    assert not inside("dpkg", "--audit") and not inside("dpkg", "--verify", "peripheral-emu")
    said = inside("peripheral-emu", "--profile", "heart-rate", "--controller", "virtual",
                  "--virtual-time", "--duration", "1s")
    assert "advertising connectable every 20 ms" in said
    assert len(inside("peripheral-emu", "profiles").splitlines()) == len(NAMES)
    said = inside("peripheral-emu", "--profile", "heart-rate", "--controller", "virtual",
                  "--with-central")
    assert "heart-rate-measurement notified" in said
    inside("dpkg", "--purge", "peripheral-emu")
    after = {path for path in clean_system.rglob("*") if "/var/lib/dpkg" not in str(path)}
    assert {path for path in after - before if "/var/log/" not in str(path)} == set()
