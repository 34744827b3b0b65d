import TestCases
import Testing
import VoiceDevices
import VoiceRealtime
import VoiceSimulation

@testable import VoiceEngine

/// A far end's queue before a playout ring and a playback port, whose device the test moves by hand.
private final class TrailRig {
    let line: FarEndLine
    private var follower = ClockFollower()
    private var playout: FrameProducer
    private var port: PlaybackPort
    private var rendered: ValueConsumer<RenderedSpan>
    private var reference: FrameConsumer
    var now = MonotonicTime(nanoseconds: 5_000_000_000)
    /// When each frame that had a number left the DAC.
    private(set) var heard: [(number: Int, time: MonotonicTime)] = []
    /// What each fetch brought of those, whose times rise within it.
    private var fetches: [Range<Int>] = []

    init() throws {
        let ring = try FrameRing(minimumCapacity: 16_384)
        let tap = try FrameRing(minimumCapacity: 16_384)
        let spans = ValueRing<RenderedSpan>(minimumCapacity: 512)
        var port = PlaybackPort(
            playout: ring.consumer, reference: tap.producer, wake: try WakeSignal(),
            control: PlaybackControl(), counters: DeviceCounters())
        port.rendered = .some(spans.producer)
        // All that can fail comes first: Swift 6.3's optimiser crashes on what is half made then.
        line = try FarEndLine(FarEndConfiguration())
        self.port = port
        playout = ring.producer
        reference = tap.consumer
        rendered = spans.consumer
    }

    func offer(_ samples: [Float], _ utterance: UInt32, isLast: Bool = false) {
        let taken = unsafe line.feed.pointer.pointee.offer(
            SoundSamples(samples.span), rate: .hertz48000, utterance: utterance, isLast: isLast)
        #expect(taken == samples.count)
    }

    /// Frames of the playout ring that wait.
    var waiting: Int { playout.fill }

    /// Pulls as the downlink does.
    func pull(_ frames: Int, driftPPM: Double? = nil) {
        var block = [Float](repeating: 0, count: frames)
        let scale = driftPPM.map { 1 + $0 * 1e-6 } ?? 1
        let held = driftPPM == nil ? 0 : follower.pendingFrames * scale
        var span = block.mutableSpan
        unsafe line.queue.pointer.pointee.pull(
            into: &span, ringFrame: Double(playout.writtenFrames) + held, scale: scale)
        follower.pass(block.span, driftPPM: driftPPM, to: &playout, time: now)
    }

    /// The device fetches frames, which leave the DAC `latency` later; where that is not told, they count as not heard.
    func fetch(_ frames: Int, latency: Int64 = 20_000_000, isTold: Bool = true) {
        var output = [Float](repeating: 0, count: frames)
        var span = output.mutableSpan
        let dacTime = MonotonicTime(nanoseconds: now.nanoseconds + latency)
        let given = port.render(into: &span, dacTime: dacTime)
        for index in 0..<(isTold ? given : 0) {
            heard.append((number(of: output[index]), dacTime.advanced(byFrames: index, sampleRate: 48_000)))
        }
        fetches.append(heard.count - (isTold ? given : 0)..<heard.count)
        reference.release(reference.available)
        unsafe line.queue.pointer.pointee.trail.concludeEnds(now: now)
        while let span = rendered.pop() {
            if isTold { unsafe line.queue.pointer.pointee.trail.rendered(span) }
        }
        unsafe line.queue.pointer.pointee.trail.concludeEnds(now: now)
    }

    /// How many frames of an utterance the trail says had been heard.
    func said(_ utterance: UInt32, at time: MonotonicTime) -> Int {
        unsafe line.queue.pointer.pointee.trail.heardFrames(of: utterance, at: time)
    }

    /// How many had been, by what came out of the loudspeaker.
    func heardFrames(at time: MonotonicTime) -> Int {
        fetches.reduce(0) { sum, fetch in
            guard let last = fetch.last, heard[last].time >= time else { return sum + fetch.count }
            return heard[fetch.lowerBound].time < time ? sum + heard[fetch].count { $0.time < time } : sum
        }
    }

    func nextNews(now: MonotonicTime) -> SpeechTrail.News? {
        let next = unsafe line.queue.pointer.pointee.trail.nextNews(now: now)
        if next != nil { unsafe line.queue.pointer.pointee.trail.removeNews() }
        return next
    }
}

