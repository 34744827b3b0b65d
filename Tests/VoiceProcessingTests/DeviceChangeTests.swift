import TestCases
import Testing
import VoiceProcessing

@Suite("A reference whose device changes")
struct DeviceChangeTests {
    private static let block = 480
    /// Nanoseconds of a block at 48 kHz.
    private static let pace: Int64 = 10_000_000
    /// Blocks that are played before they are heard.
    private static let buffered: Int64 = 6

    private struct Change {
        var playback = false
        var recording = false
        /// How much later the new device's frames pass than the old one's would have, nanoseconds.
        var shift: Int64
        var isTold: Bool
    }

    /// Plays frames that hold their own number, through a change of devices after 10 s. The largest distance, in
    /// frames, between what was given for a block and what was in the air, from 20 ms after the new device is first
    /// heard on; and the jumps that were noticed.
    private func run(_ change: Change) -> (error: Float, jumps: Int) {
        var aligner = ReferenceAligner(sampleRate: 48_000)
        var reference = [Float](repeating: 0, count: Self.block)
        let lead = Float(ReferenceAligner.Configuration().lead * 48_000)
        let offset = Float(change.shift) * 48 / 1_000_000
        var worst: Float = 0
        for index in 0..<Int64(1_100) {
            let isNew = index >= 1_000
            if index == 1_000, change.isTold {
                if change.playback { aligner.playbackChanged() }
                if change.recording { aligner.recordingChanged() }
            }
            let first = Float(index) * Float(Self.block)
            let frames = (0..<Self.block).map { first + Float($0) }
            let playedAt = (index + Self.buffered) * Self.pace + (isNew && change.playback ? change.shift : 0)
            aligner.played(frames.span, at: playedAt)
            var span = reference.mutableSpan
            _ = aligner.recorded(
                at: index * Self.pace + (isNew && change.recording ? change.shift : 0), reference: &span)
            let heardFirst = Float(index - Self.buffered) * Float(Self.block) + lead
            let isHeard = index >= 1_000 + (change.playback ? Self.buffered : 0) + 2
            guard index >= 10, !isNew || isHeard else { continue }
            let moved = isNew ? (change.playback ? -offset : 0) + (change.recording ? offset : 0) : 0
            worst = max(worst, abs(reference[Self.block / 2] - heardFirst - moved - Float(Self.block / 2)))
        }
        return (worst, aligner.statistics.jumps)
    }

    @Test(
        "is on time from the new device's first blocks on", arguments: cases([true, false]),
        cases([-2_000_000, 2_000_000] as [Int64]))
    func told(playback: Bool, shift: Int64) {
        let result = run(Change(playback: playback, recording: !playback, shift: shift, isTold: true))
        #expect(result.error < 3, "\(result.error) frames")
        #expect(result.jumps == 1)
    }

    @Test("would else be late by as much as the times have jumped, where that is too little to be told from scheduling")
    func untold() {
        let result = run(Change(playback: true, shift: 2_000_000, isTold: false))
        #expect(result.error > 20, "\(result.error) frames")
        #expect(result.jumps == 0)
    }

    @Test("goes on without a seam where nothing has changed but the device")
    func seamless() {
        let result = run(Change(playback: true, recording: true, shift: 0, isTold: true))
        #expect(result.error < 1)
        #expect(result.jumps == 2)
    }
}
