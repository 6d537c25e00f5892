"""Reads the attribute table that `peripheral-emu check` prints."""
import re

from central import CharacteristicEntry, PROPERTIES, ServiceEntry

LINE = re.compile(r"^  0x([0-9A-F]{4})  (.*)$")
# `name (0x2A00)`, or the number or the 128-bit form alone.
UUID = re.compile(r"\(0x([0-9A-F]{4})\)|\b0x([0-9A-F]{4})\b|"
                  r"\b([0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12})\b")
END = re.compile(r", to 0x([0-9A-F]{4})$")


def uuid_in(text):
    """The first UUID that `text` names."""
    found = UUID.search(text)
    assert found, f"no UUID in \"{text}\""
    return next(filter(None, found.groups()))


def parse(printed):
    """The tree of services in the text of `check`."""
    tree = []
    for line in printed.splitlines():
        if not (found := LINE.match(line)):
            continue
        handle, text = int(found.group(1), 16), found.group(2).strip()
        if text.startswith("service "):
            tree.append(ServiceEntry(handle, int(END.search(text).group(1), 16), uuid_in(text)))
        elif text.startswith("characteristic "):
            # The name, a label in quotes, then the properties; the value has the next handle.
            properties = set(re.sub(r" '.*'", "", text).split(", ")[1:])
            assert properties <= set(PROPERTIES), f"unknown properties in \"{text}\""
            tree[-1].characteristics.append(
                CharacteristicEntry(handle + 1, uuid_in(text), properties))
        elif not text.startswith("value"):
            tree[-1].characteristics[-1].descriptors.append((handle, uuid_in(text)))
    return tree
