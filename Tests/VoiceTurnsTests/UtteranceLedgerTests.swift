import TestCases
import Testing

@testable import VoiceTurns

/// A talker's packets, a playout ring and a device, moved by hand, with a record of what was heard when.
private final class Playback {
    /// What a frame of the playout ring is of.
    struct Frame {
        var utterance: UInt32?
        var position = 0
    }

    private var ledger = UtteranceLedger()
    /// Wraps a second after the beginning.
    static let firstTimestamp = UInt32.max - 48_000
    /// From which timestamp on, counted from the first, packets are of which utterance, and of none in between.
    static let parts: [(start: Int, utterance: UInt32?)] = [(0, 7), (40_320, nil), (52_800, 8), (91_200, 9)]

    private(set) var ring: [Frame] = []
    private var fetched = 0
    /// What the device fetched at once: frames of the ring, and when the first was heard.
    private(set) var heard: [(frames: Range<Int>, time: Int64)] = []
    /// The timestamp of the next frame to be pulled, counted from the first.
    private(set) var next = 0
    var now = 5_000_000_000 as Int64
    var latency = 20_000_000 as Int64

    static func frame(_ timestamp: Int) -> Frame {
        guard let part = parts.last(where: { $0.start <= timestamp }), part.utterance != nil else { return Frame() }
        return Frame(utterance: part.utterance, position: timestamp - part.start)
    }

    var isActive: Bool { ledger.isActive }
    var isSettled: Bool { ledger.isSettled(at: now) }
    func progress(at time: Int64) -> UtteranceProgress? { ledger.progress(at: time) }
    func reset() { ledger.reset() }

    /// A packet of 20 ms comes.
    func receive(_ packet: Int) {
        let timestamp = Self.firstTimestamp &+ UInt32(packet * 960)
        let frame = Self.frame(packet * 960)
        guard let utterance = frame.utterance else { return ledger.placeOutside(timestamp: timestamp) }
        ledger.place(utterance, position: UInt32(frame.position), timestamp: timestamp, frames: 960)
    }

    /// Pulls frames that follow, or that stand still in time.
    func pull(_ frames: Int, isMadeUp: Bool = false, advances: Bool = true) {
        if advances {
            ledger.pulled(
                timestamp: Self.firstTimestamp &+ UInt32(next), frames: frames, isMadeUp: isMadeUp,
                ringFrame: Double(ring.count), scale: 1)
        }
        for _ in 0..<frames {
            ring.append(advances ? Self.frame(next) : Frame())
            if advances { next += 1 }
        }
    }

    func skip(_ frames: Int) { next += frames }

    var waiting: Int { ring.count - fetched }

    /// The device fetches what there is, up to so many frames.
    func fetch(_ frames: Int) {
        let count = min(frames, waiting)
        if count > 0 { ledger.rendered(firstFrame: fetched, frames: count, dacNanoseconds: now + latency) }
        heard.append((fetched..<fetched + count, now + latency))
        fetched += count
        now += Int64(Double(frames) * 1e9 / 48_000)
    }

    /// Drops half of what waits, as an interruption does.
    func discard() { fetched += waiting / 2 }

    /// The last frame of an utterance that was heard before a time.
    func truth(at time: Int64) -> Frame? {
        for (frames, first) in heard.reversed() where first < time {
            for index in frames.reversed() where ring[index].utterance != nil {
                let later = Int64(Double(index - frames.lowerBound) * 1e9 / 48_000)
                if first + later < time { return ring[index] }
            }
        }
        return nil
    }
}

