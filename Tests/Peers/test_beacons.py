"""Beacons that the product makes, read by parsers of others (PyPI) and by Wireshark."""
import subprocess

import pytest

import btsnoop
from beacontools import parse_packet
from bleparser import BleParser
from bluetooth_data_tools import monotonic_time_coarse, parse_advertisement_data
from bthome_ble import BTHomeBluetoothDeviceData
from emulator import binary, profile
from habluetooth import BluetoothServiceInfoBleak
from ruuvitag_sensor.data_formats import DataFormats
from ruuvitag_sensor.decoder import get_decoder
from tshark import assert_well_formed, tshark

ADDRESS = "D5:48:E6:8F:80:A5"
KEY = "231D39C1D7CC1AB1AEE224CD096DB932"
UUID = "F7826DA6-4FA2-4E98-8024-BC5B71E0893E"
SET_ADVERTISING_DATA = 0x2008
SET_EXTENDED_ADVERTISING_DATA = 0x2037


class Run:
    """What a profile puts on the air within a while of virtual time, each data once."""

    def __init__(self, path, folder, duration="35s"):
        self.capture = folder / "beacon.btsnoop"
        done = subprocess.run(
            [binary(), "--profile", path, "--controller", "virtual", "--virtual-time",
             "--duration", duration, "--capture", self.capture],
            capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        self.data = []
        for packet in btsnoop.read(self.capture):
            data = None
            if packet.opcode == SET_ADVERTISING_DATA:
                data = packet.parameters[1:1 + packet.parameters[0]]
            elif packet.opcode == SET_EXTENDED_ADVERTISING_DATA:
                data = packet.parameters[4:]
            if data and data not in self.data:
                self.data.append(data)
        assert self.data


@pytest.fixture(name="beacon")
def fixture_beacon(tmp_path):
    """Runs a profile of one set with this entry of its data."""
    def run(entry, update="", duration="35s"):
        path = tmp_path / "beacon.yaml"
        path.write_text(
            "peripheral-emu: 1\n"
            f'device: {{name: T, address: {{type: random-static, value: "{ADDRESS}"}}}}\n'
            f"advertising: [{{type: non-connectable, interval: 1 s, {update}data: [{entry}]}}]\n"
            "services:\n"
            "  - service: environmental-sensing\n"
            "    characteristics:\n"
            "      - {characteristic: temperature, read: open, value: -12.34}\n"
            "      - {characteristic: pressure, read: open, value: 98765.4}\n", encoding="utf-8")
        return Run(path, tmp_path, duration)
    return run


def parsed(data, keys=None):
    """What bleparser makes of advertising data of ADDRESS: (sensor, tracker)."""
    address = bytes.fromhex(ADDRESS.replace(":", ""))[::-1]
    report = b"\x3e" + bytes([12 + len(data)]) + b"\x02\x01\x03\x01" + address + \
        bytes([len(data)]) + data + b"\xc4"
    parser = BleParser(discovery=True, aeskeys=keys or {})
    return parser.parse_raw_data(b"\x04" + report)


def home(device, data):
    """What bthome-ble makes of advertising data: {key: value} of sensors and binary sensors."""
    parts = parse_advertisement_data((data,))
    info = BluetoothServiceInfoBleak(
        name="T", address=ADDRESS, rssi=-60, manufacturer_data=parts.manufacturer_data,
        service_data=parts.service_data, service_uuids=parts.service_uuids, source="local",
        device=None, advertisement=None, connectable=False, time=monotonic_time_coarse(),
        tx_power=None, raw=data)
    update = device.update(info)
    values = {key.key: value.native_value for key, value in update.entity_values.items()}
    values |= {key.key: value.native_value for key, value in update.binary_entity_values.items()}
    return values | {key.key: value.event_type for key, value in update.events.items()}


def test_ibeacon(beacon):
    run = beacon(f'{{ibeacon: {{uuid: "{UUID}", major: 1, minor: 65535, '
                 'measured-power: -59 dBm}}')
    frame = parse_packet(run.data[0])
    assert (frame.uuid.upper(), frame.major, frame.minor, frame.tx_power) == (UUID, 1, 65535, -59)
    sensor, _ = parsed(run.data[0])
    assert (sensor["major"], sensor["minor"], sensor["measured power"]) == (1, 65535, -59)
    assert_well_formed(run.capture)


def test_altbeacon(beacon):
    run = beacon(f'{{altbeacon: {{company: 0x0118, uuid: "{UUID}", major: 90, minor: 5, '
                 'reference-rssi: -60 dBm}}')
    sensor, _ = parsed(run.data[0])
    assert sensor["firmware"] == "AltBeacon"
    assert sensor["uuid"].upper() == UUID.replace("-", "")
    assert (sensor["major"], sensor["minor"], sensor["measured power"]) == (90, 5, -60)


def test_eddystone_uid(beacon):
    run = beacon('{eddystone-uid: {tx-power: -20 dBm, namespace: "12345678901234678901", '
                 'instance: "000000000001"}}')
    frame = parse_packet(run.data[0])
    assert (frame.namespace, frame.instance, frame.tx_power) == (
        "12345678901234678901", "000000000001", -20)


@pytest.mark.parametrize("url", [
    "https://example.com/", "http://www.example.org", "https://a.info/b.com/c",
    "https://www.x.biz/?q=1"])
def test_eddystone_url(beacon, url):
    frame = parse_packet(beacon(f'{{eddystone-url: {{tx-power: 4 dBm, url: "{url}"}}}}').data[0])
    assert (frame.url, frame.tx_power) == (url, 4)


def test_eddystone_eid(beacon):
    run = beacon('{eddystone-eid: {tx-power: -20 dBm, identifier: "0123456789ABCDEF"}}')
    frame = parse_packet(run.data[0])
    assert (frame.eid, frame.tx_power) == (bytes.fromhex("0123456789ABCDEF"), -20)


def test_eddystone_tlm_counts(tmp_path):
    run = Run(profile("eddystone-tlm-url"), tmp_path, "10min")
    address, *frames = sorted((parse_packet(data) for data in run.data),
                              key=lambda frame: getattr(frame, "seconds_since_boot", -1))
    assert address.url == "https://example.com/" and len(frames) == 61
    assert all(2990 <= frame.voltage <= 3000 for frame in frames)
    times = [frame.seconds_since_boot / 10 for frame in frames]
    assert times == [10 * index for index in range(61)]
    # One each 5 s and a random delay of 5 ms on average.
    for frame, time in zip(frames, times):
        assert frame.advertising_count == pytest.approx(time / 5.005, abs=1)
    degrees = [frame.temperature for frame in frames]
    assert 18 <= min(degrees) < 18.1 and 23.9 < max(degrees) <= 24


def test_exposure_notification(beacon):
    run = beacon("{exposure-notification: {identifier: random, metadata: random}}",
                 "update: every 10 s, ")
    frames = [parse_packet(data) for data in run.data]
    assert len({frame.identifier for frame in frames}) == len(frames) == 4
    assert all(len(bytes.fromhex(frame.identifier)) == 16 for frame in frames)
    assert "Rolling Proximity Identifier" in tshark(run.capture, "-V", "-Y", "bluetooth.gaen")


def test_atc_formats(beacon):
    for name, rounded in (("atc1441", -12.3), ("pvvx", -12.34)):
        run = beacon(f"{{{name}: {{temperature: {{value-of: temperature}}, humidity: 45 %, "
                     "battery: 88 %, voltage: 2.998 V, counter: {counter: {start: 254}}}}",
                     "update: every 10 s, ")
        sensors = [parsed(data)[0] for data in run.data]
        assert [sensor["packet"] for sensor in sensors] == [254, 255, 0, 1]
        for sensor in sensors:
            assert (sensor["temperature"], sensor["humidity"], sensor["battery"]) == (
                rounded, 45, 88)
            assert sensor["voltage"] == 2.998 and sensor["mac"] == ADDRESS.replace(":", "")


def ruuvi(data):
    """What ruuvitag-sensor makes of advertising data, which it takes behind its length."""
    kind, payload = DataFormats.convert_data(f"{len(data):02X}{data.hex().upper()}")
    return get_decoder(kind).decode_data(payload)


def test_ruuvi(tmp_path):
    run = Run(profile("ruuvi"), tmp_path)
    values = []
    for data in run.data:
        values.append(ruuvi(data))
        sensor, _ = parsed(data)
        assert sensor["temperature"] == pytest.approx(values[-1]["temperature"], abs=0.006)
        assert sensor["pressure"] == pytest.approx(values[-1]["pressure"], abs=0.006)
    assert [value["measurement_sequence_number"] for value in values] == list(range(8))
    for value in values:
        assert value["data_format"] == 5 and 18 <= value["temperature"] <= 24.1
        assert 995 <= value["pressure"] <= 1025 and 35 <= value["humidity"] <= 60
        assert 980 <= value["acceleration_z"] <= 1020 and value["tx_power"] == 4
        assert 3090 <= value["battery"] <= 3100 and len(value["mac"]) == 12


def test_ruuvi_without_values(beacon):
    run = beacon('{ruuvi: {address: "CB:B8:33:4C:88:4F"}}')
    value = ruuvi(run.data[0])
    assert value["mac"] == "cbb8334c884f"
    assert value["temperature"] is None and value["battery"] is None and value["tx_power"] is None


SET_RANDOM_ADDRESS = 0x2005
SET_SET_RANDOM_ADDRESS = 0x2035


@pytest.mark.parametrize("kind", ["public", "{type: non-resolvable-private, renewal: 1 min}"])
def test_own_address_is_told(tmp_path, kind):
    path = tmp_path / "beacon.yaml"
    path.write_text(
        f"peripheral-emu: 1\ndevice: {{name: T, address: {kind}}}\nadvertising: "
        "[{type: non-connectable, interval: 1 s, data: [{ruuvi: {temperature: 20 °C}}]}]\n",
        encoding="utf-8")
    run = Run(path, tmp_path, "150s")
    told = [ruuvi(data)["mac"] for data in run.data]
    used = []
    for packet in btsnoop.read(run.capture):
        if packet.opcode in (SET_RANDOM_ADDRESS, SET_SET_RANDOM_ADDRESS):
            address = packet.parameters[-6:][::-1].hex()
            # The controller's own and its set's, one after the other.
            if address not in used[-1:]:
                used.append(address)
    if kind == "public":
        assert not used and len(told) == 1 and told[0] != "000000000000"
    else:
        assert told == used and len(told) == 3


# Each object of BTHome with the value that is told for it, where the same name and value come back.
OBJECTS = [
    ("battery", "97 %", "battery", 97), ("temperature", "-12.34 °C", "temperature", -12.34),
    ("0x45", "27.3 °C", "temperature", 27.3), ("0x57", "-7 °C", "temperature", -7),
    ("0x58", "3.5 °C", "temperature", 3.5),
    ("humidity", "50.55 %", "humidity", 50.55), ("0x2E", "51 %", "humidity", 51),
    ("pressure", "1008.83 hPa", "pressure", 1008.83),
    ("illuminance", "13460.67 lx", "illuminance", 13460.67), ("mass", "80.3 kg", "mass", 80.3),
    ("0x07", "74.86 lb", "mass", 74.86), ("dewpoint", "17.38 °C", "dew_point", 17.38),
    ("count", "96", "count", 96), ("0x3D", "8499", "count", 8499), ("0x59", "-3", "count", -3),
    ("energy", "1346.067 kWh", "energy", 1346.067), ("power", "69.14 W", "power", 69.14),
    ("0x5C", "-5.5 W", "power", -5.5), ("voltage", "3.074 V", "voltage", 3.074),
    ("0x4A", "307.4 V", "voltage", 307.4), ("pm2.5", "3090 µg/m³", "pm25", 3090),
    ("pm10", "7170 µg/m³", "pm10", 7170), ("co2", "1250 ppm", "carbon_dioxide", 1250),
    ("tvoc", "307 µg/m³", "volatile_organic_compounds", 307),
    ("moisture", "3.07 %", "moisture", 3.07), ("rotation", "-307.4 °", "rotation", -307.4),
    ("distance", "12 mm", "distance", 12), ("0x41", "7.8 m", "distance", 7.8),
    ("duration", "13.39 s", "duration", 13.39), ("current", "13.39 A", "current", 13.39),
    ("0x5D", "-0.25 A", "current", -0.25), ("speed", "133.9 m/s", "speed", 133.9),
    ("uv-index", "5", "uv_index", 5), ("volume", "2215.1 L", "volume", 2215.1),
    ("volume-flow-rate", "34.78 m³/h", "volume_flow_rate", 34.78),
    ("gas", "1346.067 m³", "gas", 1346.067), ("water", "19551.879 L", "water", 19551.879),
    ("acceleration", "22.151 m/s²", "acceleration", 22.151),
    ("gyroscope", "22.151 °/s", "gyroscope", 22.151),
    ("volume-storage", "19551.879 L", "volume_storage", 19551.879),
    ("conductivity", "1250 µS/cm", "conductivity", 1250),
    ("direction", "359.99 °", "direction", 359.99),
    ("precipitation", "10.4 mm", "precipitation", 10.4), ("channel", "3", "channel", 3),
    ("rotational-speed", "3000 rpm", "rotational_speed", 3000),
    ("light-level", "7", "light_level", 7), ("settings-revision", "2", "settings_revision", 2),
    ("text", "Hello World!", "text", "Hello World!"), ("raw", '"0102FF"', "raw", "0102ff"),
    ("generic-boolean", "true", "generic", True), ("power-on", "false", "power", False),
    ("opening", "true", "opening", True), ("battery-low", "true", "battery", True),
    ("door", "true", "door", True), ("wet", "true", "moisture", True),
    ("motion", "true", "motion", True), ("window", "false", "window", False),
    ("button", "long-double-press", "button", "long_double_press"),
    ("dimmer", '"0103"', "dimmer", "rotate_left"),
]


@pytest.mark.parametrize("name, value, key, expected", OBJECTS, ids=[row[0] for row in OBJECTS])
def test_bthome_object(beacon, name, value, key, expected):
    run = beacon(f"{{bthome: {{objects: [{{object: {name}, value: {value}}}]}}}}")
    got = home(BTHomeBluetoothDeviceData(), run.data[0])[key]
    assert got == (pytest.approx(expected) if isinstance(expected, float) else expected)


def test_bthome_takes_values_in_other_units(beacon):
    run = beacon("{bthome: {objects: [{object: pressure, value: {value-of: pressure}}, "
                 "{object: temperature, value: {value-of: temperature}}]}}", "update: every 10 s, ")
    got = home(BTHomeBluetoothDeviceData(), run.data[0])
    assert (got["pressure"], got["temperature"]) == (987.65, -12.34)


def test_bthome_encrypted(tmp_path):
    run = Run(profile("bthome-thermometer"), tmp_path, "2min")
    assert len(run.data) == 13
    device = BTHomeBluetoothDeviceData(bindkey=bytes.fromhex(KEY))
    counters = []
    for data in run.data:
        got = home(device, data)
        assert got["battery"] == 100 and 35 <= got["humidity"] <= 60
        assert 18.9 <= got["temperature"] <= 23.1 and device.bindkey_verified
        counters.append(int.from_bytes(data[-8:-4], "little"))
        sensor, _ = parsed(data, {bytes.fromhex(ADDRESS.replace(":", "")): bytes.fromhex(KEY)})
        assert sensor["temperature"] == got["temperature"] and sensor["packet"] == counters[-1]
    # Quarters of a second; the first is one more than the time.
    assert counters[1:] == [counters[0] - 1 + 40 * index for index in range(1, 13)]
    stranger = BTHomeBluetoothDeviceData(bindkey=bytes(16))
    assert "temperature" not in home(stranger, run.data[0]) and not stranger.bindkey_verified


def test_ciphertext_hides_equal_values(beacon):
    run = beacon(
        f'{{bthome: {{encryption-key: "{KEY}", objects: [{{object: door, value: true}}]}}}}',
        "update: every 10 s, ")
    assert len({data[8:-8] for data in run.data}) == len(run.data) == 4
