// Lint: what is valid and still not wise, each finding with a rule that has an id and a reason.
import YAML

/// What the profile's `lint:` says.
public struct LintSpec: Equatable, Sendable {
    /// The ids of rules that say nothing.
    public var silent: [String] = []
    /// Which edition of Apple's guidelines is meant.
    public var apple = AppleEdition.r2025

    public init() {}
}

/// Accessory Design Guidelines for Apple Devices, by the year from which they hold.
public enum AppleEdition: String, CaseIterable, Sendable {
    case r2018 = "2018"
    case r2025 = "2025"
}

/// Something that a rule does not like.
public struct LintFinding: Equatable, Sendable, CustomStringConvertible {
    /// The rule's id, as `lint: {silent: […]}` takes it.
    public var rule: String
    public var file: String
    /// Counted from 1; nil where the file was not at hand.
    public var line: Int?
    public var column: Int?
    /// Where in the profile: `advertising[0].interval`.
    public var path: String
    public var problem: String
    /// What to write.
    public var remedy: String

    /// `FILE:LINE:COLUMN: PATH: what is unwise; what to write (rule)`.
    public var description: String {
        let place = [line, column].compactMap { $0.map { ":\($0)" } }.joined()
        return "\(file)\(place): \(path): \(problem); \(remedy) (\(rule))"
    }
}

/// One rule.
struct LintRule: Sendable {
    let id: String
    /// Why, in one sentence.
    let reason: String
    /// What the rule finds: place, problem and remedy.
    let check: @Sendable (DeviceProfile) -> [(path: String, problem: String, remedy: String)]

    /// The registry, sorted by id.
    static let all: [LintRule] = [
        .appleConnection, .appleContents, .appleFirst, .appleInterval, .constantNotification,
        .fastPairRate, .foundOnce, .ioNone, .iosName, .iosPairing, .missingFlags, .serviceChanged,
        .sigBase, .unpairable,
    ]
}

/// Checks profiles against the rules.
public enum Lint {
    /// The rules with their reasons, by id.
    public static var rules: [(id: String, reason: String)] {
        LintRule.all.map { ($0.id, $0.reason) }
    }

    /// All that the rules find in a profile, by rule, but for those that it silences.
    /// - Parameter source: the profile's octets, to say where in the file it is.
    public static func findings(
        in profile: DeviceProfile, of source: [UInt8]
    ) -> [LintFinding] {
        var findings = findings(in: profile)
        guard !findings.isEmpty else { return [] }
        let root: YAMLNode
        do throws(YAMLError) { root = try YAMLDocument.parse(source).root } catch {
            return findings
        }
        for index in findings.indices {
            let mark = root.mark(of: findings[index].path)
            (findings[index].line, findings[index].column) = (mark.line, mark.column)
        }
        return findings
    }

    /// The same without places in the file.
    public static func findings(in profile: DeviceProfile) -> [LintFinding] {
        LintRule.all.filter { !profile.lint.silent.contains($0.id) }.flatMap { rule in
            rule.check(profile).map {
                LintFinding(
                    rule: rule.id, file: profile.file, path: $0.path, problem: $0.problem,
                    remedy: $0.remedy)
            }
        }
    }
}

extension YAMLNode {
    /// Where a path such as `services[0].value` leads to, as far as it is there.
    fileprivate func mark(of path: String) -> YAMLMark {
        var node = self
        for step in path.split(whereSeparator: { ".[]".contains($0) }) {
            switch node.content {
            case .mapping(let pairs):
                guard let pair = pairs.first(where: { $0.key == step }) else { return node.mark }
                node = pair.value
            case .sequence(let nodes):
                guard let index = Int(step), nodes.indices.contains(index) else {
                    return node.mark
                }
                node = nodes[index]
            case .scalar: return node.mark
            }
        }
        return node.mark
    }
}
