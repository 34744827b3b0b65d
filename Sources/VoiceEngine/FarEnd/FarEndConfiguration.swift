/// What is fixed when a local far end is opened.
public struct FarEndConfiguration: Equatable, Sendable {
    /// How many far ends can be open at once.
    public static let maximumFarEnds = 4
    /// How much sound a far end may hold: up to two minutes.
    static let queues: ClosedRange<Duration> = .milliseconds(100) ... .seconds(120)

    /// How much sound waits at most, 0.1 s to 2 min; ``LocalFarEnd/play(_:rate:utterance:)`` suspends when so much
    /// does.
    public var queue: Duration
    /// The rate at which the near end is taken.
    public var nearEndRate: SoundRate

    /// 30 s, and 16 kHz, unless given otherwise.
    public init(queue: Duration = .seconds(30), nearEndRate: SoundRate = .hertz16000) {
        self.queue = queue
        self.nearEndRate = nearEndRate
    }

    func validate() throws(EngineError) {
        guard Self.queues.contains(queue) else {
            throw .invalidConfiguration("the far end's queue is \(queue); use 0.1 s to 120 s")
        }
    }

    /// The queue in frames of 48 kHz.
    var queueFrames: Int { queue.frames }
}
