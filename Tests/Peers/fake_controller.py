"""A Bluetooth controller without a radio that answers as a test tells it, rudely where asked to.

It serves one host at a time, in a thread of its own, and counts a power-on for each stream. What it
does with a command is a function in `behaviours`, by opcode: it returns the octets to send.
"""
import contextlib
import os
import select
import socket
import struct
import threading
import time
import tty

WAIT_SECONDS = 20
RESET, DISCONNECT = 0x0C03, 0x0406
READ_VERSION, READ_COMMANDS, READ_FEATURES = 0x1001, 0x1002, 0x1003
READ_BUFFERS, READ_ADDRESS = 0x1005, 0x1009
LE_READ_BUFFERS, LE_READ_FEATURES, LE_SET_RANDOM_ADDRESS = 0x2002, 0x2003, 0x2005
LE_SET_PARAMETERS, LE_SET_DATA, LE_SET_SCAN_RESPONSE, LE_ENABLE = 0x2006, 0x2008, 0x2009, 0x200A
LE_SET_EXTENDED_ADDRESS, LE_SET_EXTENDED_PARAMETERS, LE_EXTENDED_ENABLE = 0x2035, 0x2036, 0x2039
LE_READ_BUFFERS_V2 = 0x2060
UNKNOWN_COMMAND, COMMAND_DISALLOWED = 0x01, 0x0C
EXTENDED_ADVERTISING = 1 << 12  # of the LE features
ATT = 4
HEADER_OCTETS = {1: 4, 2: 5, 3: 4, 4: 3, 5: 5}


def command_complete(opcode, parameters, credits=1):
    """A whole H4 packet."""
    body = struct.pack("<BH", credits, opcode) + parameters
    return bytes([0x04, 0x0E, len(body)]) + body


def command_status(opcode, status, credits=1):
    """A whole H4 packet."""
    return struct.pack("<BBBBBH", 0x04, 0x0F, 4, status, credits, opcode)


def event(code, parameters):
    """A whole H4 packet."""
    return bytes([0x04, code, len(parameters)]) + parameters


def connection_complete(handle, peer=1, role=1, status=0):
    """LE Connection Complete: 30 ms, 5 s."""
    address = struct.pack("<Q", 0xC0_0000_0000_00 + peer)[:6]
    return event(0x3E, struct.pack("<BBHBB6sHHHB", 1, status, handle, role, 1, address, 24, 0,
                                   500, 0))


def disconnection_complete(handle, reason=0x13):
    """Disconnection Complete, with success."""
    return event(0x05, struct.pack("<BHB", 0, handle, reason))


def completed_packets(handle, count=1):
    """Number Of Completed Packets of one link."""
    return event(0x13, struct.pack("<BHH", 1, handle, count))


def acl(handle, pdu, cid=ATT):
    """One L2CAP PDU in one ACL packet."""
    return struct.pack("<BHHHH", 2, handle | 0x2000, len(pdu) + 4, len(pdu), cid) + pdu


# Behaviours: what comes back for a command.

def ignore(controller, opcode, parameters):
    """Never an answer."""
    return b""


def refuse(status=UNKNOWN_COMMAND):
    """Command Complete with this status and nothing else."""
    return lambda controller, opcode, parameters: command_complete(opcode, bytes([status]))


def refuse_by_status(status=UNKNOWN_COMMAND):
    """Command Status, as for a command that is not known at all."""
    return lambda controller, opcode, parameters: command_status(opcode, status)


def twice(controller, opcode, parameters):
    """The right answer, two times."""
    return 2 * controller.answer(opcode, parameters)


def without_credits(controller, opcode, parameters):
    """The right answer, which allows no further command."""
    packet = bytearray(controller.answer(opcode, parameters))
    packet[3 if packet[1] == 0x0E else 4] = 0
    return bytes(packet)


def longer(controller, opcode, parameters):
    """The right answer with octets behind it that nobody has specified."""
    packet = controller.answer(opcode, parameters)
    return packet[:2] + bytes([packet[2] + 3]) + packet[3:] + b"\xEE\xEE\xEE"


def shorter(controller, opcode, parameters):
    """A Command Complete that ends behind its status."""
    return command_complete(opcode, b"\x00")


def hang_up(controller, opcode, parameters):
    """The stream ends instead of an answer."""
    controller.hang_up()
    return b""


def late(seconds):
    """The right answer after a time in which nothing else happens."""
    def answer(controller, opcode, parameters):
        time.sleep(seconds)
        return controller.answer(opcode, parameters)
    return answer


