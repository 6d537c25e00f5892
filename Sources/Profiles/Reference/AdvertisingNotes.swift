// Notes on the keys of `advertising:`, its interval policies and its data.

extension KeyNotes {
    private static let set = "…, advertising: [{type: connectable, "
    private static let policy =
        "…, activity: {source: {csv: a.csv, column: magnitude}, active-above: 0.2 g, "
        + "idle-below: 0.1 g, hold: 10 s, asleep-after: 10 min}, "
        + "advertising: [{type: connectable, interval: {%}}]"
    private static let limits = """
        fallback | (none) | 1022.5 ms | | the interval while the source is lost
        dwell | (none) | 5 s | | the shortest time between two changes
        rate-limit | (none) | {changes: 6, per: 1 min} | | the most changes in a time
        snap | (none) | apple | | takes the nearest interval of Apple's list
        """
    private static let boost =
        "boost | (none) | {interval: 20 ms, for: 30 s} | | an interval after power-on and disconnect"
    private static let field =
        "…, activity: {source: gatt, hold: 10 s}, services: [{service: battery, characteristics: "
        + "[{characteristic: battery-level, read: open}]}], advertising: [{type: connectable, "
        + "interval: 1022.5 ms, update: every 10 s, data: [{manufacturer: {company: 0xFFFF, "
        + "fields: [{activity: state}, {%}]}}]}]"

