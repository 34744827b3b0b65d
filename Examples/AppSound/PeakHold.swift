import Synchronization
import VoiceEngine

/// Holds the microphone's loudest sample, measured on the engine's media thread itself: no block is missed, and none is
/// late.
@safe
final class PeakHold: SoundListener {
    private let held = Atomic<Float>(0)

    /// The loudest sample so far, full scale 1.
    var peak: Float { held.load(ordering: .relaxed) }

    /// On the media thread: the compiler proves that it neither waits nor allocates.
    @_noLocks @_noAllocation
    func hear(_ block: Span<Float>, at nanoseconds: Int64) {
        var loudest = held.load(ordering: .relaxed)
        for index in block.indices { loudest = max(loudest, block[index].magnitude) }
        held.store(loudest, ordering: .relaxed)
    }
}

/// The loudest sample that the microphone captures while `body` runs.
func peak(of engine: VoiceEngine, while body: () async throws -> Void) async throws -> Float {
    let hold = PeakHold()
    let listening = try await engine.listen(at: .captured, with: hold)
    try await body()
    listening.close()
    return hold.peak
}
