import VoiceEngine
import VoiceSimulation

/// One pulse that was sent on its way.
struct LoopbackRound: Equatable {
    /// From the frames that an application has written before the pulse to those that it has read before it, or from
    /// loudspeaker to microphone; see ``LoopbackProbe/Scale``. Nil where the pulse was not found.
    var milliseconds: Double?
    /// How well what was found is the pulse, -1 to 1; nil where nothing is like it.
    var correlation: Double?
    /// By how much later the pulse came than the device's own times say: converters, cable and air, which no time stamp
    /// tells of.
    var unreportedMilliseconds: Double?
}

/// Sends pulses through a device one by one, at random distances, and finds them in what the device captures.
///
/// The distances are random so that no pulse falls on the same point of a period, or of a codec's frame, as the one
/// before. Reads no clock: whoever owns it calls ``step()`` at least ten times a second.
struct LoopbackProbe: ~Copyable {
    /// What a way is measured in.
    enum Scale {
        /// In frames as an application counts them: written before the pulse, read before the pulse. Both counts begin
        /// at the device's start; the silence that playback starts with is not written by the application. It is what a
        /// loop that writes each period as soon as it has read one is later by than a wire.
        case frames
        /// From the DAC time to the ADC time of the device's own time stamps: the way from one device's loudspeaker,
        /// through whatever lies between, to another's microphone.
        case times
    }

    /// What a step brought.
    enum Outcome: Equatable {
        /// Nothing yet.
        case underWay
        /// A round is over.
        case round(LoopbackRound)
        /// An xrun, or a late thread, has spoiled the round: it says nothing of the way.
        case disturbed
    }

    private let pulse: ProbePulse
    private let scale: Scale
    private let search: PulseSearch
    /// The longest way that is looked for, in frames.
    private let longestWay: Int
    /// The way that is looked for now, in frames: after a find not much more than that, so that rounds do not take a
    /// second each.
    private var reach: Int
    private var random: SeededGenerator
    private(set) var stream: ProbeStream
    private var phase: Phase

    private enum Phase {
        /// Until the device has played this many frames.
        case settling(until: Int)
        /// Until the pulse, which ends at the frame `end` of those given, has been played.
        case sending(end: Int, playedFrom: Int, disturbances: Int)
        /// Until the microphone has heard enough.
        case listening(pulse: Double, from: Int, until: Int, disturbances: Int)
    }

    /// The most that a pulse comes later than it would in time with the one before: longer than any period and any
    /// codec's frame.
    private static let spread = 0..<9_600
    /// What is added to twice the way found before: 100 ms, for ways that grow.
    private static let leastReach = 4_800
    /// How far before its cause a sound is looked for: time stamps may be wrong by as much. 5 ms.
    private static let foresight = 240

    /// Pulses through `stream`, once it has played for `settling` frames, found where their way is up to `longestWay`
    /// frames.
    init(
        _ stream: consuming ProbeStream, pulse: ProbePulse, scale: Scale, settling: Int, longestWay: Int = 48_000,
        seed: UInt64
    ) {
        self.stream = stream
        self.pulse = pulse
        self.scale = scale
        self.longestWay = longestWay
        reach = longestWay
        search = PulseSearch(pulse)
        random = SeededGenerator(seed: seed, stream: "loopback")
        phase = .settling(until: settling)
    }

    /// Moves frames to and from the device, and a round on where they suffice.
    mutating func step() -> Outcome {
        stream.exchange()
        switch phase {
        case .settling(let end):
            guard stream.played.endFrame >= end else { return .underWay }
            send()
            return .underWay
        case .sending(let end, let playedFrom, let disturbances):
            // The device hands over what it played in the moment in which it fetches it, but the two are looked at one
            // after the other.
            guard stream.framesFetched >= end, stream.played.endFrame >= playedFrom + pulse.samples.count else {
                return .underWay
            }
            return listen(from: playedFrom, disturbances)
        case .listening(let position, let from, let until, let disturbances):
            guard stream.captured.endFrame >= until else { return .underWay }
            defer { send() }
            guard stream.disturbances == disturbances else { return .disturbed }
            let round = judge(position, from: from)
            reach = round.milliseconds.map { min(max(Int($0 * 48) * 2, 0) + Self.leastReach, longestWay) } ?? longestWay
            return .round(round)
        }
    }

    private mutating func send() {
        let playedFrom = stream.played.endFrame
        stream.forget(playedBefore: playedFrom, capturedBefore: stream.captured.endFrame - longestWay)
        let gap = Int(random.uniform(in: Double(Self.spread.lowerBound)...Double(Self.spread.upperBound)))
        let end = stream.play(pulse.samples, after: gap)
        phase = .sending(end: end, playedFrom: playedFrom, disturbances: stream.disturbances)
    }

    /// The pulse has been played: where it began, and where to listen for it.
    private mutating func listen(from playedFrom: Int, _ disturbances: Int) -> Outcome {
        stream.exchange()
        let played = stream.played
        guard let sent = search.find(in: played.samples.span), sent.isTrusted else {
            send()
            return .disturbed
        }
        let position = Double(played.firstFrame) + sent.position
        var from = Int(position.rounded())
        if scale == .times, let time = played.nanoseconds(at: position), let frame = stream.captured.frame(at: time) {
            from = frame - Self.foresight
        }
        from = max(from, stream.captured.firstFrame)
        phase = .listening(
            pulse: position, from: from, until: from + reach + pulse.samples.count, disturbances: disturbances)
        return .underWay
    }

    private func judge(_ position: Double, from: Int) -> LoopbackRound {
        let captured = stream.captured
        let heard = captured.samples.span.extracting(from - captured.firstFrame..<captured.samples.count)
        guard let found = search.find(in: heard) else { return LoopbackRound() }
        guard found.isTrusted else { return LoopbackRound(correlation: found.correlation) }
        let place = Double(from) + found.position
        var round = LoopbackRound(correlation: found.correlation)
        if let atLoudspeaker = stream.played.nanoseconds(at: position),
            let atMicrophone = captured.nanoseconds(at: place)
        {
            round.unreportedMilliseconds = (atMicrophone - atLoudspeaker) / 1e6
        }
        switch scale {
        case .frames: round.milliseconds = (place - position) / 48
        case .times: round.milliseconds = round.unreportedMilliseconds
        }
        return round
    }
}
