// The `lint:` part: which rules are silent, and which editions are meant.
import YAML

extension Form where Value == LintSpec {
    static var lint: Form {
        map(says: "'{silent: [apple-interval]}'") { keys in
            let rule = Form<String>.word(LintRule.all.map { ($0.id, $0.id) })
            var spec = LintSpec()
            keys.read("silent", into: &spec.silent, .list(of: rule, says: "a list of rules"))
            let editions = AppleEdition.allCases.map(\.rawValue).joined(separator: " or ")
            let year = Form<Int>.integer(2000...2100, says: editions)
            let edition = Form<AppleEdition>(says: editions, schema: year.schema) {
                place, context in
                guard let year = year.read(place, context) else { return nil }
                guard let edition = AppleEdition(rawValue: "\(year)") else {
                    context.report(place, "\(year) is no edition", "write \(editions)")
                    return nil
                }
                return edition
            }
            keys.read("apple", into: &spec.apple, edition)
            return spec
        }
    }
}
