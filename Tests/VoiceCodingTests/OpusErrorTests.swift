import Testing

@testable import VoiceCoding

struct OpusErrorTests {
    static let faults: [(OpusEncoderSettings, OpusSettingFault)] = [
        (OpusEncoderSettings(bitratePerSecond: 499), .bitrate(perSecond: 499)),
        (OpusEncoderSettings(bitratePerSecond: 512_001), .bitrate(perSecond: 512_001)),
        (OpusEncoderSettings(bitratePerSecond: .min), .bitrate(perSecond: .min)),
        (OpusEncoderSettings(complexity: -1), .complexity(-1)),
        (OpusEncoderSettings(complexity: 11), .complexity(11)),
        (OpusEncoderSettings(expectedLossPercent: -1), .expectedLoss(percent: -1)),
        (OpusEncoderSettings(expectedLossPercent: 101), .expectedLoss(percent: 101)),
    ]

    @Test("A setting out of range is refused by name, and the old settings stay", arguments: faults)
    func invalidSettings(settings: OpusEncoderSettings, fault: OpusSettingFault) throws {
        #expect(throws: OpusError.invalidSetting(fault)) { try settings.validate() }
        #expect(throws: OpusError.invalidSetting(fault)) { _ = try OpusEncoder(settings: settings) }
        var encoder = try OpusEncoder()
        #expect(throws: OpusError.invalidSetting(fault)) { try encoder.apply(settings) }
        #expect(encoder.settings == .voice)
    }

