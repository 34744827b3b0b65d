/// One diagram of a ``Figure``, with its axes.
struct PlotPanel {
    /// A line of a diagram, or marks.
    struct Series {
        /// How points are shown.
        enum Style {
            case line, marks
        }

        var name: String
        var points: [(x: Double, y: Double)]
        var style = Style.line
        /// Of all colours, the same in every figure, whatever else is drawn; nil for the place in the diagram.
        var color: Int?
    }

    /// A bar and what it is made of, from the left; a part without a name is a gap.
    struct Bar {
        var name: String
        var parts: [(name: String, value: Double)]
    }

    /// What is drawn.
    enum Content {
        /// How many values fall into each interval; intervals follow each other.
        case histogram([(range: ClosedRange<Double>, count: Int)])
        case lines([Series])
        /// Horizontal bars, all of whose parts are named in a legend.
        case stackedBars([Bar])
        case spectrogram(Spectrogram)
    }

    var title: String
    var xLabel: String
    var yLabel: String
    var content: Content
    /// Of lines: the least that the vertical axis spans, so that noise does not fill the panel.
    var leastSpan = 0.0

    // The panel's measures, in pixels.
    private static let left = 90.0
    private static let right = 24.0
    private static let above = 30.0
    private static let below = 46.0
    private static let legendLine = 18.0
    private static let ticks = 8
    private static let fewBins = 9

    /// The panel's whole height in pixels.
    var height: Double {
        let plot =
            switch content {
            case .stackedBars(let bars): Double(max(bars.count, 1)) * 34
            case .histogram, .lines: 200.0
            case .spectrogram: 220.0
            }
        return Self.above + plot + Self.below + legendHeight
    }

    /// The names in the legend, and their colours.
    private var legend: [(name: String, color: Int)] {
        switch content {
        case .lines(let series):
            return series.count > 1 ? series.enumerated().map { ($1.name, $1.color ?? $0) } : []
        case .stackedBars(let bars):
            var names: [String] = []
            for part in bars.flatMap(\.parts)
            where part.value > 0 && !part.name.isEmpty && !names.contains(part.name) {
                names.append(part.name)
            }
            return names.enumerated().map { ($1, $0) }
        case .histogram, .spectrogram: return []
        }
    }

    private static let legendColumns = 4

    private var legendHeight: Double {
        Double((legend.count + Self.legendColumns - 1) / Self.legendColumns) * Self.legendLine
    }

    func draw(on canvas: inout SVGCanvas, top: Double) {
        let bottom = top + height - Self.below - legendHeight
        let frame = PlotFrame(
            left: Self.left, right: canvas.width - Self.right, top: top + Self.above, bottom: bottom)
        canvas.text(title, x: Self.left, y: top + 20, size: 13, bold: true)
        switch content {
        case .histogram(let bins): draw(bins, in: frame, on: &canvas)
        case .lines(let series): draw(series, in: frame, on: &canvas)
        case .stackedBars(let bars): draw(bars, in: frame, on: &canvas)
        case .spectrogram(let spectrogram): draw(spectrogram, in: frame, on: &canvas)
        }
        canvas.text(xLabel, x: (frame.left + frame.right) / 2, y: bottom + 36, anchor: .middle)
        canvas.text(yLabel, x: 20, y: (frame.top + frame.bottom) / 2, anchor: .middle, turned: true)
        drawLegend(below: bottom + Self.below, frame, on: &canvas)
    }

    private func drawLegend(below top: Double, _ frame: PlotFrame, on canvas: inout SVGCanvas) {
        let step = (frame.right - frame.left) / Double(Self.legendColumns)
        for (index, entry) in legend.enumerated() {
            let x = frame.left + Double(index % Self.legendColumns) * step
            let y = top + Double(index / Self.legendColumns) * Self.legendLine
            canvas.rectangle(x: x, y: y, width: 11, height: 11, fill: PlotColor[entry.color])
            canvas.text(entry.name, x: x + 16, y: y + 10, size: 11)
        }
    }

    // MARK: Contents

    private func draw(
        _ bins: [(range: ClosedRange<Double>, count: Int)], in frame: PlotFrame, on canvas: inout SVGCanvas
    ) {
        guard let first = bins.first, let last = bins.last else { return }
        // Few intervals do not fill the panel from edge to edge.
        let margin = (first.range.upperBound - first.range.lowerBound) * Double(max(Self.fewBins - bins.count, 0)) / 2
        let x = PlotScale(
            first.range.lowerBound - margin...last.range.upperBound + margin, from: frame.left, to: frame.right)
        let y = PlotScale(0...Double(max(bins.map(\.count).max() ?? 1, 1)), from: frame.bottom, to: frame.top)
        frame.drawGrid(x, y, on: &canvas, ticks: Self.ticks)
        for bin in bins where bin.count > 0 {
            // A single value has a bar nevertheless.
            let (from, to) = (x[bin.range.lowerBound], x[bin.range.upperBound])
            let width = max(to - from - 1, 2)
            canvas.rectangle(
                x: (from + to - width) / 2, y: y[Double(bin.count)], width: width,
                height: frame.bottom - y[Double(bin.count)],
                fill: PlotColor[0], tip: "\(bin.count)")
        }
        frame.drawAxes(on: &canvas)
    }