@Suite("What was heard of a far end, by the DAC's times")
struct SpeechTrailTests {
    @Test(
        "is exact, at any time, through stalls, dry rings, lost reports and changing latencies",
        arguments: cases(0..<20))
    func exact(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        func chance(_ count: Int) -> Int { Int(generator.next() as UInt64 % UInt64(count)) }
        let rig = try TrailRig()
        rig.offer(numbered(96_000), 3, isLast: true)
        var latency: Int64 = 20_000_000
        var lost = 0
        for _ in 0..<300 {
            if rig.waiting < 1_000 && chance(10) != 0 { rig.pull([120, 240, 480][chance(3)]) }
            // A stall of 120 ms, a device of another latency, a report that finds its ring full
            if chance(50) == 0 { rig.now = rig.now.advanced(byFrames: 5_760, sampleRate: 48_000) }
            if chance(60) == 0 { latency = Int64(20_000_000 + chance(40) * 1_000_000) }
            let isTold = chance(40) != 0
            if !isTold { lost += 1 }
            rig.fetch(240, latency: latency, isTold: isTold)
            rig.now = rig.now.advanced(byFrames: 240, sampleRate: 48_000)
        }
        #expect(rig.heard.count > 20_000)
        #expect(lost > 0)
        for _ in 0..<200 {
            let time = MonotonicTime(nanoseconds: 5_000_000_000 + Int64(chance(2_600)) * 1_000_000)
            // A frame at a segment's edge may fall to either side.
            #expect(abs(rig.said(3, at: time) - rig.heardFrames(at: time)) <= 2)
        }
        let end = rig.now.advanced(byFrames: 48_000, sampleRate: 48_000)
        #expect(rig.said(3, at: end) == rig.heard.count)
    }

    @Test("is exact to a frame while a device's clock is followed", arguments: [-150.0, 80, 300])
    func drift(ppm: Double) throws {
        let rig = try TrailRig()
        rig.offer(numbered(96_000), 1)
        for block in 0..<2_000 {
            // A pace that changes a little all the time
            rig.pull(24, driftPPM: ppm + Double(block % 7) * 0.01)
            if rig.waiting >= 240 {
                rig.fetch(240)
                rig.now = rig.now.advanced(byFrames: 240, sampleRate: 48_000)
            }
        }
        #expect(rig.heard.count > 40_000)
        // What sounds at a moment is the frame that the trail says
        for (number, time) in rig.heard.dropFirst(500).dropLast(500) where number % 97 == 0 {
            #expect(abs(rig.said(1, at: time) - number) <= 2, "\(number)")
        }
    }

    @Test("a beginning and an end are told at their times, with what was heard between; a stall counts for nothing")
    func news() throws {
        let rig = try TrailRig()
        rig.offer(numbered(960), 1, isLast: true)
        rig.pull(480)
        rig.fetch(480)
        let start = rig.now.nanoseconds + 20_000_000
        // Not before it is heard
        #expect(rig.nextNews(now: rig.now) == nil)
        #expect(rig.nextNews(now: MonotonicTime(nanoseconds: start))?.isEnd == false)
        // The rest waits for a device that stands still for 120 ms
        rig.pull(480)
        rig.pull(480)
        rig.now = MonotonicTime(nanoseconds: rig.now.nanoseconds + 130_000_000)
        #expect(rig.nextNews(now: rig.now) == nil)
        rig.fetch(480)
        let end = MonotonicTime(nanoseconds: rig.now.nanoseconds + 30_000_000)
        #expect(rig.nextNews(now: MonotonicTime(nanoseconds: end.nanoseconds - 1)) == nil)
        let news = try #require(rig.nextNews(now: end))
        #expect(news.isEnd && news.isComplete && news.utterance == 1)
        #expect(news.heardFrames == 960)
        #expect(news.time == end)
    }

    @Test("an interruption tells what was heard, and of what was never heard that it was not")
    func interruption() throws {
        let rig = try TrailRig()
        rig.offer(numbered(4_800), 1, isLast: true)
        rig.offer(numbered(4_800), 2, isLast: true)
        rig.pull(480)
        rig.fetch(480)
        rig.line.cells.interrupt()
        for _ in 0..<4 {
            rig.pull(480)
            rig.now = rig.now.advanced(byFrames: 480, sampleRate: 48_000)
            rig.fetch(480)
        }
        let later = rig.now.advanced(byFrames: 48_000, sampleRate: 48_000)
        var news: [SpeechTrail.News] = []
        while let next = rig.nextNews(now: later) { news.append(next) }
        #expect(news.map(\.utterance) == [1, 1, 2])
        #expect(news.map(\.isEnd) == [false, true, true])
        #expect(news.map(\.heardFrames) == [0, 480, 0])
        #expect(news.allSatisfy { !$0.isComplete })
    }
}
