"""What a central must see of a profile: from its YAML and from what `check` prints."""
import activity
import yaml
from attribute_table import parse
from central import Expectations
from emulator import profile, run

# The assigned names that bundled profiles advertise.
SERVICES = {"environmental-sensing": "181A", "battery": "180F", "heart-rate": "180D"}
# The profiles that a central takes through its whole run.
SESSIONS = ("environment-sensor", "core-bluetooth-sample", "bluetify", "everything")


def uuid(value):
    """The UUID of a profile's service or characteristic as the central writes it."""
    if isinstance(value, int):
        return f"{value:04X}"
    return SERVICES.get(value, value.upper())


def seconds(text):
    """The period of `every 2 s` or `2 s`."""
    return activity.quantity(text.removeprefix("every "))


def advertised(document, parts):
    """The service UUIDs in these parts of the first set's data."""
    entry = document["advertising"][0]
    return {uuid(value) for part in parts for structure in entry.get(part, [])
            for value in structure.get("service-uuids", [])}


def pairs(document, tree):
    """Each characteristic of the profile with its entry in the printed tree, in order."""
    services = tree[len(tree) - len(document.get("services", [])):]
    for declared, service in zip(document.get("services", []), services):
        yield from zip(declared.get("characteristics", []), service.characteristics)


def expectations(name, parts=("data", "scan-response")):
    """The expectations of the profile of this name; `parts` are those that reach a scanner."""
    with open(profile(name), encoding="utf-8") as file:
        document = yaml.safe_load(file)
    printed, _ = run("check", profile(name))
    tree = parse(printed)
    expected = Expectations(document["device"]["name"], advertised(document, parts), tree)
    for declared, entry in pairs(document, tree):
        if "write" in declared and not expected.write:
            expected.write = entry.uuid
        if "write-without-response" in declared and not expected.write_command:
            expected.write_command = entry.uuid
        period = declared.get("send", "on-update")
        period = period if period.startswith("every") else declared.get("update")
        if {"notify", "indicate"} & set(declared) and period:
            expected.followed[entry.uuid] = seconds(period)
    return expected
