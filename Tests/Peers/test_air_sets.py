"""Bumble hosts with advertising sets and extended scanners on the own air, with no accessory."""
import asyncio
import contextlib

import pytest
from bumble import hci
from bumble.core import AdvertisingData
from bumble.device import (AdvertisingEventProperties, AdvertisingParameters,
                           PeriodicAdvertisingParameters)
from bumble.hci import Phy

from central import STEP_SECONDS, Central
from emulator import running

LISTENING = r"air: listening on (127\.0\.0\.1:\d+)"
DATA = bytes([2, 1, 6]) + bytes([196, 0xFF, 0xFF, 0xFF]) + bytes(range(193))
ADVERTISER, SCANNER = "C4:C3:C2:C1:C0:A1", "C4:C3:C2:C1:C0:A2"


def on_air(scenario, *options):
    """Runs a scenario of two hosts on the air."""
    async def whole(transport):
        async with Central.on(transport, ADVERTISER) as one, \
                Central.on(transport, SCANNER) as other:
            await scenario(one.device, other.device)

    with running("air", "--air", "127.0.0.1:0", "--seed", "1", *options) as emulator:
        address = emulator.wait_for(LISTENING).group(1)
        asyncio.run(asyncio.wait_for(whole(f"tcp-client:{address}"), 60))


def parameters(sid=0, phy=Phy.LE_1M, primary=Phy.LE_1M, **properties):
    """Advertising parameters of a set, 50 ms."""
    every = {"is_connectable": False, "is_scannable": False, "is_directed": False,
             "is_legacy": False, **properties}
    return AdvertisingParameters(
        advertising_event_properties=AdvertisingEventProperties(**every),
        primary_advertising_interval_min=50, primary_advertising_interval_max=50,
        primary_advertising_phy=primary, secondary_advertising_phy=phy, advertising_sid=sid,
        enable_scan_request_notifications=True)


@contextlib.asynccontextmanager
async def scanning(device, **options):
    """All that a scanner hears, as it comes."""
    heard = asyncio.Queue()
    device.on("advertisement", heard.put_nowait)
    await device.start_scanning(legacy=False, **options)
    yield heard
    await device.stop_scanning()


async def next_of(heard, is_meant=lambda advertisement: True):
    """The next advertisement that is meant."""
    async with asyncio.timeout(STEP_SECONDS):
        while True:
            advertisement = await heard.get()
            if is_meant(advertisement):
                return advertisement


@pytest.mark.parametrize("timing", ["radio", "ideal"])
@pytest.mark.parametrize("primary, phy", [
    (Phy.LE_1M, Phy.LE_1M), (Phy.LE_1M, Phy.LE_2M), (Phy.LE_CODED, Phy.LE_CODED)])
def test_an_extended_advertisement_is_heard_whole_on_each_phy(timing, primary, phy):
    async def scenario(one, other):
        assert one.supports_le_extended_advertising and one.supports_le_periodic_advertising
        await one.create_advertising_set(parameters(5, phy, primary), advertising_data=DATA)
        async with scanning(other, active=False, scanning_phys=[primary]) as heard:
            advertisement = await next_of(heard)
        assert bytes(advertisement.data) == DATA
        assert str(advertisement.address).startswith(ADVERTISER)
        assert (advertisement.sid, advertisement.primary_phy, advertisement.secondary_phy) == (
            5, primary, phy)
        assert advertisement.is_complete and not advertisement.is_connectable

    on_air(scenario, "--air-timing", timing)


def test_sixteen_sets_are_heard_each_with_its_own_data():
    async def scenario(one, other):
        for sid in range(16):
            await one.create_advertising_set(
                parameters(sid), random_address=hci.Address(f"C4:00:00:00:00:{sid:02X}"),
                advertising_data=bytes([2, 0xFF, sid]))
        seen = {}
        async with scanning(other) as heard:
            while len(seen) < 16:
                advertisement = await next_of(heard)
                seen[str(advertisement.address)[:17]] = bytes(advertisement.data)[2]
        assert seen == {f"C4:00:00:00:00:{sid:02X}": sid for sid in range(16)}

    on_air(scenario)


