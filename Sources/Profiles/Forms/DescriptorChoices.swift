// Standard descriptors with a short form of their own, and how their values are written.
import Behaviours
import GATT
import SansIO
import Wire
import YAML

/// One kind of descriptor: its key, its UUID, and the octets that its value comes to.
struct DescriptorChoice {
    var key: String
    var uuid: BluetoothUUID
    var octets: Form<[UInt8]>

    private init(_ key: String, _ uuid: UInt16, _ octets: Form<[UInt8]>) {
        self.key = key
        self.uuid = BluetoothUUID(uuid)
        self.octets = octets
    }

    /// All kinds, for a characteristic of this format.
    static func all(of format: ValueFormat) -> [DescriptorChoice] {
        [
            DescriptorChoice("extended-properties", 0x2900, .extendedProperties),
            DescriptorChoice(
                "user-description", 0x2901,
                Form<String>.text(valueOctetsMax, says: "a text").map { Array($0.utf8) }),
            DescriptorChoice("client-characteristic-configuration", 0x2902, .configuration),
            DescriptorChoice("server-characteristic-configuration", 0x2903, .configuration),
            DescriptorChoice(
                "presentation-format", 0x2904,
                Form<PresentationFormat>.presentationFormat(of: format).map(\.bytes)),
            // The handles are the plan's to fill in.
            DescriptorChoice(
                "aggregate-format", 0x2905, Form<[UInt8]>.word([("all", [])])),
            DescriptorChoice("valid-range", 0x2906, .validRange(of: format)),
            DescriptorChoice(
                "external-report-reference", 0x2907,
                Form<BluetoothUUID>.uuid(.characteristic, example: "battery-level")
                    .map(\.littleEndian)),
            DescriptorChoice("report-reference", 0x2908, .reportReference),
            DescriptorChoice(
                "number-of-digitals", 0x2909,
                Form<Int>.integer(1...255, says: "how many digitals there are")
                    .map { [UInt8($0)] }),
            DescriptorChoice("value-trigger-setting", 0x290A, .valueTrigger(of: format)),
            DescriptorChoice("environmental-sensing-configuration", 0x290B, .sensingConfiguration),
            DescriptorChoice("environmental-sensing-measurement", 0x290C, .sensingMeasurement),
            DescriptorChoice(
                "environmental-sensing-trigger-setting", 0x290D, .sensingTrigger(of: format)),
            DescriptorChoice("time-trigger-setting", 0x290E, .timeTrigger),
        ]
    }
}

extension Form where Value == [UInt8] {
    /// Bits of Characteristic Extended Properties (Core 6.0, Vol 3, Part G, 3.3.3.1).
    fileprivate static var extendedProperties: Form {
        Form<[ExtendedProperties]>.list(
            of: .word([
                ("reliable-write", .reliableWrite), ("writable-auxiliaries", .writableAuxiliaries),
            ]), says: "a list such as '[reliable-write]'", minimum: 0
        ).map { [ExtendedProperties($0).rawValue, 0] }
    }

    /// What the two octets are at power-on: `off`, or for a server's configuration `broadcast`.
    fileprivate static var configuration: Form {
        Form<[UInt8]>.word([("off", [0, 0]), ("broadcast", [1, 0])])
    }

    /// `{min: -40, max: 85}` in the characteristic's unit and format (GATT Specification
    /// Supplement, Valid Range).
    fileprivate static func validRange(of format: ValueFormat) -> Form {
        map(says: "a map of min and max") { keys in
            let bound = ValueForm(format: format).bound
            let low = keys.required("min", bound)
            let high = keys.required("max", bound)
            guard let low, let high else { return nil }
            guard let encoding = ValueForm(format: format).encoding(keys) else { return nil }
            if low > high {
                keys.report(at: "min", "'min' is above 'max'", "exchange them")
            }
            return encoding.encode(low) + encoding.encode(high)
        }
    }

    /// Which HID report a characteristic is (HID over GATT Profile, 2.7).
    fileprivate static var reportReference: Form {
        map(says: "a map of id and type") { keys in
            let id = keys.optional("id", .integer(0...255, says: "0 to 255"))
            let type = keys.required(
                "type", Form<UInt8>.word([("input", 1), ("output", 2), ("feature", 3)]))
            guard let type else { return nil }
            return [UInt8(id ?? 0), type]
        }
    }

    // MARK: Automation IO (GATT Specification Supplement, 3.243 and 3.250)

    /// When a value is sent because of what it is.
    fileprivate static func valueTrigger(of format: ValueFormat) -> Form {
        let form = ValueForm(format: format)
        return map(says: "a map such as '{condition: crossed, value: 10}'") { keys in
            let condition = keys.required(
                "condition",
                Form<UInt8>.word([
                    ("changed", 0), ("crossed", 1), ("on-boundary", 2), ("changed-more-than", 3),
                    ("masked", 4), ("outside", 5), ("outside-or-on-boundary", 6), ("never", 7),
                ]))
            let value = keys.optional("value", form.bound)
            let bounds = keys.optional(
                "bounds",
                Form<[Double]>.list(
                    of: form.bound, says: "a list of the lower and the upper bound", minimum: 2))
            let mask = keys.optional("mask", .hex(octetsMax: 64))
            guard let condition else { return nil }
            switch condition {
            case 1, 2, 3: return keys.operand(condition, value.map { [$0] }, form, key: "value")
            case 4:
                if mask == nil { keys.report(at: "condition", "'mask' is missing", "add it") }
                return mask.map { [condition] + $0 }
            case 5, 6:
                if bounds?.count != 2 {
                    keys.report(
                        at: "condition", "'bounds' of two numbers are missing",
                        "add 'bounds: [LOW, HIGH]'")
                    return nil
                }
                return keys.operand(condition, bounds, form, key: "bounds")
            default: return [condition]
            }
        }
    }

