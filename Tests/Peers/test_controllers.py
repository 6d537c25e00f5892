"""The program on controllers that refuse, keep silent, fail, vanish and come back."""
import contextlib
import os
import re
import socket
import struct
import time

import pytest

import fake_controller as hci
from emulator import Emulator, profile, running
from fake_controller import FakeController

PROFILE = "core-bluetooth-sample"
SEED = ("--seed", "1")
# Commands that the program can do without, by the name in its log.
OPTIONAL = {
    0x1001: "Read Local Version Information", 0x1002: "Read Local Supported Commands",
    0x1003: "Read Local Supported Features", 0x0C01: "Set Event Mask",
    0x2001: "LE Set Event Mask", 0x2003: "LE Read Local Supported Features",
    0x2060: "LE Read Buffer Size [v2]", 0x2002: "LE Read Buffer Size", 0x1005: "Read Buffer Size",
    0x2024: "LE Write Suggested Default Data Length", 0x2031: "LE Set Default PHY",
    0x1009: "Read BD_ADDR", 0x2009: "LE Set Scan Response Data",
}
# Those without which nothing works.
NEEDED = {
    0x0C03: "Reset", 0x2005: "LE Set Random Address", 0x2006: "LE Set Advertising Parameters",
    0x2008: "LE Set Advertising Data", 0x200A: "LE Set Advertising Enable",
}
EXTENDED = {
    0x2035: "LE Set Advertising Set Random Address",
    0x2036: "LE Set Extended Advertising Parameters", 0x2037: "LE Set Extended Advertising Data",
    0x2038: "LE Set Extended Scan Response Data", 0x2039: "LE Set Extended Advertising Enable",
}
# Makes every command of OPTIONAL be sent: shared buffers, data length and LE 2M.
ALL_SENT = {"le_buffers": (0, 0), "le_features": 1 << 5 | 1 << 8}
READ_NAME = b"\x0A\x03\x00"
NAME = b"\x0BCore Bluetooth"


@contextlib.contextmanager
def advertising(controller, *options, name=PROFILE):
    """A running emulator that advertises on `controller`."""
    with running("--profile", profile(name), "--controller", controller.name, *SEED,
                 *options) as emulator:
        controller.wait_for_advertising()
        yield emulator


def ended(controller, *options):
    """Runs the program on `controller` until it ends by itself: (exit code, its error lines)."""
    emulator = Emulator(["--profile", profile(PROFILE), "--controller", controller.name, *SEED,
                         *options])
    try:
        code = emulator.process.wait(30)
    finally:
        emulator.stop()
    lines = emulator.output().splitlines()
    return code, [line for line in lines if "error: " in line]


def descriptors(emulator):
    """How many descriptors the program has open."""
    return len(os.listdir(f"/proc/{emulator.process.pid}/fd"))