@Suite("How far utterances of the room were heard")
struct UtteranceLedgerTests {
    @Test(
        "is exact through loss, reordering, concealment, skips, stalls, discards and changing latencies",
        arguments: cases(0..<20 as Range<UInt64>))
    func exact(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let playback = Playback()
        var received = 0
        while playback.next < 110_000 {
            // Packets are there 40 ms before they are played; one in twenty comes behind the next, and one in twenty of
            // an utterance never
            while received * 960 < playback.next + 1_920 {
                if random.chance(0.05) {
                    playback.receive(received + 1)
                    playback.receive(received)
                    received += 1
                } else if Playback.frame(received * 960).utterance == nil || !random.chance(0.05) {
                    playback.receive(received)
                }
                received += 1
            }
            if random.chance(0.1) {
                playback.pull(120, advances: false)
            } else if random.chance(0.05) {
                playback.skip(300)
            }
            playback.pull([24, 120, 240, 480][random.below(4)], isMadeUp: random.chance(0.05))
            if random.chance(0.02) { playback.now += 120_000_000 }
            if random.chance(0.02) { playback.latency = Int64(5 + random.below(60)) * 1_000_000 }
            if random.chance(0.01) { playback.discard() }
            while playback.waiting > 960 { playback.fetch(240) }
            // What is known of the present and of the last 200 ms
            for _ in 0..<2 {
                let time = playback.now - Int64(random.below(200)) * 1_000_000
                let truth = playback.truth(at: time)
                let said = playback.progress(at: time)
                #expect((truth == nil) == (said == nil), "seed \(seed)")
                guard let truth, let said else { continue }
                let expected = max(0, truth.position + 1 - UtteranceLedger.codecDelayFrames)
                let error = abs(said.frames - expected)
                #expect(said.utterance == truth.utterance, "seed \(seed)")
                #expect(error <= 2, "\(error) frames, seed \(seed)")
            }
        }
        #expect(playback.heard.reduce(0) { $0 + $1.frames.count } > 60_000)
    }

    @Test("sound that was made up is in doubt for as long as it lasts, and a jump while it is faded over")
    func doubt() {
        let playback = Playback()
        for packet in 0..<8 { playback.receive(packet) }
        playback.latency = 0
        playback.pull(960)
        playback.pull(480, isMadeUp: true)
        playback.pull(240, isMadeUp: true)
        playback.pull(960)
        playback.skip(300)
        playback.pull(960)
        for _ in 0..<15 { playback.fetch(240) }
        let start = 5_000_000_000 as Int64
        func bound(_ milliseconds: Int64) -> Int? {
            playback.progress(at: start + milliseconds * 1_000_000)?.boundFrames
        }
        let base = UtteranceLedger.codecDelayFrames
        // Packets until 20 ms, made up until 35, with a cross-fade of 8 ms behind it, packets until 55, a jump
        #expect(bound(19) == base)
        #expect(bound(21) == base + 48)
        #expect(bound(34) == base + 672)
        #expect(bound(36) == base + 720 + 48)
        #expect(bound(42) == base + 720 + 336)
        #expect(bound(44) == base)
        #expect(bound(50) == base)
        #expect(bound(53) == base + 300)
        #expect(bound(57) == base + 300)
        #expect(bound(60) == base)
    }

