// Profiles by name: what is said of a name that nobody has, and what the list says of each.
import Testing

@testable import peripheral_emu

@Suite struct BundledProfilesTests {
    private static let names = ["battery", "heart-rate", "glucose"]

    @Test(
        "a mistyped name is told the right one",
        arguments: [
            ("battry", "battery"), ("heartrate", "heart-rate"), ("glukose.yaml", "glucose"),
        ])
    func nearest(path: String, name: String) {
        #expect(
            BundledProfiles.hint(for: path, among: Self.names)
                == "write '\(name)', or a name that 'peripheral-emu profiles' lists, or a path")
    }

    @Test("a name like no other is told where names are; a path is told nothing")
    func others() {
        #expect(
            BundledProfiles.hint(for: "toaster", among: Self.names)
                == "write a name that 'peripheral-emu profiles' lists, or a path")
        #expect(BundledProfiles.hint(for: "my/battry.yaml", among: Self.names) == nil)
    }

    @Test("the list says the whole first sentence, over the ends of lines")
    func summary() {
        let text = "# A tag: Service 1.1, that\n# sleeps. More.\n\n# Other.\na: 1\n"
        #expect(BundledProfiles.summary(of: text) == "A tag: Service 1.1, that sleeps.")
        #expect(BundledProfiles.summary(of: "# All of it\na: 1\n") == "All of it")
        #expect(BundledProfiles.summary(of: "a: 1\n# A.\n") == nil)
    }
}
