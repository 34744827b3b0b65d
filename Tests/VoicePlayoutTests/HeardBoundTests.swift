import TestCases
import Testing
import VoicePlayout
import VoiceTurns
import VoiceWire

/// Decodes packets that carry the timestamp of their first frame, so that each sample tells its own position.
private struct PositionDecoder: SpeechDecoder, ~Copyable {
    enum Refusal: Error { case noPosition }

    /// The sample of a position: never silence, and exact below 2^22, since a `Float` has 24 bits.
    static func sample(_ position: Int) -> Float { 0.25 + Float(position) * 0x1p-24 }
    static func position(of sample: Float) -> Double { Double(sample - 0.25) * 0x1p24 }

    private var end = 0
    private var saved = [0, 0]

    /// An Opus packet of 20 ms of SILK; `isRedundant` says that it carries a copy of the one before.
    static func payload(position: Int, isRedundant: Bool) -> [UInt8] {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: position >> (8 * $0)) }
        return [9 << 3, isRedundant ? 0x40 : 0] + bytes + [UInt8](repeating: 1, count: 30)
    }

    private static func position(of payload: Span<UInt8>) throws(Refusal) -> Int {
        guard payload.count >= 6 else { throw .noPosition }
        return (0..<4).reduce(0) { $0 | Int(payload[2 + $1]) << (8 * $1) }
    }

    private mutating func write(from start: Int, into sound: inout MutableSpan<Float>, frames: Int) -> Int {
        for frame in 0..<frames { sound[frame] = Self.sample(start + frame) }
        end = start + frames
        return frames
    }

    mutating func decode(_ packet: Span<UInt8>, into sound: inout MutableSpan<Float>) throws(Refusal) -> Int {
        write(from: try Self.position(of: packet), into: &sound, frames: 960)
    }

    mutating func decodeRedundancy(of next: Span<UInt8>, into sound: inout MutableSpan<Float>) throws(Refusal) -> Int {
        write(from: try Self.position(of: next) - sound.count, into: &sound, frames: sound.count)
    }

    /// Stands still: nothing new is heard.
    mutating func conceal(into sound: inout MutableSpan<Float>) throws(Refusal) -> Int {
        for frame in 0..<sound.count { sound[frame] = Self.sample(end) }
        return sound.count
    }

    mutating func reset() { end = 0 }
    mutating func saveState(at place: Int) { saved[place] = end }
    mutating func restoreState(from place: Int) { end = saved[place] }
}

/// A talker, a bad network, the jitter buffer, the ledger and a device, with a record of what sounded when.
///
///     packets ─► network ─► PlayoutBuffer ─► playout ring ─► device: stalls, changes, drifts
///                   │            │ segments                   │ rendered
///                   └─► UtteranceLedger ◄─────────────────────┘
private struct ToldListening: ~Copyable {
    /// Until when each utterance lasts that begins at a time, in frames of the talker; silence without a name between.
    static let utterances: [(number: UInt32, from: Int, to: Int)] = [
        (1, 24_000, 192_000), (2, 240_000, 384_000), (3, 384_000, 528_000),
    ]
    static let length = 11.5

    /// What sounds in a frame of the playout ring.
    private struct Sound {
        /// In frames of the talker; nil where nothing real sounds.
        var position: Double?
        var time: Int64?
    }

    private var random: SeededNumbers
    private var buffer: PlayoutBuffer
    private var decoder = PositionDecoder()
    private var ledger = UtteranceLedger()
    private var packets: [(arrival: Int64, position: Int, sequence: UInt16)] = []
    private var nextPacket = 0
    private var now: Int64 = 1_000_000_000
    private var latency: Int64 = 15_000_000
    private var period = 240
    private let scale: Double
    private var pulled: [Double?] = []
    private var ring: [Sound] = []
    private var taken = 0
    /// Frames since sound was last made up.
    private var sinceMadeUp = 10_000

