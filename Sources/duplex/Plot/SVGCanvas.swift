import VoiceDialog

/// Collects the elements of an SVG 1.1 document. Coordinates are pixels from the upper left corner.
struct SVGCanvas {
    /// Where a text's point lies in it.
    enum Anchor: String {
        case start, middle, end
    }

    let width: Double
    let height: Double
    private var elements: [String] = []

    init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    mutating func line(_ from: (x: Double, y: Double), _ to: (x: Double, y: Double), stroke: String, width: Double = 1)
    {
        elements.append(
            "<line x1=\"\(from.x.short)\" y1=\"\(from.y.short)\" x2=\"\(to.x.short)\" y2=\"\(to.y.short)\" "
                + "stroke=\"\(stroke)\" stroke-width=\"\(width.short)\"/>")
    }

    mutating func polyline(_ points: [(x: Double, y: Double)], stroke: String) {
        let list = points.map { "\($0.x.short),\($0.y.short)" }.joined(separator: " ")
        elements.append("<polyline points=\"\(list)\" fill=\"none\" stroke=\"\(stroke)\" stroke-width=\"1.5\"/>")
    }

    /// A curve with an arrow at its end, which leaves and arrives level, or upright; its middle lies `lift` pixels
    /// higher.
    mutating func curve(
        _ from: (x: Double, y: Double), _ to: (x: Double, y: Double), stroke: String, isDashed: Bool = false,
        isUpright: Bool = false, lift: Double = 0
    ) {
        // The middle of a cubic curve moves by three quarters of what its two control points do.
        let raised = lift * 4 / 3

        let bend = isUpright ? (x: 0, y: (to.y - from.y) / 2) : (x: (to.x - from.x) / 2, y: 0)
        let path =
            "M\(from.x.short) \(from.y.short) C\((from.x + bend.x).short) \((from.y + bend.y - raised).short) "
            + "\((to.x - bend.x).short) \((to.y - bend.y - raised).short) \(to.x.short) \(to.y.short)"
        let dashes = isDashed ? " stroke-dasharray=\"5 4\"" : ""
        elements.append("<path d=\"\(path)\" fill=\"none\" stroke=\"\(stroke)\" stroke-width=\"1.5\"\(dashes)/>")
        // The arrow's point and its two corners, 7 pixels back and 4 aside.
        let way = (x: isUpright ? 0.0 : 1, y: isUpright ? (to.y < from.y ? -1.0 : 1) : 0)
        let back = (x: to.x - 7 * way.x, y: to.y - 7 * way.y)
        let corners = [
            to, (x: back.x - 4 * way.y, y: back.y + 4 * way.x), (x: back.x + 4 * way.y, y: back.y - 4 * way.x),
        ]
        let points = corners.map { "\($0.x.short),\($0.y.short)" }.joined(separator: " ")
        elements.append("<polygon points=\"\(points)\" fill=\"\(stroke)\"/>")
    }

    /// A rectangle; `tip` is shown where the pointer rests on it.
    mutating func rectangle(
        x: Double, y: Double, width: Double, height: Double, fill: String, tip: String? = nil, stroke: String? = nil
    ) {
        let title = tip.map { "<title>\(Self.escaped($0))</title>" } ?? ""
        let line = stroke.map { " stroke=\"\($0)\" rx=\"6\"" } ?? ""
        elements.append(
            "<rect x=\"\(x.short)\" y=\"\(y.short)\" width=\"\(max(width, 0).short)\" height=\"\(max(height, 0).short)\" "
                + "fill=\"\(fill)\"\(line)>\(title)</rect>")
    }

    mutating func text(
        _ text: String, x: Double, y: Double, size: Double = 12, anchor: Anchor = .start, bold: Bool = false,
        turned: Bool = false
    ) {
        let turn = turned ? " transform=\"rotate(-90 \(x.short) \(y.short))\"" : ""
        elements.append(
            "<text x=\"\(x.short)\" y=\"\(y.short)\" font-size=\"\(size.short)\" text-anchor=\"\(anchor.rawValue)\""
                + "\(bold ? " font-weight=\"bold\"" : "")\(turn)>\(Self.escaped(text))</text>")
    }

    /// A picture that fills the rectangle, whatever its own proportions.
    mutating func image(png: [UInt8], x: Double, y: Double, width: Double, height: Double) {
        elements.append(
            "<image x=\"\(x.short)\" y=\"\(y.short)\" width=\"\(width.short)\" height=\"\(height.short)\" "
                + "preserveAspectRatio=\"none\" href=\"data:image/png;base64,\(Base64.encode(png))\"/>")
    }

    /// The whole document.
    var document: String {
        let size = "width=\"\(width.short)\" height=\"\(height.short)\" viewBox=\"0 0 \(width.short) \(height.short)\""
        return """
            <svg xmlns="http://www.w3.org/2000/svg" \(size) font-family="sans-serif" fill="#222">
            <rect width="100%" height="100%" fill="#fff"/>
            \(elements.joined(separator: "\n"))
            </svg>

            """
    }

    /// The text as XML has it: without what XML 1.0 forbids, and with what it reserves written out.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\t", "\n", "\r": escaped += " "
            case "\0"..<" ", "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

extension Double {
    /// This number to a hundredth of a pixel, without needless zeros.
    fileprivate var short: String {
        guard isFinite else { return "0" }
        let text = fixed(2)
        return text.hasSuffix(".00") ? String(text.dropLast(3)) : text
    }
}
