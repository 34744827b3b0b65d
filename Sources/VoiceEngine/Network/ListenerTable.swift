/// Somebody who reports on the stream that this engine sends.
protocol ReportingListener: BitwiseCopyable, Sendable {
    /// Nobody yet.
    init()
    /// Its own synchronization source.
    var synchronizationSource: UInt32 { get set }
    /// When it last reported.
    var heard: Duration { get set }
}

/// The listeners that report; of more than fit, those that did so last.
struct ListenerTable<Listener: ReportingListener>: BitwiseCopyable, Sendable {
    private(set) var count = 0
    private var entries = InlineArray<16, Listener>(repeating: Listener())

    subscript(index: Int) -> Listener {
        get { entries[index] }
        set { entries[index] = newValue }
    }

    /// The place of a listener, a new one, heard at `now`, where it has none.
    mutating func place(of source: UInt32, now: Duration) -> Int {
        for index in 0..<count where entries[index].synchronizationSource == source { return index }
        var index = count
        if count < SenderAdaptation.mostListeners {
            count += 1
        } else {
            index = 0
            for other in 1..<count where entries[other].heard < entries[index].heard { index = other }
        }
        entries[index] = Listener()
        entries[index].synchronizationSource = source
        entries[index].heard = now
        return index
    }

    /// Forgets whoever has not reported for long.
    mutating func forgetSilent(now: Duration) {
        var index = 0
        while index < count {
            if now - entries[index].heard > SenderAdaptation.patience {
                count -= 1
                entries[index] = entries[count]
            } else {
                index += 1
            }
        }
    }
}
