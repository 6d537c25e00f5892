// Notes on the keys of services, characteristics, fields, descriptors and reactions.

extension KeyNotes {
    static let serviceNotes = """
        @services[] | Service | …, services: [{service: 0x180A}, {%}] | service: battery
        service | | heart-rate | | its UUID
        label | (its name is what references use) | first-battery | | a name of its own for references
        type | primary | secondary | | a secondary service is found through the services that include it
        handle | (the next one) | 0x0020 | | the handle of its declaration
        end | (its last attribute) | 0x0040 | | the last handle that it claims
        includes | [] | [device-information] | | the services that it includes
        characteristics | [] | [{characteristic: battery-level, read: open}] | | in handle order
        @services[].includes[] | Include | …, services: [{service: device-information}, {service: battery, includes: [{%}]}] | service: device-information
        service | | device-information | | the label or the name of a service of the profile
        handle | (the next one) | 0x0030 | | the handle of the include declaration
        @services[].characteristics[] | Characteristic | …, services: [{service: 0x1234, characteristics: [{characteristic: glucose-measurement, notify: open, send: manual}, {%}]}] | characteristic: 0x5678; format: uint8
        characteristic | | 0x5679 | | its UUID, which also says the format where that is assigned
        label | (its name is what references use) | receipt | | a name of its own for references
        read | (refused) | open | | who may read: a level of LE security mode 1, or a map
        write | (refused) | encrypted | | who may write with a response
        write-without-response | (refused) | open | | who may write without one
        notify | (refused) | open | | who may be notified; brings the CCCD with it
        indicate | (refused) | open | | who may be indicated to; brings the CCCD with it
        format | (the assigned one, else octets) | sint16 | | how the value's octets are read
        scale | 1 | 0.01 | format: sint16 | the value of one step, a number or a fraction; its unit may follow
        unit | (the assigned one) | degree-celsius | format: sint16 | the value's unit by name, symbol or number
        fields | (one value) | [{name: level, format: uint8}] | format: | the parts of the value, instead of `format`
        value | (zeros) | 21 | | what it holds: a constant, octets or a generator
        update | (once, at power-on) | every 10 s | | when a generator's next sample is taken
        send | on-update | on-change | notify: open | when subscribers get it; `manual` leaves it to reactions
        persist | false | true | | whether the value outlives a restart; a counter counts on
        on-write | (the value is stored) | [{do: {log: written}}] | write: open | rules for writes; the first whose `when` holds is followed
        records | (none) | {of: glucose-measurement, values: []} | characteristic: record-access-control-point; format: ; write: open | makes it a record access control point
        handle | (the next one) | 0x0030 | | the handle of its declaration
        value-handle | (the one behind) | 0x0031 | | the handle of its value
        managed | true | false | | whether the server keeps a CCCD and the like for each client
        properties | (as the permissions say) | [read, notify] | | the declared properties where they differ from the permissions
        length | (the format's, else 512) | {max: 20} | | the most octets the value may grow to
        descriptors | [] | [{user-description: Desk sensor}] | | in handle order; the CCCD is added where it is needed
        @services[].characteristics[].read | Permission | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, read: {%}}]}] | security: encrypted
        security | | authenticated | | level 1 to 4 of LE security mode 1
        authorization | false | true | | whether the user must agree besides
        key-size | (any) | 16 | | the shortest encryption key in octets
        @services[].characteristics[].length | Length | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, length: {%}}]}] | max: 20
        max | | 64 | | octets
        @services[].characteristics[].fields[] | Field | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, fields: [{name: flags, format: uint8, flags-of: fields}, {%}]}]}] | name: level; format: uint8
        name | | energy | | letters, digits and hyphens
        fields | (it has none) | [{name: x, format: sint16}, {name: y, format: sint16}] | format: | makes it a group of fields
        words | (numbers) | [off, on] | format: | the meaning of 0, 1, 2 … of one octet; `_` is reserved
        format | (`fields` or `words` say it) | uint16 | | how its octets are read
        scale | 1 | 1/1024 s | format: uint16 | the value of one step, with or without its unit
        unit | (none) | bpm | | its unit by name, symbol or number
        flags-of | (it is no flags) | fields | name: more | its bits say which fields behind are there
        present | (always) | {flag: 3} | | the flags that it depends on
        repeat | (once) | to-end | | how often it stands there: a number, or as often as there are values
        bits | (none) | [{name: door, bit: 0}] | | the bits with a meaning of their own
        value | (zero) | 72 | | what it holds
        @services[].characteristics[].fields[].present | Presence | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, fields: [{name: flags, format: uint8, flags-of: fields}, {name: level, format: uint8, present: {%}}]}]}] | flag: 1
        flag | (none) | [0, 1] | | bits that must be set
        clear | (none) | 2 | | bits that must be clear
        @services[].characteristics[].fields[].bits[] | Bit field | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, fields: [{name: state, format: uint16, bits: [{%}]}]}]}] | name: door; bit: 0
        name | | window | | letters, digits and hyphens
        bit | | 4 | | the number of its lowest bit
        width | 1 | 2 | | how many bits it has
        words | (numbers; one bit is `true` or `false`) | [closed, open] | | the meaning of 0, 1, 2 …
        value | (zero) | true | | what it holds: a number, a word, `true`, or a generator
        @services[].characteristics[].on-write[] | Rule | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, format: uint8, write: open, on-write: [{%}]}]}] | do: {log: written}
        when | {} | {longer-than: 20} | | all that is said must hold
        do | | [store, {log: written}] | | one action or a list of them
        @services[].characteristics[].on-write[].when | Condition | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, format: uint8, write: open, on-write: [{when: {%}, do: {log: written}}]}]}] |
        longer-than | (any length) | 20 | | octets
        shorter-than | (any length) | 2 | | octets
        length | (any length) | 1 | | octets
        is | (any value) | 1 | | the value is just that
        begins-with | (any value) | {hex: "01"} | | the first octets
        subscribed | (either) | false | | whether the writer has subscribed to this characteristic
        above | (any number) | 100 | | the number is greater
        below | (any number) | 10 | | the number is less
        @services[].characteristics[].on-write[].when.begins-with | Octets | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, write: open, on-write: [{when: {begins-with: {%}}, do: {log: written}}]}]}] |
        hex | | "01FF" | | pairs of hexadecimal digits in quotes
        text | | Hello | | the text in UTF-8
        @services[].characteristics[].on-write[].do | Action | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, format: uint8, label: receipt, notify: open, indicate: open, write: open, on-write: [{do: {%}}]}]}] |
        reject | | value-not-allowed | | refuses the write with an error; stands alone
        store | | receipt | | copies what was written into a characteristic; the word `store` alone keeps it where it was written, as without rules
        set | | {receipt: 7} | | gives characteristics, or fields of them as `name.field`, a value
        notify | | receipt | | sends a value to those who have subscribed
        indicate | | receipt | | the same, as an indication
        log | | written | | says a line in the log
        @services[].characteristics[].records | Records | …, services: [{service: glucose, characteristics: [{characteristic: glucose-measurement, notify: open, send: manual}, {characteristic: glucose-measurement-context, notify: open, send: manual}, {characteristic: record-access-control-point, write: open, indicate: open, send: manual, records: {%}}]}] | of: glucose-measurement; values: []
        of | | glucose-measurement | | the characteristic that records are notified by; it has a field `sequence-number`
        context-of | (none) | glucose-measurement-context | | the characteristic of their contexts
        values | | [{sequence-number: 1, base-time: {year: 2024}}] | | the stored records
        contexts | [] | [{sequence-number: 1, meal: fasting}] | context-of: glucose-measurement-context; values: [{sequence-number: 1}] | sent behind the record of the same number
        @services[].characteristics[].descriptors[] | Descriptor | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, format: uint8, descriptors: [{%}]}]}] |
        extended-properties | | [reliable-write] | | Characteristic Extended Properties
        user-description | | Desk sensor | | Characteristic User Description
        client-characteristic-configuration | | off | | the CCCD where it does not stand first
        server-characteristic-configuration | | broadcast | | the SCCD and its value at power-on
        presentation-format | | {unit: percentage} | | Characteristic Presentation Format
        aggregate-format | | all | | Characteristic Aggregate Format of all presentation formats before it
        valid-range | | {min: 0, max: 100} | | Valid Range
        external-report-reference | | battery-level | | External Report Reference (HID)
        report-reference | | {id: 1, type: input} | | Report Reference (HID)
        number-of-digitals | | 4 | | Number of Digitals (Automation IO)
        value-trigger-setting | | {condition: crossed, value: 10} | | Value Trigger Setting (Automation IO)
        environmental-sensing-configuration | | all-triggers | | Environmental Sensing Configuration
        environmental-sensing-measurement | | {sampling: arithmetic-mean} | | Environmental Sensing Measurement
        environmental-sensing-trigger-setting | | {condition: greater-than, value: 20} | | Environmental Sensing Trigger Setting
        time-trigger-setting | | {every: 10 s} | | Time Trigger Setting (Automation IO)
        handle | (the next one) | 0x0030 | user-description: Lamp | its handle
        read | open | encrypted | user-description: Lamp | who may read it
        write | (refused; a CCCD is `open`) | open | user-description: Lamp | who may write it
        length | (its value's) | {max: 40} | user-description: Lamp | the most octets it may grow to
        @services[].characteristics[].descriptors[].presentation-format | Presentation format | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, format: uint8, descriptors: [{presentation-format: {%}}]}]}] |
        format | (the characteristic's) | uint16 | | the value's format
        exponent | (the scale's) | -2 | | a power of ten
        unit | (the characteristic's) | percentage | | the value's unit
        namespace | 1 | 0 | | 1 is the Bluetooth SIG's
        description | 0 | 0x0001 | | a number of the namespace: 1 is the first, 0x0106 is front
        @services[].characteristics[].descriptors[].valid-range | Valid range | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, format: uint8, descriptors: [{valid-range: {%}}]}]}] | min: 0; max: 100
        min | | 10 | | the least value
        max | | 50 | | the greatest value
        @services[].characteristics[].descriptors[].report-reference | Report reference | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, descriptors: [{report-reference: {%}}]}]}] | type: input
        id | 0 | 1 | | the report's number; 0 where there is one only
        type | | feature | | what kind of report it is
        @services[].characteristics[].descriptors[].value-trigger-setting | Value trigger | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, format: uint8, descriptors: [{value-trigger-setting: {%}}]}]}] | condition: changed
        condition | | never | | when the value is sent
        value | (none) | 10 | condition: crossed | the number of `crossed`, `on-boundary` and `changed-more-than`
        bounds | (none) | [10, 20] | condition: outside | the numbers of `outside` and `outside-or-on-boundary`
        mask | (none) | "0F" | condition: masked | the octets of `masked`
        @services[].characteristics[].descriptors[].environmental-sensing-measurement | Environmental sensing measurement | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, descriptors: [{environmental-sensing-measurement: {%}}]}]}] |
        sampling | unspecified | instantaneous | | how values come about
        measurement-period | 0 s | 10 s | | the time over which is measured; 0 is not in use
        update-interval | 0 s | 60 s | | the time between two values; 0 is not in use
        application | 0 | 1 | | where it is measured: 0 unspecified, 1 air, 2 water …
        uncertainty | (not known) | 0.5 % | | in steps of half a percent
        @services[].characteristics[].descriptors[].environmental-sensing-trigger-setting | Environmental sensing trigger | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, format: uint8, descriptors: [{environmental-sensing-trigger-setting: {%}}]}]}] | condition: changed
        condition | | inactive | | when the value is sent
        value | (none) | 20 | condition: greater-than | the number it is compared with
        interval | (none) | 10 s | condition: fixed-interval | the time of `fixed-interval` and `no-less-than-interval`
        @services[].characteristics[].descriptors[].time-trigger-setting | Time trigger | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, descriptors: [{time-trigger-setting: {%}}]}]}] |
        none | | true | | no time triggers it
        every | | 10 s | | it is sent at this period
        at-most-every | | 10 s | | it is sent no more often
        after-changes | | 3 | | it is sent after so many changes
        @services[].characteristics[].descriptors[] 2 | Any descriptor | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, descriptors: [{%}]}]}] | descriptor: 0x2999
        descriptor | | user-description | | its UUID
        managed | true | false | descriptor: 0x2902 | whether a CCCD is the server's, or octets like others
        value | (no octets; a CCCD has two) | {hex: "0100"} | | its octets
        handle | (the next one) | 0x0030 | | its handle
        read | (refused; a CCCD is `open`) | open | | who may read it
        write | (refused; a CCCD is `open`) | open | | who may write it
        length | (its value's) | {max: 40} | | the most octets it may grow to
        """
}
