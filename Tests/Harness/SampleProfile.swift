// A profile with every kind of value and access, and the worlds that tests and fuzzers begin with.
import Advertising
public import Emulator
public import Profiles
import Wire

/// The profile under test, loaded from YAML as a user's would be.
public enum SampleProfile {
    /// Two centrals at once, an activity signal, and values to read, write and follow.
    public static let text = """
        peripheral-emu: 1
        device: {name: Sample, appearance: temperature-sensor, connections: 2}
        activity:
          source: {csv: trace.csv, column: magnitude}
          active-above: 0.12 g
          idle-below: 0.05 g
          hold: 5 s
        advertising:
          - type: connectable
            interval: {policy: activity, active: 100 ms, idle: 500 ms}
            data:
              - flags: [general-discoverable, no-br-edr]
              - service-uuids: [environmental-sensing]
            scan-response:
              - name: complete
        services:
          - service: environmental-sensing
            characteristics:
              - characteristic: temperature
                read: open
                notify: open
                value: {sine: {min: 18, max: 24, period: 10 min, noise: 0.05}}
                update: every 1 s
                descriptors:
                  - user-description: Air
              - characteristic: humidity
                read: open
                indicate: open
                value: {random-walk: {min: 30, max: 60, step: 0.2, start: 45}}
                update: every 2 s
          - service: 5A1D0001-0E1E-4C1B-9D56-3E2F0C9B7A10
            label: desk
            characteristics:
              - characteristic: 5A1D0002-0E1E-4C1B-9D56-3E2F0C9B7A10
                label: setting
                read: open
                write: open
                write-without-response: open
                value: {hex: "00"}
              - characteristic: 5A1D0003-0E1E-4C1B-9D56-3E2F0C9B7A10
                label: count
                read: open
                notify: open
                indicate: open
                format: uint32
                value: {counter: {start: 0, step: 1}}
                update: every 500 ms
                send: on-change

        """

    /// Two touches, the second one within the hold of the first.
    public static let trace = """
        time,magnitude
        0,0
        3,0.4
        4,0.02
        7,0.3
        8,0.01
        60,0.2
        61,0

        """

    /// Loads `text`; each file that it names holds `trace`.
    public static func load(
        _ text: String = text, trace: String = trace
    ) throws(ProfileErrors) -> DeviceProfile {
        try ProfileLoader.load(path: "sample.yaml", bytes: Array(text.utf8)) { _ in
            .success(Array(trace.utf8))
        }
    }

    /// A device at work on the sample.
    public static func device(seed: UInt64 = 1) throws(ProfileErrors) -> EmulatedDevice {
        var device = EmulatedDevice(profile: try load(), seed: seed)
        device.reportsAccess = true
        return device
    }
}

extension EmulatedDevice {
    /// The value handle of the characteristic with this label or assigned name.
    public func valueHandle(_ name: String) -> UInt16 {
        plan.bindings.first { $0.name == name }?.valueHandle ?? 0
    }

    /// The handle of its configuration; 0 where it has none.
    public func cccdHandle(_ name: String) -> UInt16 {
        plan.bindings.first { $0.name == name }?.cccdHandle ?? 0
    }
}
