"""BlueZ as the central of an accessory on a real HCI socket, over controllers of three makers."""
import subprocess

import pytest
import yaml

import activity
import attribute_table
from machine import PROFILES, program, scenario

PROFILE = PROFILES / "lab-lamp.yaml"
BASE = "-0000-1000-8000-00805f9b34fb"
# BlueZ keeps this service for itself.
GENERIC_ACCESS = "1800"
# The trace's last motion and the time that the profile holds it, with some to spare.
INTERVALS_SECONDS = 20


def attributes():
    """(handle, UUID) of each attribute that `check` prints, as BlueZ names them: the handle of a
    characteristic is its declaration's."""
    printed = subprocess.run([program(), "check", str(PROFILE)], capture_output=True, text=True,
                             check=True).stdout
    found = []
    for service in attribute_table.parse(printed):
        if service.uuid == GENERIC_ACCESS:
            continue
        found.append((service.handle, whole(service.uuid)))
        for characteristic in service.characteristics:
            found.append((characteristic.handle - 1, whole(characteristic.uuid)))
            found += [(handle, whole(uuid)) for handle, uuid in characteristic.descriptors]
    return found


def whole(uuid):
    """The 128-bit form, lower case."""
    return f"0000{uuid}{BASE}".lower() if len(uuid) == 4 else uuid.lower()


def intervals():
    """(time, interval) that the profile's rules give for its trace, in seconds."""
    profile = yaml.safe_load(PROFILE.read_text(encoding="utf-8"))
    return activity.intervals(profile, PROFILES, INTERVALS_SECONDS)


def central(controllers, reconnections):
    """The whole story of a central, over controllers that `inside/lab.py` can make."""
    return scenario("bluez", "central", controllers, str(reconnections),
                    expected={"attributes": attributes(), "intervals": intervals()})


@pytest.mark.long
@pytest.mark.parametrize("controllers", ["own", "btvirt", "bumble"])
def test_bluez_finds_reads_follows_and_meets_the_accessory_ten_times(controllers):
    central(controllers, 10)


def test_bluez_finds_reads_and_follows_the_accessory():
    central("own", 2)


@pytest.mark.long
def test_bluez_sees_a_new_service_without_reconnecting_and_a_broken_file_changes_nothing():
    scenario("bluez", "watch")


@pytest.mark.long
@pytest.mark.parametrize("method", [
    "just-works", "passkey-shown", "passkey-entered", "numeric-comparison"])
def test_bluez_pairs_by_an_agent_and_comes_back_after_a_restart(method):
    scenario("pairing", "pairing", method)
