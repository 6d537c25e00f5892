// The entries of `data:` and `scan-response:`: AD structures and beacon formats.
import Advertising
import Wire
import YAML

extension Form where Value == AdvertisingStructure {
    static var structure: Form {
        choice(
            says: "an AD structure such as '{name: complete}'",
            [
                Choice("flags", flags),
                Choice("service-uuids", services.map { .serviceUUIDs($0, complete: true) }),
                Choice(
                    "incomplete-service-uuids",
                    services.map { .serviceUUIDs($0, complete: false) }),
                Choice("name", localName),
                Choice("tx-power", txPower),
                Choice(
                    "appearance",
                    Form<UInt16>.assigned(.appearance, example: "thermometer")
                        .map { .appearance($0) }),
                Choice("manufacturer", manufacturer),
                Choice("service-data", serviceData),
                Choice("raw", raw),
            ] + beacons)
    }

    private static var flags: Form {
        let flag = Form<AdvertisingFlags>.word([
            ("general-discoverable", .generalDiscoverable),
            ("limited-discoverable", .limitedDiscoverable), ("no-br-edr", .noBREDR),
        ])
        let list = Form<[AdvertisingFlags]>.list(
            of: flag, says: "a list such as '[general-discoverable, no-br-edr]'", minimum: 0)
        return Form(says: list.says, schema: list.schema) { place, context in
            guard let flags = list.read(place, context) else { return nil }
            // Core 6.0, Vol 3, Part C, 9.2.3.2 and 9.2.4.2.
            guard !flags.contains(.generalDiscoverable) || !flags.contains(.limitedDiscoverable)
            else {
                context.report(
                    place, "a device is either general or limited discoverable", "keep one of them")
                return nil
            }
            return .flags(AdvertisingFlags(flags))
        }
    }

    private static var services: Form<[BluetoothUUID]> {
        .list(of: .uuid(.service, example: "heart-rate"), says: "a list of services")
    }

    private static var txPower: Form {
        let power = Form<Int8>.power
        return Form(says: power.says, schema: power.schema) { place, context in
            if place.scalar?.text == "actual" {
                context.report(place, "'actual' is not supported yet", "write \(power.says)")
                return nil
            }
            return power.read(place, context).map { .txPower($0) }
        }
    }

    private static var localName: Form {
        let says = "'complete' or '{shortened: OCTETS}'"
        let complete = Form<Bool>.word([("complete", true)])
        let whole = Form(says: says, schema: complete.schema) { place, context in
            guard complete.read(place, context) != nil else { return nil }
            return .name(context.deviceName ?? "", complete: true)
        }
        let shortened = map(says: says) { keys in
            let octets = keys.required("shortened", .integer(1...29, says: "1 to 29 octets"))
            guard let octets, let name = keys.context.deviceName else { return nil }
            guard octets < name.utf8.count else {
                keys.report(
                    at: "shortened", "the name has only \(name.utf8.count) octets",
                    "write 'name: complete'")
                return nil
            }
            // A character that would be cut in two is left out.
            var short = name
            while short.utf8.count > octets { short.removeLast() }
            return .name(short, complete: false)
        }
        return either(scalar: whole, map: shortened)
    }

    private static var manufacturer: Form {
        map(says: "'{company: 0xFFFF, data: {hex: \"0102\"}}'") { keys in
            let company = keys.required(
                "company", Form<UInt16>.assigned(.company, example: "nordic-semiconductor-asa"))
            let data = keys.advertisingPayload()
            guard let company else { return nil }
            return .manufacturer(company: company, data: data)
        }
    }

    private static var serviceData: Form {
        map(says: "'{service: battery, data: {hex: \"64\"}}'") { keys in
            let service = keys.required("service", .uuid(.service, example: "battery"))
            let data = keys.advertisingPayload()
            guard let service else { return nil }
            return .serviceData(service, data: data)
        }
    }

    private static var raw: Form {
        map(says: "'{type: 0xFF, data: {hex: \"01\"}}'") { keys in
            let type = keys.required("type", .integer(1...255, says: "an AD type such as 0xFF"))
            let data = keys.advertisingPayload()
            guard let type else { return nil }
            return .raw(type: UInt8(type), data: data)
        }
    }
}
