"""Captured sessions: the accessory as a profile, what it and the central sent as a transcript."""
import json
import shutil

import layout

# Characteristics that a session reads and its discovery does not show: service, declaration, UUID.
ADDED = {
    "ios-heart-rate-strap": [(0x0001, 0x0002, "2A00")],
    "ios-hid-mouse-legacy-justworks": [(0x0001, 0x0002, "2A00")],
    "ios-nordic-sc-passkey": [(0x0009, 0x000A, "2A00")],
}

# What a session shows to need a secured link: value handle, operation, level.
SECURED = {
    "ios-hid-mouse-legacy-justworks": [(0x0020, "read", "encrypted")],
    "ios-nordic-sc-passkey": [(0x0015, "write", "authenticated")],
}

# PDUs whose direction the capture's timing has wrong.
DIRECTIONS = {
    "linux-bluez-central-sc": {
        "0823002c000228": "central", "082d0038000228": "central", "01082c000a": "peripheral",
        "010838000a": "peripheral"},
}

# Services whose ranges a session shows and whose UUIDs, of 128 bits, were in an answer that was not
# captured. Here they are those that such a device has: start, end, UUID.
ASSUMED = {
    "linux-bluez-central-sc": [
        (0x0023, 0x002C, "7905F431-B5CE-4E99-A40F-4B1E122D00D0"),
        (0x002D, 0x0038, "89D3502B-0F36-433A-8EF4-C502AD55F8DC")],
}

# Answers of an accessory that could have said more at once: request, what a server says that does.
FULLER = {
    "ios-hid-mouse-legacy-justworks": {
        "080c0016000328": "09070d00020e00292a0f00021000272a1100021200282a",
        "08110016000328": "09071100021200282a1300021400232a1500021600502a",
        "081e0031000328": "09071f000220004b2a21001222004d2a25001226004d2a",
        "08230031000328": "090725001226004d2a2900122a00332a2c00062d004e2a",
        "082b0031000328": "09072c00062d004e2a2e00022f004a2a30000431004c2a",
    },
}

REQUESTS = {0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18, 0x20}
WRITES = {0x12, 0x16, 0x18}
NOT_FOUND = 0x0A
ACCESS = {0x02: "read", 0x08: "write", 0x04: "write-without-response", 0x10: "notify",
          0x20: "indicate"}


def number(text):
    """The handle in the first two octets of a hexadecimal text."""
    return int.from_bytes(bytes.fromhex(text[:4]), "little")


def services_of(session):
    """The accessory's database as services for layout.profile."""
    database, name = session["peripheral_database"], session["name"]
    read = {int(handle, 16): value for handle, value in database.get("values_read", {}).items()}
    services = []
    for service in database["services"]:
        characteristics = [characteristic(each) for each in service["characteristics"]]
        for start, declaration, uuid in ADDED.get(name, []):
            if start == int(service["handle"], 16):
                value = read[declaration + 1]
                characteristics.append(
                    {"handle": declaration, "valueHandle": declaration + 1, "uuid": uuid,
                     "properties": 0x02, "access": {"read": "open"}, "value": value,
                     "descriptors": []})
        for each in characteristics:
            for handle, operation, level in SECURED.get(name, []):
                if each["valueHandle"] == handle:
                    each["access"][operation] = level
        services.append(
            {"handle": int(service["handle"], 16), "end": int(service["end"], 16),
             "uuid": service["uuid"], "isSecondary": service["type"] == "secondary",
             "includes": [], "characteristics": characteristics})
    for start, end, uuid in ASSUMED.get(name, []):
        services.append({"handle": start, "end": end, "uuid": uuid, "isSecondary": False,
                         "includes": [], "characteristics": []})
    return sorted(services, key=lambda service: service["handle"])


def characteristic(each):
    """One characteristic; what it allows is what its properties say."""
    bits = each["properties"]
    return {"handle": int(each["handle"], 16), "valueHandle": int(each["value_handle"], 16),
            "uuid": each["uuid"], "properties": bits,
            "access": {word: "open" for bit, word in ACCESS.items() if bits & bit},
            "value": each.get("value") or "", "descriptors": [
                {"handle": int(one["handle"], 16), "uuid": one["uuid"],
                 "value": one.get("value") or "",
                 "access": {"read": "open", "write": "open"} if one["uuid"] == "2902"
                 else {"read": "open"}}
                for one in each["descriptors"]]}


