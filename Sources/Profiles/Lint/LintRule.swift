// Lint: what is valid and still not wise, each finding with a rule that has an id and a reason.

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
    /// Where in the profile: `advertising[0].interval`.
    public var path: String
    public var problem: String
    /// What to write.
    public var remedy: String

    /// `FILE: PATH: what is unwise; what to write (rule)`.
    public var description: String { "\(file): \(path): \(problem); \(remedy) (\(rule))" }
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
        .appleConnection, .appleContents, .appleFirst, .appleInterval, .fastPairRate, .iosName,
    ]
}

/// Checks profiles against the rules.
public enum Lint {
    /// The rules with their reasons, by id.
    public static var rules: [(id: String, reason: String)] {
        LintRule.all.map { ($0.id, $0.reason) }
    }

    /// All that the rules find in a profile, by rule, but for those that it silences.
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
