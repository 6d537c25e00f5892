// Exact layout: handles, ends, includes, properties, lengths and descriptors as the profile says.
import GATT
import Profiles
import Testing
import Wire

@Suite struct LayoutTests {
    /// The table of services that are all the device has.
    private func table(_ services: String, server: String = "") throws -> AttributeTable {
        let indented = services.split(separator: "\n").map { "  \($0)\n" }.joined()
        let settings = server.isEmpty ? "" : ", " + server
        let profile = try load(
            "peripheral-emu: 1\ndevice: {name: T}\n"
                + "server: {implicit-services: false\(settings)}\nservices:\n" + indented)
        return AttributePlan(profile).table
    }

    private func lines(_ table: AttributeTable) -> [String] {
        table.attributes.enumerated().map { index, attribute in
            "\(Hex.code(attribute.handle)) \(attribute.type) \(Hex.string(table.value(at: index)))"
        }
    }

    @Test("handles, ends and value handles are as said, and others follow them")
    func handles() throws {
        let table = try table(
            """
            - service: 0x180A
              type: secondary
              handle: 0x0005
              end: 0x0020
              characteristics:
                - {characteristic: 0x2A29, value-handle: 0x0008, read: open, value: {hex: "41"}}
                - {characteristic: 0x2A24, handle: 0x0010, notify: open}
            - service: 0x180F
            """)
        #expect(
            lines(table) == [
                "0x0005 0x2801 0A18", "0x0006 0x2803 020800292A", "0x0008 0x2A29 41",
                "0x0010 0x2803 101100242A", "0x0011 0x2A24 ", "0x0012 0x2902 0000",
                "0x0021 0x2800 0F18",
            ])
        #expect(table.attributes[0].groupEnd == 0x0020)
    }

    @Test("an include names a service before or behind it, by label, name or UUID")
    func includes() throws {
        let table = try table(
            """
            - {service: battery, label: first}
            - {service: 0x1234, includes: [first, device-information, {service: second, handle: 9}]}
            - {service: device-information, handle: 0x0020, end: 0x0030}
            - {service: 5A1D0001-0E1E-4C1B-9D56-3E2F0C9B7A10, label: second}
            """)
        #expect(
            lines(table) == [
                "0x0001 0x2800 0F18", "0x0002 0x2800 3412", "0x0003 0x2802 010001000F18",
                "0x0004 0x2802 200030000A18", "0x0009 0x2802 31003100", "0x0020 0x2800 0A18",
                "0x0031 0x2800 107A9B0C2F3E569D1B4C1E0E01001D5A",
            ])
    }

    @Test("properties differ from the permissions where they are said")
    func properties() throws {
        func first(_ body: String) throws -> [String] {
            Array(
                lines(
                    try table(
                        """
                        - service: 0x1234
                          characteristics: [{characteristic: 0x5678, \(body)}]
                        """)
                ).dropFirst())
        }
        #expect(
            try first("read: open, properties: [broadcast, notify]")
                == ["0x0002 0x2803 1103007856", "0x0003 0x5678 "])
        #expect(
            try first("read: open, properties: []")
                == ["0x0002 0x2803 0003007856", "0x0003 0x5678 "])
        #expect(
            try first("write: open, properties: [write, reliable-write]") == [
                "0x0002 0x2803 8803007856", "0x0003 0x5678 ", "0x0004 0x2900 0100",
            ])
        #expect(
            try first("read: open, notify: open, properties: [read, extended-properties]") == [
                "0x0002 0x2803 8203007856", "0x0003 0x5678 ", "0x0004 0x2900 0000",
                "0x0005 0x2902 0000",
            ])
        #expect(
            try first(
                "read: open, descriptors: [{extended-properties: [writable-auxiliaries]}]") == [
                    "0x0002 0x2803 8203007856", "0x0003 0x5678 ", "0x0004 0x2900 0200",
                ])
    }

    @Test("descriptors stand in their order, with handle, permissions, length and value")
    func descriptors() throws {
        let table = try table(
            """
            - service: 0x1234
              characteristics:
                - characteristic: 0x5678
                  format: sint16
                  scale: 0.01
                  notify: open
                  descriptors:
                    - {user-description: Desk, write: encrypted, length: {max: 8}}
                    - {descriptor: 0x2902, handle: 0x0007, write: authenticated}
                    - {valid-range: {min: -40, max: 85}}
                    - {descriptor: 5A1D0003-0E1E-4C1B-9D56-3E2F0C9B7A10, value: {text: A}}
                - characteristic: 0x5679
                  indicate: open
                  descriptors: [{descriptor: 0x2902, managed: false, read: open, length: {max: 4}}]
            """)
        #expect(
            Array(lines(table)[3...6]) == [
                "0x0004 0x2901 4465736B", "0x0007 0x2902 0000", "0x0008 0x2906 60F03421",
                "0x0009 5A1D0003-0E1E-4C1B-9D56-3E2F0C9B7A10 41",
            ])
        let attributes = table.attributes
        #expect(attributes[3].permissions == Permissions(read: .open, write: .encrypted))
        #expect(attributes[3].maximumLength == 8)
        #expect(attributes[4].kind == .clientConfiguration)
        #expect(attributes[4].permissions == Permissions(read: .open, write: .authenticated))
        #expect(attributes[6].permissions == Permissions())
        #expect(attributes[9].kind == .value && attributes[9].type == GATTType.clientConfiguration)
        #expect(attributes[9].permissions == Permissions(read: .open))
        #expect(attributes[9].maximumLength == 4)
    }

    @Test("a value grows to its format's length or 512, or not at all, and as said before all")
    func growth() throws {
        func lengths(_ server: String) throws -> [UInt16] {
            try table(
                """
                - service: 0x1234
                  characteristics:
                    - {characteristic: battery-level, value: {hex: "0102"}}
                    - {characteristic: battery-level}
                    - {characteristic: 0x5678, value: {hex: "0102"}}
                    - {characteristic: 0x5678, value: {hex: "0102"}, length: {max: 3}}
                """, server: server
            ).attributes.filter { $0.kind == .value }.map(\.maximumLength)
        }
        #expect(try lengths("") == [2, 1, 512, 3])
        #expect(try lengths("growth: false") == [2, 1, 2, 3])
    }

    @Test("the server's settings are read as written")
    func settings() throws {
        let usual = try load("peripheral-emu: 1\ndevice: {name: T}\nserver: {}\n").server
        #expect(usual == ServerSpec())
        let server = try load(
            """
            peripheral-emu: 1
            device: {name: T}
            server:
              mtu: 23
              implicit-services: false
              database-hash: as-computed
              growth: false
              reliable-writes: extended-property
              unencrypted-error: by-requirement
              cccd-error: 0x13
              notification-overflow: refuse
            """
        ).server
        var settings = ServerSettings()
        settings.mtu = 23
        settings.databaseHash = .asComputed
        settings.growth = false
        settings.reliableWrites = .extendedProperty
        settings.unencryptedError = .byRequirement
        settings.cccdError = .valueNotAllowed
        settings.oversize = .refuse
        #expect(server.settings == settings && !server.hasImplicitServices)
    }

    @Test("permissions are levels, or maps with authorization and key size")
    func permissions() throws {
        let spec = try only(
            """
            read: encrypted
            write: {security: authenticated, authorization: true, key-size: 16}
            write-without-response: secure
            notify: authenticated
            indicate: {security: open, authorization: true}
            """)
        #expect(
            spec.permissions
                == Permissions(
                    read: .encrypted,
                    write: Access(.authenticated, authorization: true, keySizeMin: 16),
                    writeCommand: .secure, notify: .authenticated,
                    indicate: Access(.open, authorization: true)))
    }

    @Test("the GATT service has features, hash and Service Changed, each with its own behaviour")
    func implicit() throws {
        let profile = try load("peripheral-emu: 1\ndevice: {name: T}\n")
        let table = AttributePlan(profile).table
        #expect(
            lines(table) == [
                "0x0001 0x2800 0018", "0x0002 0x2803 020300002A", "0x0003 0x2A00 54",
                "0x0004 0x2803 020500012A", "0x0005 0x2A01 0000", "0x0006 0x2800 0118",
                "0x0007 0x2803 200800052A", "0x0008 0x2A05 00000000", "0x0009 0x2902 0000",
                "0x000A 0x2803 0A0B00292B", "0x000B 0x2B29 00", "0x000C 0x2803 020D002A2B",
                "0x000D 0x2B2A ", "0x000E 0x2803 020F003A2B", "0x000F 0x2B3A 00",
            ])
        #expect(
            [7, 10, 12, 14].map { table.attributes[$0].kind } == [
                .serviceChanged, .clientSupportedFeatures, .databaseHash, .value,
            ])
    }

    @Test("implicit services come behind services that say their handles")
    func implicitLast() throws {
        let profile = try load(
            """
            peripheral-emu: 1
            device: {name: T}
            services: [{service: generic-access, handle: 0x0001, end: 0x0010}]
            """)
        let attributes = AttributePlan(profile).table.attributes
        #expect(attributes[0].handle == 0x0001 && attributes[0].groupEnd == 0x0010)
        #expect(attributes[1].handle == 0x0011 && attributes.count == 11)
    }

    @Test("of an own GATT service the server keeps what is not managed as plain values")
    func unmanaged() throws {
        let table = try table(
            """
            - service: generic-attribute
              characteristics:
                - {characteristic: database-hash, managed: false, read: open, value: {hex: "01"}}
                - {characteristic: client-supported-features, read: open, write: open}
                - {characteristic: service-changed, managed: false, indicate: open}
            """)
        #expect(
            [2, 4, 6].map { table.attributes[$0].kind } == [
                .value, .clientSupportedFeatures, .value,
            ])
    }

    @Test("the plan names every attribute of an exact layout")
    func names() throws {
        let profile = try load(
            """
            peripheral-emu: 1
            device: {name: T}
            server: {implicit-services: false}
            services:
              - service: battery
                includes: [device-information]
                characteristics:
                  - {characteristic: battery-level, value-handle: 0x0009, read: open}
              - {service: device-information, type: secondary}
            """)
        let plan = AttributePlan(profile)
        #expect(
            [1, 2, 3, 9, 10].map { plan.name(of: $0) } == [
                "battery declaration", "include of device-information", "battery-level declaration",
                "battery-level", "device-information declaration",
            ])
        let report = CheckReport.text(of: profile)
        #expect(report.contains("include device-information (0x180A), 0x000A to 0x000A"))
        #expect(report.contains("secondary service device-information (0x180A), to 0x000A"))
        #expect(report.contains("implicit-services false"))
    }
}
