"""Reads the attribute table that `peripheral-emu check` prints."""
import re

from central import CharacteristicEntry, PROPERTIES, ServiceEntry

HANDLE = re.compile(r"^\s*0x([0-9A-F]{4})\b(.*)$")
UUID = re.compile(r"\b(?:0x([0-9A-F]{4})|"
                  r"([0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}))\b")


def parse(printed):
    """The tree of services in the text of `check`."""
    tree = []
    for line in printed.splitlines():
        found = HANDLE.match(line)
        if not found:
            continue
        handle, rest = int(found.group(1), 16), found.group(2)
        uuid = next(filter(None, UUID.search(rest).groups()))
        if re.search(r"\bservice\b", rest):
            tree.append(ServiceEntry(handle, handle, uuid))
        elif re.search(r"\bcharacteristic\b", rest):
            # The declaration; the value has the next handle.
            properties = set(re.findall(r"[\w-]+", rest)) & set(PROPERTIES)
            tree[-1].characteristics.append(CharacteristicEntry(handle + 1, uuid, properties))
        elif re.search(r"\bdescriptor\b", rest):
            tree[-1].characteristics[-1].descriptors.append((handle, uuid))
        tree[-1].end = handle
    return tree
