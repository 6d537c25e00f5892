// Notes on the keys of `value:` and of its generators.

extension KeyNotes {
    private static let one =
        "…, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, "
        + "format: uint8, update: every 1 s, "

    static let valueNotes = """
        @services[].characteristics[].value | Value | …, services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, format: uint8, notify: open, send: as-fast-as-possible, value: {%}}, {characteristic: 0x5679, write: open}]}], activity: {source: gatt, hold: 10 s} |
        hex | | "2A" | | octets, whatever the format is
        text | | Hello | | octets of a text in UTF-8
        constant | | 42 | | the same as the value alone
        echo | | 0x5679 | | repeats another value as it changes
        sine | | {min: 18, max: 24, period: 10 min} | | goes up and down
        ramp | | {from: 0, to: 100, over: 1 min} | | goes straight from one number to another and stays
        drain | | {from: 100, to: 0, over: 30 d} | | a ramp such as a battery's
        sawtooth | | {min: 0, max: 100, period: 1 min} | | rises and falls back at once
        square | | {min: 0, max: 1, period: 10 s} | | changes between two numbers
        random-walk | | {min: 50, max: 160, step: 2} | | moves a little at each update
        noise | | {min: 0, max: 10} | | a number at random at each update
        counter | | {start: 0, step: 1} | | counts updates, and begins anew where the format ends
        clock | | utc | | seconds since 1970; of dates and times each field its part
        replay | | {csv: traces/desk.csv, column: magnitude} | | follows a column of a file
        activity | | active | | the activity signal: `active` is 0 or 1, `level` 0 to 1
        writes-of | | 0x5679 | | counts the writes of another value
        @services[].characteristics[].value.sine | Sine | \(one)value: {sine: {%}}}]}] | min: 0; max: 10; period: 10 s
        min | | 5 | | its lowest number
        max | | 20 | | its highest number
        period | | 1 min | | from one peak to the next
        noise | (none) | 0.5 | | what is added at random, up or down
        @services[].characteristics[].value.ramp | Ramp | \(one)value: {ramp: {%}}}]}] | from: 0; to: 10; over: 10 s
        from | | 5 | | its first number
        to | | 20 | | its last number
        over | | 1 min | | how long it takes
        loop | false | true | | begins again instead of staying
        @services[].characteristics[].value.drain | Drain | \(one)value: {drain: {%}}}]}] | from: 100; to: 0; over: 10 s
        from | | 90 | | its first number
        to | | 20 | | its last number
        over | | 30 d | | how long it takes
        @services[].characteristics[].value.sawtooth | Sawtooth | \(one)value: {sawtooth: {%}}}]}] | min: 0; max: 10; period: 10 s
        min | | 5 | | its lowest number
        max | | 20 | | its highest number
        period | | 1 min | | how long it rises
        @services[].characteristics[].value.square | Square | \(one)value: {square: {%}}}]}] | min: 0; max: 10; period: 10 s
        min | | 5 | | its lower number
        max | | 20 | | its higher number
        period | | 1 min | | how long both take
        duty | 50 % | 20 % | | how much of the period is the higher one
        @services[].characteristics[].value.random-walk | Random walk | \(one)value: {random-walk: {%}}}]}] | min: 0; max: 10; step: 1
        min | | 5 | | its lowest number
        max | | 20 | | its highest number
        step | | 2 | | the most that it changes at once
        start | (the middle) | 7 | | its first number
        @services[].characteristics[].value.noise | Noise | \(one)value: {noise: {%}}}]}] | min: 0; max: 10
        min | | 5 | | its lowest number
        max | | 20 | | its highest number
        @services[].characteristics[].value.counter | Counter | \(one)value: {counter: {%}}}]}] |
        start | 0 | 10 | | its first number, in steps of the format
        step | 1 | 2 | | what each update adds
        @services[].characteristics[].value.clock | Clock | \(one)value: {clock: {%}}}]}] |
        ahead | | 60 min | | how far ahead of UTC it is, -14 h to 15 h
        @services[].characteristics[].value.replay | Replay | \(one)value: {replay: {%}}}]}] | csv: traces/desk.csv; column: magnitude
        csv | | traces/desk.csv | | the file, relative to the profile's folder
        column | | magnitude | | a column by its header
        loop | false | true | | begins again at the end
        """
}
