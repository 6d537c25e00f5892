// A value given outside the profile: `--set REFERENCE=VALUE` and the like.
import Behaviours
import Wire
import YAML

/// A checked value and whose it is.
public struct ValueSetting: Equatable, Sendable {
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
        let (target, format) = try target(of: reference, in: profile, source: source)
        if text.hasPrefix("hex:") {
            guard let octets = Hex.bytes(String(text.dropFirst(4))),
                octets.count <= valueOctetsMax
            else {
                throw error(
                    source, reference, "'\(text.prefix(60))' is not pairs of hexadecimal digits",
                    "write '\(reference)=hex:01FF'")
            }
            return ValueSetting(target: target, octets: octets)
        }
        let document: YAMLDocument
        do throws(YAMLError) {
            document = try YAMLDocument.parse(Array(text.utf8))
        } catch { throw Self.error(source, reference, error.problem, error.remedy) }
        let form = ValueForm(format: format)
        let value = form.source(Place(node: document.root, path: reference), context)
        if case .constant(let octets) = value, context.errors.isEmpty {
            return ValueSetting(target: target, octets: octets)
        }
        if context.errors.isEmpty {
            throw error(source, reference, "a generator cannot be set", "write \(form.says)")
        }
        throw ProfileErrors(list: context.sortedErrors)
    }

    /// What a reference names, and the format of it: a value's, or that of a field of it.
    /// - Parameter source: where the reference comes from, for messages.
    public static func target(
        of reference: String, in profile: DeviceProfile, source: String
    ) throws(ProfileErrors) -> (target: WriteAction.Target, format: ValueFormat) {
        let references = References.characteristics(profile.services)
        guard let (entry, field) = references.target(reference) else {
            let (problem, remedy) =
                references.objection(to: reference, kind: "characteristic")
                ?? ("no such characteristic", "write its label or name")
            throw error(source, reference, problem, remedy)
        }
        let format = profile.services[entry.service].characteristics[entry.characteristic].format
        let target = WriteAction.Target(
            service: entry.service, characteristic: entry.characteristic, field: field)
        guard let field else { return (target, format) }
        guard case .fields(let layout) = format, let own = layout.format(ofField: field) else {
            throw error(
                source, reference, "'\(entry.name)' has no field '\(field)'",
                "write one of its fields")
        }
        return (target, own)
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