class FakeController:
    """The controller; use it in a `with` block. `name` is what --controller takes.

    `behaviours` maps opcodes to functions; `None` as key stands for all others.
    """

    def __init__(self, behaviours=None, le_features=0, le_buffers=(251, 8), buffers=(1021, 8),
                 commands=b"\xFF" * 64, kind="tcp-client", path=None):
        self.behaviours = dict(behaviours or {})
        self.le_features, self.le_buffers, self.buffers = le_features, le_buffers, buffers
        # Without the extended advertising commands, unless the feature bit is set.
        self.supported = bytearray(commands)
        if not le_features & EXTENDED_ADVERTISING:
            self.supported[36] &= ~0x24
        self.changed = threading.Condition()
        self.power_ons = 0            # streams that were opened
        self.commands = []            # (opcode, parameters) of this stream
        self.pdus = []                # (handle, CID, PDU) from the host, whole L2CAP PDUs
        self.addresses = []           # the random address of each power-on that set one
        self.is_advertising = False
        self.completes = True         # whether ACL packets are reported completed
        self.next_ends_at = None      # the next stream ends before its command of this number
        self.pending, self.ends_at = {}, None
        self.stream = None
        self.is_ending = False
        self.kind, self.path = kind, path
        self.listener = self.listen()
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def listen(self):
        """The socket that hosts connect to; None where the controller joins the host."""
        if self.kind == "tcp-client":
            return socket.create_server(("127.0.0.1", 0))
        if self.kind == "unix":
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(self.path))
            listener.listen(4)
            return listener
        return None

    @property
    def name(self):
        """The host's --controller."""
        if self.kind == "tcp-client":
            return f"tcp-client:127.0.0.1:{self.listener.getsockname()[1]}"
        return f"{self.kind}:{self.path}"

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_ending = True
        self.hang_up()
        self.thread.join(WAIT_SECONDS)
        if self.listener:
            self.listener.close()

    # The stream.

    def open(self):
        """The next host's stream as (object to close, descriptor); None where none has come."""
        if self.listener:
            if not select.select([self.listener], [], [], 0.05)[0]:
                return None
            stream, _ = self.listener.accept()
            if self.kind == "tcp-client":
                stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return stream
        try:
            if self.kind == "pty":
                descriptor = os.open(self.path, os.O_RDWR | os.O_NOCTTY)
                tty.setraw(descriptor)
                return os.fdopen(descriptor, "r+b", buffering=0)
            if self.kind == "tcp-server":
                return socket.create_connection(("127.0.0.1", int(self.path)), 1)
            stream = socket.socket(socket.AF_UNIX)
            stream.connect(str(self.path))
            return stream
        except OSError:
            time.sleep(0.05)
            return None

    def serve(self):
        """Serves one host after another until the end."""
        while not self.is_ending:
            stream = self.open()
            if not stream:
                continue
            with self.changed:
                self.stream = stream
                self.power_ons += 1
                self.commands, self.pdus, self.pending = [], [], {}
                self.is_advertising = False
                self.ends_at, self.next_ends_at = self.next_ends_at, None
                self.changed.notify_all()
            if self.ends_at == 0:
                self.hang_up()
            with contextlib.suppress(OSError, ValueError):
                self.read(stream)
            self.hang_up()
            with contextlib.suppress(OSError):
                stream.close()
            if self.kind == "pty":
                # A host cannot see that the device was closed where it is opened again at once.
                time.sleep(0.1)

    def read(self, stream):
        """Takes whole packets off the stream until it ends."""
        held = b""
        while not self.is_ending and self.stream is stream:
            if not select.select([stream], [], [], 0.05)[0]:
                continue
            chunk = os.read(stream.fileno(), 65536)
            if not chunk:
                return
            held += chunk
            while held and len(held) >= HEADER_OCTETS[held[0]]:
                length = held[3] if held[0] == 1 else struct.unpack_from("<H", held, 3)[0]
                end = HEADER_OCTETS[held[0]] + length
                if len(held) < end:
                    break
                self.take(held[:end])
                held = held[end:]

    def send(self, *packets):
        """Sends octets to the host, whole packets or not."""
        data = b"".join(packets)
        with self.changed:
            stream = self.stream
        if stream is None:
            raise ConnectionError("the stream has ended")
        while data:
            data = data[os.write(stream.fileno(), data):]

    def hang_up(self, abort=False):
        """Ends the stream; `abort` by a TCP reset."""
        with self.changed:
            stream, self.stream = self.stream, None
        if stream is None:
            return
        with contextlib.suppress(OSError):
            if abort:
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if isinstance(stream, socket.socket) and not abort:
                stream.shutdown(socket.SHUT_RDWR)
            stream.close()

    # What the host sends.

    def take(self, packet):
        """Takes one whole packet of the host."""
        if packet[0] == 1:
            opcode, parameters = struct.unpack_from("<H", packet, 1)[0], packet[4:]
            with self.changed:
                self.commands.append((opcode, parameters))
                behaviour = self.behaviours.get(opcode) or self.behaviours.get(None) \
                    or FakeController.answer
                if len(self.commands) == self.ends_at:
                    behaviour = hang_up
            answer = behaviour(self, opcode, parameters)
            if answer:
                self.send(answer)
        elif packet[0] == 2:
            self.take_data(*struct.unpack_from("<H", packet, 1), packet[5:])
        with self.changed:
            self.changed.notify_all()

    def take_data(self, word, fragment):
        """Puts fragments together and reports their packet completed."""
        handle = word & 0x0FFF
        held = fragment if word >> 12 & 3 != 1 else self.pending.get(handle, b"") + fragment
        length = struct.unpack_from("<H", held)[0] + 4 if len(held) >= 4 else None
        if length is not None and len(held) >= length:
            with self.changed:
                self.pdus.append((handle, struct.unpack_from("<H", held, 2)[0], held[4:length]))
            held = b""
        self.pending[handle] = held
        if self.completes:
            self.send(completed_packets(handle))

    def answer(self, opcode, parameters):
        """What a friendly controller answers."""
        if opcode == DISCONNECT:
            handle = struct.unpack_from("<H", parameters)[0]
            return command_status(opcode, 0) + disconnection_complete(handle, 0x16)
        if opcode == RESET:
            self.is_advertising = False
        if opcode in (LE_ENABLE, LE_EXTENDED_ENABLE):
            self.is_advertising = parameters[0] == 1
        if opcode == LE_SET_RANDOM_ADDRESS:
            self.addresses.append(parameters[::-1].hex(":"))
        returned = {
            READ_VERSION: struct.pack("<BHBHH", 9, 0, 9, 0xFFFF, 0),
            READ_COMMANDS: bytes(self.supported),
            READ_FEATURES: struct.pack("<Q", 0x60 << 32),
            READ_BUFFERS: struct.pack("<HBHH", self.buffers[0], 0, self.buffers[1], 0),
            READ_ADDRESS: bytes.fromhex("665544332211"),
            LE_READ_BUFFERS_V2: struct.pack("<HBHB", *self.le_buffers, 0, 0),
            LE_READ_BUFFERS: struct.pack("<HB", *self.le_buffers),
            LE_READ_FEATURES: struct.pack("<Q", self.le_features),
            LE_SET_EXTENDED_PARAMETERS: b"\x00",
        }
        return command_complete(opcode, b"\x00" + returned.get(opcode, b""))

    # What a test does.

    def wait_until(self, what, is_so, seconds=WAIT_SECONDS):
        """Waits until `is_so(self)`; `what` is for the message."""
        with self.changed:
            if not self.changed.wait_for(lambda: is_so(self), seconds):
                raise AssertionError(f"not within {seconds} s: {what}; since power-on "
                                     f"{self.power_ons}: {[hex(one) for one, _ in self.commands]}")

    def wait_for_advertising(self, power_on=1, seconds=WAIT_SECONDS):
        """Waits until the host of this power-on, or a later one, advertises."""
        self.wait_until(f"advertising on power-on {power_on}",
                        lambda one: one.power_ons >= power_on and one.is_advertising, seconds)

    def connect(self, handle, peer=1):
        """Announces a connection to the host, whose advertising ends with it."""
        self.is_advertising = False
        self.send(connection_complete(handle, peer))

    def disconnect(self, handle, reason=0x13):
        """Announces the end of a connection."""
        self.send(disconnection_complete(handle, reason))

    def request(self, handle, pdu, seconds=WAIT_SECONDS):
        """Sends one ATT request and returns the ATT PDU that answers it."""
        before = len(self.pdus)

        def answers(one):
            return [data for owner, cid, data in one.pdus[before:]
                    if owner == handle and cid == ATT and data[0] not in (0x1B, 0x1D)]
        self.send(acl(handle, pdu))
        self.wait_until(f"an answer to {pdu.hex()}", answers, seconds)
        return answers(self)[0]
