import Glibc
import Testing
import VoiceSimulation

@Suite struct SyntheticSpeechTests {
    static let voices: [(String, SyntheticSpeech.Voice)] = [("low", .low), ("high", .high)]

    /// RMS of each 20 ms in dB.
    private func envelope(_ signal: [Float]) -> [Double] {
        (0..<signal.count / 960).map { frame in
            SignalLevel(of: signal.span.extracting(frame * 960..<(frame + 1) * 960)).rmsDecibels ?? -200
        }
    }

    @Test(arguments: [UInt64(1), 2, 3], [0, 1])
    func `has the level asked for and pauses like speech`(seed: UInt64, voice: Int) throws {
        let samples = SyntheticSpeech.samples(
            frames: 48_000 * 20, seed: seed, voice: Self.voices[voice].1, levelDecibels: -30)
        let level = SignalLevel(of: samples.span)
        #expect(abs(try #require(level.activeDecibels) + 30) < 2, "seed \(seed): \(level)")
        #expect((0.5...0.92).contains(level.activity), "seed \(seed): \(level)")
        #expect(level.peak < 1)
        // Pauses: runs of at least 160 ms more than 35 dB below the loudest frame; between phrases of 1 to 4 s.
        let envelope = envelope(samples)
        let loudest = try #require(envelope.max())
        let pauses = envelope.split { $0 > loudest - 35 }.filter { $0.count >= 8 }
        #expect((4...20).contains(pauses.count), "seed \(seed): \(pauses.count) in 20 s")
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `has syllables at the rate of speech`(seed: UInt64) throws {
        // Given the envelope of 20 s in dB, held at 35 dB below its top
        let samples = SyntheticSpeech.samples(frames: 48_000 * 20, seed: seed)
        let levels = envelope(samples)
        let floor = try #require(levels.max()) - 35
        let envelope = levels.map { max($0, floor) }
        let mean = envelope.reduce(0, +) / Double(envelope.count)
        // Then its modulation is strongest between 0.5 and 10 Hz, where speech has it, not above
        func power(_ hertz: Double) -> Double {
            var (re, im) = (0.0, 0.0)
            for (index, level) in envelope.enumerated() {
                let angle = 2 * Double.pi * hertz * Double(index) / 50
                re += (level - mean) * cos(angle)
                im += (level - mean) * sin(angle)
            }
            return re * re + im * im
        }
        let speech = (5...100).reduce(0.0) { $0 + power(Double($1) / 10) } / 96
        let fast = (150...240).reduce(0.0) { $0 + power(Double($1) / 10) } / 91
        #expect(speech > 5 * fast, "seed \(seed): \(speech / fast)")
    }

    @Test(arguments: [0, 1])
    func `is voiced at the voice's pitch and not a steady tone`(voice: Int) throws {
        let (_, description) = Self.voices[voice]
        let samples = SyntheticSpeech.samples(frames: 48_000 * 10, seed: 4, voice: description)
        // When the pitch of each loud 40 ms is found by autocorrelation
        var pitches: [Double] = []
        for start in stride(from: 0, to: samples.count - 1_920, by: 960) {
            let frame = Array(samples[start..<start + 1_920])
            guard let level = rms(frame), level > -28 else { continue }
            let energy = frame.reduce(0) { $0 + $1 * $1 }
            var (best, bestLag) = (Float(0), 0)
            for lag in 130...700 {
                var sum: Float = 0
                for index in 0..<frame.count - lag { sum += frame[index] * frame[index + lag] }
                if sum > best { (best, bestLag) = (sum, lag) }
            }
            if best > 0.4 * energy { pitches.append(48_000 / Double(bestLag)) }
        }
        // Then there are many voiced frames, around the voice's pitch, and the pitch moves
        pitches.sort()
        #expect(pitches.count > 60)
        let median = pitches[pitches.count / 2]
        #expect(abs(median / description.pitchHertz - 1) < 0.2, "\(median) Hz")
        #expect(pitches[pitches.count * 9 / 10] / pitches[pitches.count / 10] > 1.15)
    }

    @Test func `has the sloping spectrum of speech`() throws {
        // Band powers through differences: white noise has +3 dB, speech is far smoother
        let samples = SyntheticSpeech.samples(frames: 480_000, seed: 5)
        let steps = zip(samples, samples.dropFirst()).map { $1 - $0 }
        let ratio =
            try #require(rms(steps)) - #require(rms(samples))
        #expect((-30 ... -12).contains(ratio), "\(ratio) dB")
        // Consonants: some loud enough frames are rough
        let rough = (0..<500).count { frame in
            let range = frame * 960..<frame * 960 + 959
            guard let level = SignalLevel(of: samples.span.extracting(range)).rmsDecibels, level > -50,
                let step = SignalLevel(of: steps.span.extracting(range)).rmsDecibels
            else { return false }
            return step - level > -6
        }
        #expect((20...200).contains(rough), "\(rough) of 500 frames hiss")
    }

    @Test func `one seed gives one talk however it is read`() {
        let whole = SyntheticSpeech.samples(frames: 60_000, seed: 6)
        #expect(isSame(whole, SyntheticSpeech.samples(frames: 60_000, seed: 6)))
        #expect(!isSame(whole, SyntheticSpeech.samples(frames: 60_000, seed: 7)))
        var speech = SyntheticSpeech(seed: 6)
        var pieces: [Float] = []
        for length in [1, 479, 480, 4_000, 55_040] {
            var block = [Float](repeating: 0, count: length)
            var span = block.mutableSpan
            speech.read(into: &span)
            pieces += block
        }
        #expect(isSame(pieces, whole))
    }
}

@Suite struct SpeechSourceTests {
    private func read(_ source: inout SpeechSource, _ frames: Int) -> (samples: [Float], filled: Int) {
        var block = [Float](repeating: .nan, count: frames)
        var span = block.mutableSpan
        let filled = source.read(into: &span)
        return (block, filled)
    }

    @Test func `samples come once and then silence`() {
        var source = SpeechSource([1, 2, 3], repetition: .once, gainDecibels: 20)
        #expect(!source.isFinished)
        let first = read(&source, 2)
        #expect(first.samples == [10, 20] && first.filled == 2)
        let second = read(&source, 3)
        #expect(second.samples == [30, 0, 0] && second.filled == 1)
        #expect(source.isFinished)
        let third = read(&source, 2)
        #expect(third.filled == 0)
    }

    @Test func `samples come over and over`() {
        var source = SpeechSource([1, 2, 3], repetition: .loop)
        let first = read(&source, 5)
        #expect(first.samples == [1, 2, 3, 1, 2])
        let second = read(&source, 2)
        #expect(second.samples == [3, 1])
        #expect(!source.isFinished)
    }

    @Test func `no samples are silence, not a trap`() {
        for repetition in [SpeechSource.Repetition.once, .loop] {
            var source = SpeechSource([], repetition: repetition)
            #expect(source.isFinished)
            let silence = read(&source, 3)
            #expect(silence.samples == [0, 0, 0] && silence.filled == 0)
        }
    }

    @Test func `synthetic speech is read through`() {
        var source = SpeechSource(SyntheticSpeech(seed: 3))
        let first = read(&source, 30_000).samples
        let second = read(&source, 30_000).samples
        #expect(isSame(first + second, SyntheticSpeech.samples(frames: 60_000, seed: 3)))
    }
}
