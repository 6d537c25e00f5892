"""Values that the product makes, read by decoders of others (PyPI)."""
import asyncio
import json
import re
import subprocess

import pytest

import decoders
from bleakheart import HeartRate
from bumble.profiles.heart_rate_service import HeartRateService
from central import Central
from emulator import ROOT, binary, profile, running
from pycycling import cycling_power_service, cycling_speed_cadence_service, heart_rate_service

NAMES = [path.stem for path in sorted((ROOT / "Profiles").glob("*.yaml"))]
DATE = {"year": 2024, "month": 5, "day": 6, "hours": 7, "minutes": 38, "seconds": 49}
# A value for each field of each assigned layout.
LAYOUTS = {
    0x2A04: {"minimum-connection-interval": 30, "maximum-connection-interval": 50, "latency": 4,
        "supervision-timeout": 6000},
    0x2A08: DATE,
    0x2A0A: {"date-time": DATE, "day-of-week": "monday"},
    0x2A0C: {"date-time": DATE, "day-of-week": "friday", "fractions-256": 77},
    0x2A0D: {"dst-offset": 4},
    0x2A0F: {"time-zone": 60, "dst-offset": 30},
    0x2A14: {"source": "gps", "accuracy": 0.5, "days-since-update": 9, "hours-since-update": 17},
    0x2A18: {"sequence-number": 300, "base-time": DATE, "time-offset": -15, "concentration":
        0.00123, "type": "venous-plasma", "sample-location": "earlobe", "battery-low": True,
        "time-fault": True},
    0x2A1C: {"unit": "celsius", "temperature": 36.7, "time-stamp": DATE, "temperature-type": "ear"},
    0x2A1E: {"unit": "fahrenheit", "temperature": 99.4, "time-stamp": DATE, "temperature-type":
        "toe"},
    0x2A23: {"manufacturer": 0x0605040302, "organization": 0x090807},
    0x2A2B: {**DATE, "day-of-week": "sunday", "fractions-256": 99, "adjust-reason":
        {"change-of-dst": True}},
    0x2A34: {"sequence-number": 300, "carbohydrate-id": "lunch", "carbohydrate": 0.06, "meal":
        "fasting", "tester": "lab-test", "health": "no-issues", "exercise-duration": 1200,
        "exercise-intensity": 65, "medication-id": "pre-mixed-insulin", "medication": 0.0004,
        "hba1c": 6.5},
    0x2A35: {"unit": "mmhg", "systolic": 121, "diastolic": 79, "mean-arterial-pressure": 93,
        "time-stamp": DATE, "pulse-rate": 66, "user-id": 3, "measurement-status":
        {"irregular-pulse": True}},
    0x2A36: {"unit": "kpa", "cuff-pressure": 16.1, "time-stamp": DATE, "pulse-rate": 66, "user-id":
        3},
    0x2A37: {"sensor-contact": "detected", "rate": 72, "energy-expended": 513, "rr-interval": [0.75,
        0.8125]},
    0x2A49: {"features": {"cuff-fit-detection": True, "multiple-bonds": True}},
    0x2A4A: {"hid-version": 0x0111, "country-code": 33, "flags": {"normally-connectable": True}},
    0x2A50: {"vendor-source": "usb-forum", "vendor": 0x1234, "product": 0x5678, "version": 0x9ABC},
    0x2A51: {"features": {"sample-size": True, "time-fault": True}},
    0x2A52: {"hex": "0101"},
    0x2A53: {"status": "running", "speed": 3.5, "cadence": 86, "stride-length": 1.23,
        "total-distance": 4567.8},
    0x2A54: {"features": {"total-distance": True, "multiple-sensor-locations": True}},
    0x2A55: {"hex": "0305"},
    0x2A5B: {"wheel-revolutions": 70000, "wheel-event-time": 12.5, "crank-revolutions": 321,
        "crank-event-time": 7.25},
    0x2A5C: {"features": {"wheel-revolution-data": True, "multiple-sensor-locations": True}},
    0x2A5E: {"spo2": 97, "pulse-rate": 66, "time-stamp": DATE, "measurement-status": 0x0120,
        "device-and-sensor-status": 0x000304, "pulse-amplitude-index": 3.5},
    0x2A5F: {"spo2": 97, "pulse-rate": 66, "spo2-fast": 96, "pulse-rate-fast": 67, "spo2-slow": 95,
        "pulse-rate-slow": 68, "measurement-status": 0x0120, "device-and-sensor-status": 0x000304,
        "pulse-amplitude-index": 3.5},
    0x2A60: {"time-stamp": True, "spo2pr-fast": True, "measurement-status-supported": 0x0120,
        "device-and-sensor-status-supported": 0x000304},
    0x2A63: {"pedal-power-balance-reference": "left", "power": 234, "pedal-power-balance": 48.5,
        "accumulated-torque": 12.5, "wheel-revolutions": 70000, "wheel-event-time": 12.5,
        "crank-revolutions": 321, "crank-event-time": 7.25, "maximum-force": 301, "minimum-force":
        -22, "maximum-torque": 20.5, "minimum-torque": -3.5, "maximum-angle": 111, "minimum-angle":
        87, "top-dead-spot-angle": 8, "bottom-dead-spot-angle": 191, "accumulated-energy": 555},
    0x2A65: {"features": {"accumulated-energy": True, "multiple-sensor-locations": True,
        "factory-calibration-date": True}},
    0x2A66: {"hex": "0205"},
    0x2A85: {"year": 1985, "month": 12, "day": 10},
    0x2A86: {"year": 2021, "month": 11, "day": 9},
    0x2A9B: {"flags": {"muscle-percentage": True, "impedance": True, "weight-resolution": 3,
        "height-resolution": 2}},
    0x2A9C: {"unit": "si", "body-fat-percentage": 18.5, "time-stamp": DATE, "user-id": 3,
        "basal-metabolism": 7000, "muscle-percentage": 42.1, "muscle-mass": 31.5, "fat-free-mass":
        55.5, "soft-lean-mass": 51.2, "body-water-mass": 40.3, "impedance": 512.5, "weight": 72.4,
        "height": 1.81},
    0x2A9D: {"unit": "si", "weight": 72.4, "time-stamp": DATE, "user-id": 3, "bmi": 22.1, "height":
        1.81},
    0x2A9E: {"features": {"bmi": True, "weight-resolution": "0.1-kg-or-0.2-lb", "height-resolution":
        "0.005-m-or-0.5-inch"}},
    0x2A9F: {"hex": "0201D204"},
    0x2AA0: {"x": 0.0000123, "y": -0.0000045},
    0x2AA1: {"x": 0.0000123, "y": -0.0000045, "z": 0.0001},
}
# Fields that the other decoder leaves out or tells in a way of its own.
SKIPPED = {
    0x2A0A: {"day-of-week"}, 0x2A0C: {"day-of-week"}, 0x2A34: {"medication-unit", "health"},
    0x2A18: {"concentration-unit", "battery-low", "time-fault"},
    0x2A35: {"irregular-pulse", "pulse-rate-range"},
    0x2A36: {"diastolic", "mean-arterial-pressure"},
    0x2A63: {"pedal-power-balance-reference", "torque-source"},
    0x2A9E: {"weight-resolution", "height-resolution"},
}
# What it makes of fields that are told as bits there.
BITS = {
    0x2A18: lambda value: value.sensor_status == 0x0801,
    0x2A34: lambda value: value.health.value == 5 and value.tester.value == 3,
    0x2A35: lambda value: value.optional_fields.measurement_status == 0x0004,
    0x2A63: lambda value: value.flags & 0x000A == 0x0002,
    0x2A9E: lambda value: value.raw_value == 0x11C,
}
# It reads these no further than their first octets.
NOT_READ = {0x2A60}


