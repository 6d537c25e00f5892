"""Advertising sets on a real HCI socket, heard by BlueZ over the program's own controllers.

btvirt's LE controllers know no extended advertising; its dual ones end with "buffer overflow
detected" at the first extended advertisement of more than 31 octets that they hear.
"""
import re
import subprocess

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


def test_bluez_hears_extended_advertising_and_a_train_whole():
    sets = extended_sets()
    assert {name: len(bytes.fromhex(one["data"])) for name, one in sets.items()} == {
        "panel": 200, "slab": 200, "roll": 750}
    scenario("sets", "extended", "own", expected=sets)
