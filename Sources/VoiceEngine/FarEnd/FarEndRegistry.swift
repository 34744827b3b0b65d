internal import Synchronization
internal import VoiceTurns

/// The far ends, sinks and meters that are open, and where the media thread's news of them goes. From any thread; not
/// real-time safe.
final class FarEndRegistry: Sendable {
    private enum Line: Sendable {
        case farEnd(FarEndLine)
        case stream(FarEndLine)
        case sink(SinkLine)
        case meter(MeterLine)
        case listener(ListenerLine)

        func end() {
            switch self {
            case .farEnd(let line), .stream(let line): line.end()
            case .sink(let line): line.waiters.end()
            case .meter(let line): line.end()
            case .listener: break
            }
        }

        var isFarEnd: Bool { if case .farEnd = self { true } else { false } }
        var isStream: Bool { if case .stream = self { true } else { false } }
        var isSink: Bool { if case .sink = self { true } else { false } }
        var isMeter: Bool { if case .meter = self { true } else { false } }
        var isListener: Bool { if case .listener = self { true } else { false } }
    }

    private struct State {
        var last: UInt64 = 0
        var lines: [UInt64: Line] = [:]
        var isOver = false

        mutating func add(_ line: Line, atMost limit: Int, like isLike: (Line) -> Bool) -> UInt64? {
            guard lines.values.count(where: isLike) < limit, !isOver else { return nil }
            last += 1
            lines[last] = line
            return last
        }
    }

    private let state = Mutex(State())

    /// Keeps a far end until the media thread has let go of it; returns its number.
    func add(_ line: FarEndLine) throws(EngineError) -> UInt64 {
        guard line.encoding == nil else { return try addStream(line) }
        let limit = FarEndConfiguration.maximumFarEnds
        guard let number = state.withLock({ $0.add(.farEnd(line), atMost: limit, like: \.isFarEnd) }) else {
            throw .resourcesExhausted("\(limit) local far ends are open, or closing; close one")
        }
        return number
    }

    private func addStream(_ line: FarEndLine) throws(EngineError) -> UInt64 {
        let limit = OutgoingStream.maximumStreams
        guard let number = state.withLock({ $0.add(.stream(line), atMost: limit, like: \.isStream) }) else {
            throw .resourcesExhausted("\(limit) streams are published, or closing; close one")
        }
        return number
    }

    /// Keeps a sink, the same way.
    func add(_ line: SinkLine) throws(EngineError) -> UInt64 {
        let limit = FarEndTable.maximumSinks
        guard let number = state.withLock({ $0.add(.sink(line), atMost: limit, like: \.isSink) }) else {
            throw .resourcesExhausted("\(limit) sinks and taps are open, or closing; close one")
        }
        return number
    }

    /// Keeps a meter, the same way.
    func add(_ line: MeterLine) throws(EngineError) -> UInt64 {
        let limit = LevelMeter.maximumMeters
        guard let number = state.withLock({ $0.add(.meter(line), atMost: limit, like: \.isMeter) }) else {
            throw .resourcesExhausted("\(limit) meters are open, or closing; close one")
        }
        return number
    }

    /// Keeps a listener, the same way.
    func add(_ line: ListenerLine) throws(EngineError) -> UInt64 {
        let limit = SoundListening.maximumListeners
        guard let number = state.withLock({ $0.add(.listener(line), atMost: limit, like: \.isListener) }) else {
            throw .resourcesExhausted("\(limit) listeners are open, or closing; close one")
        }
        return number
    }

    /// The far ends that are open, the oldest first.
    var openFarEnds: [FarEndID] {
        state.withLock { state in
            state.lines.keys.sorted().compactMap { number in
                if case .farEnd = state.lines[number] { FarEndID(rawValue: number) } else { nil }
            }
        }
    }

    /// Forgets what the media thread has not been told of.
    func remove(_ number: UInt64) { state.withLock { _ = $0.lines.removeValue(forKey: number) } }

    func handle(_ news: FarEndNews) {
        guard let line = state.withLock({ $0.lines[news.line] }) else { return }
        switch line {
        case .farEnd(let line), .stream(let line): line.observer.withLock { $0 }?(news)
        case .sink, .meter, .listener: break
        }
        switch (news.kind, line) {
        case (.room, .farEnd(let line)), (.room, .stream(let line)): line.room.resume()
        case (.sound, .farEnd(let line)), (.sound, .stream(let line)): line.nearEnd.waiters.resume()
        case (.sound, .sink(let line)): line.waiters.resume()
        case (.utteranceStarted, .farEnd(let line)), (.utteranceStarted, .stream(let line)):
            line.post(.utteranceStarted(UtteranceID(rawValue: news.utterance), time: .nanoseconds(news.time)))
        case (.utterancePlayed, .farEnd(let line)), (.utterancePlayed, .stream(let line)):
            let played = PlayedUtterance(
                heard: Duration(frames: news.frames), time: .nanoseconds(news.time),
                isComplete: news.isComplete)
            line.post(.utterancePlayed(UtteranceID(rawValue: news.utterance), played))
        case (.levels, .meter(let line)): line.post(news.levels, until: .nanoseconds(news.time))
        case (.closed, _):
            line.end()
            remove(news.line)
        case (.bargeIn, _), (.room, _), (.sound, _), (.utteranceStarted, _), (.utterancePlayed, _), (.levels, _): break
        }
    }

    /// Ends all: the engine stops.
    func end() {
        let lines = state.withLock { state in
            state.isOver = true
            return Array(state.lines.values)
        }
        lines.forEach { $0.end() }
    }
}
