"""What an accessory keeps over a restart, as a Bumble central with a bond sees it."""
import asyncio
import os
import re
import signal
import sqlite3
import stat

import pytest
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate

from central import STEP_SECONDS, Central
from emulator import Emulator, run, running

LISTENING = r"air: listening on (127\.0\.0\.1:\d+)"
PROFILE = """
peripheral-emu: 1
device: {{name: Keeper}}
security: {{io: none}}
advertising:
  - type: connectable
    interval: 20 ms
    data: [{{flags: [general-discoverable, no-br-edr]}}, {{name: complete}}]
services:
{more}
  - service: 0x1234
    characteristics:
      - {{characteristic: 0x5677, read: encrypted, notify: encrypted, format: uint8,
         value: {{counter: {{}}}}, update: every 100 ms}}
      - {{characteristic: 0x5678, read: encrypted, write: encrypted, format: utf8, persist: true,
         value: {{text: first}}, length: {{max: 20}}}}
      - {{characteristic: 0x5679, read: open, format: uint16, persist: true,
         value: {{writes-of: 0x5678}}}}
"""
MORE = """
  - service: battery
    characteristics:
      - {characteristic: battery-level, read: open, notify: open, value: 50}
"""
COUNT, TEXT, WRITES = "5677", "5678", "5679"
SERVICE_CHANGED = "2A05"


@pytest.fixture(name="profile")
def a_profile(tmp_path):
    """The profile's path; `write` puts another one there."""
    path = tmp_path / "keeper.yaml"
    path.write_text(PROFILE.format(more=""), encoding="utf-8")
    return path


@pytest.fixture(name="state")
def a_state(tmp_path):
    """A folder for state that is not there yet."""
    return tmp_path / "kept" / "state"


def accessory(profile, state, *more):
    """The accessory on its own air, keeping its state."""
    return running("--profile", str(profile), "--air", "127.0.0.1:0", "--state", str(state), *more)


def session(emulator, keystore, body, seconds=60):
    """Runs `body` with a central that has these keys."""
    async def go():
        transport = "tcp-client:" + emulator.wait_for(LISTENING).group(1)
        async with Central.on(transport) as central:
            central.device.keystore = keystore
            central.device.pairing_config_factory = lambda connection: PairingConfig(
                mitm=False, identity_address_type=PairingConfig.AddressType.RANDOM,
                delegate=PairingDelegate(
                    PairingDelegate.IoCapability.NO_OUTPUT_NO_INPUT))
            found = await central.find("Keeper")
            await central.connect(found.address)
            await body(central)

    asyncio.run(asyncio.wait_for(go(), seconds))


async def bond_and_subscribe(central):
    """The first meeting: pairs, subscribes, writes."""
    await central.discover()
    await asyncio.wait_for(central.connection.pair(), STEP_SECONDS)
    await central.characteristic(COUNT).subscribe(lambda value: None)
    await central.characteristic(SERVICE_CHANGED).subscribe(lambda value: None, prefer_notify=False)
    await central.write(TEXT, b"second")


async def first_values(central, count=3):
    """Notifications that come by themselves after the link is encrypted; no CCCD is written."""
    values, enough = [], asyncio.Event()

    def heard(value):
        values.append(bytes(value))
        if len(values) >= count:
            enough.set()

    client = central.peer.gatt_client
    await central.discover()
    handle = central.characteristic(COUNT).handle
    client.notification_subscribers.setdefault(handle, set()).add(heard)
    await asyncio.wait_for(central.connection.encrypt(), STEP_SECONDS)
    await asyncio.wait_for(enough.wait(), STEP_SECONDS)
    return values


def test_a_bond_and_its_subscriptions_survive_a_kill(profile, state):
    keys = MemoryKeyStore()
    emulator = Emulator(["--profile", str(profile), "--air", "127.0.0.1:0", "--state", str(state)])
    try:
        session(emulator, keys, bond_and_subscribe)
    finally:
        emulator.process.kill()
        emulator.process.wait()
    with accessory(profile, state) as emulator:
        async def body(central):
            await first_values(central)
            assert await central.read(TEXT) == b"second"
            assert await central.read(WRITES) == b"\x01\x00"
            await central.write(TEXT, b"third")
            assert await central.read(WRITES) == b"\x02\x00"

        session(emulator, keys, body)
        assert emulator.wait_for(r"state: .*, 1 bond$")
        assert "pairs:" not in emulator.output()
