// A value given outside the profile: `--set REFERENCE=VALUE` and the like.
import Behaviours
import Wire
import YAML

/// A checked value and whose it is.
public struct ValueSetting: Equatable, Sendable {
    /// What was given for `target`.
    public var reference: String
    public var target: WriteAction.Target
    /// Of the value's, or the field's, own format.
    public var octets: [UInt8]
}

extension ProfileLoader {
    /// Reads a value for what a reference names.
    ///
    /// - Parameters:
    ///   - text: as it would stand in the profile, or `hex:` and pairs of hexadecimal digits.
    ///   - reference: a label or a name, `service/characteristic`, either with `.field` behind it.
    ///   - source: where both come from, for messages.
    public static func setting(
        _ text: String, of reference: String, in profile: DeviceProfile, source: String
    ) throws(ProfileErrors) -> ValueSetting {
        let context = DecodeContext(file: source) { _ in
            .failure(FileFailure(reason: "only a profile can name files"))
        }
        let (target, part) = try part(of: reference, in: profile, source: source)
        if text.hasPrefix("hex:") {
            let shown = shortened(text)
            guard let octets = Hex.bytes(String(text.dropFirst(4))),
                octets.count <= valueOctetsMax
            else {
                throw error(
                    source, reference, "'\(shown)' is not pairs of hexadecimal digits",
                    "write '\(reference)=hex:01FF'")
            }
            if case .bits(let bits) = part, bits.number(octets) == nil {
                throw error(
                    source, reference, "'\(shown)' does not fit the bits", "write \(bits.says)")
            }
            return ValueSetting(reference: reference, target: target, octets: octets)
        }
        guard let node = try node(text, part, source, reference) else {
            return ValueSetting(reference: reference, target: target, octets: [])
        }
        guard let octets = part.octets(Place(node: node, path: reference), context) else {
            throw ProfileErrors(list: context.sortedErrors)
        }
        return ValueSetting(reference: reference, target: target, octets: octets)
    }

    /// The tree of a text; nil of an empty one where a text is the value.
    private static func node(
        _ text: String, _ part: FieldPart, _ source: String, _ reference: String
    ) throws(ProfileErrors) -> YAMLNode? {
        if text.allSatisfy({ " \t\r\n".contains($0) }) {
            if part.isText { return nil }
            throw error(source, reference, "the value is empty", "write \(part.says)")
        }
        let problem: YAMLError?
        do throws(YAMLError) {
            let document = try YAMLDocument.parse(Array(text.utf8))
            guard !document.problems.isEmpty else { return document.root }
            problem = document.problems.first
        } catch { problem = error }
        // It speaks of files, of which there is none.
        let isEmpty = problem?.problem == "the file is empty"
        throw error(
            source, reference,
            (problem?.problem ?? "").replacingEach("the file", with: "the value"),
            isEmpty
                ? "write \(part.says)"
                : (problem?.remedy ?? "").replacingEach("document in a file", with: "value"))
    }

    /// What a reference names.
    /// - Parameter source: where the reference comes from, for messages.
    public static func target(
        of reference: String, in profile: DeviceProfile, source: String
    ) throws(ProfileErrors) -> WriteAction.Target {
        try part(of: reference, in: profile, source: source).target
    }

    private static func part(
        of reference: String, in profile: DeviceProfile, source: String
    ) throws(ProfileErrors) -> (target: WriteAction.Target, part: FieldPart) {
        do throws(References.Objection) {
            return try References.characteristics(profile.services)
                .resolve(reference, in: profile.services)
        } catch { throw Self.error(source, reference, error.problem, error.remedy) }
    }

    private static func error(
        _ source: String, _ reference: String, _ problem: String, _ remedy: String
    ) -> ProfileErrors {
        ProfileErrors(list: [
            ProfileError(
                file: source, line: 1, column: 1, path: reference, problem: problem,
                remedy: remedy)
        ])
    }
}