    private(set) var stretched = false
    private(set) var compared = 0
    private(set) var bounds: [Int] = []
    private(set) var errors: [Double] = []
    /// What was told beyond its bound.
    private(set) var violations: [String] = []

    init(seed: UInt64) {
        random = SeededNumbers(seed: seed)
        buffer = PlayoutBuffer(seed % 4 == 3 ? .lowDelay : .conversation)
        scale = seed % 3 == 0 ? 1 : 1.00015
        let (loss, jitter) = (0.02 + 0.08 * random.uniform(), 5 + Int(75 * random.uniform()))
        var isLost = false
        for index in 0..<Int(Self.length * 50) {
            isLost = random.chance(isLost ? 0.3 : loss)
            let delay = Int64(20_000_000 + random.below(jitter * 1_000_000) + (random.chance(0.01) ? 150_000_000 : 0))
            if isLost { continue }
            packets.append((now + Int64(index) * 20_000_000 + delay, index * 960, UInt16(index)))
        }
        packets.sort { $0.arrival < $1.arrival }
    }

    private static func place(of position: Int) -> (utterance: UInt32, position: Int)? {
        utterances.last { part in part.from <= position && position < part.to }.map { ($0.number, position - $0.from) }
    }

    private mutating func receive() {
        while nextPacket < packets.count, packets[nextPacket].arrival <= now {
            let packet = packets[nextPacket]
            nextPacket += 1
            let payload = PositionDecoder.payload(position: packet.position, isRedundant: packet.sequence % 2 == 0)
            let header = RTPHeader(
                payloadType: 111, sequenceNumber: packet.sequence, timestamp: UInt32(packet.position),
                synchronizationSource: 1)
            _ = buffer.insert(payload.span, header: header, now: .nanoseconds(packet.arrival))
            if let place = Self.place(of: packet.position) {
                ledger.place(
                    place.utterance, position: UInt32(place.position), timestamp: UInt32(packet.position), frames: 960)
            } else {
                ledger.placeOutside(timestamp: UInt32(packet.position))
            }
        }
    }

    /// Pulls a block, as `DownlinkStream` does.
    private mutating func pull(_ frames: Int) {
        var block = [Float](repeating: 0, count: frames)
        var span = block.mutableSpan
        let first = buffer.pulledFrames
        _ = buffer.pull(into: &span, now: .nanoseconds(now), decoder: &decoder)
        var expected = [Int64?](repeating: nil, count: frames)
        var frame = first
        while frame < buffer.pulledFrames, let segment = buffer.segment(ofPulledFrame: frame) {
            let end = min(segment.firstFrame + Int64(segment.frames), buffer.pulledFrames)
            if segment.origin == .packet || segment.origin == .redundancy {
                for index in frame..<end { expected[Int(index - first)] = segment.timestamp(of: index) }
                if !segment.advances { stretched = true }
            }
            if segment.advances, ledger.isActive {
                ledger.pulled(
                    timestamp: UInt32(truncatingIfNeeded: segment.firstTimestamp + frame - segment.firstFrame),
                    frames: Int(end - frame), isMadeUp: segment.origin == .concealment,
                    ringFrame: Double(frame) * scale, scale: scale)
            }
            frame = end
        }
        for index in 0..<frames {
            let position = PositionDecoder.position(of: block[index])
            sinceMadeUp = expected[index] == nil ? 0 : sinceMadeUp + 1
            // Made-up sound may go on beneath what follows it, for a cross-fade; a mixture is no position.
            let isPure = expected[index].map { sinceMadeUp > 384 || abs(position - Double($0)) < 1 } ?? false
            pulled.append(isPure ? position : nil)
        }
        while Double(ring.count) / scale < Double(pulled.count - 1) {
            ring.append(Sound(position: pulled[Int(Double(ring.count) / scale)]))
        }
    }