def resident(emulator):
    """The program's resident memory in KiB."""
    with open(f"/proc/{emulator.process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))


def warnings(emulator):
    """What the program has warned of."""
    return [line for line in emulator.output().splitlines() if "warning: " in line]


# Commands answered badly or not at all.

def test_the_commands_that_are_sent_are_the_ones_tested_here():
    with FakeController(**ALL_SENT) as controller, advertising(controller):
        sent = {opcode for opcode, _ in controller.commands}
    assert sent == OPTIONAL.keys() | NEEDED.keys()
    with FakeController(le_features=hci.EXTENDED_ADVERTISING) as controller, \
            advertising(controller):
        sent = {opcode for opcode, _ in controller.commands}
    assert sent >= EXTENDED.keys()


@pytest.mark.parametrize("answer", [hci.refuse(), hci.refuse_by_status(), hci.ignore],
                         ids=["unknown", "unknown-by-status", "silence"])
@pytest.mark.parametrize("opcode", OPTIONAL, ids=OPTIONAL.values())
def test_it_does_without_an_optional_command_and_says_so_once(opcode, answer):
    with FakeController({opcode: answer}, **ALL_SENT) as controller, \
            advertising(controller) as emulator:
        controller.connect(0x40)
        assert controller.request(0x40, READ_NAME) == NAME
        emulator.wait_for("read device-name")
        assert [OPTIONAL[opcode] in line for line in warnings(emulator)] == [True]


def test_it_does_without_all_optional_commands_at_once():
    refused = dict.fromkeys(OPTIONAL, hci.refuse())
    with FakeController(refused, **ALL_SENT) as controller, advertising(controller) as emulator:
        emulator.wait_for("advertising connectable")
        assert len(warnings(emulator)) >= 8
        controller.connect(0x40)
        assert controller.request(0x40, READ_NAME) == NAME


@pytest.mark.parametrize("answer, words", [
    (hci.refuse(), "refused {}: Unknown HCI Command"), (hci.ignore, "did not answer {} within 2 s"),
], ids=["unknown", "silence"])
@pytest.mark.parametrize("opcode", NEEDED, ids=NEEDED.values())
def test_without_an_indispensable_command_it_ends_with_3_and_one_sentence(opcode, answer, words):
    with FakeController({opcode: answer}) as controller:
        code, errors = ended(controller)
    assert code == 3 and len(errors) == 1, errors
    assert words.format(NEEDED[opcode]) in errors[0]


@pytest.mark.parametrize("answer", [hci.refuse(), hci.ignore], ids=["unknown", "silence"])
@pytest.mark.parametrize("opcode", EXTENDED, ids=EXTENDED.values())
def test_extended_commands_that_do_not_work_are_followed_by_the_legacy_ones(opcode, answer):
    with FakeController({opcode: answer}, le_features=hci.EXTENDED_ADVERTISING) as controller, \
            advertising(controller):
        # Extended advertising may be on for the moment until the refusal is understood.
        controller.wait_until("legacy ones", lambda one: one.commands[-1][0] == hci.LE_ENABLE)
        opcodes = [opcode for opcode, _ in controller.commands]
    assert opcodes[-1] == hci.LE_ENABLE and opcodes.count(hci.RESET) == 2
    # One family a power-on.
    assert not set(opcodes[len(opcodes) - opcodes[::-1].index(hci.RESET):]) & EXTENDED.keys()


@pytest.mark.parametrize("answer", [hci.twice, hci.longer, hci.shorter, hci.without_credits],
                         ids=["twice", "longer", "shorter", "no-credits"])
def test_answers_that_are_doubled_too_long_too_short_or_without_credits(answer):
    behaviours = {None: answer, hci.LE_ENABLE: hci.twice}
    with FakeController(behaviours) as controller, advertising(controller):
        controller.connect(0x40)
        assert controller.request(0x40, READ_NAME) == NAME


@pytest.mark.parametrize("options", [
    {"le_buffers": (65535, 255)}, {"le_buffers": (1, 1)}, {"le_buffers": (27, 1)},
    {"le_buffers": (251, 0)}, {"le_buffers": (0, 0), "buffers": (65535, 65535)},
    {"le_buffers": (0, 0), "buffers": (0, 0)}, {"commands": bytes(64)},
    {"le_features": (1 << 64) - 1}, {"commands": b"\x01" + bytes(63)},
], ids=str)
def test_odd_buffers_features_and_command_lists(options):
    with FakeController(**options) as controller, advertising(controller):
        controller.connect(0x40)
        assert controller.request(0x40, b"\x02\xF7\x00") == b"\x03\xF7\x00"
        assert controller.request(0x40, READ_NAME) == NAME


# Events that are wrong, that come in masses, or that nobody expects.

def test_a_handle_of_all_ones_and_one_that_comes_again():
    with FakeController() as controller, advertising(controller):
        for handle in (0xFFF, 0xFFF, 0x000, 0x000):
            controller.connect(handle)
            assert controller.request(handle, READ_NAME) == NAME
            controller.disconnect(handle)
            controller.wait_for_advertising()


def test_a_connection_that_is_announced_twice_is_a_new_one():
    with FakeController() as controller, advertising(controller):
        controller.connect(0x40, peer=1)
        assert controller.request(0x40, b"\x02\xF7\x00") == b"\x03\xF7\x00"
        controller.send(hci.connection_complete(0x40, peer=2))
        # Not MTU 247 any more: a value of 90 octets comes as 22.
        assert len(controller.request(0x40, READ_NAME)) == len(NAME)
        controller.disconnect(0x40)
        controller.wait_for_advertising()


def test_a_role_of_central_disconnections_of_nothing_and_packets_completed_on_no_link():
    with FakeController() as controller, advertising(controller):
        controller.send(hci.disconnection_complete(0x123), hci.completed_packets(0x99, 65535),
                        hci.event(0x13, b"\xFF"), hci.event(0x13, b""))
        controller.is_advertising = False
        controller.send(hci.connection_complete(0x40, role=0))
        assert controller.request(0x40, READ_NAME) == NAME
        controller.disconnect(0x40)
        controller.wait_for_advertising()


def test_forty_connections_at_once_are_served_as_far_as_they_go():
    with FakeController() as controller, advertising(controller):
        controller.send(*(hci.connection_complete(1 + index, index) for index in range(40)))
        controller.wait_until("24 connections too many ended",
                              lambda one: sum(opcode == hci.DISCONNECT
                                              for opcode, _ in one.commands) == 24)
        for handle in range(1, 17):
            assert controller.request(handle, READ_NAME) == NAME
        controller.send(*(hci.disconnection_complete(1 + index) for index in range(16)))
        controller.wait_for_advertising()


def test_events_of_every_code_and_length_are_survived():
    with FakeController() as controller, advertising(controller) as emulator:
        for code in set(range(256)) - {0x10}:
            controller.send(*(hci.event(code, bytes(count)) for count in (0, 1, 2, 5, 20, 255)))
        for subevent in range(256):
            controller.send(*(hci.event(0x3E, bytes([subevent]) + b"\xFF" * count)
                              for count in (0, 1, 2, 5, 20, 254)))
        # What came of it is over; the controller is the same.
        controller.send(hci.connection_complete(0x40))
        assert controller.request(0x40, READ_NAME) == NAME
        assert controller.power_ons == 1
        assert len(warnings(emulator)) < 30


@pytest.mark.parametrize("packet", [
    hci.event(0x05, b""), hci.disconnection_complete(0x77),
    hci.event(0x3E, b"\x02\x14" + bytes(30)),
    hci.event(0x3E, b"\x05\x40\x00" + bytes(10)), hci.event(0x3E, b"\x06\x40\x00" + bytes(8)),
], ids=["malformed", "unknown-link", "reports", "key-requests", "parameter-requests"])
def test_a_flood_of_events_fills_neither_memory_nor_log(packet):
    silence = {0x201A: hci.ignore, 0x201B: hci.ignore, 0x2020: hci.without_credits}
    with FakeController(silence) as controller, advertising(controller) as emulator:
        controller.connect(0x40)
        controller.request(0x40, READ_NAME)
        before = resident(emulator)
        for _ in range(60):
            controller.send(packet * 500)
        assert controller.request(0x40, READ_NAME) == NAME
        assert resident(emulator) - before < 2000
        assert len(emulator.output().splitlines()) < 30


def test_rubbish_in_acl_packets_changes_nothing():
    with FakeController() as controller, advertising(controller):
        controller.connect(0x40)
        for word in (0x0040, 0x1040, 0x2040, 0x3040, 0xF040, 0x2999):
            for count in (0, 1, 2, 3, 4, 5, 27, 1000, 65535):
                for octet in (0, 1, 0xFF):
                    controller.send(struct.pack("<BHH", 2, word, count) + bytes([octet]) * count)
        for cid in (0, 1, 2, 5, 6, 7, 0x40, 0xFFFF):
            for count in (0, 1, 2, 23, 100):
                controller.send(hci.acl(0x40, bytes([0x0A]) * count, cid))
        # The last start without its continuation is dropped by this one.
        controller.send(hci.acl(0x40, READ_NAME))
        controller.wait_until("the name", lambda one: (0x40, hci.ATT, NAME) in one.pdus)


def test_a_central_that_takes_no_data_and_keeps_asking_is_disconnected():
    with FakeController() as controller, \
            advertising(controller, "--log-level", "warning") as emulator:
        controller.connect(0x40)
        controller.completes = False
        before = resident(emulator)
        for _ in range(20):
            controller.send(hci.acl(0x40, READ_NAME) * 500)
        controller.wait_for_advertising()
        assert resident(emulator) - before < 3000


def test_packets_octet_by_octet():
    with FakeController() as controller, advertising(controller):
        for octet in hci.connection_complete(0x40) + hci.acl(0x40, READ_NAME):
            controller.send(bytes([octet]))
            time.sleep(0.001)
        controller.wait_until("the name", lambda one: (0x40, hci.ATT, NAME) in one.pdus)


# Loss and return.

def lose_by_rubbish(controller):
    """An octet that is no H4 packet type."""
    controller.send(b"\x00" * 1000)


def lose_by_hardware_error(controller):
    """Hardware Error."""
    controller.send(hci.event(0x10, b"\x42"))


def lose_by_reset(controller):
    """The answer to a Reset that nobody sent."""
    controller.send(hci.command_complete(hci.RESET, b"\x00"))


def lose_by_silence(controller):
    """A Disconnect that is never answered: a peer that asks for too much makes it be sent."""
    controller.behaviours[hci.DISCONNECT] = hci.ignore
    controller.connect(0x41)
    controller.completes = False
    for _ in range(20):
        controller.send(hci.acl(0x41, READ_NAME) * 500)


LOSSES = {
    "closed": FakeController.hang_up, "aborted": lambda one: one.hang_up(abort=True),
    "rubbish": lose_by_rubbish, "hardware-error": lose_by_hardware_error, "reset": lose_by_reset,
    "silence": lose_by_silence,
}


@pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES)
def test_after_a_loss_the_same_identity_advertises_again_and_keeps_its_values(lose):
    with FakeController() as controller, advertising(controller) as emulator:
        controller.connect(0x40)
        handle = value_handle(controller)
        assert controller.request(0x40, b"\x12" + handle + b"Kept") == b"\x13"
        lose(controller)
        controller.wait_for_advertising(2)
        controller.completes = True
        controller.connect(0x40)
        assert controller.request(0x40, b"\x0A" + handle) == b"\x0BKept"
        assert len(set(controller.addresses)) == 1
        emulator.wait_for("trying again")
        assert sum("trying again" in line for line in warnings(emulator)) == 1


@pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES)
def test_without_reconnecting_a_loss_ends_it_with_3_and_one_sentence(lose):
    with FakeController() as controller:
        emulator = Emulator(["--profile", profile(PROFILE), "--controller", controller.name, *SEED,
                             "--log-level", "warning", "--no-reconnect"])
        controller.wait_for_advertising()
        with contextlib.suppress(OSError):
            lose(controller)
        emulator.process.wait(10)
        assert emulator.stop() == 3
        assert emulator.output().count("error: ") == 1, str(emulator)


def value_handle(controller):
    """The handle of characteristic 0x5678, by Read By Type of declarations."""
    start = 1
    while True:
        pdu = controller.request(0x40, struct.pack("<BHHH", 0x08, start, 0xFFFF, 0x2803))
        assert pdu[0] == 0x09, "no characteristic 0x5678"
        for at in range(2, len(pdu), pdu[1]):
            entry = pdu[at:at + pdu[1]]
            if entry[5:7] == b"\x78\x56":
                return entry[3:5]
            start = struct.unpack_from("<H", entry)[0] + 1


def idle(controller):
    """Connected, and nothing goes on."""
    controller.connect(0x40)
    controller.request(0x40, READ_NAME)
    controller.hang_up()


def in_advertising(controller):
    """Advertising."""
    controller.hang_up()


