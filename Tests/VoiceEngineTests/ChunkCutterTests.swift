import TestCases
import Testing
import VoiceRealtime
import VoiceSimulation

@testable import VoiceEngine

@Suite("Chunks of the near end")
struct ChunkCutterTests {
    /// A frame of 10 ms at this level, numbered by its time.
    private func frame(_ index: Int, _ amplitude: Float, isAfterGap: Bool = false) -> SoundFrame {
        let samples = (0..<160).map { $0 % 2 == 0 ? amplitude : -amplitude }
        return SoundFrame(samples: samples, time: .milliseconds(10 * index), isAfterGap: isAfterGap)
    }

    /// The chunks of frames whose amplitudes are these.
    private func chunks(_ cut: ChunkCut, _ amplitudes: [Float]) -> [SpeechChunk] {
        var cutter = ChunkCutter(cut)
        var chunks = amplitudes.enumerated().flatMap { cutter.insert(frame($0.offset, $0.element)) }
        if let rest = cutter.finish() { chunks.append(rest) }
        return chunks
    }

    private func seconds(_ count: Double, _ amplitude: Float) -> [Float] {
        [Float](repeating: amplitude, count: Int(count * 100))
    }

    @Test("of a fixed length have it, and hold all that was said, once", arguments: [10, 15, 100])
    func fixed(frames: Int) {
        let amplitudes = (0..<333).map { Float($0 % 90) / 100 }
        let chunks = chunks(.fixed(.milliseconds(10 * frames)), amplitudes)
        #expect(chunks.flatMap(\.samples) == amplitudes.indices.flatMap { frame($0, amplitudes[$0]).samples })
        #expect(chunks.dropLast().allSatisfy { $0.duration == .milliseconds(10 * frames) })
        #expect(chunks.map(\.isAfterGap) == [true] + chunks.dropFirst().map { _ in false })
    }

    @Test(
        "follow each other without a gap whatever is said, and are as long as is allowed",
        arguments: cases(1...20 as ClosedRange<UInt64>))
    func gapless(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var amplitudes: [Float] = []
        while amplitudes.count < 2_000 {
            amplitudes += [Float](repeating: 0.1 + Float(random.uniform()) * 0.3, count: 1 + random.below(400))
            amplitudes += [Float](repeating: Float(random.uniform()) * 0.004, count: random.below(90))
        }
        let chunks = chunks(.atSilence(minimum: .seconds(1), maximum: .seconds(6)), amplitudes)
        #expect(
            chunks.flatMap(\.samples) == amplitudes.indices.flatMap { frame($0, amplitudes[$0]).samples },
            "seed \(seed)")
        for (chunk, next) in zip(chunks, chunks.dropFirst()) {
            #expect(next.time == chunk.time + chunk.duration, "seed \(seed)")
            #expect(chunk.duration >= .milliseconds(800) && chunk.duration <= .seconds(6), "seed \(seed)")
        }
    }

    @Test("are cut in the pauses, and never in a word while there is one")
    func pauses() {
        let said = seconds(2, 0.2) + seconds(0.5, 0.001) + seconds(3, 0.3) + seconds(0.4, 0) + seconds(1.5, 0.1)
        let chunks = chunks(.atSilence(minimum: .seconds(1), maximum: .seconds(10)), said)
        #expect(chunks.map(\.duration) == [.milliseconds(2_150), .milliseconds(3_500), .milliseconds(1_750)])
        #expect(chunks.allSatisfy { !$0.isSilent })
    }

    @Test("whoever never pauses is cut where it is quietest; silence is told from speech")
    func endless() {
        let said = seconds(3, 0.3) + seconds(0.1, 0.1) + seconds(2, 0.3)
        let first = chunks(.atSilence(minimum: .seconds(1), maximum: .seconds(4)), said)[0]
        #expect(first.duration == .milliseconds(3_050))
        let chunks = chunks(
            .atSilence(minimum: .seconds(1), maximum: .seconds(30)), seconds(5, 0.0001) + seconds(2, 0.3))
        #expect(chunks.map(\.isSilent) == [true, false])
        #expect(chunks[0].duration == .milliseconds(4_800), "a fifth of a second before the first word")
    }

    @Test("end before a gap, and the next one says so")
    func gap() throws {
        var cutter = ChunkCutter(.fixed(.seconds(1)))
        for index in 0..<30 { #expect(cutter.insert(frame(index, 0.1)).isEmpty) }
        let chunks = cutter.insert(frame(500, 0.2, isAfterGap: true))
        #expect(chunks.map(\.duration) == [.milliseconds(300)])
        let (last, none) = (cutter.finish(), cutter.finish())
        let rest = try #require(last)
        #expect(rest.isAfterGap && rest.time == .seconds(5))
        #expect(none == nil)
    }

    @Test("as a WAV file it is what it was, to 16 bits")
    func wave() {
        let chunk = SpeechChunk(samples: [0, 0.5, -1, 2, .nan], time: .zero, isAfterGap: true, isSilent: false)
        let file = chunk.waveFile
        #expect(file.count == 44 + 10)
        #expect(Array(file[..<4]) == Array("RIFF".utf8) && file[4] == 46)
        #expect(Array(file[44...]) == [0, 0, 0, 0x40, 0, 0x80, 0xFF, 0x7F, 0, 0])
    }

    @Test("lengths that make no sense are refused")
    func refused() {
        let cuts: [ChunkCut] = [
            .fixed(.milliseconds(99)), .fixed(.seconds(121)), .atSilence(minimum: .seconds(2), maximum: .seconds(2)),
            .atSilence(minimum: .zero, maximum: .seconds(2)),
        ]
        for cut in cuts { #expect(throws: EngineError.self) { try cut.validate() } }
    }

    @Test("come from the engine while they are heard, and the rest when it stops")
    func engine() async throws {
        let rig = try FarEndRig()
        rig.run(blocks: 2)
        let chunker = SpeechChunker(
            try rig.core.openTap(at: .sent, rate: .hertz16000), .fixed(.milliseconds(500)))
        // Less than a tap holds, so that nothing is dropped however late the task comes
        rig.run(blocks: 190) { _ in 0.1 }
        rig.core.stopDevice()
        var chunks: [SpeechChunk] = []
        for await chunk in chunker.chunks { chunks.append(chunk) }
        let total = chunks.reduce(0) { $0 + $1.samples.count }
        #expect((30_000...30_400).contains(total), "\(total)")
        #expect(chunks.dropFirst().allSatisfy { !$0.isAfterGap })
        #expect(chunker.droppedChunks == 0)
    }
}
