import GraphEngine

/// A graph as SVG: boxes in layers, sound as solid lines, events dashed with their names.
struct GraphDrawing {
    private static let (boxWidth, boxHeight) = (190.0, 52.0)
    private static let (columnGap, rowGap, margin) = (110.0, 40.0, 24.0)
    private static let (soundColour, eventColour, boxColour, lineColour) = ("#1f4e79", "#b3541e", "#eef3f8", "#7a8ca0")
    /// Longer names are cut; the whole stands in the tip.
    private static let longestName = 24

    private let graph: GraphDescription
    private let layout: GraphLayout
    private let places: [Int: GraphLayout.Place]
    /// How many nodes each layer has: shorter ones stand in the middle.
    private let heights: [Int: Int]

    init(_ graph: GraphDescription) {
        self.graph = graph
        layout = GraphLayout(graph)
        places = Dictionary(uniqueKeysWithValues: layout.places.map { ($0.node, $0) })
        heights = Dictionary(grouping: layout.places, by: \.layer).mapValues(\.count)
    }

    /// The whole document.
    var document: String {
        let width = 2 * Self.margin + Double(layout.layers) * (Self.boxWidth + Self.columnGap) - Self.columnGap
        let height = 2 * Self.margin + Double(max(1, layout.rows)) * (Self.boxHeight + Self.rowGap) - Self.rowGap
        var canvas = SVGCanvas(width: max(width, 100), height: height)
        for connection in graph.sounds { draw(connection, into: &canvas, isEvent: false) }
        for connection in graph.signals { draw(connection, into: &canvas, isEvent: true) }
        for place in layout.places { draw(place, into: &canvas) }
        return canvas.document
    }

    private func corner(_ place: GraphLayout.Place) -> (x: Double, y: Double) {
        let space = Double(layout.rows - (heights[place.layer] ?? 0)) * (Self.boxHeight + Self.rowGap) / 2
        return (
            Self.margin + Double(place.layer) * (Self.boxWidth + Self.columnGap),
            Self.margin + space + Double(place.row) * (Self.boxHeight + Self.rowGap)
        )
    }

    private func draw(_ place: GraphLayout.Place, into canvas: inout SVGCanvas) {
        let node = graph.nodes[place.node]
        let (x, y) = corner(place)
        let fields = node.settings.fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        canvas.rectangle(
            x: x, y: y, width: Self.boxWidth, height: Self.boxHeight, fill: Self.boxColour,
            tip: ([node.settings.id, node.type.summary] + fields).joined(separator: "\n"), stroke: Self.lineColour)
        canvas.text(
            Self.short(node.settings.id), x: x + Self.boxWidth / 2, y: y + 22, size: 13, anchor: .middle, bold: true)
        if node.type.name != node.settings.id {
            canvas.text(Self.short(node.type.name), x: x + Self.boxWidth / 2, y: y + 40, size: 12, anchor: .middle)
        }
    }

    private func draw(_ connection: GraphDescription.Connection, into canvas: inout SVGCanvas, isEvent: Bool) {
        guard let source = places[connection.source.node], let destination = places[connection.destination.node] else {
            return
        }
        let (from, to) = (corner(source), corner(destination))
        let colour = isEvent ? Self.eventColour : Self.soundColour
        let middle = Self.boxHeight / 2
        if source.layer < destination.layer {
            // Events leave and arrive a little lower, so that they do not lie on the sound between the same two.
            let shift = isEvent ? 10.0 : 0
            canvas.curve(
                (from.x + Self.boxWidth, from.y + middle + shift), (to.x, to.y + middle + shift), stroke: colour,
                isDashed: isEvent,
                // Between the rows, so that it does not run behind the boxes on its way.
                lift: destination.layer - source.layer > 1 ? (Self.boxHeight + Self.rowGap) / 2 : 0)
        } else {
            let isDown = to.y > from.y
            canvas.curve(
                (from.x + Self.boxWidth / 2, from.y + (isDown ? Self.boxHeight : 0)),
                (to.x + Self.boxWidth / 2, to.y + (isDown ? 0 : Self.boxHeight)), stroke: colour, isDashed: isEvent,
                isUpright: true)
        }
        guard isEvent else { return }
        let event = graph.nodes[connection.source.node].type.events[connection.source.place].name
        let action = graph.nodes[connection.destination.node].type.actions[connection.destination.place].name
        canvas.text(
            "\(event) → \(action)", x: (from.x + to.x + Self.boxWidth) / 2,
            y: (from.y + to.y + Self.boxHeight) / 2 + (source.layer < destination.layer ? 24 : 4), size: 11,
            anchor: .middle)
    }

    private static func short(_ name: String) -> String {
        name.count <= longestName ? name : "\(name.prefix(longestName - 1))…"
    }
}
