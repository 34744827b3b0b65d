import VoiceRealtime

/// Panels below each other under one title, written as SVG.
struct Figure {
    var title: String
    /// What was measured, in words and figures; below the title.
    var findings: [String] = []
    var panels: [PlotPanel]

    /// In pixels.
    private static let width = 760.0
    private static let titleHeight = 40.0
    private static let lineHeight = 18.0

    /// The figure as an SVG document.
    var svg: String {
        let heading = Self.titleHeight + Double(findings.count) * Self.lineHeight
        let height = heading + panels.reduce(0) { $0 + $1.height }
        var canvas = SVGCanvas(width: Self.width, height: height)
        // A long title in smaller letters, which are about 0.6 of their height wide.
        let size = min(16, (Self.width - 40) / (0.6 * Double(max(title.count, 1))))
        canvas.text(title, x: Self.width / 2, y: 26, size: size, anchor: .middle, bold: true)
        for (index, finding) in findings.enumerated() {
            canvas.text(
                finding, x: Self.width / 2, y: Self.titleHeight + 4 + Double(index) * Self.lineHeight, anchor: .middle)
        }
        var top = heading
        for panel in panels {
            panel.draw(on: &canvas, top: top)
            top += panel.height
        }
        return canvas.document
    }

    /// Writes the figure to `path`; `option` is what the user named it by.
    func write(to path: String, option: String) throws(Failure) {
        do throws(SystemError) { try OutputFile.write(svg, to: path) } catch {
            throw Failure(
                .thresholdMissed, "'\(path)' cannot be written: \(systemReason(error.number)); check \(option)")
        }
    }
}

/// The colours that tell series and parts apart: eight that people with any colour vision can (M. Okabe, K. Ito, "Color
/// Universal Design", 2008), then four darker ones.
enum PlotColor {
    private static let all = [
        "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999", "#004166", "#805800",
        "#004D38", "#66304F",
    ]
    static let grid = "#ddd"
    static let axis = "#666"

    static subscript(index: Int) -> String { all[index % all.count] }
}
