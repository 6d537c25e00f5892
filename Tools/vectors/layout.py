"""Databases of attributes as profiles: the least that says the same layout."""
import json


def code(number):
    """A 16-bit number as a profile writes it."""
    return f"0x{number:04X}"


def uuid(text):
    """A UUID as a profile writes it: `0x2A00`, or the 128-bit form."""
    return "0x" + text.upper() if len(text) == 4 else text.upper()


def octets(text):
    """A value given in hexadecimal, as a profile writes it: as text where it is text."""
    value = bytes.fromhex(text)
    if len(value) >= 3 and all(0x20 <= octet < 0x7F for octet in value):
        return "{text: " + json.dumps(value.decode()) + "}"
    return '{hex: "' + value.hex().upper() + '"}'


PROPERTIES = ["broadcast", "read", "write-without-response", "write", "notify", "indicate",
              "authenticated-signed-writes", "extended-properties"]


def properties(bits):
    """The words of a Characteristic Properties octet."""
    return [word for place, word in enumerate(PROPERTIES) if bits >> place & 1]


class Map:
    """A map of a profile, written in one line where it fits and in several where not."""

    COLUMNS = 100

    def __init__(self):
        self.pairs = []

    def add(self, key, value):
        """Adds a key, unless its value is None."""
        if value is not None:
            self.pairs.append((key, value))

    def lines(self, indent):
        """The lines of this map as an element of a list."""
        start = " " * indent + "- "
        if not any(isinstance(value, list) for _, value in self.pairs):
            line = start + self.flow()
            if len(line) <= self.COLUMNS or len(self.pairs) == 1:
                return [line]
        lines = []
        for key, value in self.pairs:
            lead = start if not lines else " " * (indent + 2)
            if isinstance(value, list):
                lines.append(f"{lead}{key}:")
                for entry in value:
                    lines += entry.lines(indent + 4)
            else:
                lines.append(f"{lead}{key}: {value}")
        return lines

    def flow(self):
        """The map in braces."""
        return "{" + ", ".join(f"{key}: {value}" for key, value in self.pairs) + "}"


class Layout:
    """Services being written; handles that follow the one before are left out."""

    def __init__(self):
        self.last = 0

    def handle(self, number):
        """The handle, if it has to be said."""
        follows = number == self.last + 1
        self.last = number
        return None if follows else code(number)

    def service(self, service, labels):
        """One service: handle, end, uuid, isSecondary, includes, characteristics."""
        entry = Map()
        entry.add("service", uuid(service["uuid"]))
        entry.add("label", labels.get(service["handle"]))
        entry.add("type", "secondary" if service["isSecondary"] else None)
        entry.add("handle", self.handle(service["handle"]))
        last = self.last_of(service)
        entry.add("end", code(service["end"]) if service["end"] != last else None)
        entry.add("includes", self.includes(service, labels))
        characteristics = [self.characteristic(each) for each in service["characteristics"]]
        entry.add("characteristics", characteristics or None)
        self.last = service["end"]
        return entry

    @staticmethod
    def last_of(service):
        """The handle of the service's last attribute."""
        handles = [service["handle"]] + [each["handle"] for each in service["includes"]]
        for each in service["characteristics"]:
            handles.append(each["valueHandle"])
            handles += [descriptor["handle"] for descriptor in each["descriptors"]]
        return max(handles)

    def includes(self, service, labels):
        """The includes, as a list in one line."""
        entries = []
        for each in service["includes"]:
            handle = self.handle(each["handle"])
            name = labels[each["service"]]
            entries.append(f"{{service: {name}, handle: {handle}}}" if handle else name)
        return f"[{', '.join(entries)}]" if entries else None

    def characteristic(self, each):
        """One characteristic: handles, uuid, properties (bits), access, value, descriptors."""
        entry = Map()
        entry.add("characteristic", uuid(each["uuid"]))
        entry.add("managed", each.get("managed"))
        entry.add("handle", self.handle(each["handle"]))
        entry.add("value-handle", self.handle(each["valueHandle"]))
        descriptors = [self.descriptor(one) for one in each["descriptors"]]
        says = properties(each["properties"])
        if set(says) != self.derived(each):
            entry.add("properties", f"[{', '.join(says)}]")
        for key, level in each["access"].items():
            entry.add(key, level)
        entry.add("value", octets(each["value"]) if each["value"] else None)
        entry.add("length", each.get("length"))
        entry.add("descriptors", descriptors or None)
        return entry

    @staticmethod
    def derived(each):
        """The properties that the loader would find itself."""
        derived = set(each["access"])
        if any(one["uuid"] == "2900" for one in each["descriptors"]):
            derived.add("extended-properties")
        return derived

    def descriptor(self, one):
        """One descriptor: handle, uuid, access (words), value."""
        entry = Map()
        text = bytes.fromhex(one["value"])
        isReadable = one["access"] == {"read": "open"}
        isText = all(0x20 <= octet < 0x7F for octet in text)
        if one["uuid"] == "2901" and isReadable and text and isText:
            entry.add("user-description", json.dumps(text.decode()))
            entry.add("handle", self.handle(one["handle"]))
            return entry
        entry.add("descriptor", uuid(one["uuid"]))
        entry.add("managed", one.get("managed"))
        entry.add("handle", self.handle(one["handle"]))
        isManaged = one["uuid"] in ("2902", "2903") and one.get("managed") is None
        if not isManaged or one["access"] != {"read": "open", "write": "open"}:
            for key, level in one["access"].items():
                entry.add(key, level)
        if not isManaged or text.strip(b"\0"):
            entry.add("value", octets(one["value"]) if text else None)
        entry.add("length", one.get("length"))
        return entry


def profile(head, name, server, services):
    """The text of a profile: comment lines, device name, server settings (a flow map), services."""
    included = {each["service"] for service in services for each in service["includes"]}
    labels = {handle: f"at-{code(handle)}" for handle in included}
    layout = Layout()
    lines = [f"# {line}" for line in head]
    lines += ["peripheral-emu: 1", f"device: {{name: {json.dumps(name, ensure_ascii=False)}}}",
              f"server: {server}", "services:"]
    for service in services:
        lines += layout.service(service, labels).lines(2)
    return "\n".join(lines) + "\n"
