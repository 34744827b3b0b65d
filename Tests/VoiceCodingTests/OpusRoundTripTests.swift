import Testing

@testable import VoiceCoding

/// Encodes the sound packet by packet.
func packets(
    of sound: [Float], settings: OpusEncoderSettings, application: OpusApplication = .voip
) throws -> (packets: [[UInt8]], lookaheadFrames: Int) {
    var encoder = try OpusEncoder(application: application, settings: settings)
    let frames = settings.frameDuration.frames
    var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketBytes)
    var packets: [[UInt8]] = []
    for start in stride(from: 0, through: sound.count - frames, by: frames) {
        var room = packet.mutableSpan
        let bytes = try encoder.encode(sound.span.extracting(start..<start + frames), into: &room)
        packets.append(Array(packet[..<bytes]))
    }
    return (packets, encoder.lookaheadFrames)
}

/// Decodes packets in turn; nil stands for a packet that never came, which `replace` fills in.
func decode(
    _ packets: [[UInt8]?], frames: Int, decoder: consuming OpusDecoder,
    replace: (Int, inout OpusDecoder, inout MutableSpan<Float>) throws -> Void = { _, decoder, sound in
        _ = try decoder.conceal(into: &sound)
    }
) throws -> [Float] {
    var output: [Float] = []
    var block = [Float](repeating: 0, count: frames)
    for index in packets.indices {
        var room = block.mutableSpan
        if let packet = packets[index] {
            let decoded = try decoder.decode(packet.span, into: &room)
            #expect(decoded == frames)
        } else {
            try replace(index, &decoder, &room)
        }
        output += block
    }
    return output
}

struct OpusRoundTripTests {
    @Test(
        "A voice survives every application and frame duration",
        arguments: OpusApplication.allCases, OpusFrameDuration.allCases)
    func roundTrip(application: OpusApplication, duration: OpusFrameDuration) throws {
        // Given a voice at a generous rate
        let voice = syntheticVoice(frames: 2 * 48_000)
        let settings = OpusEncoderSettings(
            bitratePerSecond: 64_000, frameDuration: duration, usesForwardErrorCorrection: false, expectedLossPercent: 0
        )
        // When it goes through the codec
        let (packets, lookahead) = try packets(of: voice, settings: settings, application: application)
        let decoded = try decode(packets, frames: duration.frames, decoder: OpusDecoder())
        // Then it comes out as it went in, late by what the encoder says it looks ahead
        let settled = decoded[24_000...]
        let ratio = signalToNoise(settled, against: voice, lag: lookahead)
        #expect(ratio > (application == .lowDelay ? 12 : 6), "\(ratio) dB")
        #expect(signalToNoise(settled, against: voice, lag: lookahead + 48) < 3)
        #expect(signalToNoise(settled, against: voice, lag: lookahead - 48) < 3)
        #expect(abs(level(settled) - level(voice[24_000...])) < 0.5)
        #expect(lookahead == (application == .lowDelay ? 120 : 312))
    }

    @Test("Settings change between two packets without a gap")
    func liveChange() throws {
        // Given an encoder in the middle of a voice
        let voice = syntheticVoice(frames: 3 * 48_000)
        var encoder = try OpusEncoder()
        var decoder = try OpusDecoder()
        var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketBytes)
        var sound = [Float](repeating: 0, count: OpusDecoder.maximumFrames)
        var (output, at, bytesBefore, bytesAfter): ([Float], Int, Int, Int) = ([], 0, 0, 0)
        // When bit rate, frame duration, FEC, DTX and complexity all change half way
        while at + 2880 <= voice.count {
            if at == 48_000 {
                try encoder.apply(
                    OpusEncoderSettings(
                        bitratePerSecond: 64_000, complexity: 5, frameDuration: .milliseconds10,
                        usesForwardErrorCorrection: false, expectedLossPercent: 0, usesDiscontinuousTransmission: true))
            }
            let frames = encoder.settings.frameDuration.frames
            var room = packet.mutableSpan
            let bytes = try encoder.encode(voice.span.extracting(at..<at + frames), into: &room)
            var decodedRoom = sound.mutableSpan
            let decoded = try decoder.decode(packet.span.extracting(first: bytes), into: &decodedRoom)
            #expect(decoded == frames)
            output += sound[..<decoded]
            at += frames
            if at < 48_000 { bytesBefore += bytes } else { bytesAfter += bytes }
        }
        // Then the rate follows and the sound goes on: no 5 ms of it is missing
        #expect(Double(bytesAfter) > 2.2 * Double(bytesBefore))
        for start in stride(from: 40_000, to: 56_000, by: 240) {
            let lag = encoder.lookaheadFrames
            let difference = level(output[start..<start + 240]) - level(voice[start - lag..<start - lag + 240])
            #expect(abs(difference) < 6, "frame \(start)")
        }
    }

    @Test("Silence under discontinuous transmission costs next to nothing")
    func discontinuousTransmission() throws {
        // Given a voice, then silence
        let sound = syntheticVoice(frames: 48_000) + [Float](repeating: 0, count: 4 * 48_000)
        // When it is encoded with DTX and without
        var settings = OpusEncoderSettings(usesDiscontinuousTransmission: true)
        let sparse = try packets(of: sound, settings: settings).packets
        settings.usesDiscontinuousTransmission = false
        let full = try packets(of: sound, settings: settings).packets
        // Then nearly all packets of the last three seconds need not be sent: two bytes or fewer
        let tiny = sparse[100...].count { $0.count <= 2 }
        #expect(tiny > 120, "\(tiny) of \(sparse[100...].count)")
        #expect(full[100...].count { $0.count <= 2 } == 0)
        #expect(sparse[..<45].allSatisfy { $0.count > 20 })
    }
}