    private mutating func render() {
        let count = min(period, ring.count - taken)
        let time = now + latency
        if count > 0, ledger.isActive { ledger.rendered(firstFrame: taken, frames: count, dacNanoseconds: time) }
        for index in 0..<max(count, 0) { ring[taken + index].time = time + Int64(Double(index) * 1e9 / 48_000) }
        taken += max(count, 0)
    }

    /// The frame of the ring that sounded last before a time.
    private func frame(before time: Int64) -> Int? {
        var index = taken - 1
        while index >= 0, (ring[index].time ?? .max) >= time { index -= 1 }
        return index < 0 ? nil : index
    }

    /// What sounds in a frame, and the last that was real until then.
    private func truth(of frame: Int) -> (now: Double?, last: Double)? {
        var index = frame
        while index >= 0, ring[index].position == nil || ring[index].time == nil { index -= 1 }
        return index < 0 ? nil : (ring[frame].position, ring[index].position ?? 0)
    }

    private mutating func compare(at time: Int64) {
        guard let said = ledger.progress(at: time), let frame = frame(before: time), frame > 0,
            let utterance = Self.utterances.first(where: { $0.number == said.utterance })
        else { return }
        func error(_ truth: (now: Double?, last: Double)) -> Double {
            // Where nothing real sounds, nothing more than before is heard; before and behind an utterance, nothing.
            let sounding = min(max((truth.now ?? truth.last) + 1, Double(utterance.from)), Double(utterance.to))
            let sounded = sounding - Double(utterance.from + UtteranceLedger.codecDelayFrames)
            return abs(Double(said.frames) - max(sounded, 0))
        }
        // Within a frame of a jump both its sides are true.
        let all = (frame - 1...min(frame + 1, taken - 1)).compactMap { truth(of: $0).map(error) }
        guard let least = all.min(), let truth = truth(of: frame) else { return }
        compared += 1
        bounds.append(said.boundFrames)
        if let now = truth.now, now < Double(utterance.to) { errors.append(error(truth)) }
        if least > Double(said.boundFrames) + 2 {
            violations.append("\(said) is \(least) frames off, \(time - 1_000_000_000) ns")
        }
    }

    mutating func run() {
        let end = now + Int64(Self.length * 1e9)
        while now < end {
            receive()
            while ring.count - taken < period { pull(scale == 1 ? min(period, 480) : 24) }
            render()
            now += Int64(Double(period) * 1e9 / 48_000 / scale)
            if random.chance(0.004) {
                let stall = 20 + random.below(150)
                now += Int64(stall) * 1_000_000
                buffer.playbackStoodStill(stall * 48)
            }
            if random.chance(0.003) {
                latency = Int64(5 + random.below(60)) * 1_000_000
                period = [120, 240, 480][random.below(3)]
                // What the former device held is dropped.
                taken = min(ring.count, taken + random.below(480))
            }
            let ago = random.chance(0.1) ? random.below(600_000_000) : random.below(60_000_000)
            compare(at: now + latency - Int64(ago))
        }
    }
}

@Suite("The bound of what was heard")
struct HeardBoundTests {
    @Test(
        "holds at any time, for what each sample says of itself, through loss, jitter, stretching, stalls, drift and other devices",
        arguments: cases(1...48))
    func bound(seed: UInt64) {
        // Given a talker whose samples tell their own positions, over a bad network and a bad device
        var listening = ToldListening(seed: seed)
        // When it is asked at random times how far an utterance was heard
        listening.run()
        // Then what sounds lies within the bound each time
        #expect(listening.violations.isEmpty, "seed \(seed): \(listening.violations.prefix(5))")
        #expect(listening.compared > 1_000, "seed \(seed)")
        // And the bound is no excuse: most of the time it is the codec's delay alone
        let bounds = listening.bounds.sorted()
        #expect(bounds[bounds.count / 2] == UtteranceLedger.codecDelayFrames, "seed \(seed)")
        let errors = listening.errors.sorted()
        #expect(errors[errors.count * 95 / 100] <= 480, "seed \(seed)")
    }
}
