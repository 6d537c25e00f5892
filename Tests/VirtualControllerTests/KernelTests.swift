// The Linux kernel's host on a virtual controller, as a transcript: bring-up, scanning, links.
import HCI
import OpenSSLCrypto
import SansIO
import Testing
import Wire

@testable import VirtualController

/// A transcript of one host: `>` is what it sends, `<` what it must get next, `~` milliseconds that
/// pass. `..` stands for any octet, `*` for all that follow; behind `;` is a remark.
private struct HostTranscript {
    private var bench: Bench
    private let port: Int
    private var taken = 0

    init(_ bench: Bench, port: Int) {
        self.bench = bench
        self.port = port
        taken = bench.mailboxes[port].count
    }

    mutating func run(_ text: String, at location: SourceLocation = #_sourceLocation) throws {
        for line in text.split(separator: "\n") {
            let words = line.prefix { $0 != ";" }.split(separator: " ")
            guard let kind = words.first else { continue }
            let octets = words.dropFirst().joined()
            switch kind {
            case ">":
                let packet = try #require(Hex.bytes(octets), "\(line)", sourceLocation: location)
                #expect(missed == [], "before \(line)", sourceLocation: location)
                bench.send(port, raw: packet)
            case "<":
                let packet = try #require(next(), "\(line)", sourceLocation: location)
                let isMet = Self.matches(octets, Hex.string(packet))
                #expect(isMet, "\(line): \(Hex.string(packet))", sourceLocation: location)
            default:
                let span = try #require(Int64(octets), "\(line)", sourceLocation: location)
                bench.run(for: .milliseconds(span))
            }
        }
        #expect(missed == [], "at the end", sourceLocation: location)
    }

    /// What has come and no line has told of.
    private var missed: [String] {
        bench.mailboxes[port][taken...].map { Hex.string($0.packet) }
    }

    private mutating func next() -> [UInt8]? {
        guard taken < bench.mailboxes[port].count else { return nil }
        defer { taken += 1 }
        return bench.mailboxes[port][taken].packet
    }

    private static func matches(_ pattern: String, _ packet: String) -> Bool {
        let fixed = pattern.prefix { $0 != "*" }
        guard pattern.hasSuffix("*") ? packet.count >= fixed.count : packet.count == pattern.count
        else { return false }
        return zip(fixed, packet).allSatisfy { $0 == "." || $0 == $1 }
    }
}

/// What Linux 6.1 sends, as its host decides from the answers that it has had before.
@Suite("The Linux kernel's host")
struct KernelTests {
    private static let bringUp = """
        > 01 030C 00                            ; Reset
        < 04 0E 04 01 030C 00
        > 01 0310 00                            ; Read Local Supported Features: LE, no BR/EDR
        < 04 0E 0C 01 0310 00 0000000060000000
        > 01 0110 00                            ; Read Local Version Information: 5.0
        < 04 0E 0C 01 0110 00 09 0100 09 FFFF 0100
        > 01 0910 00                            ; Read BD_ADDR
        < 04 0E 0A 01 0910 00 ..0000000002
        > 01 0320 00                            ; LE Read Local Supported Features
        < 04 0E 0C 01 0320 00 2F01000000000000
        > 01 0220 00                            ; LE Read Buffer Size: 12 packets of 251 octets
        < 04 0E 07 01 0220 00 FB00 0C
        > 01 1C20 00                            ; LE Read Supported States
        < 04 0E 0C 01 1C20 00 FFFFFFFFFF030000
        > 01 0210 00                            ; Read Local Supported Commands
        < 04 0E 44 01 0210 00 *
        > 01 010C 08 90E8040200800020           ; Set Event Mask
        < 04 0E 04 01 010C 00
        > 01 0120 08 7F08000000000000           ; LE Set Event Mask
        < 04 0E 04 01 0120 00
        > 01 0720 00                            ; LE Read Advertising Physical Channel Tx Power
        < 04 0E 05 01 0720 00 00
        > 01 0F20 00                            ; LE Read Filter Accept List Size
        < 04 0E 05 01 0F20 00 10
        > 01 1020 00                            ; LE Clear Filter Accept List
        < 04 0E 04 01 1020 00
        > 01 2F20 00                            ; LE Read Maximum Data Length
        < 04 0E 0C 01 2F20 00 FB00 4808 FB00 4808
        > 01 2320 00                            ; LE Read Suggested Default Data Length
        < 04 0E 08 01 2320 00 1B00 4801
        > 01 2420 04 FB00 4808                  ; LE Write Suggested Default Data Length
        < 04 0E 04 01 2420 00
        > 01 3120 03 00 03 03                   ; LE Set Default PHY: LE 1M and LE 2M
        < 04 0E 04 01 3120 00
        """

