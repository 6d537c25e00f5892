"""Writes the Security Manager's transcripts and the cipher's vectors as text."""
import json
import re
import shutil

CODES = {"06": "long-term-key", "0a": "signature-key"}


def address(octets, kind):
    """An address in wire order as a line's words."""
    return f"{'random' if kind else 'public'} " + ":".join(
        octets[i:i + 2].upper() for i in range(10, -2, -2))


def pdus(steps, key):
    """The PDUs of one side, in order."""
    return [step[key] for step in steps if key in step]


def reordered(steps):
    """A person answers before the PDU that the answer makes possible; the suite tells it after."""
    steps = list(steps)
    for place in range(1, len(steps)):
        if "responder_user" in steps[place] and "responder_to_initiator" in steps[place - 1] \
                and "initiator_to_responder" in steps[place - 2]:
            steps[place - 1], steps[place] = steps[place], steps[place - 1]
    return steps


def setting_lines(case):
    """What the responder is, taken from its own PDUs."""
    lines = []
    own = pdus(case["steps"], "responder_to_initiator")
    response = next((bytes.fromhex(pdu) for pdu in own if pdu.startswith("02")), None)
    requested = next((bytes.fromhex(pdu) for pdu in own if pdu.startswith("0b")), None)
    if response:
        lines.append(f"features io={response[1]} auth={response[3]:02X} size={response[4]} "
                     f"initiator={response[5]:02X} responder={response[6]:02X}")
    elif requested:
        lines.append(f"features auth={requested[1]:02X}")
    if case.get("responder_private_key"):
        key = bytes.fromhex(case["responder_private_key"])
        if case.get("private_key_order") != "big-endian":
            key = key[::-1]
        lines.append(f"random private-key {key.hex().upper()}")
    for pdu in own:
        code, body = pdu[:2], pdu[2:].upper()
        if code == "04":
            lines.append(f"random pairing-random {body}")
        elif code in CODES:
            lines.append(f"random {CODES[code]} {body}")
        elif code == "07":
            lines += [f"random diversifier {body[:4]}", f"random rand {body[4:]}"]
        elif code == "08":
            lines.append(f"identity-key {body}")
    return lines


def step_line(step):
    """One step of a case as a line."""
    (kind, content), = [(key, value) for key, value in step.items()]
    if kind == "initiator_to_responder":
        return f"> {content.upper()}"
    if kind == "responder_to_initiator":
        return f"< {content.upper()}"
    if kind == "ltk_request":
        return f"key-request {content['ediv'].upper()} {content['rand'].upper()}"
    if kind == "ltk_reply":
        return f"key {content.upper()}"
    if kind == "ltk_negative_reply":
        return "key none"
    if kind == "encryption_change":
        return "encrypted" if content["enabled"] and content["status"] == 0 else "not-encrypted"
    if kind == "responder_user":
        action = content["action"]
        if action == "display_passkey":
            return f"show {content['passkey']}"
        if action == "input_passkey":
            return f"enter {content['passkey']}"
        if action == "numeric_comparison":
            return "compare " + ("yes" if content["accept"] else "no")
    raise SystemExit(f"no line for the step {step}")


def bond_line(case, steps, earlier):
    """The bond that a re-encryption comes back with."""
    if "note" not in case or "re-encryption" not in case["note"]:
        return []
    request = next(step["ltk_request"] for step in steps if "ltk_request" in step)
    reply = next(step["ltk_reply"] for step in steps if "ltk_reply" in step)
    method = "open" if earlier.get("association") == "just_works" else "authenticated"
    kind = "legacy" if int(request["ediv"], 16) or int(request["rand"], 16) else "secure"
    return [f"bond {request['ediv'].upper()} {request['rand'].upper()} {reply.upper()} "
            f"{method} {kind}"]


def write_transcripts(source, target):
    """One file for each case of responder.json."""
    suite = json.loads(source.read_text(encoding="utf-8"))
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    earlier = {}
    for case in suite["cases"]:
        steps = reordered(case["steps"])
        lines = [f"# {case['name']} of {suite['source']['repository']} at "
                 f"{suite['source']['commit'][:12]}; facts only.",
                 "initiator " + address(
                     case["initiator_address"], case["initiator_address_type"])]
        if "responder_address" in case:
            lines.append("responder " + address(
                case["responder_address"], case["responder_address_type"]))
        lines += setting_lines(case)
        lines += bond_line(case, steps, earlier.get(case["suite_case"], {}))
        previous = None
        for step in steps:
            line = step_line(step)
            if line.startswith("< 0B") and previous is None:
                lines.append("security-request")
            lines.append(line)
            previous = line
        earlier[case["suite_case"]] = case
        name = re.sub(r"[^A-Za-z0-9]+", "-", case["name"]).strip("-").lower()
        (target / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def text_of(value):
    """A vector's value as one word."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    return text.upper() if re.fullmatch(r"[0-9a-f]*", text) else text


def write_crypto(source, target):
    """One line for each vector of crypto.json."""
    suite = json.loads(source.read_text(encoding="utf-8"))
    lines = ["# The Security Manager's functions and their kin: name, inputs, =>, results.",
             "# Octets are most significant first, as the specification prints them, unless a name",
             "# says wire_order, on_air, message or pdu. Facts only, of:"]
    lines += [f"#   {name} at {revision}" for name, revision in suite["revisions"].items()]
    for each in suite["vectors"]:
        words = [each["function"], each["name"]]
        words += [f"{key}={text_of(value)}" for key, value in each["inputs"].items()
                  if not isinstance(value, list)]
        words.append("=>")
        words += [f"{key}={text_of(value)}" for key, value in each["expected"].items()]
        lines.append(" ".join(words))
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
