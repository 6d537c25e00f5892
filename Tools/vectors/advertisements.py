"""Advertisements of real products: their octets, and what others read in them."""
import json
import unicodedata

HEAD = """\
# Advertising data of real products and formats, from the open projects named as `source`.
# Each block: the octets on the air; behind each part a line for each AD structure as another
# decoder reads it; then fields of the beacon as another decoder reads them, with the address and
# the key that it needs. `Tools/convert-vectors` writes this file.
"""
FLAGS = ("limited-discoverable", "general-discoverable", "no-br-edr")
LISTS = {"uuid16_complete": "16-bit services", "uuid16_incomplete": "incomplete 16-bit services",
         "uuid128_complete": "128-bit services",
         "uuid128_incomplete": "incomplete 128-bit services"}
# The product's name of a field where it is another one, by format or for all.
NAMES = {
    "AltBeacon": {"measured power": "reference-rssi"},
    "Ruuvi RAWv2": {"packet": "sequence"},
    "Environmental Sensing (ATC/pvvx)": {"packet": "counter"},
    "Eddystone 0x21": {},
    "HomeKit": {"global_state_number": "state-number", "config_number": "configuration"},
    "Eddystone-TLM": {"voltage_mv": "battery", "adv_count": "advertisements"},
    "BTHome v2": {"packet": "packet-id", "switch": "power-on", "moisture detected": "wet"},
}
# In other units there.
FACTORS = {"voltage_mv": 0.001, "acceleration x": 0.001, "acceleration y": 0.001,
           "acceleration z": 0.001}
# What a decoder makes of several fields, or of other parts of the advertisement; the temperature
# of the TLM frame is its fraction.
SKIPPED = {
    "AltBeacon": {"manufacturer"},
    "Ruuvi RAWv2": {"battery", "acceleration", "motion", "motion timer"},
    "Eddystone 0x21": {"acceleration", "battery"}, "HomeKit": {"setup_hash", "type"},
    "Eddystone-TLM": {"temperature"}, "Eddystone-EID": {"eid"}, "iBeacon": {"battery"},
    "Eddystone-URL": {"temperature", "humidity", "pressure"},
}
BEACONS = {"AltBeacon", "BTHome v2", "Eddystone 0x21", "Eddystone-EID", "Eddystone-TLM",
           "Eddystone-UID", "Eddystone-URL", "Environmental Sensing (ATC/pvvx)", "HomeKit",
           "iBeacon", "Ruuvi RAWv2"}
# Some others advertise as an iBeacon or with a service of the same number besides.
OTHER_PRODUCTS = ("b-parasite", "WH52")


def quoted(text):
    """A name as the product prints it."""
    hidden = ("Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn")
    return '"' + "".join(
        f"\\u{{{ord(each):X}}}" if unicodedata.category(each) in hidden
        else "\\" + each if each in '"\\' else each for each in text) + '"'


def uuid(text):
    """A UUID's digits as they are printed."""
    if len(text) == 4:
        return f"0x{text}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:])).upper()


def interval(steps):
    """A connection interval in steps of 1.25 ms."""
    return f"{steps * 1.25:g} ms"


def line(structure):
    """One AD structure in words."""
    name, data = structure["name"], structure.get("data", "").upper()
    if name == "flags":
        value = structure["value"]
        names = [word for bit, word in enumerate(FLAGS) if value >> bit & 1]
        names += [f"0x{value & 0xF8:02X}"] if value & 0xF8 else []
        return "flags " + (", ".join(names) or "none")
    if name in LISTS:
        return f"{LISTS[name]} " + (", ".join(map(uuid, structure["uuids"])) or "none")
    if name in ("name", "short_name"):
        kind = "complete" if name == "name" else "shortened"
        return f"{kind} local name {quoted(structure['text'])}"
    if name == "tx_power":
        return f"tx power {structure['dbm']} dBm"
    if name == "appearance":
        return f"appearance {structure['appearance']}"
    octets = bytes.fromhex(data)
    if name == "manufacturer":
        return f"manufacturer {structure['company']} {data}".rstrip()
    if name == "service_data16":
        return f"service data 0x{structure['uuid']} {data}".rstrip()
    if name == "service_data32":
        number = octets[3::-1].hex().upper()
        return f"service data {number}-0000-1000-8000-00805F9B34FB {octets[4:].hex().upper()}"
    if name == "service_data128":
        return f"service data {uuid(octets[15::-1].hex())} {octets[16:].hex().upper()}"
    if name == "conn_interval_range":
        low, high = (int.from_bytes(octets[at:at + 2], "little") for at in (0, 2))
        return f"peripheral connection interval range {interval(low)} to {interval(high)}"
    # Octets that do not fit their type.
    return f"malformed 32-bit services {data}"


def fields_of(entry):
    """The beacon's fields as another decoder reads them: (name, text)."""
    kind, fields = entry["format"], entry["decoded"].get("fields", {})
    if kind not in BEACONS or entry["product"].startswith(OTHER_PRODUCTS):
        return
    names, isEncrypted = NAMES.get(kind, {}), "key" in fields
    for name, value in fields.items():
        if name in ("firmware", "type", "mac", "key") or name in SKIPPED.get(kind, ()):
            continue
        if kind == "iBeacon" and name not in ("uuid", "major", "minor", "measured power"):
            continue
        if value in ("no packet id", "no packet"):
            continue
        told = "counter" if isEncrypted and name == "packet" else names.get(name, name)
        if name in FACTORS:
            value = round(value * FACTORS[name], 6)
        if name in ("uuid", "namespace", "instance", "device_id"):
            value = uuid(value) if name == "uuid" else value.upper()
        elif isinstance(value, str) and name == "button":
            value = value.replace(" ", "-")
        yield told.replace(" ", "-").replace("_", "-"), value


def write(source, target):
    """Writes the vectors of a file of facts."""
    entries = json.loads(source.read_text(encoding="utf-8"))
    blocks = []
    for entry in entries:
        decoded, fields = entry["decoded"], entry["decoded"].get("fields", {})
        # Some names end with a zero.
        name = "".join(each for each in entry["product"] if each.isprintable())
        lines = [f"product {name.strip() or 'without a name'}",
                 f"source {entry['source'].split(' ')[0]}"]
        for part, key, structures in (
                ("advertising", "adv", "ad_structures"),
                ("scan-response", "scan_rsp", "scan_rsp_structures")):
            if entry.get(key):
                lines.append(f"{part} {entry[key].upper()}")
                lines += [f"> {line(each)}" for each in decoded.get(structures, [])]
        told = list(fields_of(entry))
        if told and "key" in fields:
            mac = fields["mac"]
            lines.append("address " + ":".join(mac[at:at + 2] for at in range(0, 12, 2)))
            lines.append(f"key {fields['key'].upper()}")
        lines += [f"field {name} {value}" for name, value in told]
        blocks.append("\n".join(lines) + "\n")
    target.write_text(HEAD + "\n" + "\n".join(blocks), encoding="utf-8")
