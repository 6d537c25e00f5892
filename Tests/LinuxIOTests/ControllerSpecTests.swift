// The reading of --controller and of addresses.
import Testing

@testable import LinuxIO

@Suite struct ControllerSpecTests {
    @Test(
        "every form of the registry is read",
        arguments: [
            "hci:0", "hci-socket:3", "pty:/tmp/x", "serial:/dev/ttyACM0,115200",
            "serial:/dev/ttyUSB0,1000000,rtscts", "tcp-client:127.0.0.1:6402",
            "tcp-client:localhost:6402", "tcp-client:[::1]:6402", "tcp-server:6402",
            "tcp-server:_:6402", "tcp-server:0.0.0.0:6402", "unix:/tmp/x", "unix:@name",
            "unix-server:/tmp/a:b",
        ])
    func readable(text: String) throws {
        guard case .transport(let spec) = try ControllerSpec.parse(text).get() else {
            Issue.record("\(text) is a transport")
            return
        }
        #expect(spec.description == text)
    }

    @Test("virtual is a case of its own")
    func virtual() throws {
        guard case .virtual = try ControllerSpec.parse("virtual").get() else {
            Issue.record("virtual")
            return
        }
    }

    @Test(
        "what has not the form is refused with the form",
        arguments: [
            ("hci:", "hci:N"), ("hci:x", "hci:N"), ("hci:65535", "hci:N"), ("hci:-1", "hci:N"),
            ("hci", "hci:N"), ("hci-socket:+1", "hci:N"), ("pty:", "pty:LINK"),
            ("serial:/dev/ttyACM0", "serial:DEVICE,BAUD[,rtscts]"),
            ("serial:/dev/ttyACM0,115201", "serial:DEVICE,BAUD[,rtscts]"),
            ("serial:/dev/ttyACM0,115200,dsrdtr", "serial:DEVICE,BAUD[,rtscts]"),
            ("serial:,115200", "serial:DEVICE,BAUD[,rtscts]"),
            ("tcp-client:6402", "tcp-client:HOST:PORT"),
            ("tcp-client:example.org:6402", "tcp-client:HOST:PORT"),
            ("tcp-client:127.0.0.1:0", "tcp-client:HOST:PORT"),
            ("tcp-client:127.0.0.1:65536", "tcp-client:HOST:PORT"),
            ("tcp-client:127.0.0:1", "tcp-client:HOST:PORT"),
            ("tcp-client:::1:6402", "tcp-client:HOST:PORT"),
            ("tcp-client:[]:6402", "tcp-client:HOST:PORT"),
            ("tcp-server:", "tcp-server:[HOST:]PORT"), ("tcp-server", "tcp-server:[HOST:]PORT"),
            ("unix:", "unix:PATH"), ("unix-server:", "unix-server:PATH"), ("virtual:0", "virtual"),
        ])
    func refused(text: String, form: String) {
        guard case .failure(let error) = ControllerSpec.parse(text) else {
            Issue.record("\(text) was read")
            return
        }
        #expect(error.description.contains("\"\(text)\""))
        #expect(error.description.hasSuffix("; write \(form)"))
    }

    @Test("a path longer than the kernel's 107 octets is refused")
    func longPath() {
        let path = String(repeating: "x", count: 107)
        #expect((try? ControllerSpec.parse("unix:" + path).get()) != nil)
        #expect((try? ControllerSpec.parse("unix:x" + path).get()) == nil)
    }

    @Test("an unknown scheme is answered with every form")
    func unknown() {
        guard case .failure(let error) = ControllerSpec.parse("usb:0") else {
            Issue.record("usb:0 was read")
            return
        }
        #expect(
            error.description == "there is no controller \"usb:0\"; write one of hci:N, pty:LINK, "
                + "serial:DEVICE,BAUD[,rtscts], tcp-client:HOST:PORT, tcp-server:[HOST:]PORT, "
                + "unix:PATH, unix-server:PATH, virtual")
    }

    @Test("the registry is sorted and every name stands in it once")
    func sorted() {
        let names = Transports.all.map(\.name)
        #expect(names == names.sorted())
        #expect(Set(names).count == names.count)
    }

    @Test("endpoints are written as they are read")
    func endpoints() {
        for text in ["127.0.0.1:6402", "10.0.0.255:0", "[::1]:65535", "[fe80::1]:1"] {
            #expect(Endpoint(text)?.description == text)
        }
        #expect(Endpoint("localhost:5")?.description == "127.0.0.1:5")
        for text in ["", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:+5", "256.0.0.1:5", "::1"] {
            #expect(Endpoint(text) == nil)
        }
    }
}
