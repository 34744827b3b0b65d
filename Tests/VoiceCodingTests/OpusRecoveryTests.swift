import Testing

@testable import VoiceCoding

struct OpusRecoveryTests {
    private static let frames = 960

    /// Mean signal-to-noise over the lost packets alone, decibels, of a decode of a lossy copy against the lossless
    /// one.
    private func quality(
        of packets: [[UInt8]], lost: Set<Int>,
        replace: (Int, inout OpusDecoder, inout MutableSpan<Float>) throws -> Void
    ) throws -> Double {
        let clean = try decode(packets, frames: Self.frames, decoder: OpusDecoder())
        let lossy = packets.indices.map { lost.contains($0) ? nil : packets[$0] }
        let output = try decode(lossy, frames: Self.frames, decoder: OpusDecoder(), replace: replace)
        let values = lost.map { index in
            signalToNoise(output[index * Self.frames..<(index + 1) * Self.frames], against: clean, lag: 0)
        }
        return values.reduce(0, +) / Double(values.count)
    }

    @Test("Redundancy restores what concealment can only guess")
    func redundancyBeatsConcealment() throws {
        // Given a stream with redundancy that loses every seventh packet
        let voice = syntheticVoice(frames: 4 * 48_000)
        let packets = try packets(of: voice, settings: OpusEncoderSettings(expectedLossPercent: 20)).packets
        let lost = Set(stride(from: 21, to: packets.count - 1, by: 7))
        // When the losses are restored from the next packet, or concealed
        let concealed = try quality(of: packets, lost: lost) { _, decoder, sound in
            let frames = try decoder.conceal(into: &sound)
            #expect(frames == Self.frames)
        }
        let restored = try quality(of: packets, lost: lost) { index, decoder, sound in
            let next = packets[index + 1]
            let frames = try decoder.decodeRedundancy(of: next.span, into: &sound)
            #expect(frames == Self.frames)
        }
        // Then restoring is much nearer to the truth
        #expect(restored > concealed + 3, "restored \(restored) dB, concealed \(concealed) dB")
    }

    @Test(
        "Concealment continues a voice, then sinks to its comfort noise",
        arguments: [120, 240, 360, 480, 960, 1920, 2880, 5760])
    func concealment(frames: Int) throws {
        // Given a decoder in the middle of a voice
        let packets = try packets(of: syntheticVoice(frames: 48_000), settings: .voice).packets
        var decoder = try OpusDecoder()
        var sound = [Float](repeating: 0, count: OpusDecoder.maximumFrames)
        for packet in packets {
            var room = sound.mutableSpan
            _ = try decoder.decode(packet.span, into: &room)
        }
        let before = level(sound[..<960])
        // When one second is concealed in pieces of any length
        var output: [Float] = []
        var gap = [Float](repeating: 0, count: frames)
        while output.count < 48_000 {
            var room = gap.mutableSpan
            let concealed = try decoder.conceal(into: &room)
            #expect(concealed == frames)
            output += gap
        }
        // Then it begins as loud as the voice was and ends well below it (libopus keeps some comfort noise up)
        #expect(abs(level(output[..<480]) - before) < 6)
        #expect(level(output[43_200...]) < before - 10)
    }

    @Test("A restored state decodes as if nothing had been in between")
    func savedState() throws {
        // Given a decoder that keeps its state half way
        let packets = try packets(of: syntheticVoice(frames: 48_000), settings: .voice).packets
        let expected = try decode(packets, frames: 960, decoder: OpusDecoder())
        var decoder = try OpusDecoder()
        var sound = [Float](repeating: 0, count: 960)
        for packet in packets[..<25] {
            var room = sound.mutableSpan
            _ = try decoder.decode(packet.span, into: &room)
        }
        decoder.saveState(at: 0)
        // When it extrapolates twice from there, and goes back each time
        for _ in 0..<2 {
            var room = sound.mutableSpan
            _ = try decoder.conceal(into: &room)
            decoder.restoreState(from: 0)
        }
        // Then the rest of the stream is what it is without that, to the bit
        for index in 25..<packets.count {
            let packet = packets[index]
            var room = sound.mutableSpan
            _ = try decoder.decode(packet.span, into: &room)
            #expect(sound[...] == expected[index * 960..<(index + 1) * 960], "packet \(index)")
        }
    }

    @Test("Without a saved state, restoring changes nothing; a reset forgets it and the sound")
    func nothingSaved() throws {
        let packets = try packets(of: syntheticVoice(frames: 9600), settings: .voice).packets
        let expected = try decode(packets, frames: 960, decoder: OpusDecoder())
        var decoder = try OpusDecoder()
        decoder.saveState(at: 0)
        var sound = [Float](repeating: 0, count: 960)
        for round in 0..<2 {
            decoder.reset()
            for index in packets.indices {
                decoder.restoreState(from: 0)
                let packet = packets[index]
                var room = sound.mutableSpan
                _ = try decoder.decode(packet.span, into: &room)
                #expect(sound[...] == expected[index * 960..<(index + 1) * 960], "round \(round), packet \(index)")
            }
        }
    }
}
