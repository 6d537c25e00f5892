// A descriptor in reserve, for a server that has none left for who comes next.
import Glibc

/// Given up for a moment when there is no descriptor left for a peer that wants to join: it is
/// turned away, instead of waking the loop without end.
struct SpareDescriptor {
    private var spare: Descriptor?

    init() { spare = Self.open() }

    private static func open() -> Descriptor? {
        let number = unsafe Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
        return number < 0 ? nil : Descriptor(number)
    }

    /// Whether a failure to accept a peer is one that the spare helps with.
    func helps(_ error: SystemError) -> Bool {
        (error.code == EMFILE || error.code == ENFILE) && spare != nil
    }

    /// Takes the next waiting peer and turns it away.
    mutating func turnAway(
        from listener: Descriptor, _ object: String
    ) throws(SystemError) {
        spare?.close()
        _ = try Sockets.accept(from: listener, object)?.descriptor.close()
        spare = Self.open()
    }
}
