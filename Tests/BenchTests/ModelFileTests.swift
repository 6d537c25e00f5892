// The model files that come with the program.
import Bench
import Testing

struct ModelFileTests {
    @Test("Each kind of model has a folder of its own")
    func folders() {
        #expect(Set(ModelKind.allCases.map(\.folder)).count == ModelKind.allCases.count)
    }
}