    /// The kernel's host on port 1, brought up; an advertiser on port 0.
    private func kernel() throws -> HostTranscript {
        var bench = Bench(features: [])
        bench.prepare(0)
        bench.advertise(0)
        bench.forget()
        var host = HostTranscript(bench, port: 1)
        try host.run(Self.bringUp)
        return host
    }

    @Test("everything it sends to bring an adapter up is answered")
    func bringUp() throws { _ = try kernel() }

    /// What it sends besides where the controller has privacy, behind Clear Filter Accept List.
    private static let privacy = """
        > 01 2A20 00                            ; LE Read Resolving List Size
        < 04 0E 05 01 2A20 00 10
        > 01 2920 00                            ; LE Clear Resolving List
        < 04 0E 04 01 2920 00
        > 01 2E20 02 8403                       ; LE Set Resolvable Private Address Timeout
        < 04 0E 04 01 2E20 00
        > 01 2F20 00                            ; LE Read Maximum Data Length

        """

    @Test("with privacy it asks for that too, and for the enhanced connection event")
    func bringUpWithPrivacy() throws {
        var bench = Bench(features: [])
        bench.air.cipher = OpenSSLCipher()
        let text = Self.bringUp.split(separator: "\n").map { line in
            switch line {
            case let line where line.contains("2F01000000000000"): "< 04 0E 0C 01 0320 00 6F01*"
            case let line where line.contains("7F08000000000000"):
                "> 01 0120 08 7F0A000000000000"
            case let line where line.hasPrefix("> 01 2F20 00"): Self.privacy
            default: String(line)
            }
        }
        var host = HostTranscript(bench, port: 1)
        try host.run(text.joined(separator: "\n"))
    }

    @Test("what is not there is not listed, so that it is not asked for")
    func unlisted() {
        let listed = Capabilities.supportedCommands([], hasPrivacy: false)
        // Octet and bits by which it would go on: link keys and policy, page scan, codecs, pairing
        // options, resolving list, Read Transmit Power, extended scanning, connecting, advertising.
        for (octet, bits) in [
            (6, 0xA0), (5, 0x10), (8, 0x01), (13, 0x01), (18, 0x0C), (29, 0x20), (30, 0x08),
            (34, 0x60), (35, 0x04), (36, 0xFF), (37, 0xFF), (38, 0x80), (41, 0x28),
        ] as [(Int, UInt8)] {
            #expect(listed[octet] & bits == 0, "octet \(octet)")
        }
        // Extended scanner filter policies, privacy, extended advertising, CIS.
        let features: UInt64 = 1 << 6 | 1 << 7 | 1 << 12 | 1 << 28 | 1 << 29
        #expect(ControllerFeatures().leFeatures & features == 0)
    }

