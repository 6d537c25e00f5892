// The one error of this layer: which operation failed on what, why, and what to do.
import Glibc

/// A failed operation of the operating system, as a sentence for the user.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The `errno` value.
    public let code: Int32
    /// What was tried, as it follows "cannot": `connect to`, `open`.
    public let operation: String
    /// What it was tried on: a path, an address.
    public let object: String
    /// Why it failed, in words.
    public let reason: String
    /// What the user can do about it, where there is something.
    public let advice: String?

    /// - Parameter reason: replaces the C library's words for `code`.
    public init(
        _ code: Int32, operation: String, object: String, reason: String? = nil,
        advice: String? = nil
    ) {
        self.code = code
        self.operation = operation
        self.object = object
        self.reason = reason ?? Self.words(of: code)
        self.advice = advice
    }

    public var description: String {
        "cannot \(operation) \(object): \(reason)" + (advice.map { "; " + $0 } ?? "")
    }

    /// Whether the same thing may work a moment later, because the other side is not there yet or
    /// no more. Everything else needs the user.
    public var isPassing: Bool {
        [
            EAGAIN, ECONNABORTED, ECONNREFUSED, ECONNRESET, EHOSTDOWN, EHOSTUNREACH, EIO, ENETDOWN,
            ENETUNREACH, ENOENT, EPIPE, ETIMEDOUT,
        ].contains(code)
    }

    /// The same failure with what to do about it.
    func advising(_ advice: String?) -> SystemError {
        SystemError(
            code, operation: operation, object: object, reason: reason, advice: advice)
    }

    private static func words(of code: Int32) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}

/// Repeats a call that a signal interrupted.
/// - Throws: the `errno` of a negative result.
func systemCall<Result: SignedInteger>(
    _ operation: String, _ object: @autoclosure () -> String, _ body: () -> Result
) throws(SystemError) -> Result {
    while true {
        let result = body()
        if result >= 0 { return result }
        let code = errno
        if code != EINTR { throw SystemError(code, operation: operation, object: object()) }
    }
}
