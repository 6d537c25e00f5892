// Notes on the keys of `device:`, `server:`, `activity:`, `lint:` and of the file itself.

extension KeyNotes {
    /// Lines `@PATH | TITLE | CONTEXT | ENTRIES` and below each `KEY | DEFAULT | EXAMPLE | NEEDS |
    /// MEANING`; in a context `…` stands for a profile's first two keys, `%` for the entries.
    static let deviceNotes = """
        @ | The file | % | peripheral-emu: 1; device: {name: T}
        peripheral-emu | | 1 | | version of the format
        device | | {name: Strap, appearance: heart-rate-belt} | | name, appearance, address, connections
        server | {} | {mtu: 185} | | how the GATT server behaves where the specification leaves a choice
        activity | (it feels nothing) | {source: gatt, hold: 10 s} | | what the device feels, for interval policies and values
        services | [] | [{service: battery}] | | the services in handle order
        advertising | (it does not advertise) | [{type: connectable, interval: 152.5 ms}] | | the advertising set
        security | (nobody can pair) | {io: display} | | how it pairs
        lint | {} | {silent: [apple-first]} | | which advice the profile does not want
        @device | Device | …, device: {%} | name: Strap
        name | | Heart Strap | | Device Name, and the name in advertising data; at most 248 octets
        appearance | 0x0000 | heart-rate-belt | | what it looks like to centrals
        address | random-static | public | | the kind of its address; the long form also says which
        connections | 1 | 2 | | how many centrals at once; advertising stops at the limit
        connection | (it asks for nothing) | {interval: [15 ms, 30 ms], latency: 0, timeout: 4 s} | | the connection parameters that it asks for after connecting
        @device.address | Address | …, device: {name: T, address: {%}} | type: random-static
        type | | random-static | | a public address is the controller's own
        value | (made from the seed) | "C0:11:22:33:44:55" | | the address, most significant octet first
        @device.connection | Connection parameters | …, device: {name: T, connection: {%}} | interval: 30 ms; timeout: 4 s
        interval | | [15 ms, 30 ms] | | the shortest and the longest connection interval, or one time for both; 7.5 ms to 4 s
        latency | 0 | 4 | | how many connection events it may skip
        timeout | | 6 s | | supervision timeout, 100 ms to 32 s, longer than (1 + latency) x interval x 2
        @server | Server | …, server: {%} |
        mtu | 247 | 185 | | the largest ATT MTU it agrees to, in octets
        implicit-services | true | false | | adds Generic Access and Generic Attribute where the profile has none
        database-hash | little-endian | as-computed | | the order of the Database Hash's octets
        growth | true | false | | whether a write may make a value longer than it is, up to its length
        reliable-writes | any | extended-property | | which values take prepared writes
        unencrypted-error | by-key | by-requirement | | which error a link without encryption gets
        cccd-error | 0xFD | 0x13 | | the error for a CCCD value that cannot be
        notification-overflow | truncate | refuse | | what is done with a value longer than the MTU allows
        @activity | Activity | …, activity: {%} | source: {csv: traces/desk.csv, column: magnitude}; active-above: 0.12 g; idle-below: 0.05 g; hold: 10 s
        source | | gatt | | where the signal comes from; a list where there are several
        active-above | | 0.2 g | | at this acceleration it becomes active; may be absent where the only source is `gatt`
        idle-below | | 0.03 g | | below this for `hold` it becomes idle; may be absent where the only source is `gatt`
        hold | | 30 s | | how long it stays active after the last movement
        window | (no averaging) | 1 s | | the time over which magnitudes are averaged
        asleep-after | (it never sleeps) | 10 min | | idle for so long it is asleep
        wake-samples | 1 | 3 | asleep-after: 10 min | so many samples in a row above `active-above` wake it
        stall-after | (never) | 5 s | source: stdin | a live source that is silent for so long counts as lost
        gravity | 1 g | 0 g | | what is taken off a magnitude that includes gravity
        full-scale | (four times active-above) | 2 g | | the acceleration that is activity level 1
        @activity.source | Activity source | …, activity: {source: {%}, active-above: 0.12 g, idle-below: 0.05 g, hold: 10 s} |
        csv | | traces/desk.csv | | a trace: a header, a rising column `time` in seconds, columns of values
        column | (the only one besides the time) | magnitude | csv: traces/desk.csv | the trace's column
        speed | 1 | 60 | csv: traces/desk.csv | seconds of the trace that pass in one second
        repeat | false | true | csv: traces/desk.csv | begins the trace again at its end
        fifo | | /run/motion | | reads lines of samples from a named pipe
        generator | | {random: {every: 1 s, magnitude: 0.3 g}} | | makes a signal
        iio | | lis3dh | | an accelerometer of this machine by its name
        rate | 25 Hz | 50 Hz | iio: lis3dh | how often the accelerometer is read
        socket | | /run/motion.sock | | reads lines of samples from a Unix socket
        @activity.source.generator | Generated activity | …, activity: {source: {generator: {%}}, active-above: 0.12 g, idle-below: 0.05 g, hold: 10 s} |
        bursts | | {every: 10 min, length: 20 s, magnitude: 0.3 g} | | movement at regular times
        day-rhythm | | {from: "07:00", to: "23:00", magnitude: 0.3 g} | | movement by day
        random | | {every: 1 s, magnitude: 0.3 g} | | a new magnitude at random, up to the one said
        @activity.source.generator.bursts | Bursts | …, activity: {source: {generator: {bursts: {%}}}, active-above: 0.12 g, idle-below: 0.05 g, hold: 10 s} | every: 10 min; length: 20 s; magnitude: 0.3 g
        every | | 5 min | | from the beginning of one burst to the next
        length | | 30 s | | how long a burst is
        magnitude | | 0.5 g | | the acceleration during a burst
        @activity.source.generator.day-rhythm | Day rhythm | …, activity: {source: {generator: {day-rhythm: {%}}}, active-above: 0.12 g, idle-below: 0.05 g, hold: 10 s} | from: "07:00"; to: "23:00"; magnitude: 0.3 g
        from | | "06:30" | | when movement begins
        to | | "22:00" | | when it ends
        magnitude | | 0.5 g | | the acceleration between the two
        @activity.source.generator.random | Random activity | …, activity: {source: {generator: {random: {%}}}, active-above: 0.12 g, idle-below: 0.05 g, hold: 10 s} | every: 1 s; magnitude: 0.3 g
        every | | 500 ms | | the time between two samples
        magnitude | | 0.5 g | | the largest acceleration
        @security | Security | …, security: {%} |
        io | none | display | | what it can show and what its person can enter: this decides the method, as the specification's table says
        pairing | any | secure-connections | | `any` takes what the central can; `secure-connections` and `legacy` take only that; `refused`
        bonding | true | false | | keeps the keys, so that the central comes back without pairing
        authentication | (preferred, but for `io: none`) | required | io: display | protection against a man in the middle: `none` does not ask for it, `required` refuses pairing without
        key-size | 7 | 16 | | the shortest encryption key it accepts, in octets
        passkey | (a random one is shown) | 123456 | io: display | the passkey that is shown, or entered where the central shows one
        confirm | (a person is asked) | true | io: display-yes-no | what is answered when both sides show a number
        window | (always) | 60 s | | how long after power-on it pairs
        bonds | 16 | 4 | | how many bonds it keeps; the one unused longest gives way
        security-request | false | true | | asks each central for encryption after connecting
        out-of-band | (it has none) | {temporary-key: "000102030405060708090A0B0C0D0E0F"} | | what both sides know by another way
        @security.out-of-band | Out of band data | …, security: {out-of-band: {%}} |
        temporary-key | | "101112131415161718191A1B1C1D1E1F" | | the temporary key of LE legacy pairing, most significant octet first
        @lint | Lint | …, lint: {%} |
        silent | (no rule) | [apple-interval, ios-name] | | rules that say nothing; `check` names each finding's rule
        apple | 2025 | 2018 | | which edition of Apple's accessory guidelines is meant
        """
}
