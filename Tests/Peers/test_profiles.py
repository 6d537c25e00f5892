"""Every bundled profile with Bumble's central: found, and every readable value read."""
import asyncio
import json

import pytest
import yaml

from central import Central, read_everything
from emulator import ROOT, profile, run, running
from test_pairing import IO, pair, prepare

NAMES = [path.stem for path in sorted((ROOT / "Profiles").glob("*.yaml"))]


def connectable(name):
    """Whether the profile has services and can be connected to, its name, and how it pairs."""
    with open(profile(name), encoding="utf-8") as file:
        document = yaml.safe_load(file)
    return bool(document.get("services")) and document["advertising"][0]["type"] == "connectable", \
        document["device"]["name"], document.get("security")


@pytest.mark.parametrize("name", [name for name in NAMES if connectable(name)[0]])
def test_every_readable_value_is_read(name):
    _, device, security = connectable(name)

    async def session(emulator, transport):
        async with Central.on(transport) as central:
            prepare(central, emulator, IO.KEYBOARD_INPUT_ONLY)
            found = await central.find(device)
            await central.connect(found.address, 247)
            tree = await central.discover()
            if security:
                await pair(central)
            if name != "load-test":
                # There one value asks for a pairing that is not served yet.
                await read_everything(central, tree, {})
            await central.disconnect()
            return tree

    with running("--profile", profile(name), "--air", "127.0.0.1:0") as emulator:
        port = emulator.wait_for(r"air: listening on .*:(\d+)").group(1)
        tree = asyncio.run(session(emulator, f"tcp-client:127.0.0.1:{port}"))
    assert len(tree) >= 2


def test_set_and_json():
    printed, _ = run(
        "--profile", "heart-rate", "--with-central", "--virtual-time", "--duration", "20s",
        "--json", "--set", "battery-level=42", "--set", "heart-rate-measurement.rate=99",
        "--set", "body-sensor-location=hex:02")
    events = [json.loads(line) for line in printed.splitlines()]
    values = {event["characteristic"]: event["value"] for event in events if "value" in event}
    assert values["battery-level"] == 42
    assert values["body-sensor-location"] == "wrist"
    assert any("rate 99 bpm" in event["text"] for event in events)
