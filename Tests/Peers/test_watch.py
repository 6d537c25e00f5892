"""--watch: new versions of a profile while a Bumble central is connected and subscribed."""
import asyncio
import json
import os
import re

from central import Central
from emulator import run, running

LISTENING = r"air: listening on (127\.0\.0\.1:\d+)"
NAME = "Watched"
LEVEL, COLOUR, COUNT, MAKER, CHANGED, HASH = "2A19", "7C3E2001-52B1-4F0A-8E6D-91A2B3C4D5E6", \
    "7C3E2002-52B1-4F0A-8E6D-91A2B3C4D5E6", "2A29", "2A05", "2B2A"
SECONDS = 10
SAVES = 20

PROFILE = """
peripheral-emu: 1
device: {name: Watched}
advertising:
  - type: connectable
    interval: 100 ms
    data: [{flags: [general-discoverable, no-br-edr]}, {name: complete}]
services:
  - service: battery
    characteristics:
      - {characteristic: battery-level, read: open, notify: open, value: 50}
  - service: 7C3E2000-52B1-4F0A-8E6D-91A2B3C4D5E6
    characteristics:
      - characteristic: 7C3E2001-52B1-4F0A-8E6D-91A2B3C4D5E6
        label: colour
        read: open
        write: open
        format: utf8
        value: green
      - characteristic: 7C3E2002-52B1-4F0A-8E6D-91A2B3C4D5E6
        label: count
        notify: open
        read: open
        format: uint16
        value: {counter: {start: 1, step: 1}}
        update: every 200 ms
"""
MORE = """
  - service: device-information
    characteristics:
      - {characteristic: manufacturer-name-string, read: open, value: Acme}
"""


class Session:
    """A connected central that follows Service Changed, the battery's level and the count."""

    def __init__(self, central, emulator, path):
        self.central, self.emulator, self.path = central, emulator, path
        self.changes, self.levels, self.counts = [], [], []

    async def subscribe(self):
        """Follows all three."""
        for uuid, values in ((CHANGED, self.changes), (LEVEL, self.levels), (COUNT, self.counts)):
            await self.central.characteristic(uuid).subscribe(
                lambda value, values=values: values.append(bytes(value)))

    def save(self, text):
        """Writes the profile as `echo >` does."""
        self.path.write_text(text, encoding="utf-8")

    async def line(self, pattern):
        """Waits for a line of the program; the central goes on meanwhile."""
        return await asyncio.to_thread(self.emulator.wait_for, pattern, SECONDS)

    async def until(self, condition):
        """Waits until something is so."""
        end = asyncio.get_running_loop().time() + SECONDS
        while not condition():
            assert asyncio.get_running_loop().time() < end, "it did not come to that"
            await asyncio.sleep(0.02)


def watched(tmp_path, scenario, *options, text=PROFILE, links=1):
    """Runs a scenario of a session on so many links; returns what the program said."""
    path = tmp_path / "watched.yaml"
    path.write_text(text, encoding="utf-8")

    async def whole(emulator, address):
        async with Central.on(f"tcp-client:{address}") as central:
            found = await central.find(NAME)
            await central.connect(found.address)
            await central.discover()
            session = Session(central, emulator, path)
            await session.subscribe()
            await scenario(session)
            assert central.connection is not None
            await central.disconnect()

    with running("--profile", str(path), "--controller", "virtual", "--air", "127.0.0.1:0",
                 "--seed", "1", "--watch", *options) as emulator:
        address = emulator.wait_for(LISTENING).group(1)
        asyncio.run(asyncio.wait_for(whole(emulator, address), 60))
        output = emulator.output()
    assert output.count(" connected: ") == links, "no link was lost"
    return output


def test_a_new_value_is_read_and_notified_and_the_table_is_the_same(tmp_path):
    async def scenario(session):
        await session.central.write(COLOUR, b"red")
        counts = len(session.counts)
        before = await session.central.read(HASH)
        session.save(PROFILE.replace("value: 50", "value: 51"))
        await session.line("flashed .*: the attribute table is the same; new values of battery")
        await session.until(lambda: session.levels == [b"\x33"])
        assert await session.central.read(LEVEL) == b"\x33"
        assert await session.central.read(COLOUR) == b"red", "what was written stays"
        assert await session.central.read(HASH) == before
        await session.until(lambda: len(session.counts) > counts + 3)
        numbers = [int.from_bytes(value, "little") for value in session.counts]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), "the count goes on"
        assert not session.changes

    watched(tmp_path, scenario)


def test_a_new_service_is_seen_after_service_changed_without_a_new_connection(tmp_path):
    async def scenario(session):
        before = await session.central.read(HASH)
        session.save(PROFILE + MORE)
        await session.line("flashed .*: the attribute table changed, Service Changed")
        await session.until(lambda: session.changes)
        start, end = (int.from_bytes(session.changes[0][at:at + 2], "little") for at in (0, 2))
        tree = await session.central.discover()
        assert (tree[-1].handle, tree[-1].end) == (start, end) and tree[-1].uuid == "180A"
        assert await session.central.read(MAKER) == b"Acme"
        assert await session.central.read(HASH) != before
        counts = len(session.counts)
        await session.until(lambda: len(session.counts) > counts + 3)
        assert len(session.changes) == 1
        # And gone again: the same handles, without what was there.
        session.save(PROFILE)
        await session.until(lambda: len(session.changes) == 2)
        assert session.changes[1] == session.changes[0]
        assert len(await session.central.discover()) == len(tree) - 1

    watched(tmp_path, scenario)