def reads(*arguments):
    """What the built-in central read: {characteristic: (octets, value)}, and what it printed."""
    # Whether three notifications come as well does not matter here, so the exit code may be 3.
    done = subprocess.run(
        [binary(), *arguments, "--with-central", "--virtual-time", "--duration", "60s", "--json"],
        capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (0, 3), done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    values = {event["characteristic"]: (bytes.fromhex(event["hex"]), event["value"], event["text"])
              for event in events if event["event"] == "read" and "value" in event}
    return values, [event["text"] for event in events if event["event"] == "central"]


@pytest.fixture(scope="module")
def layouts(tmp_path_factory):
    """Every assigned layout with a value in each field, as it is on the air and as it is told."""
    characteristics = ", ".join(
        f"{{characteristic: 0x{uuid:04X}, label: c{uuid:04X}, read: open, "
        f"value: {json.dumps(value)}}}" for uuid, value in LAYOUTS.items())
    path = tmp_path_factory.mktemp("layouts") / "layouts.yaml"
    path.write_text(
        "peripheral-emu: 1\ndevice: {name: Layouts}\nadvertising: [{type: connectable, interval: "
        "100 ms, data: [{flags: [general-discoverable]}, {name: complete}]}]\n"
        f"services: [{{service: 0x1234, characteristics: [{characteristics}]}}]\n",
        encoding="utf-8")
    return reads("--profile", path)[0]


def test_all_assigned_layouts_are_there():
    text = (ROOT / "Tools/names/fields.txt").read_text(encoding="utf-8")
    assert set(LAYOUTS) == {int(line[:4], 16) for line in text.splitlines()
                            if not line.startswith("#")}


@pytest.mark.parametrize("uuid", [pytest.param(uuid, id=f"{uuid:04X}") for uuid in LAYOUTS])
def test_layout(layouts, uuid):
    octets, value, _ = layouts[f"c{uuid:04X}"]
    given = dict(decoders.leaves(LAYOUTS[uuid]))
    told = {name: leaf for name, leaf in decoders.leaves(value)}
    for name, leaf in given.items():
        if name not in ("hex", "rr-interval"):
            assert told[name] == (pytest.approx(leaf) if isinstance(leaf, float) else leaf), name
    if uuid not in NOT_READ:
        assert not decoders.differences(uuid, octets, value, SKIPPED.get(uuid, ()))
    assert BITS.get(uuid, lambda value: True)(decoders.decoded(uuid, octets))


@pytest.mark.parametrize("name", NAMES)
def test_bundled_values(name):
    """The built-in central prints each readable value by name and unit; others read the same."""
    values, printed = reads("--profile", name)
    numbers = assigned()
    for characteristic, (octets, value, text) in values.items():
        uuid = numbers.get(characteristic)
        if uuid is not None and name != "automation-io":
            # Of own names and formats a central knows nothing.
            assert f"  {characteristic} = {text.split(' = ', 1)[1]}" in printed, characteristic
        if uuid is None or uuid in NOT_READ or uuid not in READ_BY_BOTH or not octets:
            continue
        assert not decoders.differences(uuid, octets, value, SKIPPED.get(uuid, ()))


# One number each, and their units where the product tells one.
READ_BY_BOTH = {
    0x2A19: "%", 0x2A21: "s", 0x2A38: "", 0x2A49: "", 0x2A51: "", 0x2A54: "", 0x2A5C: "",
    0x2A5D: "", 0x2A65: "", 0x2A6E: "°C", 0x2A6F: "%", 0x2A80: "", 0x2A8C: "", 0x2A8E: "m",
    0x2A98: "kg", 0x2A9B: "", 0x2A9E: "", 0x2A2B: "", 0x2A0F: "", 0x2A14: "", 0x2A50: "",
    0x2A85: "", 0x2A24: "", 0x2A25: "", 0x2A26: "", 0x2A27: "", 0x2A28: "", 0x2A29: "",
}


def generated(table):
    """The lines of one of the product's own tables."""
    for file in sorted((ROOT / "Sources/Profiles/Generated").glob(f"{table}[0-9].swift")):
        body = re.search(r'"""\n(.*?)"""', file.read_text("utf-8"), re.DOTALL).group(1)
        yield from (line for line in body.split("\n") if line.strip())


def assigned():
    """The numbers of characteristics by their names, from the product's own table."""
    return {line.split()[1]: int(line.split()[0], 16) for line in generated("Characteristics")}


def test_units_are_printed():
    values, _ = reads("--profile", "environment-sensor")
    assert values["temperature"][2].endswith(" °C") and values["humidity"][2].endswith(" %")
    values, _ = reads("--profile", "user-data")
    assert values["weight"][2].endswith("62.500 kg") and values["height"][2].endswith("1.68 m")


def received(name, counts, write=None):
    """Values that a profile sends to Bumble's central, by UUID; `write` is (UUID, octets)."""
    async def session(transport):
        async with Central.on(transport) as central:
            with open(profile(name), encoding="utf-8") as file:
                text = file.read()
            device = re.search(r"name: ([^,}]*)", text).group(1)
            found = await central.find(device)
            await central.connect(found.address, 247)
            await central.discover()
            if "security:" in text:
                await central.connection.pair()
            following = asyncio.create_task(central.follow(counts, 60))
            if write:
                await asyncio.sleep(2)
                await central.write(*write)
            values = await following
            await central.disconnect()
            return {uuid: [value for _, value in pairs] for uuid, pairs in values.items()}

    with running("--profile", profile(name), "--air", "127.0.0.1:0") as emulator:
        port = emulator.wait_for(r"air: listening on .*:(\d+)").group(1)
        return asyncio.run(session(f"tcp-client:127.0.0.1:{port}"))


def test_heart_rate_measurement_by_four_decoders():
    for octets in received("heart-rate", {"2A37": 3})["2A37"]:
        one = decoders.decoded(0x2A37, octets)
        bumble = HeartRateService.HeartRateMeasurement.from_bytes(octets)
        heart = HeartRate(None, callback=lambda frame: None, unpack=False)._decode(
            bytearray(octets))
        cycling = heart_rate_service._parse_hr_measurement(bytearray(octets))
        assert 50 <= one.heart_rate <= 160 and 0.7 <= one.rr_intervals[0] <= 0.9
        assert bumble.heart_rate == cycling.bpm == heart["hr"] == one.heart_rate
        assert bumble.energy_expended == heart["nrg"] == one.energy_expended
        assert bumble.rr_intervals == pytest.approx(one.rr_intervals)
        assert heart["rr"] == pytest.approx([1000 * rr for rr in one.rr_intervals], abs=1)
        assert bumble.sensor_contact_detected


def test_glucose_records():
    got = received("glucose", {"2A18": 3, "2A34": 1, "2A52": 1}, ("2A52", b"\x01\x01"))
    records = [decoders.decoded(0x2A18, octets) for octets in got["2A18"]]
    assert [record.sequence_number for record in records] == [1, 2, 3]
    # In kg/L, as the flags say; the decoder calls it mg/dL, of which it is a hundred thousandth.
    assert [record.glucose_concentration for record in records] == pytest.approx(
        [0.00098, 0.00132, 0.00111])
    assert [(record.base_time.hour, record.base_time.minute) for record in records] == [
        (7, 30), (12, 45), (19, 5)]
    assert records[2].sensor_status == 1 and records[2].sample_location.name.startswith("ALTERNATE")
    context = decoders.decoded(0x2A34, got["2A34"][0])
    assert context.sequence_number == 2 and context.carbohydrate_id.name == "LUNCH"
    assert context.carbohydrate_kg == pytest.approx(0.06)
    assert got["2A52"] == [b"\x06\x00\x01\x01"]


def test_cycling():
    octets = received("cycling-power", {"2A63": 2})["2A63"][-1]
    mine = decoders.decoded(0x2A63, octets)
    theirs = cycling_power_service._parse_cycling_power_measurement(octets)
    assert 80 <= theirs.instantaneous_power == mine.instantaneous_power <= 420
    assert theirs.cumulative_crank_revs == mine.cumulative_crank_revolutions
    assert 46 <= mine.pedal_power_balance <= 54
    octets = received("cycling-speed-and-cadence", {"2A5B": 2})["2A5B"][-1]
    mine = decoders.decoded(0x2A5B, octets)
    theirs = cycling_speed_cadence_service._parse_csc_measurement(octets)
    assert theirs.cumulative_wheel_revs == mine.cumulative_wheel_revolutions > 0
    assert theirs.cumulative_crank_revs == mine.cumulative_crank_revolutions > 0


def test_medical():
    octets = received("blood-pressure", {"2A35": 1, "2A36": 1})["2A35"][0]
    pressure = decoders.decoded(0x2A35, octets)
    assert 105 <= pressure.systolic <= 145 and 65 <= pressure.diastolic <= 95
    assert 55 <= pressure.optional_fields.pulse_rate <= 90
    assert pressure.optional_fields.timestamp.year >= 2024
    octets = received("pulse-oximeter", {"2A5F": 1})["2A5F"][0]
    assert 95 <= decoders.decoded(0x2A5F, octets).spo2 <= 99
    octets = received("health-thermometer", {"2A1C": 1})["2A1C"][0]
    assert 36 <= decoders.decoded(0x2A1C, octets).temperature <= 39
    octets = received("weight-scale", {"2A9D": 1, "2A9C": 1})["2A9D"][0]
    assert 70 <= decoders.decoded(0x2A9D, octets).weight <= 74


def test_every_assigned_number_of_the_registry_has_its_name():
    """bluetooth-sig carries the SIG's registry: services, characteristics and descriptors."""
    import bluetooth_sig
    import yaml
    from pathlib import Path

    root = Path(bluetooth_sig.__file__).parent / "bluetooth_sig/assigned_numbers/uuids"
    for file, table in (("service_uuids", "services"), ("characteristic_uuids", "characteristics"),
                        ("descriptors", "descriptors")):
        known = {int(line.split()[0], 16) for line in generated(table.capitalize())}
        entries = yaml.safe_load((root / f"{file}.yaml").read_text(encoding="utf-8"))["uuids"]
        missing = [entry for entry in entries if entry["uuid"] not in known]
        assert not missing, missing
        print(f"{table}: all {len(entries)} of the registry have names")