    @Test(
        "its bound holds for what sounds at any time, also while sound is repeated, skipped or faded, and the loudspeaker stalls",
        arguments: cases(0..<40 as Range<UInt64>))
    func bound(seed: UInt64) {
        // Given packets of one utterance, of which the jitter buffer repeats and skips parts, each with a cross-fade of
        // 384 frames around it
        var random = SeededNumbers(seed: seed)
        var ledger = UtteranceLedger()
        for packet in 0..<100 {
            ledger.place(7, position: UInt32(packet * 960), timestamp: UInt32(packet * 960), frames: 960)
        }
        // The positions that sound in each frame of the ring: two within a cross-fade
        var ring: [ClosedRange<Int>] = []
        var next = 0
        func fade(at frame: Int, from old: Int, to new: Int) {
            for offset in -192..<192 where ring.indices.contains(frame + offset) {
                let (a, b) = (old + offset, new + offset)
                ring[frame + offset] = min(a, b)...max(a, b)
            }
        }
        var pending: [(frame: Int, old: Int, new: Int)] = []
        var times: [Int64] = []
        var now = 1_000_000_000 as Int64
        func render() {
            guard ring.count > times.count else { return }
            ledger.rendered(firstFrame: times.count, frames: ring.count - times.count, dacNanoseconds: now)
            let count = ring.count - times.count
            for index in 0..<count { times.append(now + Int64(Double(index) * 1e9 / 48_000)) }
            now += Int64(Double(count) * 1e9 / 48_000)
            if random.chance(0.05) { now += 120_000_000 }
        }
        var asked = 0
        while true {
            let frames = 480 + random.below(1_440)
            ledger.pulled(
                timestamp: UInt32(next), frames: frames, isMadeUp: false, ringFrame: Double(ring.count), scale: 1)
            for _ in 0..<frames {
                ring.append(next...next)
                next += 1
            }
            // Sound follows the last repetition
            guard next < 90_000 else { break }
            if random.chance(0.3), next > 2_000 {
                let length = 120 + random.below(649)
                pending.append((ring.count, next, next - length))
                for index in 0..<length { ring.append(next - length + index...next - length + index) }
            } else if random.chance(0.3) {
                let length = 48 + random.below(529)
                pending.append((ring.count, next, next + length))
                next += length
            }
            if random.chance(0.5) { render() }
        }
        render()
        for jump in pending { fade(at: jump.frame, from: jump.old, to: jump.new) }
        // When it is asked at any time, of the last second, which is what it keeps
        let base = UtteranceLedger.codecDelayFrames
        for _ in 0..<400 {
            let time = now - Int64(random.below(900_000_000))
            guard let index = Self.last(before: time, in: times), index > 0,
                let said = ledger.progress(at: time)
            else { continue }
            // Then what sounds lies within its bound
            let sounding = ring[index]
            let furthest = max(
                sounding.upperBound + 1 - base - said.frames, said.frames - (sounding.lowerBound + 1 - base))
            #expect(furthest <= said.boundFrames + 2, "\(furthest) of \(said), seed \(seed)")
            asked += 1
        }
        #expect(asked > 300)
    }

    /// The last of times, which rise, before a time.
    private static func last(before time: Int64, in times: [Int64]) -> Int? {
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] < time { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? low - 1 : nil
    }

    @Test("nothing is told of who names no utterance, and whoever comes late knows where it is")
    func late() throws {
        let playback = Playback()
        for packet in 42...54 { playback.receive(packet) }
        #expect(!playback.isActive)
        // The first packet that is heard is the 25th of its utterance
        playback.receive(80)
        #expect(playback.isActive)
        playback.skip(80 * 960)
        playback.pull(960)
        playback.fetch(960)
        let progress = try #require(playback.progress(at: playback.now + playback.latency))
        #expect(progress.utterance == 8)
        #expect(progress.frames == 80 * 960 - 52_800 + 960 - UtteranceLedger.codecDelayFrames)
        #expect(!playback.isSettled)
        playback.now += playback.latency
        #expect(playback.isSettled)
        playback.reset()
        #expect(playback.progress(at: playback.now + playback.latency) == nil)
    }

    @Test(
        "no packets harm it: whatever they say, the work is bounded and the answer is of one of them",
        arguments: cases(0..<20 as Range<UInt64>))
    func hostile(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var ledger = UtteranceLedger()
        var frame = 0
        var answers = 0
        for _ in 0..<5_000 {
            let (utterance, position) = (
                UInt32.random(in: 0...3, using: &random), UInt32.random(in: 0 ... .max, using: &random)
            )
            let timestamp = random.chance(0.5) ? UInt32(frame) : UInt32.random(in: 0 ... .max, using: &random)
            if random.chance(0.2) {
                ledger.placeOutside(timestamp: timestamp)
            } else {
                ledger.place(utterance, position: position, timestamp: timestamp, frames: random.below(5_761))
            }
            ledger.pulled(
                timestamp: timestamp, frames: 480, isMadeUp: random.chance(0.3), ringFrame: Double(frame), scale: 1)
            frame += 480
            // A device that hardly ever comes
            if random.chance(0.002) {
                ledger.rendered(firstFrame: frame - 960, frames: 960, dacNanoseconds: Int64(frame) * 20_833)
            }
            if let progress = ledger.progress(at: Int64(frame) * 20_833) {
                #expect(progress.utterance <= 3 && progress.frames >= 0 && progress.boundFrames > 0)
                answers += 1
            }
        }
        #expect(answers > 0, "seed \(seed)")
    }
}
