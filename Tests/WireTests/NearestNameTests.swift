// Hints for mistyped names, and the edits they count.
import Testing
import Wire

@Suite struct NearestNameTests {
    @Test(
        "the nearest name is found, the first of equally near ones stays",
        arguments: [
            ("temprature", "temperature"), ("tempertaure", "temperature"), ("humidty", "humidity"),
            ("HUMIDITY", "humidity"), ("batery", "battery"),
        ])
    func found(typed: String, meant: String) {
        let names = ["battery", "humidity", "temperature"]
        #expect(NearestName.of(typed, among: names) == meant)
    }

    @Test(
        "words joined in another way are the same name, before any that is nearer by letters",
        arguments: ["heartRateBelt", "heart_rate_belt", "heart rate belt", "HeartRateBelt"])
    func joined(typed: String) {
        #expect(
            NearestName.of(typed, among: ["heart-rate", "heartratebelts", "heart-rate-belt"])
                == "heart-rate-belt")
    }

    @Test("what is too far away has no hint")
    func far() {
        let names = ["battery", "humidity", "temperature"]
        #expect(NearestName.of("heart-rate", among: names) == nil)
        #expect(NearestName.of("", among: names) == nil)
        #expect(NearestName.of("x", among: []) == nil)
        #expect(NearestName.of(String(repeating: "a", count: 65), among: names) == nil)
        #expect(NearestName.of("ab", among: ["ax", "ac"]) == "ax")
    }

    @Test("a name of a kilobyte is no obstacle")
    func long() {
        let long = String(repeating: "battery", count: 200)
        #expect(NearestName.of("battery", among: [long, "batter"]) == "batter")
    }
}