    @Test("Every setting at the end of its range encodes")
    func extremes() throws {
        for bitrate in [500, 512_000] {
            for complexity in [0, 10] {
                for loss in [0, 100] {
                    let settings = OpusEncoderSettings(
                        bitratePerSecond: bitrate, complexity: complexity, expectedLossPercent: loss)
                    let encoded = try packets(of: syntheticVoice(frames: 4800), settings: settings).packets
                    #expect(
                        encoded.allSatisfy { !$0.isEmpty }, "\(bitrate) bit/s, complexity \(complexity), loss \(loss)")
                }
            }
        }
    }

    @Test("A block of the wrong length is refused with the right one", arguments: [0, 1, 480, 959, 961, 2880])
    func wrongBlock(frames: Int) throws {
        var encoder = try OpusEncoder()
        var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketBytes)
        let block = [Float](repeating: 0, count: frames)
        #expect(throws: OpusError.invalidLength(.block(frames: frames, expected: 960))) {
            var room = packet.mutableSpan
            _ = try encoder.encode(block.span, into: &room)
        }
    }

    @Test("No room for a packet is an error, not a crash")
    func noRoom() throws {
        var encoder = try OpusEncoder()
        var packet: [UInt8] = []
        let block = [Float](repeating: 0, count: 960)
        #expect(throws: OpusError.invalidLength(.packet(bytes: 0))) {
            var room = packet.mutableSpan
            _ = try encoder.encode(block.span, into: &room)
        }
    }

    @Test("What is not a number goes in, a packet comes out, and the next block is well again")
    func notFinite() throws {
        let poison: [Float] = [.nan, .infinity, -.infinity, 1e30]
        let voice = syntheticVoice(frames: 48_000)
        let sound = voice[..<9600] + poison.flatMap { [Float](repeating: $0, count: 960) } + voice[9600...]
        let encoded = try packets(of: Array(sound), settings: .voice).packets
        let decoded = try decode(encoded, frames: 960, decoder: OpusDecoder())
        #expect(!decoded.contains { !$0.isFinite })
        #expect(abs(level(decoded[24_000...]) - level(voice[20_160...])) < 1)
    }

    @Test("Hostile packets give a typed error or some sound, never a crash")
    func hostilePackets() throws {
        var decoder = try OpusDecoder()
        var sound = [Float](repeating: 0, count: OpusDecoder.maximumFrames)
        var gap = [Float](repeating: 0, count: 960)
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        func random() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
        var (malformed, decoded) = (0, 0)
        for round in 0..<20_000 {
            // Given bytes of any length and content
            let packet = (0..<Int(random() % 200)).map { _ in UInt8(truncatingIfNeeded: random() >> 32) }
            var room = sound.mutableSpan
            var gapRoom = gap.mutableSpan
            do throws(OpusError) {
                // When they are taken for a packet, or for one with redundancy
                if round % 5 == 0 {
                    _ = try decoder.decodeRedundancy(of: packet.span, into: &gapRoom)
                } else {
                    _ = try decoder.decode(packet.span, into: &room)
                }
                decoded += 1
            } catch {
                // Then the error says so
                #expect(error == .malformedPacket, "\(packet)")
                malformed += 1
            }
        }
        #expect(malformed > 1000 && decoded > 1000)
        #expect(throws: OpusError.malformedPacket) { _ = try OpusDecoder.frames(in: [UInt8]().span) }
    }

    @Test("A hostile packet leaves the decoder usable")
    func recoversFromHostility() throws {
        let voice = syntheticVoice(frames: 48_000)
        let encoded = try packets(of: voice, settings: .voice)
        var decoder = try OpusDecoder()
        var sound = [Float](repeating: 0, count: OpusDecoder.maximumFrames)
        let truncated: [UInt8] = [0xFB, 0xFF, 0x00]
        var output: [Float] = []
        for packet in encoded.packets {
            var room = sound.mutableSpan
            do throws(OpusError) {
                _ = try decoder.decode(truncated.span, into: &room)
                Issue.record("a truncated packet was decoded")
            } catch {
                #expect(error == .malformedPacket)
            }
            let frames = try decoder.decode(packet.span, into: &room)
            output += sound[..<frames]
        }
        let expected = try decode(encoded.packets, frames: 960, decoder: OpusDecoder())
        #expect(output == expected)
    }

    @Test("Too little room for the sound names what is needed")
    func shortOutput() throws {
        let packet = try packets(of: syntheticVoice(frames: 960), settings: .voice).packets[0]
        var decoder = try OpusDecoder()
        var sound = [Float](repeating: 0, count: 959)
        #expect(throws: OpusError.invalidLength(.output(frames: 959, needed: 960))) {
            var room = sound.mutableSpan
            _ = try decoder.decode(packet.span, into: &room)
        }
    }

    @Test("Concealment off its grid is refused", arguments: [0, 1, 119, 121, 959, 5761, 5880])
    func concealmentGrid(frames: Int) throws {
        var decoder = try OpusDecoder()
        let packet = try packets(of: syntheticVoice(frames: 960), settings: .voice).packets[0]
        var sound = [Float](repeating: 0, count: frames)
        #expect(throws: OpusError.invalidLength(.concealment(frames: frames))) {
            var room = sound.mutableSpan
            _ = try decoder.conceal(into: &room)
        }
        #expect(throws: OpusError.invalidLength(.concealment(frames: frames))) {
            var room = sound.mutableSpan
            _ = try decoder.decodeRedundancy(of: packet.span, into: &room)
        }
    }

    @Test("Every error says what to do")
    func remedies() {
        let errors: [OpusError] = [
            .malformedPacket, .outOfMemory, .libraryFault(code: -3), .invalidLength(.concealment(frames: 7)),
            .invalidLength(.output(frames: 1, needed: 960)), .invalidLength(.packet(bytes: 0)),
            .invalidLength(.block(frames: 1, expected: 960)), .invalidSetting(.complexity(11)),
            .invalidSetting(.bitrate(perSecond: 1)), .invalidSetting(.expectedLoss(percent: 101)),
        ]
        for error in errors {
            let remedies = ["drop", "free", "reset", "pass", "choose"]
            #expect(remedies.contains { error.description.contains($0) }, "\(error)")
        }
    }
}
