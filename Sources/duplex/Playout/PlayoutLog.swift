import VoicePlayout
import VoiceRealtime
import VoiceWire

/// What happened while a capture was played: every arrival, every decision, and target and level at every pull.
struct PlayoutLog {
    /// Something that happened, at a time in ms since the first packet arrived.
    private enum Event {
        /// `position` is the packet's place in the media, ms; the fastest packet's arrival there is no lateness.
        case arrival(sequence: UInt16, position: Double, outcome: InsertOutcome)
        case pull(target: Double, level: Double)
        /// What is played now came so long ago.
        case played(delay: Double)
        case decision(PlayoutDecision.Kind, milliseconds: Double)
    }

    /// No longer call is logged or drawn: its pulls alone are 1.4 million, and with what is written of them take
    /// several hundred MB.
    static let longest: Duration = .seconds(2 * 3_600)

    private var events: [(time: Double, event: Event)] = []
    private var firstTimestamp: UInt32?

    mutating func noteArrival(_ packet: PlayoutCapture.Packet, at time: Duration, _ outcome: InsertOutcome) {
        let first = firstTimestamp ?? packet.header.timestamp
        firstTimestamp = first
        let position = Double(Int32(bitPattern: packet.header.timestamp &- first)) / 48
        events.append(
            (
                time.milliseconds,
                .arrival(sequence: packet.header.sequenceNumber, position: position, outcome: outcome)
            ))
    }

    mutating func notePull(at time: Duration, target: Duration, bufferedFrames: Int) {
        events.append((time.milliseconds, .pull(target: target.milliseconds, level: Double(bufferedFrames) / 48)))
    }

    mutating func notePlayed(at time: Duration, delay milliseconds: Double) {
        events.append((time.milliseconds, .played(delay: milliseconds)))
    }

    mutating func note(_ decision: PlayoutDecision) {
        let time = Double(decision.pulledFrame) / 48
        events.append((time, .decision(decision.kind, milliseconds: Double(decision.frames) / 48)))
    }

    /// How much later than the fastest packet one that arrived at a time came, ms.
    private var fastest: Double {
        events.compactMap { entry in
            guard case .arrival(_, let position, _) = entry.event else { return nil }
            return entry.time - position
        }.min() ?? 0
    }

    // MARK: CSV

    /// One line for each event, in order; what does not belong to an event is empty.
    var csv: String {
        var text = "time_ms,event,sequence,lateness_ms,target_ms,level_ms,length_ms\n"
        let fastest = fastest
        for (time, event) in events {
            // In the figure alone: the log has when each packet came, and what was done.
            if case .played = event { continue }
            text += time.fixed(3)
            switch event {
            case .played: break
            case .arrival(let sequence, let position, let outcome):
                let name = outcome == .stored ? "arrive" : "arrive_\(outcome)"
                text += ",\(name),\(sequence),\((time - position - fastest).fixed(3)),,,\n"
            case .pull(let target, let level):
                text += ",pull,,,\(target.fixed(3)),\(level.fixed(3)),\n"
            case .decision(let kind, let milliseconds):
                text += ",\(kind),,,,,\(milliseconds.fixed(3))\n"
            }
        }
        return text
    }

    func writeCSV(to path: String) throws(Failure) {
        do throws(SystemError) { try OutputFile.write(csv, to: path) } catch {
            throw Failure(.thresholdMissed, "'\(path)' cannot be written: \(systemReason(error.number)); check --log")
        }
    }

    // MARK: Figure

    /// What is drawn of decisions, each in a colour of its own that does not depend on which of them there were.
    private static let shown: [(kind: PlayoutDecision.Kind, name: String)] = [
        (.restore, "restored"), (.conceal, "lost, made up"), (.bridge, "late, made up"), (.skip, "skipped"),
        (.shorten, "sped up by"), (.lengthen, "slowed down by"),
    ]

    /// The sums of each decision's lengths over time, up to the end.
    static func series(of sums: [PlayoutDecision.Kind: [(x: Double, y: Double)]], end: Double) -> [PlotPanel.Series] {
        shown.enumerated().compactMap { index, shown in
            guard let points = sums[shown.kind], let last = points.last else { return nil }
            return PlotPanel.Series(name: shown.name, points: [(0, 0)] + points + [(end, last.y)], color: index)
        }
    }

    /// Delay over time above, and below what was done about it, summed up.
    func figure(title: String, findings: [String]) -> Figure {
        typealias Points = [(x: Double, y: Double)]
        var (arrivals, late, targets, levels, played) = (Points(), Points(), Points(), Points(), Points())
        var sums: [PlayoutDecision.Kind: [(x: Double, y: Double)]] = [:]
        let fastest = fastest
        for (time, event) in events {
            let seconds = time / 1000
            switch event {
            case .arrival(_, let position, let outcome):
                let point = (x: seconds, y: time - position - fastest)
                arrivals.append(point)
                if outcome == .late { late.append(point) }
            case .played(let delay): played.append((seconds, delay))
            case .pull(let target, let level):
                targets.append((seconds, target))
                levels.append((seconds, level))
            case .decision(let kind, let milliseconds):
                let sum = sums[kind]?.last?.y ?? 0
                sums[kind, default: []] += [(seconds, sum), (seconds, sum + milliseconds)]
            }
        }
        let end = events.last.map { $0.time / 1000 } ?? 0
        return Figure(
            title: title, findings: findings,
            panels: [
                PlotPanel(
                    title: "delay", xLabel: "s", yLabel: "ms",
                    content: .lines([
                        PlotPanel.Series(name: "sound that waits", points: levels, color: 4),
                        PlotPanel.Series(name: "lateness of arrivals", points: arrivals, color: 1),
                        PlotPanel.Series(name: "target", points: targets, color: 2),
                        PlotPanel.Series(name: "delay of what is played", points: played, color: 0),
                        PlotPanel.Series(name: "too late to be played", points: late, style: .marks, color: 5),
                    ])),
                PlotPanel(
                    title: "decisions, summed up", xLabel: "s", yLabel: "ms",
                    content: .lines(Self.series(of: sums, end: end))),
            ])
    }
}