    @Test("it finds an advertiser, connects, asks for all that it asks of a link, and ends it")
    func central() throws {
        var host = try kernel()
        try host.run(
            """
            > 01 0520 06 EFCDAB896735            ; LE Set Random Address
            < 04 0E 04 01 0520 00
            > 01 0B20 07 01 1200 1200 01 00      ; LE Set Scan Parameters: active, 11.25 ms
            < 04 0E 04 01 0B20 00
            > 01 0C20 02 01 01                   ; LE Set Scan Enable, filtering duplicates
            < 04 0E 04 01 0C20 00
            ~ 1000
            < 04 3E 15 02 01 00 01 5544332211C0 09 020106050954657374 ..
            < 04 3E 0F 02 01 04 01 5544332211C0 03 020A00 ..
            > 01 0C20 02 00 00
            < 04 0E 04 01 0C20 00
            > 01 4120 08 00 00 01 01 6000 6000
            < 04 0F 04 01 01 4120                ; extended scanning is unknown, and changes nothing
            > 01 0D20 19 6000 6000 00 01 5544332211C0 00 1800 2800 0000 2A00 0000 0000
            < 04 0F 04 00 01 0D20
            ~ 1000
            < 04 3E 13 01 00 0100 00 01 5544332211C0 2800 0000 2A00 ..
            < 04 3E 0B 07 0100 FB00 4808 1B00 4801
            > 01 1620 02 0100                    ; LE Read Remote Features
            < 04 0F 04 00 01 1620
            ~ 200
            < 04 3E 0C 04 00 0100 2F01000000000000
            > 01 1D04 02 0100                    ; Read Remote Version Information
            < 04 0F 04 00 01 1D04
            ~ 200
            < 04 0C 08 00 0100 09 FFFF 0100
            > 01 1320 0E 0100 0600 0C00 0000 F401 0000 0000
            < 04 0F 04 00 01 1320                ; LE Connection Update
            ~ 500
            < 04 3E 0A 03 00 0100 0C00 0000 F401
            > 01 2220 06 0100 FB00 4808          ; LE Set Data Length
            < 04 0E 06 01 2220 00 0100           ; it is what the link has
            ~ 200
            > 01 3220 07 0100 00 02 02 0000      ; LE Set PHY
            < 04 0F 04 00 01 3220
            ~ 200
            < 04 3E 06 0C 00 0100 02 02
            > 01 0514 02 0100                    ; Read RSSI
            < 04 0E 07 01 0514 00 0100 ..
            > 01 2D0C 03 0100 00                 ; Read Transmit Power Level
            < 04 0E 07 01 2D0C 00 0100 00
            > 02 0100 0700 0300 0400 02F700      ; an MTU exchange, as non-flushable data
            ~ 100
            < 04 13 05 01 0100 0100
            > 01 0604 03 0100 13                 ; Disconnect
            < 04 0F 04 00 01 0604
            ~ 200
            < 04 05 04 00 0100 16
            """)
    }

    @Test("it waits for known advertisers by the accept list, and can give up connecting")
    func acceptList() throws {
        var host = try kernel()
        try host.run(
            """
            > 01 1120 07 01 5544332211C0         ; LE Add Device To Filter Accept List
            < 04 0E 04 01 1120 00
            > 01 0B20 07 00 6000 3000 00 01      ; LE Set Scan Parameters: passive, filtered
            < 04 0E 04 01 0B20 00
            > 01 0C20 02 01 01
            < 04 0E 04 01 0C20 00
            ~ 2000
            < 04 3E 15 02 01 00 01 5544332211C0 09 020106050954657374 ..
            > 01 1220 07 01 5544332211C0         ; not while the list is in use
            < 04 0E 04 01 1220 0C
            > 01 0C20 02 00 00
            < 04 0E 04 01 0C20 00
            > 01 1220 07 01 5544332211C0         ; LE Remove Device From Filter Accept List
            < 04 0E 04 01 1220 00
            > 01 0D20 19 6000 6000 00 00 665544332211 00 1800 2800 0000 2A00 0000 0000
            < 04 0F 04 00 01 0D20
            ~ 2000
            > 01 0E20 00                         ; LE Create Connection Cancel
            < 04 0E 04 01 0E20 00
            < 04 3E 13 01 02 *
            """)
    }

    @Test("it advertises, changes its data, and stops")
    func peripheral() throws {
        var host = try kernel()
        try host.run(
            """
            > 01 0820 20 03 020106 00000000000000000000000000000000000000000000000000000000
            < 04 0E 04 01 0820 00                ; LE Set Advertising Data
            > 01 0920 20 03 020A00 00000000000000000000000000000000000000000000000000000000
            < 04 0E 04 01 0920 00                ; LE Set Scan Response Data
            > 01 0620 0F 0008 0008 00 00 00 000000000000 07 00
            < 04 0E 04 01 0620 00                ; LE Set Advertising Parameters: 1.28 s
            > 01 0A20 01 01                      ; LE Set Advertising Enable
            < 04 0E 04 01 0A20 00
            ~ 3000
            > 01 0820 20 00 00000000000000000000000000000000000000000000000000000000000000
            < 04 0E 04 01 0820 00
            > 01 0A20 01 00
            < 04 0E 04 01 0A20 00
            > 01 030C 00                         ; Reset, when the adapter is closed
            < 04 0E 04 01 030C 00
            """)
    }
}
