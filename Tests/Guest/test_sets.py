"""Advertising sets on a real HCI socket, heard by BlueZ over controllers of two makers.

btvirt's LE controllers know no extended advertising; its dual ones end with "buffer overflow
detected" at the first extended advertisement of 200 octets that they hear.
"""
import re
import subprocess

import pytest

from machine import PROFILES, program, scenario

PHYS = {"1M": 1, "2M": 2, "coded": 3}


def extended_sets():
    """The data, the train and the secondary PHY of each extended set, as `check` prints them."""
    printed = subprocess.run([program(), "check", str(PROFILES / "lab-panel.yaml")],
                             capture_output=True, text=True, check=True).stdout
    sets = {}
    for part in re.split(r"^advertising ", printed, flags=re.MULTILINE)[1:]:
        if phy := re.search(r"secondary (\w+)", part):
            train = re.search(r"periodic train .* bytes: ([0-9A-F ]+)$", part, re.MULTILINE)
            data = re.findall(r"^    ((?:[0-9A-F]{2} ?)+)$", part, re.MULTILINE)
            sets[part.split(",")[0]] = {"phy": PHYS[phy.group(1)], "data": "".join(data),
                                        "train": train.group(1) if train else ""}
    return sets


def hears(controllers):
    """The whole scenario, over controllers that `inside/lab.py` can make."""
    sets = extended_sets()
    assert {name: len(bytes.fromhex(one["data"])) for name, one in sets.items()} == {
        "panel": 200, "slab": 200, "roll": 500}
    scenario("sets", "extended", controllers, expected=sets)


def test_bluez_hears_extended_advertising_and_a_train_whole():
    hears("own")


@pytest.mark.long
def test_bluez_hears_them_over_controllers_of_rootcanal():
    hears("rootcanal")
