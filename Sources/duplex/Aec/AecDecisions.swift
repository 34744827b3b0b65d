import VoiceProcessing

/// What the native canceller decided over a recording: counted, and each in a line with what it went by.
struct AecDecisions {
    /// One decision.
    struct Entry {
        var seconds: Double
        var text: String
        var evidence: EchoDecisions
    }

    /// The reference's delay is in frames of this rate, whatever the recording's.
    private static let framesPerMillisecond = 16.0

    let entries: [Entry]
    /// How often the reference was moved, not counting moves to where the hint says.
    let delayChoices: Int
    /// How often the path was taken for another one, the first included.
    let newPaths: Int
    /// How often the estimate was no part of the microphone any more.
    let lostPaths: Int
    /// How often the quick filter's weights were taken over.
    let shadowTakeovers: Int
    /// For how long everything was turned down, as nothing was known of the path or the hint was wrong.
    let cautionSeconds: Double

    /// Nil where the backend tells nothing.
    init?(_ blocks: [AecTrace.Block]) {
        let decided = blocks.map(\.decisions)
        guard decided.contains(where: { $0 != nil }) else { return nil }
        entries = decided.enumerated().compactMap { index, block in
            guard let block, let text = Self.text(block) else { return nil }
            return Entry(seconds: Double(index) / 100, text: text, evidence: block)
        }
        delayChoices = entries.count { [.found, .moved, .shifted, .jumped].contains($0.evidence.move) }
        newPaths = entries.count { $0.evidence.isPathNew }
        lostPaths = entries.count { $0.evidence.isPathLost }
        shadowTakeovers = entries.count { $0.evidence.isShadowTaken }
        cautionSeconds = Double(decided.count { $0.map { $0.caution != .none } ?? false }) / 100
    }

    /// What was decided in a block; nil where nothing was.
    static func text(_ block: EchoDecisions) -> String? {
        var parts: [String] = []
        if let move = block.move {
            parts.append("delay \(move.rawValue) at \((Double(block.delay) / framesPerMillisecond).fixed(1)) ms")
        }
        if let gain = block.gain { parts.append("filter scaled by \(Double(gain).fixed(2))") }
        if block.isShadowTaken { parts.append("quick filter taken over") }
        if block.isPathLost { parts.append("path lost") }
        if block.isPathNew { parts.append("path new") }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// The rows of a table in HTML; nothing in them needs escaping.
    var rows: String {
        entries.map { entry in
            let evidence = entry.evidence
            let cells = [
                entry.seconds.fixed(2), entry.text, Double(evidence.unexplained).fixed(2),
                Double(evidence.farOnly).fixed(2), Double(evidence.motion).fixed(2),
                evidence.move == nil ? "" : Double(evidence.prominence).fixed(1),
                evidence.move == nil ? "" : Double(evidence.likeness).fixed(3),
            ]
            return "<tr>" + cells.map { "<td>\($0)</td>" }.joined() + "</tr>"
        }.joined(separator: "\n")
    }

    static let headings = [
        "s", "decision", "unexplained", "far end alone", "quick filter's share", "peak over mean", "likeness",
    ]
}