    private func draw(_ series: [Series], in frame: PlotFrame, on canvas: inout SVGCanvas) {
        let points = series.flatMap(\.points).filter { $0.x.isFinite && $0.y.isFinite }
        guard let left = points.map(\.x).min(), let right = points.map(\.x).max(), let low = points.map(\.y).min(),
            let high = points.map(\.y).max()
        else { return }
        let x = PlotScale(left...right, from: frame.left, to: frame.right)
        let margin = max(leastSpan - (high - low), 0) / 2
        let y = PlotScale(low - margin...high + margin, from: frame.bottom, to: frame.top)
        frame.drawGrid(x, y, on: &canvas, ticks: Self.ticks)
        for (index, line) in series.enumerated() {
            let color = PlotColor[line.color ?? index]
            guard line.style == .line else {
                for point in line.points where point.x.isFinite && point.y.isFinite {
                    canvas.rectangle(x: x[point.x] - 2, y: y[point.y] - 2, width: 4, height: 4, fill: color)
                }
                continue
            }
            // What is not a number is a gap in the line.
            for stretch in line.points.split(whereSeparator: { !($0.x.isFinite && $0.y.isFinite) }) {
                canvas.polyline(Self.thinned(stretch.map { (x[$0.x], y[$0.y]) }), stroke: color)
            }
        }
        frame.drawAxes(on: &canvas)
    }

    /// Of the points in a row that are in one pixel's width the first, the least, the greatest and the last: more is not
    /// seen.
    static func thinned(_ points: [(x: Double, y: Double)]) -> [(x: Double, y: Double)] {
        var thin: [(x: Double, y: Double)] = []
        var start = 0
        for end in 1..<points.count + 1 {
            let isBehind = end == points.count || points[end].x.rounded(.down) != points[start].x.rounded(.down)
            guard isBehind else { continue }
            let column = start..<end
            let least = column.min { points[$0].y < points[$1].y } ?? start
            let greatest = column.max { points[$0].y < points[$1].y } ?? start
            thin += Set([start, least, greatest, end - 1]).sorted().map { points[$0] }
            start = end
        }
        return thin
    }

    private func draw(_ bars: [Bar], in frame: PlotFrame, on canvas: inout SVGCanvas) {
        let longest = bars.map { $0.parts.reduce(0) { $0 + max($1.value, 0) } }.max() ?? 1
        let x = PlotScale(0...max(longest, 1e-9), from: frame.left, to: frame.right)
        frame.drawGrid(x, nil, on: &canvas, ticks: Self.ticks)
        let names = legend.map(\.name)
        let step = (frame.bottom - frame.top) / Double(max(bars.count, 1))
        for (row, bar) in bars.enumerated() {
            let top = frame.top + Double(row) * step + 5
            var begin = 0.0
            for part in bar.parts where part.value > 0 {
                defer { begin += part.value }
                if part.name.isEmpty { continue }
                canvas.rectangle(
                    x: x[begin], y: top, width: x[begin + part.value] - x[begin], height: step - 10,
                    fill: PlotColor[names.firstIndex(of: part.name) ?? 0], tip: "\(part.name): \(part.value.fixed(2))")
            }
            canvas.text(bar.name, x: frame.left - 8, y: top + step / 2 - 1, size: 11, anchor: .end)
        }
        frame.drawAxes(on: &canvas)
    }

    private func draw(_ spectrogram: Spectrogram, in frame: PlotFrame, on canvas: inout SVGCanvas) {
        canvas.image(
            png: spectrogram.png, x: frame.left, y: frame.top, width: frame.right - frame.left,
            height: frame.bottom - frame.top)
        let x = PlotScale(0...spectrogram.seconds, from: frame.left, to: frame.right)
        let y = PlotScale(0...spectrogram.highestKilohertz, from: frame.bottom, to: frame.top)
        frame.drawTicks(x, y, on: &canvas, ticks: Self.ticks)
        frame.drawAxes(on: &canvas)
    }
}

/// The rectangle between a diagram's axes, in pixels.
struct PlotFrame {
    var left: Double
    var right: Double
    var top: Double
    var bottom: Double

    func drawAxes(on canvas: inout SVGCanvas) {
        canvas.line((left, top), (left, bottom), stroke: PlotColor.axis)
        canvas.line((left, bottom), (right, bottom), stroke: PlotColor.axis)
    }

    func drawGrid(_ x: PlotScale, _ y: PlotScale?, on canvas: inout SVGCanvas, ticks: Int) {
        for tick in x.ticks(ticks) {
            canvas.line((x[tick.value], top), (x[tick.value], bottom), stroke: PlotColor.grid)
        }
        for tick in y?.ticks(ticks / 2) ?? [] {
            canvas.line((left, y?[tick.value] ?? 0), (right, y?[tick.value] ?? 0), stroke: PlotColor.grid)
        }
        drawTicks(x, y, on: &canvas, ticks: ticks)
    }

    /// The marks' numbers, beside the axes.
    func drawTicks(_ x: PlotScale, _ y: PlotScale?, on canvas: inout SVGCanvas, ticks: Int) {
        for tick in x.ticks(ticks) {
            canvas.text(tick.text, x: x[tick.value], y: bottom + 16, size: 11, anchor: .middle)
        }
        guard let y else { return }
        for tick in y.ticks(ticks / 2) {
            canvas.text(tick.text, x: left - 6, y: y[tick.value] + 4, size: 11, anchor: .end)
        }
    }
}
