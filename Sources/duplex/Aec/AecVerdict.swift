/// The measurements in plain words, the worst first to be acted upon.
struct AecVerdict {
    /// How good a finding is.
    enum Grade: String {
        case good, fair, poor, unknown
    }

    /// One finding.
    struct Finding {
        var grade: Grade
        var text: String
    }

    /// Echo that is this much lower is not noticed, and is a nuisance, dB.
    private static let removed = (good: 30.0, fair: 20.0)
    /// Loss of speech that is not noticed, and that costs words.
    private static let lost = (good: 0.03, fair: 0.15)
    /// Drift that every canceller follows, and that none does without resampling, ppm.
    private static let drift = (good: 30.0, fair: 300.0)
    /// Below this share of linear echo in the microphone there is none, or it is drowned.
    private static let leastLinear = 0.02
    /// Above this share the path is as linear and constant as a canceller wishes.
    private static let mostlyLinear = 0.9
    /// More clipped samples than this bend the echo path.
    private static let clipped = 1e-4
    /// An echo this long after the reference is in time for a canceller, and one that much before it for none, ms.
    private static let lag = (inTime: 1.0, tooEarly: -0.5)

    private(set) var findings: [Finding] = []

    init(_ summary: AecSummary) {
        if let lag = summary.echoLagMs, lag < Self.lag.tooEarly {
            addPreceding(lag)
        } else {
            addEcho(summary)
            addPath(summary)
        }
        addReference(summary)
        addClipping(summary)
        addTalker(summary)
    }

    /// The worst that was found; unknown where nothing worse is known than that something cannot be judged.
    var grade: Grade {
        [.poor, .fair, .unknown].first { grade in findings.contains { $0.grade == grade } } ?? .good
    }

    var lines: [String] { findings.map { "\($0.grade.rawValue): \($0.text)" } }

    private mutating func add(_ grade: Grade, _ text: String) { findings.append(Finding(grade: grade, text: text)) }

    private func grade(_ value: Double, best: (good: Double, fair: Double), isHighBetter: Bool) -> Grade {
        let sign = isHighBetter ? 1.0 : -1.0
        if sign * value >= sign * best.good { return .good }
        return sign * value >= sign * best.fair ? .fair : .poor
    }

    private mutating func addPreceding(_ lag: Double) {
        add(
            .poor,
            "The echo precedes the reference by \((-lag).fixed(1)) ms, so it cannot be cancelled: are the microphone and the reference "
                + "swapped, or is the reference taken too late?")
    }

    private mutating func addEcho(_ summary: AecSummary) {
        guard summary.farHeardS > 0 else {
            return add(.unknown, "The far end was never heard: there was nothing to cancel.")
        }
        let isAlone = summary.farAloneS >= EchoEvidence.leastAlone
        guard let removed = isAlone ? summary.farAloneErleDb : summary.erleDb else {
            return add(
                .poor,
                "What was removed cannot be measured: a sample is so far beyond full scale that its energy is no number."
            )
        }
        if let share = summary.linearEchoRatio, share < Self.leastLinear {
            return add(
                .unknown,
                "The microphone holds almost no linear echo of the reference (\((share * 100).fixed(1)) % of its energy): a headset, the "
                    + "wrong reference, or an echo that the near end drowns. \(removed.fixed(1)) dB were removed where the far end was heard."
            )
        }
        if isAlone || summary.farAloneS == summary.farHeardS || removed >= Self.removed.good {
            add(
                grade(removed, best: Self.removed, isHighBetter: true),
                "While the far end \(isAlone ? "alone was heard (\(summary.farAloneS.fixed(1)) s)" : "was heard"), the output has "
                    + "\(removed.fixed(1)) dB less energy than the microphone.")
        } else {
            add(
                .unknown,
                "The near end talked nearly always while the far end was heard; the \(removed.fixed(1)) dB that went of both say little of the "
                    + "echo.")
        }
        if let seconds = summary.convergenceS {
            add(seconds <= 1 ? .good : .fair, "The echo was first 20 dB lower after \(seconds.fixed(2)) s.")
        } else if removed >= Self.removed.fair {
            add(.fair, "The echo was never 20 dB lower for half a second.")
        }
    }

    private mutating func addPath(_ summary: AecSummary) {
        if let delay = summary.delayMs {
            let isInTime = delay >= Self.lag.inTime
            add(
                isInTime ? .good : .fair,
                isInTime
                    ? "The echo comes \(delay.fixed(1)) ms after the reference."
                    : "The echo comes only \(delay.fixed(1)) ms after the reference: what comes before it cannot be cancelled. Take the "
                        + "reference earlier.")
        } else if let lag = summary.echoLagMs {
            add(
                .unknown,
                "The processing found no delay; by the recordings, the echo comes \(lag.fixed(1)) ms after the reference."
            )
        } else {
            add(.unknown, "No delay was found.")
        }
        if let drift = summary.driftPpm {
            add(
                grade(abs(drift), best: Self.drift, isHighBetter: false),
                "The delay drifts by \(drift.fixed(0)) ppm (known to some 20).")
        }
        guard let share = summary.linearEchoRatio, share >= Self.leastLinear else { return }
        if let loss = summary.echoReturnLossDb {
            add(
                loss > 0 ? .good : .fair,
                "The linear echo is \(loss.fixed(1)) dB below the reference (echo return loss).")
        }
        if let tail = summary.echoTailMs {
            add(
                tail <= 200 ? .good : .fair,
                "99 % of the echo's energy comes within \(tail.fixed(0)) ms of its first arrival.")
        }
        add(
            share >= Self.mostlyLinear ? .good : .fair,
            "\((share * 100).fixed(1)) % of the microphone's energy is a constant linear echo of the reference; the rest is the near end, "
                + "noise, a loudspeaker that distorts, or a path that changes.")
    }

    private mutating func addReference(_ summary: AecSummary) {
        if let gaps = summary.referenceGaps, gaps > 0 {
            add(
                .fair,
                "The reference broke off \(times(gaps)) amid sound for less than 0.1 s, as where frames of it are lost: the echo of what they "
                    + "held cannot be cancelled.")
        }
        if let shifts = summary.delayShifts, shifts > 0 {
            add(
                .fair,
                "The echo's delay jumped \(times(shifts)), as where playback breaks off or a device buffers anew.")
        }
        if let changes = summary.gainChanges, changes > 0, let last = summary.lastGainChangeDb {
            let which = changes == 1 ? "" : ", the last time"
            add(
                .fair,
                "The echo's gain changed \(times(changes))\(which) by \(last.fixed(1)) dB, as by a volume control behind the reference: "
                    + "some echo comes through at each change.")
        }
    }

    private func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }

    private mutating func addClipping(_ summary: AecSummary) {
        for (name, share) in [
            ("microphone", summary.microphoneClippedRatio), ("reference", summary.referenceClippedRatio),
        ] where share > Self.clipped {
            add(
                .poor,
                "The \(name) clips: \((share * 100).fixed(2)) % of its samples are at full scale. Lower its level.")
        }
    }

    private mutating func addTalker(_ summary: AecSummary) {
        guard let lost = summary.nearLostRatio else { return }
        add(
            grade(lost, best: Self.lost, isHighBetter: false),
            "The near talker lost \((lost * 100).fixed(1)) % of the speech (20 ms frames more than 10 dB down).")
        if let before = summary.nearSdrBeforeDb, let after = summary.nearSdrDb {
            add(
                after >= before ? .good : .poor,
                "The talker's signal-to-distortion ratio went from \(before.fixed(1)) to \(after.fixed(1)) dB.")
        }
    }
}