def test_a_broken_file_is_reported_and_the_old_version_goes_on(tmp_path):
    async def scenario(session):
        session.save(PROFILE.replace("value: 50", "value: 500").replace("read: open", "raed: open"))
        await session.line(r"watched\.yaml:\d+:\d+: services\[0\]\.characteristics\[0\]\.value")
        await session.line(r"watched\.yaml:\d+:\d+: .*raed")
        await session.line("error: .*watched.yaml was not flashed: the version before goes on")
        assert await session.central.read(LEVEL) == b"\x32"
        counts = len(session.counts)
        await session.until(lambda: len(session.counts) > counts + 3)
        assert not session.changes and not session.levels
        session.save(PROFILE)
        await session.line("watched.yaml is as before")
        session.path.unlink()
        await session.line("watched.yaml is gone")
        assert await session.central.read(LEVEL) == b"\x32"
        session.save(PROFILE.replace("value: 50", "value: 52"))
        await session.until(lambda: session.levels == [b"\x34"])

    watched(tmp_path, scenario)


def test_editors_that_rename_and_saves_in_a_row_lead_to_the_last_version(tmp_path):
    async def scenario(session):
        new = session.path.with_suffix(".new")
        new.write_text(PROFILE.replace("value: 50", "value: 60"), encoding="utf-8")
        os.replace(new, session.path)
        await session.until(lambda: session.levels == [bytes([60])])
        # As vim does it: the old file becomes the backup.
        os.rename(session.path, session.path.with_suffix(".yaml~"))
        session.save(PROFILE.replace("value: 50", "value: 61"))
        await session.until(lambda: session.levels[-1:] == [bytes([61])])
        for number in range(SAVES):
            session.save(PROFILE.replace("value: 50", f"value: {62 + number}"))
            await asyncio.sleep(0.01)
        await session.until(lambda: session.levels[-1:] == [bytes([61 + SAVES])])
        assert len(session.levels) < SAVES, "a burst is settled"
        assert await session.central.read(LEVEL) == bytes([61 + SAVES])
        assert not session.changes

    assert "error:" not in watched(tmp_path, scenario)


def test_a_file_that_the_profile_names_is_watched_too_and_advertising_follows(tmp_path):
    replay = PROFILE.replace("value: 50}", "update: every 100 ms, send: on-change, "
                             "value: {replay: {csv: level.csv, column: level}}}")
    (tmp_path / "level.csv").write_text("time,level\n0,10\n", encoding="utf-8")

    async def scenario(session):
        (tmp_path / "level.csv").write_text("time,level\n0,20\n", encoding="utf-8")
        await session.line("flashed .* new values of battery-level")
        assert await session.central.read(LEVEL) == bytes([20])
        session.save(replay.replace("interval: 100 ms", "interval: 200 ms").replace(
            "{name: Watched}", "{name: Renamed}"))
        await session.line("flashed .* new values of device-name; new advertising, device settings,"
                           " advertising interval")
        await session.line("not before the next start: the address")
        await session.central.disconnect()
        await session.line("advertising connectable every 200 ms")
        found = await session.central.find("Renamed")
        await session.central.connect(found.address)
        assert await session.central.read_handle(3) == b"Renamed"

    watched(tmp_path, scenario, text=replay, links=2)


def test_programs_are_told_what_was_flashed_and_what_was_not(tmp_path):
    async def scenario(session):
        session.save(PROFILE.replace("value: 50", "value: 51"))
        await session.line('"flashed"')
        session.save(PROFILE + MORE)
        await session.line('"table-changed":true')
        session.save(PROFILE + "wrong: true\n")
        await session.line('"flash-refused"')

    lines = watched(tmp_path, scenario, "--json").splitlines()
    events = [json.loads(line) for line in lines if line.startswith("{")]
    flashed = [event for event in events if event["event"].startswith("flash")]
    assert [event["event"] for event in flashed] == ["flashed", "flashed", "flash-refused"]
    values, table, refused = flashed
    assert values["values"] == ["battery-level"] and values["service-changed"] is None
    assert not values["table-changed"] and values["parts"] == [] and values["notes"] == []
    assert set(table["service-changed"]) == {"start", "end"} and table["links"] == 1
    assert table["values"] == ["battery-level"] and table["ended-subscriptions"] == 0
    assert refused["level"] == "error" and len(refused["errors"]) == 1
    assert re.search(r"watched.yaml:\d+:\d+: wrong", refused["errors"][0])


def test_virtual_time_does_not_watch(tmp_path):
    path = tmp_path / "watched.yaml"
    path.write_text(PROFILE, encoding="utf-8")
    _, said = run("--profile", str(path), "--virtual-time", "--duration", "1s", "--watch", code=2)
    assert "who edits a profile for --watch lives in real time" in said
