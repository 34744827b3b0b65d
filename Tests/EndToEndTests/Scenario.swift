import SimulatedCalls
import TestCases
import Testing
import VoiceEngine

/// What the scenarios of this folder ask of a call.
enum Scenario {
    /// The seeds that each statistical scenario holds for.
    static let seeds = cases([2, 3, 4, 5] as [UInt64])
    /// Those of a scenario that a module's own tests show for many seeds, or whose seeds are alike.
    static let few = cases([2, 3] as [UInt64])

    /// The side whose sound is played at `listener`; a call without it cannot be judged.
    static func stream(_ call: SimulatedCall, at listener: SimulatedCall.Side) throws -> EngineStatistics.Stream {
        try #require(call.statistics(listener).streams.first, "side \(listener) plays nobody")
    }

    /// The mean time that sound waited in the jitter buffer between two moments, in milliseconds.
    static func meanWait(_ earlier: PlayoutStatistics, _ later: PlayoutStatistics) -> Double {
        let samples = Double(later.jitterBufferEmittedCount - earlier.jitterBufferEmittedCount)
        return (later.jitterBufferDelay - earlier.jitterBufferDelay) / samples * 1_000
    }

    /// The share of the sound pulled that was made up.
    static func concealedRatio(_ playout: PlayoutStatistics) -> Double {
        Double(playout.concealedSamples) / Double(max(playout.pulledSamples, 1))
    }
}

extension EngineConfiguration {
    /// Takes a third of an encoder's time: how it sounds is not what these scenarios are about.
    mutating func codeQuickly() { encoder.complexity = 0 }
}

extension Duration {
    /// This duration in milliseconds.
    var milliseconds: Double { self / .milliseconds(1) }
}

extension [EngineEvent] {
    /// How many of the events `matches` holds for.
    func count(_ matches: (EngineEvent) -> Bool) -> Int { reduce(0) { $0 + (matches($1) ? 1 : 0) } }
}
