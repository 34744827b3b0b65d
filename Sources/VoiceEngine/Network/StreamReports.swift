internal import VoiceWire

/// What one listener says of a stream that this engine sends, in one datagram.
struct ListenerWord: BitwiseCopyable {
    /// The listener's own synchronization source.
    let reporter: UInt32
    let block: ReportBlock
    /// Which packets came; nil where it does not tell.
    let pattern: LossPattern?
}

/// What listeners report of one stream that this engine sends, the microphone's or one that an app feeds, and how that
/// stream is to be sent therefore.
struct StreamReports: BitwiseCopyable, Sendable {
    /// A listener is not weighed again sooner than this: half of the shortest interval that ``ReportSchedule`` brings
    /// about (0.41 s). What it says counts for the time between, not for how often it says it, and a flood of reports
    /// costs no more than reading them.
    static let weighingInterval: Duration = .milliseconds(200)

    private(set) var listeners = ListenerTable<RemoteInbound>()
    private(set) var adaptation: SenderAdaptation
    private var allowsCopies = false
    private var sending: EngineConfiguration.Sending

    init(_ sending: EngineConfiguration.Sending) {
        self.sending = sending
        adaptation = SenderAdaptation(sending.encoder, policy: sending.adaptation, allowsCopies: false)
    }

    /// How to send from the next packet on.
    var plan: SenderPlan { adaptation.plan }

    /// Sends this way from now on; what listeners have reported is learnt anew.
    mutating func change(_ sending: EngineConfiguration.Sending) {
        self.sending = sending
        adaptation = SenderAdaptation(sending.encoder, policy: sending.adaptation, allowsCopies: allowsCopies)
    }

    /// Another stream begins, of which nobody has said anything.
    mutating func begin(_ start: RTPStreamStart) {
        listeners = ListenerTable<RemoteInbound>()
        allowsCopies = start.mayRepeat
        change(sending)
    }

    /// The stream has ended.
    mutating func end() { listeners = ListenerTable<RemoteInbound>() }

    /// Forgets whoever has not reported for long.
    mutating func forgetSilent(now: Duration) { listeners.forgetSilent(now: now) }

    /// Takes what a listener says; whether it was weighed.
    mutating func take(_ word: ListenerWord, arrival: Duration) -> Bool {
        let place = listeners.place(of: word.reporter, now: arrival)
        let before = listeners[place].weighed
        let (roundTrip, packets) = listeners[place].note(word.block, arrival: arrival)
        guard before.map({ arrival - $0 >= Self.weighingInterval }) ?? true else { return false }
        listeners[place].weighed = arrival
        let evidence =
            if let pattern = word.pattern { LossEvidence(pattern) } else {
                LossEvidence(
                    fractionLost: listeners[place].fractionLost, packets: min(packets, LossEvidence.mostPackets))
            }
        adaptation.note(evidence, from: word.reporter, roundTrip: roundTrip, now: arrival)
        return true
    }
}

/// The synchronization sources of the streams beside the microphone's that are being sent.
struct FedSources: BitwiseCopyable {
    private var sources = InlineArray<3, UInt32?>(repeating: nil)
    private var count = 0

    /// Of those that do not fit, which an engine cannot have, nothing is known.
    mutating func append(_ source: UInt32) {
        guard count < sources.count else { return }
        sources[count] = source
        count += 1
    }

    subscript(index: Int) -> UInt32? { sources[index] }
}

/// What one datagram says of those streams, in their order.
typealias FedWords = InlineArray<3, ListenerWord?>
