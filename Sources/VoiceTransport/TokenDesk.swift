internal import Glibc
internal import Synchronization
internal import VoiceRealtime
internal import VoiceRooms

/// Looks at tokens on a thread of its own: up to 160 µs each, which would be taken from everybody's sound on the
/// server's.
final class TokenDesk: Sendable {
    /// Tokens that wait: as many as a directory awaits verdicts on, of joins and newer ones. More are dropped, and
    /// brought again by their clients.
    static let queueLimit = 512
    /// Verdicts that are taken at once, each of which may be told to a whole room: media has its turn in between.
    static let verdictsAtOnce = 16

    /// What the two threads share; a class of its own, so that the thread does not hold the desk that owns it.
    private final class Trays: Sendable {
        let requests = Mutex<[VerificationRequest]>([])
        let verdicts = Mutex<[(VerificationRequest.ID, TokenVerdict)]>([])
    }

    private let trays = Trays()
    private let wake: WakeSignal
    private let answered: WakeSignal
    private let thread: RealtimeThread

    /// Starts the thread; `answered` is signalled with each verdict.
    init(verifier: TokenVerifier, answered: WakeSignal) throws(ThreadError) {
        let (trays, wake) = (trays, try WakeSignal())
        self.wake = wake
        self.answered = answered
        thread = try RealtimeThread(name: "dv-tokens", priority: 0, wake: wake) { stop in
            while !stop.isRaised {
                // Bounded as every wait of a thread that is joined; whoever asks or stops it wakes it.
                wake.wait(timeout: .milliseconds(500))
                for request in trays.requests.takeAll() where !stop.isRaised {
                    let verdict = verifier.verdict(on: request.token, unixTime: Int64(time(nil)))
                    trays.verdicts.withLock { $0.append((request.id, verdict)) }
                    answered.signal()
                }
            }
        }
    }

    /// Hands a token in.
    func ask(_ request: VerificationRequest) {
        trays.requests.withLock { requests in
            if requests.count < Self.queueLimit { requests.append(request) }
        }
        wake.signal()
    }

    /// The verdicts that came first of those not taken yet, at most ``verdictsAtOnce``. Where there are more, `answered`
    /// is signalled again.
    func takeVerdicts() -> [(VerificationRequest.ID, TokenVerdict)] {
        let (verdicts, isMore) = trays.verdicts.take(atMost: Self.verdictsAtOnce)
        if isMore { answered.signal() }
        return verdicts
    }
}

extension Mutex {
    /// Takes the first elements of an array, and whether some are left.
    func take<Element: Sendable>(atMost limit: Int) -> (elements: [Element], isMore: Bool) where Value == [Element] {
        withLock { elements in
            let first = Array(elements.prefix(limit))
            elements.removeFirst(first.count)
            return (first, !elements.isEmpty)
        }
    }

    /// Empties an array.
    func takeAll<Element: Sendable>() -> [Element] where Value == [Element] {
        withLock { elements in
            guard !elements.isEmpty else { return [] }
            let all = elements
            elements = []
            return all
        }
    }
}