    /// When a value is sent because time has passed.
    fileprivate static var timeTrigger: Form {
        let period = Form<TimeSpan>.time(
            .seconds(0)...(.seconds(0xFF_FFFF)), limits: "0 s to 16777215 s", example: "10 s")
        let count = Form<Int>.integer(1...65_535, says: "how many changes")
        return choice(
            says: "'{every: 10 s}', '{at-most-every: 10 s}', '{after-changes: 3}' or 'none'",
            [
                Choice("none", Form<Bool>.boolean.map { _ in [0] }),
                Choice("every", period.map { [1] + uint24($0) }),
                Choice("at-most-every", period.map { [2] + uint24($0) }),
                Choice(
                    "after-changes",
                    count.map {
                        [3, UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
                    }),
            ])
    }

    // MARK: Environmental Sensing Service 1.0.1, 3.1.2

    /// Whether one trigger or all must hold.
    fileprivate static var sensingConfiguration: Form {
        Form<[UInt8]>.word([("all-triggers", [0]), ("any-trigger", [1])])
    }

    /// How values come about (3.1.2.2).
    fileprivate static var sensingMeasurement: Form {
        map(says: "a map of sampling and periods") { keys in
            let sampling = keys.optional(
                "sampling",
                Form<UInt8>.word([
                    ("unspecified", 0), ("instantaneous", 1), ("arithmetic-mean", 2), ("rms", 3),
                    ("maximum", 4), ("minimum", 5), ("accumulated", 6), ("count", 7),
                ]))
            let time = Form<TimeSpan>.time(
                .seconds(0)...(.seconds(0xFF_FFFF)), limits: "0 s to 16777215 s", example: "10 s")
            let measured = keys.optional("measurement-period", time)
            let update = keys.optional("update-interval", time)
            let application = keys.optional(
                "application", .integer(0...255, says: "0 to 255, where air is measured and so on"))
            let uncertainty = keys.optional(
                "uncertainty", Form<Double>.quantity("%", 0...127, example: "0.5 %"))
            return [0, 0, sampling ?? 0] + uint24(measured ?? .zero) + uint24(update ?? .zero)
                + [UInt8(application ?? 0)]
                // In steps of 0.5 %; 255 is not known.
                + [uncertainty.map { UInt8(($0 * 2).rounded()) } ?? 0xFF]
        }
    }

    /// When a value is sent (3.1.2.3).
    fileprivate static func sensingTrigger(of format: ValueFormat) -> Form {
        let form = ValueForm(format: format)
        return map(says: "a map such as '{condition: greater-than, value: 20}'") { keys in
            let condition = keys.required(
                "condition",
                Form<UInt8>.word([
                    ("inactive", 0), ("fixed-interval", 1), ("no-less-than-interval", 2),
                    ("changed", 3), ("less-than", 4), ("less-than-or-equal", 5),
                    ("greater-than", 6), ("greater-than-or-equal", 7), ("equal", 8),
                    ("not-equal", 9),
                ]))
            let value = keys.optional("value", form.bound)
            let interval = keys.optional(
                "interval",
                .time(
                    .seconds(1)...(.seconds(0xFF_FFFF)), limits: "1 s to 16777215 s",
                    example: "10 s"))
            guard let condition else { return nil }
            switch condition {
            case 1, 2:
                if interval == nil {
                    keys.report(at: "condition", "'interval' is missing", "add 'interval: 10 s'")
                }
                return interval.map { [condition] + uint24($0) }
            case 4...9: return keys.operand(condition, value.map { [$0] }, form, key: "value")
            default: return [condition]
            }
        }
    }

    /// Whole seconds in three octets.
    private static func uint24(_ time: TimeSpan) -> [UInt8] {
        let seconds = UInt32(clamping: time.microseconds / 1_000_000)
        return (0..<3).map { UInt8(truncatingIfNeeded: seconds >> UInt32(8 * $0)) }
    }
}

extension ValueForm {
    /// How numbers of the format are written; reports where they are none.
    fileprivate func encoding(_ keys: Keys) -> NumberFormat? {
        if let spec = numbers { return spec.format }
        keys.context.report(
            keys.place, "this is of numbers, and the characteristic's format is none",
            "add 'format: uint16' or another number format to the characteristic")
        return nil
    }
}

extension Keys {
    /// A condition with its numbers in the characteristic's format.
    fileprivate func operand(
        _ condition: UInt8, _ values: [Double]?, _ form: ValueForm, key: String
    ) -> [UInt8]? {
        guard let values else {
            report(at: "condition", "'\(key)' is missing", "add '\(key):'")
            return nil
        }
        return form.encoding(self).map { encoding in
            [condition] + values.flatMap { encoding.encode($0) }
        }
    }
}
