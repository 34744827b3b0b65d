import VoiceEngine

/// A telephone line as another party, beside the room or without one. Its driver brings 10 ms and wants 10 ms at each
/// tick of its own clock, on a thread that must not wait: nothing here waits, or allocates.
struct PhoneLine: Sendable {
    let farEnd: LocalFarEnd
    /// What was not heard here, since the line's clock is the faster one, in frames.
    private(set) var lost = 0

    init(_ engine: VoiceEngine) async throws {
        farEnd = try await engine.openFarEnd(FarEndConfiguration(queue: .milliseconds(200), nearEndRate: .hertz16000))
    }

    /// 10 ms from the line, and 10 ms to it, at 16 kHz.
    mutating func exchange(_ incoming: Span<Float>, _ outgoing: inout MutableSpan<Float>) {
        lost += incoming.count - farEnd.offer(incoming, rate: .hertz16000, utterance: 1)
        let taken = farEnd.takeNearEnd(into: &outgoing).frames
        // The line's clock is the faster one, or the microphone has not begun.
        for index in taken..<outgoing.count { outgoing[index] = 0 }
    }
}