def in_acl(controller):
    """In the middle of an ACL packet, in the middle of a PDU."""
    controller.connect(0x40)
    packet = hci.acl(0x40, READ_NAME)
    controller.send(packet + packet[:6])
    controller.hang_up()


def in_initialisation(controller):
    """Advertising, and the next stream at once or before one of its commands is answered."""
    controller.next_ends_at = controller.power_ons // 2 * 3 % 16
    controller.hang_up()


CLOSED = [idle, in_advertising, in_acl, in_initialisation]


def close_streams(close, count):
    """Closes so many streams, each in this way, and checks that nothing comes of it."""
    with FakeController() as controller, advertising(controller) as emulator:
        before = descriptors(emulator)
        for _ in range(count):
            streams = controller.power_ons
            close(controller)
            controller.wait_for_advertising(streams + 1)
        assert len(controller.addresses) > count and len(set(controller.addresses)) == 1
        assert descriptors(emulator) == before


@pytest.mark.parametrize("close", CLOSED)
def test_ten_closed_streams_leave_the_same_identity_and_no_descriptor(close):
    close_streams(close, 10)


@pytest.mark.long
@pytest.mark.parametrize("close", CLOSED)
def test_fifty_closed_streams_leave_the_same_identity_and_no_descriptor(close):
    close_streams(close, 50)


