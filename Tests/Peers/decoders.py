"""Decoders of others for values of assigned characteristics, and what both must agree on.

bluetooth-sig reads every characteristic; bleak-sigspec reads its IEEE 11073 numbers, which
bluetooth-sig 0.6.0 takes wrongly (it reads the exponent as offset binary, not two's complement).
"""
import datetime
import enum
import math
import re

from bleak_sigspec.formatter import decode_FLOAT_ieee11073, decode_SFLOAT_ieee11073
from bluetooth_sig import BluetoothSIGTranslator
from bluetooth_sig.gatt.characteristics.utils.ieee11073_parser import IEEE11073Parser

IEEE11073Parser.parse_sfloat = staticmethod(
    lambda data, offset=0: decode_SFLOAT_ieee11073(bytes(data[offset:offset + 2])))
IEEE11073Parser.parse_float32 = staticmethod(
    lambda data, offset=0: decode_FLOAT_ieee11073(bytes(data[offset:offset + 4])))

TRANSLATOR = BluetoothSIGTranslator()
# Some numbers are told in other units there: minutes in hours, eighths of a second raw.
FACTORS = (1, 1 / 60, 8)
# Words of the profile that are told in other words there.
OTHER_WORDS = {
    "usb-forum": "USB_IF", "bluetooth-sig": "BLUETOOTH_SIG", "si": "METRIC",
    "sample-size": "sample_size", "time-stamp": "timestamp",
    "weight-resolution": "", "height-resolution": "",
}


def decoded(uuid, octets):
    """What bluetooth-sig makes of a value; an exception where it refuses it."""
    return TRANSLATOR.parse_characteristic(f"{uuid:04X}", bytes(octets))


def numbers(value):
    """All numbers in a decoded value."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, enum.Enum):
        yield from numbers(value.value)
    elif isinstance(value, (int, float)):
        yield value
    elif isinstance(value, datetime.datetime):
        yield from (value.year, value.month, value.day, value.hour, value.minute, value.second)
    elif isinstance(value, datetime.date):
        yield from (value.year, value.month, value.day)
    elif isinstance(value, (bytes, bytearray)):
        yield int.from_bytes(value, "little")
        yield from value
    elif isinstance(value, dict):
        for one in value.values():
            yield from numbers(one)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for one in value:
            yield from numbers(one)
    else:
        for name in getattr(value, "__struct_fields__", getattr(value, "__dict__", ())):
            yield from numbers(getattr(value, name))


def letters(text):
    """A name's letters and digits alone."""
    return re.sub(r"[^a-z0-9]", "", str(text).lower())


def leaves(value, name=""):
    """The (name, value) pairs of a value as the product tells it."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from leaves(one, name)
    else:
        yield name, value


def agrees(name, value, outside, text):
    """Whether the other decoder tells this leaf as well."""
    if isinstance(value, bool):
        # What is false is not told as true.
        told = letters(OTHER_WORDS.get(name, name))
        return told in text if value else f"{told}true" not in text
    if isinstance(value, (int, float)):
        return any(math.isclose(value * factor, number, rel_tol=1e-6, abs_tol=1e-12)
                   for number in outside for factor in FACTORS)
    if name in ("parameter", "operand"):
        return not value or int.from_bytes(bytes.fromhex(value), "little") in outside
    if value is None:
        return any(isinstance(number, float) and math.isnan(number) for number in outside)
    word = letters(OTHER_WORDS.get(value, value))
    return word in text


def differences(uuid, octets, value, skip=()):
    """What of the product's reading the other decoder does not confirm."""
    outside = decoded(uuid, octets)
    found, text = list(numbers(outside)), letters(repr(outside))
    return [f"{name} = {leaf}: {outside}" for name, leaf in leaves(value)
            if name not in skip and not agrees(name, leaf, found, text)]
