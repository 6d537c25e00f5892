"""The bundled profiles that pair, as an app uses them."""
import asyncio

import pytest
from bumble.core import ProtocolError

from central import STEP_SECONDS, Central
from emulator import profile, running
from test_answers import Person
from test_pairing import IO, LISTENING, pair, prepare, session

OWN = "10C4000{}-5F2C-4E4B-9E1B-7C1D2A3B4C5D"
STATE, CODE, COMMAND = (OWN.format(number) for number in (2, 3, 4))
DROP = "5A1D000{}-0E1E-4C1B-9D56-3E2F0C9B7A10"
DETAILS, NOTICE, RECEIPT = (DROP.format(number) for number in (2, 3, 5))
AUTHENTICATION, AUTHORIZATION, NOT_ALLOWED = 0x05, 0x08, 0x13


def accessory(folder, name):
    """The bundled profile on its own air, with a control socket."""
    return running("--profile", profile(name), "--controller", "virtual", "--air", "127.0.0.1:0",
                   "--control", str(folder / "control"))


async def error(awaitable):
    """The ATT error that something is refused with."""
    with pytest.raises(ProtocolError) as caught:
        await awaitable
    return caught.value.error_code


async def connected(central, name):
    """Finds, connects and discovers."""
    await central.connect((await central.find(name)).address)
    await central.discover()


async def subscribed(central, uuid):
    """The queue of what comes."""
    values = asyncio.Queue()
    await asyncio.wait_for(central.characteristic(uuid).subscribe(values.put_nowait),
                           STEP_SECONDS)
    return values


async def following(values, seconds=STEP_SECONDS):
    """The next value of a queue."""
    return bytes(await asyncio.wait_for(values.get(), seconds))


def test_a_smart_lock(tmp_path):
    with accessory(tmp_path, "smart-lock") as emulator:
        async def body(central):
            prepare(central, emulator, IO.KEYBOARD_INPUT_ONLY)
            await connected(central, "Front Door")
            assert await error(central.read(STATE)) == AUTHENTICATION
            assert await error(central.write(COMMAND, b"\x01")) == AUTHENTICATION
            await pair(central)
            assert await central.read(STATE) == b"locked"
            values = await subscribed(central, STATE)
            assert await error(central.write(COMMAND, b"\x01")) == AUTHORIZATION
            assert await error(central.write(CODE, b"1111")) == AUTHORIZATION
            await central.write(CODE, b"2580")
            assert await error(central.write(COMMAND, b"\x02")) == NOT_ALLOWED
            await central.write(COMMAND, b"\x01")
            assert await following(values) == b"unlocked"
            assert await central.read(STATE) == b"unlocked"
            assert await following(values) == b"locked"
            assert await central.read(STATE) == b"locked"
            await central.disconnect()
            await connected(central, "Front Door")
            await asyncio.wait_for(central.connection.encrypt(), STEP_SECONDS)
            assert await central.read(STATE) == b"locked"
            assert await error(central.write(COMMAND, b"\x00")) == AUTHORIZATION
            await central.disconnect()

        session("tcp-client:" + emulator.wait_for(LISTENING).group(1), body)
        emulator.wait_for("it locks again")


def test_a_money_drop(tmp_path):
    with accessory(tmp_path, "money-drop") as emulator:
        emulator.wait_for("control: listening")
        person = Person(tmp_path / "control")

        async def body(central):
            prepare(central, emulator, IO.DISPLAY_OUTPUT_AND_YES_NO_INPUT)
            await connected(central, "Money Drop")
            assert await error(central.read(DETAILS)) == AUTHENTICATION
            await asyncio.gather(
                pair(central), asyncio.to_thread(person.answer, "compare", "yes"))
            assert await central.read(DETAILS) == b"account 4711"
            values = await subscribed(central, RECEIPT)
            await central.write(NOTICE, b"10 EUR to 4711")
            assert await following(values) == b"written"
            assert await error(central.write(NOTICE, b"x" * 101)) == NOT_ALLOWED
            # Without response it is dropped: nothing comes back, and no receipt.
            await central.write(NOTICE, b"10 EUR to 4712", with_response=False)
            assert await central.read(DETAILS) == b"account 4711"
            assert values.empty()
            await central.disconnect()

        session("tcp-client:" + emulator.wait_for(LISTENING).group(1), body)
        assert emulator.output().count("transfer from central") == 1


@pytest.mark.parametrize("name, uuid", [("health-thermometer", "2A1C"), ("glucose", "2A51")])
def test_a_medical_device_is_encrypted(tmp_path, name, uuid):
    device = {"health-thermometer": "Clinic Thermo", "glucose": "Meter"}[name]
    with accessory(tmp_path, name) as emulator:
        async def body(central):
            prepare(central, emulator, IO.NO_OUTPUT_NO_INPUT)
            await connected(central, device)
            reading = central.read(uuid) if name == "glucose" else subscribed(central, uuid)
            assert await error(reading) == AUTHENTICATION
            await pair(central)
            if name == "glucose":
                assert await central.read(uuid) == b"\x03\x00"
            else:
                assert len(await following(await subscribed(central, uuid))) >= 5
            await central.disconnect()

        session("tcp-client:" + emulator.wait_for(LISTENING).group(1), body)