@pytest.mark.parametrize("kind", ["tcp-server", "unix", "unix-server", "pty"])
def test_loss_and_return_on_the_other_transports(kind, tmp_path):
    path = tmp_path / "hci"
    if kind == "tcp-server":
        with socket.create_server(("127.0.0.1", 0)) as free:
            path = free.getsockname()[1]
    with FakeController(kind=kind, path=path) as controller, advertising(controller) as emulator:
        before = descriptors(emulator)
        for power_on in range(1, 6):
            controller.wait_for_advertising(power_on)
            CLOSED[power_on % 3](controller)
        controller.wait_for_advertising(6)
        controller.send(b"\x00\x00")
        controller.wait_for_advertising(7)
        assert len(set(controller.addresses)) == 1
        assert descriptors(emulator) == before


def test_a_controller_is_awaited_for_ten_seconds(tmp_path):
    path = tmp_path / "hci"
    arguments = ["--profile", profile(PROFILE), "--controller", f"unix:{path}", *SEED]
    emulator = Emulator(arguments)
    emulator.wait_for("trying again")
    with FakeController(kind="unix", path=path) as controller:
        controller.wait_for_advertising()
        assert emulator.stop() == 0
    start = time.monotonic()
    emulator = Emulator(arguments)
    assert emulator.process.wait(20) == 3
    assert 9 < time.monotonic() - start < 13
    emulator.stop()
    errors = [line for line in emulator.output().splitlines() if "error: " in line]
    assert len(errors) == 1 and str(path) in errors[0] and "10 s" in errors[0]


@pytest.mark.long
def test_a_thousand_losses_leave_memory_flat():
    with FakeController() as controller, \
            advertising(controller, "--log-level", "error") as emulator:
        for power_on in range(1, 1001):
            controller.wait_for_advertising(power_on)
            if power_on == 200:
                before = resident(emulator)
            CLOSED[power_on % 3](controller)
        controller.wait_for_advertising(1001)
        assert resident(emulator) - before < 500


# What the process does with its surroundings.

@pytest.mark.parametrize("connected", [False, True], ids=["advertising", "connected"])
def test_a_static_profile_is_not_woken_while_nothing_happens(connected, tmp_path):
    path = tmp_path / "static.yaml"
    path.write_text(
        "peripheral-emu: 1\ndevice: {name: Static}\nadvertising:\n  - type: connectable\n"
        "    interval: 100 ms\n    data: [{name: complete}]\nservices:\n  - service: 0x1234\n"
        "    characteristics:\n      - {characteristic: 0x5678, read: open, value: {hex: '00'}}\n",
        encoding="utf-8")
    with FakeController() as controller:
        with running("--profile", str(path), "--controller", controller.name) as emulator:
            controller.wait_for_advertising()
            if connected:
                controller.connect(0x40)
                controller.request(0x40, READ_NAME)
            time.sleep(0.5)
            before = wake_ups(emulator)
            time.sleep(3)
            assert wake_ups(emulator) == before


def wake_ups(emulator):
    """How often the program has gone to sleep by itself."""
    with open(f"/proc/{emulator.process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", file.read()).group(1))
