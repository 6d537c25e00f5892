"""BlueZ pairs with the accessory by an agent, and meets it again after its restart."""
import asyncio
import re
from pathlib import Path

import bluez
import btsnoop
import lab
import monitor
from agent import Agent

NAME = "Lab Lock"
PROFILE = """
peripheral-emu: 1
device: {{name: Lab Lock}}
security: {{io: {io}}}
advertising:
  - type: connectable
    interval: 100 ms
    data: [{{flags: [general-discoverable, no-br-edr]}}, {{name: complete}}]
services:
  - service: 7C3E0010-52B1-4F0A-8E6D-91A2B3C4D5E6
    characteristics:
      - characteristic: 7C3E0011-52B1-4F0A-8E6D-91A2B3C4D5E6
        read: {permission}
        notify: {permission}
        format: uint32
        value: {{counter: {{}}}}
        update: every 200 ms
"""
COUNT = "7c3e0011-52b1-4f0a-8e6d-91a2b3c4d5e6"
PATH = Path("/tmp/lock/lock.yaml")
CONTROL = Path("/tmp/lock/control")
# What each method needs: the accessory's capabilities, the agent's, and what the accessory says.
METHODS = {
    "just-works": ("none", "NoInputNoOutput", "Just Works"),
    "passkey-shown": ("display", "KeyboardOnly", "Passkey Entry"),
    "passkey-entered": ("keyboard", "DisplayOnly", "Passkey Entry"),
    "numeric-comparison": ("display-yes-no", "DisplayYesNo", "Numeric Comparison"),
}
ATT_CHANNEL = 4
NOTIFICATION, WRITE_REQUEST, WRITE_COMMAND = 0x1B, 0x12, 0x52
ENCRYPTION_CHANGE = (0x08, 0x59)
NOTIFICATIONS = 3


def pairing(method):
    """Pairs, subscribes, and comes back to an emulator that was restarted."""
    io, capability, said = METHODS[method]
    permission = "encrypted" if method == "just-works" else "authenticated"
    lab.own()
    lab.record()
    PATH.parent.mkdir()
    PATH.write_text(PROFILE.format(io=io, permission=permission), encoding="utf-8")
    first = start("first")
    lab.bluetoothd()
    lab.power_on()
    address, _ = lab.scan(NAME)
    agent = Agent(capability)
    agent.type(f"pair {address}")
    answer(method, agent)
    agent.wait_for("Pairing successful")
    lab.wait_for_line("first", f" pairs: {said}, LE Secure Connections")
    lab.wait_for_line("first", "bonded as")
    info = lab.run("bluetoothctl", "info", address)
    assert "Paired: yes" in info and "Bonded: yes" in info, info
    lab.say(f"paired by {said}")
    agent.leave()
    lab.run("bluetoothctl", "disconnect", address)
    asyncio.run(subscribe(address))
    lab.run("bluetoothctl", "disconnect", address, check=False)
    first.terminate()
    assert first.wait(lab.PATIENCE) == 0
    second = start("second")
    come_back(address)
    second.terminate()
    assert second.wait(lab.PATIENCE) == 0
    lab.say("done")


def start(name):
    """The accessory, with its state of before."""
    process = lab.start(name, lab.PROGRAM, "--profile", PATH, "--controller", "hci:1", "--state",
                        PATH.parent / "state", "--control", CONTROL)
    lab.wait_for_line(name, "advertising connectable")
    return process


def answer(method, agent):
    """What the two persons do, each at their own device."""
    if method == "passkey-shown":
        passkey = lab.wait_for_line("first", r"passkey (\d{6}): enter it at").group(1)
        agent.wait_for(r"Enter passkey \(number in 0-999999\)")
        agent.type(passkey)
    elif method == "passkey-entered":
        passkey = agent.wait_for(r"Passkey: (\d{6})").group(1)
        lab.wait_for_line("first", "enter the passkey that .* shows")
        lab.run(lab.PROGRAM, "ctl", "--control", CONTROL, "answer", passkey)
    elif method == "numeric-comparison":
        number = agent.wait_for(r"Confirm passkey (\d{6}) \(yes/no\)").group(1)
        lab.wait_for_line("first", rf"show {number}\?")
        agent.type("yes")
        lab.run(lab.PROGRAM, "ctl", "--control", CONTROL, "answer", "yes")


async def subscribe(address):
    """Follows the encrypted value, and leaves without ending it."""
    values = []
    async with await bluez.connect(address) as client:
        await client.start_notify(COUNT, lambda _, value: values.append(bytes(value)))
        await bluez.until(lambda: len(values) >= NOTIFICATIONS)
    lab.say(f"{len(values)} notifications")


def come_back(address):
    """BlueZ connects: nobody is asked, and the notifications come without a word of the client."""
    def connected():
        lab.run("bluetoothctl", "connect", address, check=False)
        return "Connected: yes" in lab.run("bluetoothctl", "info", address)

    lab.wait_for("a connection", connected)
    lab.wait_for_line("second", "encrypted: ")
    packets = lab.wait_for("notifications", restored)
    assert " pairs: " not in lab.log_text("second"), lab.log_text("second")
    lab.say(f"after the encryption: {[(packet[0], packet[1:].hex()) for packet in packets]}")


def restored():
    """What BlueZ's adapter sent and heard by ATT from the last encryption to the last of the
    notifications; it has not written, so that they are due to the subscription of before."""
    packets = monitor.read(lab.LOGS / "kernel.btsnoop", 0)
    begins = [index for index, packet in enumerate(packets)
              if packet.kind == btsnoop.EVENT and packet.data[0] in ENCRYPTION_CHANGE]
    found, heard = [], 0
    for packet in packets[begins[-1]:] if len(begins) > 1 else []:
        # handle, length, L2CAP length, channel
        if packet.kind != btsnoop.ACL or int.from_bytes(packet.data[6:8], "little") != ATT_CHANNEL:
            continue
        found.append(packet.data[8:])
        if packet.from_controller and found[-1][0] == NOTIFICATION:
            heard += 1
        assert packet.from_controller or found[-1][0] not in (WRITE_REQUEST, WRITE_COMMAND), \
            f"BlueZ wrote {found[-1].hex()} before {NOTIFICATIONS} notifications"
        if heard == NOTIFICATIONS:
            return found
    return None
