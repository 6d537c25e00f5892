// The page as one self-contained file: no script, no address, light and dark, screen and paper.

/// Text for HTML.
enum HTML {
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}

extension BenchPage {
    /// The page.
    ///
    /// - Parameter draw: gnuplot's answer to a script; nil where there is no gnuplot, or where it
    ///   failed.
    public func html(draw: (Plot) -> String?) -> String {
        var parts = [Self.head(title)]
        parts.append("<h1>\(HTML.escaped(title))</h1>")
        for line in summary { parts.append("<p>\(HTML.escaped(line))</p>") }
        parts.append(contentsOf: figures(draw))
        for table in tables { parts.append(Self.text(of: table)) }
        parts.append("</main></body></html>")
        return parts.joined(separator: "\n") + "\n"
    }

    private func figures(_ draw: (Plot) -> String?) -> [String] {
        var figures: [String] = []
        var missing: [String] = []
        for plot in plots {
            let drawn = draw(plot).flatMap {
                PlotSVG.embedded($0, name: plot.name, title: plot.title)
            }
            if let drawn {
                figures.append(Self.figure(plot, drawn))
            } else {
                missing.append(plot.title)
            }
        }
        var parts: [String] = []
        if !figures.isEmpty {
            parts.append("<div class=\"plots\">" + figures.joined(separator: "\n") + "</div>")
        }
        if !missing.isEmpty {
            parts.append(
                "<p class=\"missing\" role=\"note\">Plots that are missing: "
                    + HTML.escaped(missing.joined(separator: "; "))
                    + ". They are drawn by gnuplot: install it with <code>sudo apt install "
                    + "gnuplot-nox</code>, then run the same command again.</p>")
        }
        return parts
    }

    private static func figure(_ plot: Plot, _ svg: String) -> String {
        var text = "<figure id=\"\(plot.name)\"><h2>\(HTML.escaped(plot.title))</h2>\n\(svg)\n"
        if !plot.legend.isEmpty {
            text += "<ul class=\"legend\">"
            for (index, name) in plot.legend.enumerated() {
                let style = ["solid", "dashed", "dotted"][index % 3]
                text +=
                    "<li><span style=\"border-top:3px \(style) var(--s\(index % 8))\"></span>"
                    + HTML.escaped(name) + "</li>"
            }
            text += "</ul>\n"
        }
        return text + "<figcaption>\(HTML.escaped(plot.caption))</figcaption></figure>"
    }

    private static func text(of table: Table) -> String {
        func cells(_ cells: [String], _ element: String) -> String {
            cells.map { cell in
                // Figures stay on one line; a table that is too wide moves within its own frame.
                let style = cell.count <= shortCell ? " class=\"short\"" : ""
                return "<\(element)\(style)>\(HTML.escaped(cell))</\(element)>"
            }.joined()
        }
        let rows = table.rows.map { "<tr>" + cells($0, "td") + "</tr>" }.joined(separator: "\n")
        return "<section><h2>\(HTML.escaped(table.title))</h2><div class=\"table\"><table>"
            + "<thead><tr>" + cells(table.head, "th") + "</tr></thead>\n<tbody>" + rows
            + "</tbody></table></div></section>"
    }

    /// Characters of a cell that is not broken into lines.
    private static let shortCell = 20

    private static func head(_ title: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy"
         content="default-src 'none'; style-src 'unsafe-inline'">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(HTML.escaped(title))</title>
        <style>\(style)</style></head><body><main>
        """
    }

    private static let style = """

        :root { color-scheme: light dark; --paper: #fcfcfb; --ink: #1c1c1a; --soft: #5c5c56;
          --grid: #b9b9b0; --shade: #e8e2c8; --s0: #2a78d6; --s1: #c8501d; --s2: #12825a;
          --s3: #4a3aa7; --s4: #b8407a; --s5: #946400; --s6: #3f6f00; --s7: #c02f2f; }
        @media (prefers-color-scheme: dark) { :root { --paper: #191918; --ink: #eeeeea;
          --soft: #a6a69e; --grid: #5a5a54; --shade: #3b3724; --s0: #5b9df0; --s1: #f08050;
          --s2: #35bd8c; --s3: #a598f2; --s4: #ea7fae; --s5: #dba32a; --s6: #90bf4c;
          --s7: #f07878; } }
        body { margin: 0; background: var(--paper); color: var(--ink);
          font: 16px/1.5 system-ui, sans-serif; }
        main { max-width: 68rem; margin: 0 auto; padding: 1rem; }
        h1 { font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
        h2 { font-size: 1.1rem; margin: 0 0 .5rem; }
        p, li { overflow-wrap: anywhere; }
        td, th { min-width: 2.5rem; }
        .short { white-space: nowrap; }
        .plots { display: grid; gap: 1.5rem;
          grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr)); }
        figure { margin: 0; min-width: 0; }
        svg { display: block; width: 100%; height: auto; font-family: system-ui, sans-serif; }
        figcaption { color: var(--soft); font-size: .9rem; }
        .legend { list-style: none; margin: .25rem 0; padding: 0; font-size: .9rem;
          display: flex; flex-wrap: wrap; gap: 0 1rem; }
        .legend span { display: inline-block; width: 1.75rem; margin-right: .4rem;
          vertical-align: middle; }
        .missing { border: 1px solid var(--grid); padding: .75rem; }
        section { margin-top: 1.5rem; }
        .table { overflow-x: auto; }
        table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
        th, td { text-align: left; padding: .2rem .9rem .2rem 0; vertical-align: top;
          border-bottom: 1px solid var(--grid); }
        @media print { :root { color-scheme: light; --paper: #fff; --ink: #000; --soft: #444;
          --grid: #aaa; --shade: #eee; --s0: #2a78d6; --s1: #c8501d; --s2: #12825a;
          --s3: #4a3aa7; --s4: #b8407a; --s5: #946400; --s6: #3f6f00; --s7: #c02f2f; }
          body { font-size: 10pt; } table { font-size: 8pt; } figure, tr { break-inside: avoid; }
          .table { overflow: visible; }
          .plots { grid-template-columns: 1fr 1fr; } }

        """
}
