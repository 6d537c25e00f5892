"""Writes most of Tests/Vectors; see Tools/convert-vectors."""
import json
import re
import shutil
import sys
from pathlib import Path

import advertisements
import layout
import phones
import smp

BLUEZ_SERVER = "{mtu: 512, implicit-services: false, reliable-writes: extended-property}"
EDTT_SERVER = ("{mtu: 512, implicit-services: false, growth: false, "
               "unencrypted-error: by-requirement, cccd-error: 0x13}")


def level(permissions, operation):
    """The level that a suite's permissions ask for an operation; None where it is refused."""
    if f"{operation}_authen" in permissions:
        return "authenticated"
    if f"{operation}_encrypt" in permissions:
        return "encrypted"
    if f"{operation}_author" in permissions:
        return "{security: open, authorization: true}"
    return "open" if operation in permissions else None


def access(permissions, operations):
    """The profile's permission keys for a suite's permissions."""
    levels = {key: level(permissions, operation) for key, operation in operations}
    return {key: value for key, value in levels.items() if value}


def services_of(database, plain_cccd, unmanaged):
    """The suite's database as services for layout.profile."""
    by_handle = {each["handle"]: each for each in database["attributes"]}
    services = []
    for service in database["services"]:
        entry = {"handle": service["start_handle"], "end": service["end_handle"],
                 "uuid": service["uuid"], "isSecondary": not service["primary"],
                 "includes": [{"handle": each["handle"], "service": each["included_start"]}
                              for each in service["includes"]],
                 "characteristics": []}
        for each in service["characteristics"]:
            entry["characteristics"].append(
                characteristic(each, by_handle, plain_cccd, unmanaged))
        services.append(entry)
    return services


def characteristic(each, by_handle, plain_cccd, unmanaged):
    """One characteristic; what it sends follows its properties, where it has a CCCD to ask by."""
    value = by_handle[each["value_handle"]]
    bits = each["properties_raw"]
    # The suites write by permission, whatever the properties say.
    operations = [("read", "read"), ("write", "write"), ("write-without-response", "write")]
    entry = {"handle": each["declaration_handle"], "valueHandle": each["value_handle"],
             "uuid": each["uuid"], "properties": bits, "value": value["value"],
             "access": access(value["permissions"], operations), "descriptors": []}
    if each["uuid"] in unmanaged:
        entry["managed"] = "false"
    for one in each.get("descriptors", []):
        attribute = by_handle[one["handle"]]
        descriptor = {"handle": one["handle"], "uuid": attribute["type"],
                      "value": attribute["value"],
                      "access": access(attribute["permissions"],
                                       [("read", "read"), ("write", "write")])}
        if attribute["type"] == "2902":
            if plain_cccd:
                descriptor["managed"] = "false"
            if bits & 0x10:
                entry["access"]["notify"] = "open"
            if bits & 0x20:
                entry["access"]["indicate"] = "open"
        entry["descriptors"].append(descriptor)
    return entry


def steps_of(case):
    """The transcript's lines for the steps of a case."""
    lines = []
    for step in case["steps"]:
        (kind, content), = step.items()
        if kind == "client_to_server":
            lines.append(f"> {content.upper()}")
        elif kind == "server_to_client":
            lines.append(f"< {content.upper()}")
        elif kind == "server_silent":
            lines.append("silence")
        elif kind == "server_action" and content["action"] == "notify":
            handle = layout.code(content["handle"])
            lines.append(f"notify {handle} {content['value'].upper()}")
        else:
            raise SystemExit(f"{case['name']}: no line for the step {step}")
    return lines


def file_name(name):
    """A case's name as a file's."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()


def write_suite(suite, source, server, unmanaged, folder):
    """One folder for each database: its profile, and a transcript for each case."""
    for case in suite["cases"]:
        # The cases that write a CCCD as if it were any value.
        plain = case.get("depends_on_policy", {}).get("cccd_length_checked") is False
        database = case["database"]
        place = folder / (file_name(database) + ("-plain-cccd" if plain else ""))
        place.mkdir(parents=True, exist_ok=True)
        head = [f"Database {database} of {source}; facts only."]
        if plain:
            head.append("Its CCCDs are values like any other, as two of the cases have them.")
        (place / "profile.yaml").write_text(layout.profile(
            head, file_name(database)[:20], server,
            services_of(suite["databases"][database], plain, unmanaged)), encoding="utf-8")
        comments = [f"# {case['name']} of {source}; facts only."]
        if case.get("note"):
            comments.append(f"# {case['note']}")
        (place / (file_name(case["name"]) + ".txt")).write_text(
            "\n".join(comments + steps_of(case)) + "\n", encoding="utf-8")


def main(source, target):
    """Replaces what an earlier run has written."""
    for name in ("gatt/bluez", "gatt/edtt"):
        shutil.rmtree(target / name, ignore_errors=True)
    bluez = json.loads((source / "gatt/bluez.json").read_text(encoding="utf-8"))
    commit = bluez["source"]["commit"][:12]
    write_suite(bluez, f"BlueZ unit/test-gatt.c at {commit}", BLUEZ_SERVER, set(),
                target / "gatt/bluez")
    edtt = json.loads((source / "gatt/edtt.json").read_text(encoding="utf-8"))
    # In this suite both are plain attributes.
    write_suite(edtt, "EDTT src/tests/gatt_verification.py", EDTT_SERVER, {"2b29", "2b2a"},
                target / "gatt/edtt")
    phones.write_all(source / "phones", target / "phones")
    smp.write_transcripts(source / "smp/responder.json", target / "smp/nimble")
    smp.write_crypto(source / "crypto.json", target / "crypto.txt")
    advertisements.write(source / "advertisements.json", target / "advertisements.txt")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
