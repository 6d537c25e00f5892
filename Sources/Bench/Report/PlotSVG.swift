// Makes gnuplot's SVG a part of the page: its colours follow the page, its names are its own.
import Wire

enum PlotSVG {
    /// The `<svg>` element of a plot; nil where `text` holds none.
    ///
    /// - Parameters:
    ///   - name: begins every name inside, as several plots stand in one page.
    ///   - title: what is read aloud in its place.
    static func embedded(_ text: String, name: String, title: String) -> String? {
        guard let start = text.firstPlace(of: "<svg"), let end = text.firstPlace(of: "</svg>"),
            let head = text[start.upperBound...].firstPlace(of: ">"),
            head.upperBound < end.lowerBound
        else { return nil }
        var body = String(text[head.upperBound..<end.lowerBound])
        for element in ["title", "desc"] { body = without(element, body) }
        for (old, new) in [
            ("id='gp", "id='\(name)-gp"), ("#gp", "#\(name)-gp"),
            ("id=\"gnuplot", "id=\"\(name)-gnuplot"), ("id='textbox", "id='\(name)-textbox"),
            ("id='greybox", "id='\(name)-greybox"), ("url(#", "url(#\(name)-"),
            ("id=\"hypertext", "id=\"\(name)-hypertext"),
            ("clipPath id=\"", "clipPath id=\"\(name)-"),
            ("\"black\"", "\"var(--ink)\""), ("'black'", "'var(--ink)'"),
            ("font-family=\"sans-serif\"", ""),
        ] { body = body.replacingEach(old, with: new) }
        let opening = String(text[start.lowerBound..<head.upperBound])
        guard let box = viewBox(opening) else { return nil }
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" "
            + "xmlns:xlink=\"http://www.w3.org/1999/xlink\" viewBox=\"\(box)\" role=\"img\" "
            + "aria-label=\"\(HTML.escaped(title))\">" + coloured(body) + "</svg>"
    }

    private static func viewBox(_ opening: String) -> Substring? {
        guard let start = opening.firstPlace(of: "viewBox=\"") else { return nil }
        let box = opening[start.upperBound...].prefix { $0 != "\"" }
        return box.allSatisfy({ $0.isNumber || $0 == " " || $0 == "." || $0 == "-" }) ? box : nil
    }

    private static func without(_ element: String, _ text: String) -> String {
        guard let start = text.firstPlace(of: "<\(element)>"),
            let end = text.firstPlace(of: "</\(element)>"), start.upperBound <= end.lowerBound
        else { return text }
        return String(text[..<start.lowerBound] + text[end.upperBound...])
    }

    /// `rgb(1,1,1)` and the like as the custom properties that they stand for.
    private static func coloured(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstPlace(of: "rgb(") {
            result += rest[..<start.lowerBound]
            let inside = rest[start.upperBound...].prefix { $0 != ")" }
            let parts = inside.split(separator: ",").map { part in
                Int(part.filter { $0 != " " })
            }
            result += property(parts) ?? "rgb(\(inside))"
            rest = rest[inside.endIndex...].dropFirst()
        }
        return result + rest
    }

    private static func property(_ parts: [Int?]) -> String? {
        switch (parts.first, parts.dropFirst().first, parts.last) {
        case (0, 0, 0): "var(--ink)"
        case (1, 1, 1): "var(--ink)"
        case (2, 2, 2): "var(--grid)"
        case (3, 3, 3): "var(--shade)"
        case (4, 5, let number??): "var(--s\(number))"
        case (_, _, _): nil
        }
    }
}
