import Glibc
import Testing
import VoiceCoding
import VoiceRealtime
import VoiceWire

@testable import VoiceEngine

@Suite("The end of what is said")
struct SpokenEndTests {
    /// A sender that gets a tone of 500 Hz, -8 dBFS, and a listener that decodes what is sent.
    private struct Bench: ~Copyable {
        private var sender: PacketSender
        private var outlet: PacketOutlet
        private var sent: PacketConsumer
        private var decoder: OpusDecoder
        private var statistics: SenderStatistics
        private let wake: WakeSignal
        private var gate = TalkGate(blockFrames: 480)
        private var blocks = 0
        private let packet: OpusFrameDuration
        /// What was decoded of each packet, and what it says of its level.
        var heard: [(sound: [Float], level: UInt8?)] = []

        init(_ packet: OpusFrameDuration = .milliseconds20) throws {
            // All that may throw first: what cannot be copied is made at once, or not at all.
            let wake = try WakeSignal()
            let encoder = try OpusEncoder(settings: OpusEncoderSettings(frameDuration: packet))
            let decoder = try OpusDecoder()
            let ring = PacketRing(minimumSlots: 16)
            var statistics = SenderStatistics()
            sender = PacketSender(encoder: encoder, statistics: &statistics)
            outlet = PacketOutlet(sending: ring.producer, networkWake: wake.handle)
            sent = ring.consumer
            self.decoder = decoder
            self.statistics = statistics
            self.wake = wake
            self.packet = packet
            sender.publish(RTPStreamStart(synchronizationSource: 1, sequenceNumber: 0, timestamp: 0))
        }

        private var time: MonotonicTime {
            MonotonicTime(nanoseconds: 1_000_000_000).advanced(byFrames: 480 * blocks, sampleRate: 48_000)
        }

        /// Lets 10 ms pass in which the tone sounds; with `fades` its last 5 ms fade out.
        mutating func speak(fades: Bool = false) throws {
            let (first, step) = (480 * blocks, 2 * Double.pi * 500 / 48_000)
            let sound = (0..<480).map { frame in
                let gain = fades ? min(Double(480 - frame) / 240, 1) : 1.0
                return Float(0.4 * gain * sin(Double(first + frame) * step))
            }
            try pass(sound, isAudible: true)
        }

        /// Lets 10 ms pass that are muted.
        mutating func beSilent() throws {
            try pass([Float](repeating: 0, count: 480), isAudible: false)
        }

        /// Lets the button go, for which 300 ms are kept.
        mutating func letGo() { gate.close(keeping: 14_400, packetFrames: sender.packetFrames) }

        /// Has silence be sent in place of what is muted.
        mutating func sendSilence() { sender.setMuteKind(.silence) }

        mutating func interrupt() -> Bool { sender.begin(generation: 1, now: time) }

        private mutating func pass(_ block: [Float], isAudible: Bool) throws {
            let moment = BlockMoment(
                adcTime: time, delayFrames: 0, level: isAudible ? -11 : -127, hasVoice: isAudible,
                isAudible: isAudible)
            blocks += 1
            if gate.isPassing {
                collect(block, moment)
            } else {
                gate.insert(block.span, moment)
                var due = block
                while let moment = takeFromGate(&due) {
                    collect(moment.isSent ? due : [Float](repeating: 0, count: 480), moment)
                }
            }
            try listen()
        }

        private mutating func takeFromGate(_ block: inout [Float]) -> BlockMoment? {
            var span = block.mutableSpan
            return gate.next(into: &span)
        }

        private mutating func collect(_ block: [Float], _ moment: BlockMoment) {
            let clock = RunClock(start: time, isLive: false, ownsThread: false)
            sender.collect(block.span, moment, clock: clock, to: &outlet, statistics: &statistics)
        }

        private mutating func listen() throws {
            while sent.available > 0 {
                let bytes = unsafe Array(sent.buffer())
                sent.release()
                let packet = try RTPPacket(parsing: bytes.span)
                var sound = [Float](repeating: 0, count: self.packet.frames)
                var span = sound.mutableSpan
                _ = try decoder.decode(packet.payload, into: &span)
                heard.append((sound, packet.audioLevel(id: Uplink.audioLevelID)?.level))
            }
        }

        /// The peak of what the listener makes up where nothing more comes.
        mutating func madeUpPeak() throws -> Float {
            var sound = [Float](repeating: 0, count: 960)
            var span = sound.mutableSpan
            _ = try decoder.conceal(into: &span)
            return SpokenEndTests.peak(sound[...])
        }
    }

    private static func peak(_ sound: ArraySlice<Float>) -> Float { sound.reduce(0) { max($0, abs($1)) } }

    /// One packet follows those of the voice, in which the decoder comes to rest: a tenth of the tone.
    private static func expectRest(behind packets: Int, of bench: inout Bench) throws {
        let heard = bench.heard
        #expect(heard.count == packets + 1)
        let last = try #require(heard.last)
        #expect(last.level == 127)
        #expect(peak(last.sound.suffix(480)) < 0.04)
        let madeUp = try bench.madeUpPeak()
        #expect(madeUp < 0.04)
    }

    @Test(
        "Given a voice that is muted, when it ends anywhere in a packet, then its fade is heard and nothing is made up behind it",
        arguments: [0, 1])
    func fade(block: Int) throws {
        // Given a second, the last block of which is the first or the second of its packet
        var bench = try Bench()
        for _ in 0..<98 + block { try bench.speak() }
        try bench.speak(fades: true)
        // When nothing more is said
        for _ in 0..<20 { try bench.beSilent() }
        try Self.expectRest(behind: 50, of: &bench)
    }

    @Test(
        "Given a button that is let go anywhere in a packet, when it is, then what was said until then is sent at once, and nothing is made up behind it",
        arguments: [
            (.milliseconds20, 0), (.milliseconds20, 1), (.milliseconds60, 0), (.milliseconds60, 2),
            (.milliseconds60, 5),
        ] as [(OpusFrameDuration, Int)])
    func letGo(packet: OpusFrameDuration, block: Int) throws {
        // Given so many whole packets, and blocks of the one in which the fade ends
        let packets = 96 * 480 / packet.frames
        var bench = try Bench(packet)
        for _ in 0..<96 + block { try bench.speak() }
        bench.letGo()
        // When less follows than is kept
        for _ in 0..<12 { try bench.speak() }
        try Self.expectRest(behind: packets + 1, of: &bench)
    }

    @Test(
        "Given a button that is let go where silence is sent while muted, when what is kept has come, then nothing comes late",
        arguments: [0, 1])
    func keptSilence(block: Int) throws {
        var bench = try Bench()
        bench.sendSilence()
        for _ in 0..<98 + block { try bench.speak() }
        bench.letGo()
        for _ in 0..<100 { try bench.speak() }
        try Self.expectRest(behind: 50, of: &bench)
    }

    @Test("Given a voice that is interrupted, when it falls silent, then nothing more is sent of it")
    func interrupted() throws {
        var bench = try Bench()
        for _ in 0..<100 { try bench.speak() }
        let isNew = bench.interrupt()
        #expect(isNew)
        for _ in 0..<20 { try bench.beSilent() }
        let heard = bench.heard
        #expect(heard.count == 50)
    }
}
