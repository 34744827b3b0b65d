import TestCases
import Testing
import VoiceCoding
import VoicePlayout
import VoiceWire

/// Packets that come while something else is played in their place.
@Suite("A packet that comes after its time")
struct StopgapTests {
    /// How the packet in question stands to the time at which it is due.
    enum Delivery { case inTime, whilePlayed(milliseconds: Int), never }

    private static let frames = 960
    /// The target delay, held, so that nothing is stretched; with pulls of 5 ms packets begin to be played after
    /// ``delay``.
    private static let target: Duration = .milliseconds(24)
    private static let delay: Duration = .milliseconds(25)

    /// Speech in packets with in-band FEC.
    private func packets() throws -> [[UInt8]] {
        var encoder = try OpusEncoder(settings: OpusEncoderSettings(expectedLossPercent: 20))
        var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketBytes)
        var random = SeededNumbers(seed: 1)
        return try (0..<100).map { index in
            let block = (0..<Self.frames).map { frame -> Float in
                let seconds = Float(index * Self.frames + frame) / 48_000
                let phase = (seconds * (130 + 20 * seconds)).truncatingRemainder(dividingBy: 1)
                return 0.3 * (0.5 - phase) * (1 - 0.5 * phase) + 0.01 * Float(random.uniform() - 0.5)
            }
            var room = packet.mutableSpan
            return Array(packet[..<(try encoder.encode(block.span, into: &room))])
        }
    }

    /// The first packet of the voice's middle whose sound the next one carries a copy of, or does not.
    private func packet(of packets: [[UInt8]], isCopied: Bool) throws -> Int {
        for index in 12..<70 {
            let next = packets[index + 1]
            if try OpusPacketHeader(parsing: next.span).carriesRedundancy == isCopied { return index }
        }
        return try #require(nil, "no such packet")
    }

    /// Plays the packets in pulls of 5 ms, of which that at `late` comes as told.
    private func play(_ packets: [[UInt8]], _ delivery: Delivery, of late: Int) throws -> (
        sound: [Float], statistics: PlayoutStatistics
    ) {
        var configuration = PlayoutConfiguration.conversation
        (configuration.minimumDelay, configuration.maximumDelay) = (Self.target, Self.target)
        var arrivals = packets.indices.map { (index: $0, time: Duration.milliseconds(20 * $0)) }
        switch delivery {
        case .inTime: break
        case .whilePlayed(let milliseconds): arrivals[late].time += Self.delay + .milliseconds(milliseconds)
        case .never: arrivals.remove(at: late)
        }
        arrivals.sort { $0.time < $1.time }
        var buffer = PlayoutBuffer(configuration)
        var decoder = try OpusDecoder()
        var (sound, next) = ([Float](), 0)
        for step in 0..<390 {
            let now = Duration.milliseconds(5 * step)
            while next < arrivals.count, arrivals[next].time <= now {
                let index = arrivals[next].index
                let payload = packets[index]
                let header = RTPHeader(
                    payloadType: 111, sequenceNumber: UInt16(index), timestamp: UInt32(index * Self.frames),
                    synchronizationSource: 1)
                _ = buffer.insert(payload.span, header: header, now: arrivals[next].time)
                next += 1
            }
            var block = [Float](repeating: 0, count: 240)
            var room = block.mutableSpan
            _ = buffer.pull(into: &room, now: now, decoder: &decoder)
            sound += block
        }
        return (sound, buffer.statistics)
    }

    /// Where the sound of a packet begins to be played, frames.
    private func start(of packet: Int) -> Int { packet * Self.frames + 25 * 48 }

    /// How far two sounds are apart at most between two places.
    private func difference(_ a: [Float], _ b: [Float], from start: Int, to end: Int) -> Float {
        zip(a[start..<end], b[start..<end]).map { abs($0 - $1) }.max() ?? 0
    }

    @Test(
        "What follows it is decoded as if it had come in time, to the bit", arguments: [3, 8, 13, 18], [false, true])
    func decoderState(milliseconds: Int, isCopied: Bool) throws {
        // Given a packet that comes while what was restored from a copy, or made up, is played in its place
        let packets = try packets()
        let late = try packet(of: packets, isCopied: isCopied)
        let truth = try play(packets, .inTime, of: late)
        let mended = try play(packets, .whilePlayed(milliseconds: milliseconds), of: late)
        let lost = try play(packets, .never, of: late)
        #expect((mended.statistics.concealedSamples == 0) == isCopied)
        #expect(mended.statistics.packetsLate == 0 && mended.statistics.packetsLost == 0)
        // Then from the next packet on all is as it was sent, where a lost one would still be heard
        let (next, end) = (start(of: late + 1), start(of: late + 20))
        #expect(difference(mended.sound, truth.sound, from: next, to: end) == 0)
        #expect(difference(lost.sound, truth.sound, from: next, to: end) > 1e-4)
    }

    @Test("The rest of what stands for it gives way to it, without a step", arguments: [false, true])
    func crossFade(isCopied: Bool) throws {
        // Given a packet that comes in the first quarter of its time
        let packets = try packets()
        let late = try packet(of: packets, isCopied: isCopied)
        let truth = try play(packets, .inTime, of: late).sound
        let mended = try play(packets, .whilePlayed(milliseconds: 3), of: late).sound
        // Then the last quarter is its own
        let (begin, end) = (start(of: late), start(of: late + 1))
        #expect(difference(mended, truth, from: begin, to: begin + 240) > 1e-3)
        #expect(difference(mended, truth, from: end - 240, to: end) == 0)
        #expect(largestStep(mended, from: begin, to: end) < 1.5 * largestStep(truth, from: begin, to: end))
    }

    private func largestStep(_ sound: [Float], from start: Int, to end: Int) -> Float {
        zip(sound[start..<end], sound[(start + 1)...]).map { abs($0 - $1) }.max() ?? 0
    }

    @Test("Once the next packet is played it is too late")
    func tooLate() throws {
        let packets = try packets()
        let late = try play(packets, .whilePlayed(milliseconds: 30), of: 60)
        #expect(late.statistics.packetsLate == 1)
    }
}
