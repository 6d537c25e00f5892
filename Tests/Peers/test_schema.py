"""The profile format's JSON Schema, by an independent validator (PyPI check-jsonschema)."""
import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from emulator import ROOT, binary, run

PROFILES = sorted((ROOT / "Profiles").glob("*.yaml"))
MUTATIONS = 300
# What YAML 1.1 reads as something else, and what no unit follows.
TRAPS = ["yes", "no", "on", "22:11", "180D", "0755", "1e3", "~", "100", "2E37", "[]", "{}", "true"]


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    """The schema as the program prints it."""
    path = tmp_path_factory.mktemp("schema") / "schema.json"
    printed = subprocess.run([binary(), "schema"], capture_output=True, text=True, check=True)
    json.loads(printed.stdout)
    path.write_text(printed.stdout, encoding="utf-8")
    return path


def refused(schema, files):
    """The names of those files that the validator refuses, and why."""
    tool = Path(sys.executable).parent / "check-jsonschema"
    done = subprocess.run(
        [tool, "--output-format", "json", "--schemafile", schema, *files], capture_output=True,
        text=True, check=False)
    report = json.loads(done.stdout)
    failed = {}
    for error in report.get("errors", []) + report.get("parse_errors", []):
        name = error["filename"] if isinstance(error, dict) else error
        failed.setdefault(Path(name).name, error)
    return failed


def loader_refuses(path):
    """The loader's messages, or none where the profile loads."""
    done = subprocess.run([binary(), "check", path], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 2), done
    return done.stderr.splitlines() if done.returncode else []


def mutated(text, chance):
    """The profile with one line changed in one of the ways in which people go wrong."""
    lines = text.splitlines()
    places = [place for place, line in enumerate(lines)
              if ":" in line and not line.lstrip().startswith("#")]
    place = chance.choice(places)
    line = lines[place]
    kind = chance.randrange(5)
    keys = list(re.finditer(r"[a-z0-9-]+(?=:)", line))
    if kind == 0 and keys:
        key = chance.choice(keys)
        cut = key.start() + chance.randrange(len(key.group()))
        line = line[:cut] + chance.choice(["", "x", "-"]) + line[cut + 1:]
    elif kind == 1:
        line = re.sub(r"(\d) (ms|s|min|h|d|dBm|g)\b", r"\1", line)
    elif kind == 2:
        lines.insert(place, line)
    elif kind == 3 and keys:
        key = chance.choice(keys)
        value = re.match(r": *([^,{}\[\]]*)", line[key.end():])
        line = line[:key.end()] + ": " + chance.choice(TRAPS) + line[key.end() + value.end():]
    else:
        line = line.replace("open", chance.choice(["opne", "true", "1"]))
    lines[place] = line
    return "\n".join(lines) + "\n"


def test_every_profile_is_valid(schema):
    assert not refused(schema, PROFILES)


def test_mutated_profiles_are_refused_by_the_loader_wherever_the_schema_refuses(schema, tmp_path):
    chance = random.Random(1)
    (tmp_path / "traces").symlink_to(ROOT / "Profiles/traces")
    files = []
    while len(files) < MUTATIONS:
        original = chance.choice(PROFILES).read_text(encoding="utf-8")
        text = mutated(original, chance)
        if text != original:
            path = tmp_path / f"{len(files):03}.yaml"
            path.write_text(text, encoding="utf-8")
            files.append(path)
    failed = refused(schema, files)
    stricter = both = 0
    for path in files:
        messages = loader_refuses(path)
        if path.name in failed:
            both += 1
            assert messages, f"only the schema refuses {path.name}: {failed[path.name]}"
        elif messages:
            # A message is a reason: where it is, what is wrong, what to write.
            stricter += 1
            reason = re.compile(r".*\.(yaml|csv):\d+:\d+: .+; .+")
            assert all(reason.match(line) for line in messages), messages
    print(f"{both} refused by both, {stricter} by the loader alone, of {len(files)}")
    assert both >= MUTATIONS / 4


def test_profiles_are_found_by_name():
    printed, _ = run("profiles")
    assert {path.stem for path in PROFILES} <= {line.split()[0] for line in printed.splitlines()}
    printed, _ = run("check", "heart-rate")
    assert "heart-rate-measurement" in printed


def test_hexadecimal_text_with_blanks_is_right_for_both(schema, tmp_path):
    for number, (text, is_right) in enumerate([
            ("01 FF", True), ("01FF 02", True), (" 01 ", True), ("", True), ("0 1", False),
            ("01F", False), ("01-FF", False)]):
        path = tmp_path / f"{number}.yaml"
        path.write_text(
            "peripheral-emu: 1\ndevice: {name: T}\nadvertising: "
            '[{type: connectable, interval: 1 s, '
            f'data: [{{manufacturer: {{company: 0xFFFF, data: {{hex: "{text}"}}}}}}]}}]\n')
        assert (not loader_refuses(path)) == is_right == (not refused(schema, [path])), text
