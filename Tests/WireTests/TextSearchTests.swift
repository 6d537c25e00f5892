// Text found and replaced, beside the standard library's own.
import Testing
import Wire

@Suite struct TextSearchTests {
    private static let texts = [
        "", "a", "aa", "aXa", "XaXX", "abXabX", "ä“X”", "rgb(1) rgb(2)", "…",
    ]
    private static let searched = ["X", "a", "aa", "ab", "”", "rgb(", "…", "XX", "nowhere"]

    @Test("text is found where the standard library finds it", arguments: texts)
    func firstPlace(_ text: String) {
        for old in Self.searched {
            #expect(text.firstPlace(of: old) == text.firstRange(of: old))
            let rest = text.dropFirst()
            #expect(rest.firstPlace(of: old) == rest.firstRange(of: old))
        }
        #expect(text.firstPlace(of: "") == nil)
    }

    @Test("text is replaced as by the standard library", arguments: texts)
    func replacing(_ text: String) {
        for old in Self.searched {
            for new in ["", "X", "aX", old + old] {
                #expect(text.replacingEach(old, with: new) == text.replacing(old, with: new))
            }
        }
    }

    @Test("a sign divides text where it stands first, also before a combining mark")
    func divided() {
        for (text, before, behind) in [
            ("a=b", "a", "b"), ("a=b=c", "a", "b=c"), ("=", "", ""), ("a=", "a", ""),
            ("a=\u{301}b", "a", "\u{301}b"), ("ä=ß", "ä", "ß"),
        ] {
            let parts = text.divided(by: "=")
            #expect(parts?.before == before && parts?.behind == behind, "\(text)")
        }
        #expect("ab".divided(by: "=") == nil && "".divided(by: "=") == nil)
    }
}
