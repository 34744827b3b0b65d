internal import Synchronization
internal import VoiceTurns

/// The far ends and sinks that are open, and where the media thread's news of them goes. From any thread; not real-time safe.
final class FarEndRegistry: Sendable {
    private enum Line: Sendable {
        case farEnd(FarEndLine)
        case sink(SinkLine)

        func end() {
            switch self {
            case .farEnd(let line): line.end()
            case .sink(let line): line.waiters.end()
            }
        }
    }

    private struct State {
        var last: UInt64 = 0
        var lines: [UInt64: Line] = [:]
        var isOver = false

        var farEndCount: Int { lines.values.reduce(0) { if case .farEnd = $1 { $0 + 1 } else { $0 } } }
    }

    private let state = Mutex(State())

    /// Keeps a far end until the media thread has let go of it; returns its number.
    func add(_ line: FarEndLine) throws(EngineError) -> UInt64 {
        let number: UInt64? = state.withLock { state in
            guard state.farEndCount < FarEndConfiguration.maximumFarEnds, !state.isOver else { return nil }
            state.last += 1
            state.lines[state.last] = .farEnd(line)
            return state.last
        }
        guard let number else {
            throw .resourcesExhausted(
                "\(FarEndConfiguration.maximumFarEnds) local far ends are open, or closing; close one")
        }
        return number
    }

    /// Keeps a sink until the media thread has let go of it; returns its number.
    func add(_ line: SinkLine) throws(EngineError) -> UInt64 {
        let number: UInt64? = state.withLock { state in
            guard state.lines.count - state.farEndCount < FarEndTable.maximumSinks, !state.isOver else { return nil }
            state.last += 1
            state.lines[state.last] = .sink(line)
            return state.last
        }
        guard let number else {
            throw .resourcesExhausted("\(FarEndTable.maximumSinks) sinks are open, or closing; close one")
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
        if case .farEnd(let line) = line { line.observer.withLock { $0 }?(news) }
        switch (news.kind, line) {
        case (.room, .farEnd(let line)): line.room.resume()
        case (.sound, .farEnd(let line)): line.nearEnd.waiters.resume()
        case (.sound, .sink(let line)): line.waiters.resume()
        case (.utteranceStarted, .farEnd(let line)):
            line.post(.utteranceStarted(UtteranceID(rawValue: news.utterance), time: .nanoseconds(news.time)))
        case (.utterancePlayed, .farEnd(let line)):
            let played = PlayedUtterance(
                heard: Duration(frames: news.frames), time: .nanoseconds(news.time),
                isComplete: news.isComplete)
            line.post(.utterancePlayed(UtteranceID(rawValue: news.utterance), played))
        case (.closed, _):
            line.end()
            remove(news.line)
        case (.bargeIn, _), (.room, .sink), (.utteranceStarted, .sink), (.utterancePlayed, .sink): break
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