class Replay:
    """A session as the lines of a transcript, in the order that a server can be asked."""

    def __init__(self, session):
        self.name = session["name"]
        self.lines = []
        self.sends = {each["valueHandle"] for service in services_of(session)
                      for each in service["characteristics"]
                      if {"notify", "indicate"} & set(each["access"])}
        self.events = self.merge(session)
        self.taken = set()

    def merge(self, session):
        """ATT PDUs and the starts of encryption, in the order of time."""
        directions = DIRECTIONS.get(self.name, {})
        events = [(each["t"], directions.get(each["pdu"], each["from"]), each["pdu"])
                  for each in session["sequence"] if each["channel"] == "att"]
        events += [(each["t"], "link", "") for each in session["link_events"]
                   if each["event"] == "LL_START_ENC_REQ"]
        return sorted(events, key=lambda event: event[0])

    def convert(self):
        """The lines."""
        for index, (_, sender, pdu) in enumerate(self.events):
            if index in self.taken:
                continue
            if sender == "link":
                self.lines.append("link encrypted bonded")
            elif sender == "central":
                self.from_central(index, pdu)
            else:
                self.from_peripheral(pdu)
        return self.lines

    def from_central(self, index, pdu):
        """A request with its answer, or a confirmation; answers to the accessory are told apart."""
        opcode = int(pdu[:2], 16)
        if opcode not in REQUESTS:
            if opcode != 0x1E:
                self.lines.append("# an answer to what the accessory asked as a client:")
            self.lines.append(f"> {pdu.upper()}")
            if opcode != 0x1E:
                self.lines.append("silence")
            return
        answer = self.answer(index, opcode)
        if answer is None and opcode not in WRITES:
            self.lines.append(
                f"# left out, since the capture lacks the accessory's answer: {pdu.upper()}")
            return
        self.lines.append(f"> {pdu.upper()}")
        if answer is None:
            self.lines.append("# the capture lacks this answer")
            answer = f"{opcode + 1:02x}"
        start = pdu[2:6]
        if answer[:2] == "01" and int(answer[8:], 16) == NOT_FOUND and answer[4:8] != start:
            self.lines.append(
                f"# the accessory sent {answer.upper()}: the handle of Attribute Not Found is the "
                "one that the search began at (Core 6.0, Vol 3, Part F, 3.4.4)")
            answer = answer[:4] + start + answer[8:]
        fuller = FULLER.get(self.name, {}).get(pdu)
        if fuller:
            self.lines.append(f"# the accessory sent {answer.upper()}: fewer entries than fit, as "
                              "it may")
            answer = fuller
        self.lines.append(f"< {answer.upper()}")

    def answer(self, index, opcode):
        """The accessory's answer to the request at `index`; None where the capture lacks it."""
        for place in range(index + 1, len(self.events)):
            _, sender, pdu = self.events[place]
            if sender == "central" and int(pdu[:2], 16) in REQUESTS:
                return None
            isError = pdu[:2] == "01" and pdu[2:4] == f"{opcode:02x}"
            if sender == "peripheral" and (pdu[:2] == f"{opcode + 1:02x}" or isError):
                self.taken.add(place)
                return pdu
        return None

    def from_peripheral(self, pdu):
        """A notification or an indication; what the accessory asks as a client is only told."""
        opcode = int(pdu[:2], 16)
        if opcode not in (0x1B, 0x1D):
            self.lines.append(f"# the accessory asked as a client: {pdu.upper()}")
            return
        handle = number(pdu[2:])
        if handle not in self.sends:
            self.lines.append(
                f"# the accessory sent {pdu.upper()}: {layout.code(handle)} is the value of no "
                "characteristic, so that nobody can have asked for it")
            return
        self.lines.append(f"notify {layout.code(handle)} {pdu[6:].upper()}")
        self.lines.append(f"< {pdu.upper()}")


def mtu_of(session):
    """The accessory's own receive MTU; 23 where it never said one."""
    for each in session["mtu"].get("exchanges", []):
        if each["from"] == "peripheral" and each["pdu"] == "response":
            return each["mtu"]
    return 23


def write_all(source, target):
    """One folder for each session."""
    shutil.rmtree(target, ignore_errors=True)
    for path in sorted(source.glob("*.json")):
        session = json.loads(path.read_text(encoding="utf-8"))
        place = target / session["name"]
        place.mkdir(parents=True)
        origin = f"{session['source']['repo']}, {session['source']['path']}"
        product = session["peripheral"]["product"].split(" (")[0]
        head = [f"{product}, as a capture shows it; facts only ({origin}).",
                "Addresses, names and numbers of the device are not its own."]
        if session["name"] in ASSUMED:
            handles = " and ".join(layout.code(each[0]) for each in ASSUMED[session["name"]])
            head += [f"The UUIDs at {handles} are assumed: the answer with them was not captured."]
        server = f"{{mtu: {mtu_of(session)}, implicit-services: false}}"
        (place / "profile.yaml").write_text(
            layout.profile(head, product, server, services_of(session)), encoding="utf-8")
        comments = [f"# {session['title']}.",
                    f"# From a capture ({origin}); facts only.",
                    "# The server answers at once: what the accessory sent between a request and "
                    "its answer",
                    "# stands behind the answer here."]
        (place / "session.txt").write_text(
            "\n".join(comments + Replay(session).convert()) + "\n", encoding="utf-8")