def test_a_scannable_set_answers_and_an_anonymous_one_says_nothing_of_itself():
    async def scenario(one, other):
        scannable = await one.create_advertising_set(
            parameters(1, is_scannable=True), scan_response_data=DATA)
        async with scanning(other, active=True) as heard:
            advertisement = await next_of(heard, lambda one: one.data_bytes == DATA)
            assert advertisement.is_scan_response and advertisement.is_scannable
            await scannable.stop()
            await one.create_advertising_set(
                parameters(2, is_anonymous=True), advertising_data=DATA)
            advertisement = await next_of(heard, lambda one: one.sid == 2)
            assert advertisement.is_anonymous and bytes(advertisement.data) == DATA

    on_air(scenario)


def test_a_set_ends_after_its_duration_and_after_its_events():
    async def scenario(one, other):
        for options, status in (({"duration": 0.3}, 0x3C), ({"max_advertising_events": 4}, 0x43)):
            advertising = await one.create_advertising_set(
                parameters(), advertising_data=DATA, auto_start=False)
            ended = asyncio.get_running_loop().create_future()
            advertising.on("termination", ended.set_result)
            await advertising.start(**options)
            assert await asyncio.wait_for(ended, STEP_SECONDS) == status

    on_air(scenario)


@pytest.mark.parametrize("legacy", [True, False])
def test_a_central_connects_to_one_of_two_sets(legacy):
    async def scenario(one, other):
        for sid in range(2):
            await one.create_advertising_set(
                parameters(sid, is_connectable=True, is_scannable=legacy, is_legacy=legacy),
                random_address=hci.Address(f"C4:00:00:00:00:{sid:02X}"),
                advertising_data=bytes(AdvertisingData([(0x09, b"set %d" % sid)])))
        met = asyncio.get_running_loop().create_future()
        one.on("connection", met.set_result)
        connection = await other.connect(
            hci.Address("C4:00:00:00:00:01"), timeout=STEP_SECONDS)
        own = await asyncio.wait_for(met, STEP_SECONDS)
        # Bumble knows the set by LE Advertising Set Terminated.
        assert str(own.self_address).startswith("C4:00:00:00:00:01")
        assert not one.extended_advertising_sets[1].enabled
        assert one.extended_advertising_sets[0].enabled
        await connection.disconnect()

    on_air(scenario)


def test_a_periodic_train_is_found_followed_and_lost():
    async def scenario(one, other):
        advertising = await one.create_advertising_set(
            parameters(3), advertising_data=DATA,
            periodic_advertising_parameters=PeriodicAdvertisingParameters(
                periodic_advertising_interval_min=50, periodic_advertising_interval_max=50),
            periodic_advertising_data=DATA, auto_start=False)
        await advertising.start()
        await advertising.start_periodic()
        async with scanning(other):
            sync = await other.create_periodic_advertising_sync(
                hci.Address(ADVERTISER), 3, sync_timeout=1)
            found, lost = asyncio.Queue(), asyncio.get_running_loop().create_future()
            sync.on("periodic_advertisement", found.put_nowait)
            sync.on("loss", lambda: lost.set_result(True))
            reports = [await asyncio.wait_for(found.get(), STEP_SECONDS) for _ in range(3)]
        assert sync.periodic_advertising_interval == 50 and sync.state.name == "ESTABLISHED"
        assert all(report.data_bytes == DATA for report in reports)
        # Without scanning, and without the advertisement that led to it, the train goes on.
        await advertising.stop()
        assert (await asyncio.wait_for(found.get(), STEP_SECONDS)).data_bytes == DATA
        await advertising.set_periodic_advertising_data(b"\x02\xff\x01")
        async with asyncio.timeout(STEP_SECONDS):
            while (await found.get()).data_bytes != b"\x02\xff\x01":
                pass
        await advertising.stop_periodic()
        assert await asyncio.wait_for(lost, STEP_SECONDS)

    on_air(scenario)