    static let advertisingNotes = """
        @advertising[] | Advertising set | …, advertising: [{%}] | type: connectable; interval: 1022.5 ms
        set | main | beacon | | its name in the log
        type | | non-connectable | | what others can do with it
        interval | | 152.5 ms | | one interval, 20 ms to 10.24 s, or a policy that chooses it
        data | [] | [{flags: [general-discoverable, no-br-edr]}, {name: complete}] | | advertising data, at most 31 octets
        scan-response | [] | [{tx-power: 0 dBm}] | | what scanners get when they ask, at most 31 octets
        update | (required with live fields) | every 10 s | data: [{manufacturer: {company: 0xFFFF, fields: [{format: uint8, value: {counter: {}}}]}}] | when live fields in the data are taken anew
        @advertising[].interval | Policy activity, two or three states | \(policy) | policy: activity; active: 152.5 ms; idle: 1285 ms
        policy | | activity | | follows the activity signal
        active | | 211.25 ms | | the interval while it moves
        idle | | 1022.5 ms | | the interval while it rests
        asleep | (that of idle) | 2 s | | the interval while it sleeps; needs `asleep-after` in `activity`
        \(boost)
        \(limits)
        @advertising[].interval 2 | Policy activity, levels | \(policy) | policy: activity; idle: 1285 ms; levels: [{from: 0.4, interval: 152.5 ms}]
        policy | | activity | | follows the activity signal
        idle | | 1022.5 ms | | the interval below the first level
        levels | | [{from: 0.2, interval: 417.5 ms}, {from: 0.6, interval: 152.5 ms}] | | intervals by rising level of activity
        hysteresis | 0.05 | 0.1 | | how far the level must fall below a step to leave it
        \(boost)
        \(limits)
        @advertising[].interval.levels[] | Level | …, activity: {source: {csv: a.csv, column: magnitude}, active-above: 0.2 g, idle-below: 0.1 g, hold: 10 s}, advertising: [{type: connectable, interval: {policy: activity, idle: 1 s, levels: [{%}]}}] | from: 0.4; interval: 152.5 ms
        from | | 0.5 | | the level of activity, 0.05 to 1
        interval | | 211.25 ms | | from there on
        @advertising[].interval 3 | Policy activity, curve | \(policy) | policy: activity; curve: {slow: 1285 ms, fast: 152.5 ms}
        policy | | activity | | follows the activity signal
        curve | | {slow: 1022.5 ms, fast: 211.25 ms} | | goes smoothly between two intervals
        \(boost)
        \(limits)
        @advertising[].interval.curve | Curve | …, activity: {source: {csv: a.csv, column: magnitude}, active-above: 0.2 g, idle-below: 0.1 g, hold: 10 s}, advertising: [{type: connectable, interval: {policy: activity, curve: {%}}}] | slow: 1285 ms; fast: 152.5 ms
        slow | | 1022.5 ms | | the interval at level 0
        fast | | 211.25 ms | | the interval at level 1
        @advertising[].interval.boost | Phase | \(set)interval: {policy: fixed, interval: 1 s, boost: {%}}}] | interval: 20 ms; for: 30 s
        interval | | 30 ms | | the interval of this phase
        for | | 1 min | | how long it lasts
        @advertising[].interval.rate-limit | Rate limit | \(set)interval: {policy: fixed, interval: 1 s, rate-limit: {%}}}] | changes: 6; per: 1 min
        changes | | 10 | | how many changes
        per | | 10 min | | in this time
        @advertising[].interval 4 | Policy fixed | \(policy) | policy: fixed; interval: 152.5 ms
        policy | | fixed | | one interval, to which a boost or limits are added
        interval | | 1022.5 ms | | the interval
        \(boost)
        \(limits)
        @advertising[].interval 5 | Policy loop | \(policy) | policy: loop; phases: [{interval: 152.5 ms, for: 5 s}]
        policy | | loop | | phases one behind another, over and over
        phases | | [{interval: 152.5 ms, for: 5 s}, {interval: 1285 ms, for: 55 s}] | | intervals with their times
        \(boost)
        \(limits)
        @advertising[].interval 6 | Policy schedule | \(policy) | policy: schedule; times: [{from: "07:00", interval: 152.5 ms}]
        policy | | schedule | | by the time of day
        times | | [{from: "07:00", interval: 152.5 ms}, {from: "22:00", interval: 1285 ms}] | | intervals with their beginnings
        \(boost)
        \(limits)
        @advertising[].interval.times[] | Time of a schedule | \(set)interval: {policy: schedule, times: [{%}]}}] | from: "07:00"; interval: 152.5 ms
        from | | "06:30" | | from this time of day on
        interval | | 211.25 ms | | the interval
        @advertising[].interval 7 | Policy steps | \(policy) | policy: steps; steps: [{interval: 20 ms, for: 30 s}, {interval: 1285 ms}]
        policy | | steps | | backs off step by step after power-on and disconnect
        steps | | [{interval: 20 ms, for: 1 min}, {interval: 1022.5 ms}] | | the last one has no `for`
        \(boost)
        \(limits)
        @advertising[].interval.steps[] | Step | \(set)interval: {policy: steps, steps: [{%}, {interval: 1 s}]}}] | interval: 20 ms; for: 30 s
        interval | | 30 ms | | the interval of this step
        for | (without end; only the last step) | 1 min | | how long it lasts
        @advertising[].interval 8 | Policy two-phase | \(policy) | policy: two-phase; boost: {interval: 20 ms, for: 30 s}; slow: 1285 ms
        policy | | two-phase | | fast at first, then slow
        boost | | {interval: 20 ms, for: 30 s} | | the first phase, after power-on and disconnect
        slow | | 1022.5 ms | | the interval behind it
        \(limits)
        @advertising[].data[] | AD structure | \(set)interval: 1 s, data: [{%}]}] |
        flags | | [general-discoverable, no-br-edr] | | Flags
        service-uuids | | [heart-rate, battery] | | complete lists of service UUIDs, by their sizes
        incomplete-service-uuids | | [heart-rate] | | incomplete lists
        name | | complete | | Complete Local Name; `{shortened: 5}` its first octets
        tx-power | | 0 dBm | | TX Power Level
        appearance | | heart-rate-belt | | Appearance
        manufacturer | | {company: 0xFFFF, data: {hex: "0102"}} | | Manufacturer Specific Data
        service-data | | {service: battery, data: {hex: "64"}} | | Service Data
        ibeacon | | {uuid: "F7826DA6-4FA2-4E98-8024-BC5B71E0893E", major: 1, minor: 7, measured-power: -59 dBm} | | a whole iBeacon, with its flags
        raw | | {type: 0x1A, data: {hex: "F400"}} | | any AD type
        @advertising[].data[].name | Shortened name | peripheral-emu: 1, device: {name: A long name}, advertising: [{type: connectable, interval: 1 s, data: [{name: {%}}]}] |
        shortened | | 6 | | so many octets of the name
        @advertising[].data[].manufacturer | Manufacturer data | \(set)interval: 1 s, data: [{manufacturer: {%}}]}] | company: 0xFFFF
        company | | nordic-semiconductor-asa | | the company
        data | (none) | {text: Hello} | | its octets
        fields | (none) | [{hex: "01"}, {text: A}] | | the octets in parts, some of them live; instead of `data`
        @advertising[].data[].service-data | Service data | \(set)interval: 1 s, data: [{service-data: {%}}]}] | service: battery
        service | | 0xFE2C | | the service
        data | (none) | {hex: "64"} | | its octets
        fields | (none) | [{hex: "01"}, {text: A}] | | the octets in parts, some of them live; instead of `data`
        @advertising[].data[].manufacturer.fields[] | Field of hexadecimal digits | \(field) |
        hex | | "01FF" | | octets
        @advertising[].data[].manufacturer.fields[] 2 | Field of text | \(field) |
        text | | AB | | the text in UTF-8
        @advertising[].data[].manufacturer.fields[] 3 | Field of the activity | \(field) |
        activity | | level | | one octet: `level` 0 to 255, or `state` 0 idle, 1 active, 2 asleep
        @advertising[].data[].manufacturer.fields[] 4 | Field of a value | \(field) | value-of: battery-level
        value-of | | battery-level | | the value of a characteristic
        octets | (the format's) | 1 | | how many octets of it at most
        @advertising[].data[].manufacturer.fields[] 5 | Field of a number | \(field) | format: uint8; value: 1
        format | | sint16 | | the number's format
        value | | {counter: {}} | | a constant or a generator
        @advertising[].data[].ibeacon | iBeacon | \(set)interval: 1 s, data: [{ibeacon: {%}}]}] | uuid: "F7826DA6-4FA2-4E98-8024-BC5B71E0893E"; major: 1; minor: 7; measured-power: -59 dBm
        uuid | | "F7826DA6-4FA2-4E98-8024-BC5B71E0893F" | | the region
        major | | 100 | | a number within it
        minor | | 200 | | a number within that
        measured-power | | -65 dBm | | what is received at 1 m
        @advertising[].data[].raw | Raw structure | \(set)interval: 1 s, data: [{raw: {%}}]}] | type: 0x1A
        type | | 0x24 | | the AD type
        data | (none) | {hex: "F400"} | | its octets
        fields | (none) | [{hex: "01"}] | | the octets in parts, some of them live; instead of `data`
        """
}
