import Synchronization
import TestCases
import Testing
import VoiceRealtime

@testable import VoiceDevices

/// A sound card while a test runs it: noise goes out, and what comes back, with all times, is kept.
///
/// The virtual card's loudspeaker sounds into its microphone at once. So what the microphone heard at a time must be
/// what the loudspeaker played at that time, to the frame; where it is not, a time is wrong.
final class CardRun {
    /// Frames of one direction with their times.
    struct Track {
        var samples: [Float] = []
        var marks: [(frame: Int, time: MonotonicTime)] = []

        /// The frame that passed nearest to `time`.
        func frame(at time: MonotonicTime) -> Int? {
            var (low, high) = (0, marks.count)
            while low < high {
                let middle = (low + high) / 2
                if marks[middle].time <= time { low = middle + 1 } else { high = middle }
            }
            guard low > 0 else { return nil }
            let mark = marks[low - 1]
            return mark.frame + time.frames(since: mark.time, sampleRate: 48_000)
        }
    }

    let card: VirtualCard
    let session: Session
    let device: ALSADevice
    let formats: DeviceFormats
    /// How far the last frame rendered was ahead of its DAC time at a wake-up of the media thread, in nanoseconds; with
    /// the frames heard by then, and the fill target.
    struct Lead {
        var frame: Int
        var nanoseconds: Int64
        var fillTarget: Int?
    }

    private var leads: [Lead] = []
    private(set) var heard = Track()
    private(set) var played = Track()
    private var ends: MediaEnds
    private let shared: SharedLog
    private var voice = DarkNoise()
    /// The heard frames that were taken while the device broke off, skipped or lost something: where, to one look at
    /// its counters.
    private var mishaps: [Range<Int>] = []
    private var mishapCount = 0
    private let fill: Int

    /// Read this many frames at a time, so that a jump of the times is placed as finely.
    private static let grain = 48

    /// Starts `card` in periods of `period` frames; `tuned` may change the configuration further.
    init(_ card: VirtualCard, period: Int = 240, tuned: (inout ALSADeviceConfiguration) -> Void = { _ in }) throws {
        var configuration = ALSADeviceConfiguration(card.pcm)
        configuration.periodFrames = period
        tuned(&configuration)
        let session = try Session()
        let fixture = try PortFixture(session)
        let shared = SharedLog(session.counters)
        let device = ALSADevice(configuration)
        formats = try device.start(capture: fixture.capture, playback: fixture.playback) { shared.note($0) }
        self.card = card
        self.session = session
        self.device = device
        self.shared = shared
        ends = fixture.ends
        fill = configuration.periodFrames + 480
    }

    deinit {
        device.stop()
        card.remove()
    }

    var log: DeviceLog { shared.log }
    var counts: DeviceCounts { session.counters.counts }

    /// Runs the media side until that many frames were heard, half a second has passed since the last event,
    /// `settledLooks` are enough and the counts are as `isReady` wants them, or for half a minute. On a machine so
    /// loaded that the device stops again and again, the last takes longer.
    func runUntilCalm(heard frames: Int, isReady: (DeviceCounts) -> Bool = { _ in true }) {
        let limit = MonotonicTime.now().nanoseconds + 30_000_000_000
        var lookAt = 0
        while MonotonicTime.now().nanoseconds < limit {
            refill()
            session.wake.wait(timeout: .milliseconds(5))
            take()
            guard heard.samples.count >= max(frames, (log.lines.last?.captured ?? 0) + 24_000, lookAt) else { continue }
            if settledLooks.count >= Self.enoughLooks, isReady(counts) { return }
            lookAt = heard.samples.count + 12_000
        }
    }

    func stop() {
        device.stop()
        take()
    }

    private func refill() {
        while ends.playout.fill < fill { ends.play(voice.next(240)) }
    }

    private func take() {
        let before = heard.samples.count
        Self.take(from: &ends.captured, into: &heard)
        let hasPlayed = Self.take(from: &ends.reference, into: &played)
        // After the frames: what happened before one of them is counted by then.
        let present = counts
        let count = Self.number(of: present.capture) + Self.number(of: present.playback)
        if count != mishapCount {
            mishapCount = count
            mishaps.append(before..<heard.samples.count)
        }
        guard hasPlayed, let last = played.marks.last else { return }
        let end = last.time.advanced(byFrames: played.samples.count - last.frame, sampleRate: 48_000)
        leads.append(
            Lead(
                frame: heard.samples.count, nanoseconds: end.nanoseconds - MonotonicTime.now().nanoseconds,
                fillTarget: present.playback.fillTargetFrames))
    }

    /// A number that grows with whatever moves a direction's times, or leaves frames out.
    private static func number(of counts: DirectionCounts) -> Int {
        counts.xruns + counts.restarts + counts.trims + counts.overflowFrames + counts.fillTargetChanges
    }

    @discardableResult
    private static func take(from ring: inout FrameConsumer, into track: inout Track) -> Bool {
        guard ring.available > 0 else { return false }
        while ring.available > 0 {
            track.marks.append((track.samples.count, ring.nextTime()))
            let span = ring.acquire(grain)
            let count = span.count
            for index in 0..<count { track.samples.append(span[index]) }
            ring.release(count)
        }
        return true
    }
}

extension CardRun {
    /// Where in the heard frames a look was taken, and how far the times are off there: positive where the microphone's
    /// times are early, or the loudspeaker's late. In frames; nil where nothing alike was found.
    struct Misalignment {
        var frame: Int
        var error: Int?
    }

    /// Compares what was heard with what was played at the same times, from frame `start` on, `windowFrames` every
    /// `strideFrames`.
    func misalignments(
        from start: Int = 0, strideFrames: Int = 2_400, windowFrames: Int = 240, reach: Int = 480
    ) -> [Misalignment] {
        var found: [Misalignment] = []
        for mark in heard.marks where mark.frame >= start && mark.frame % strideFrames < Self.grain {
            guard mark.frame + windowFrames <= heard.samples.count, let center = played.frame(at: mark.time),
                center - reach >= 0, center + reach + windowFrames <= played.samples.count
            else { continue }
            let error = Self.lag(heard.samples, mark.frame, played.samples, center, windowFrames, reach)
            found.append(Misalignment(frame: mark.frame, error: error))
        }
        return found
    }

    /// How many `settledLooks` tell enough.
    static let enoughLooks = 5

    /// How far the times are off from a quarter of a second on after the mishap that the test has asked for, and where
    /// nothing else has happened for a tenth before and after, frames.
    var settledLooks: [Int] {
        misalignments(from: Self.settledFrame).filter { isSettled($0.frame) }.compactMap(\.error)
    }

    /// The last leads at places such as ``settledLooks``'.
    var settledLeads: [Lead] { leads.filter { $0.frame >= Self.settledFrame && isSettled($0.frame) }.suffix(100) }

    /// A quarter of a second after the mishap that a test asks for at 1 s of the card's time.
    private static let settledFrame = 60_000

    private func isSettled(_ frame: Int) -> Bool {
        !mishaps.contains { ($0.lowerBound - 4_800..<$0.upperBound + 4_800).contains(frame) }
    }

    /// The lag at which the windows are all but equal.
    private static func lag(
        _ heard: [Float], _ at: Int, _ played: [Float], _ center: Int, _ window: Int, _ reach: Int
    ) -> Int? {
        var energy: Float = 0
        for index in 0..<window { energy += heard[at + index] * heard[at + index] }
        guard energy > 0.1 else { return nil }
        let (heard, played) = (heard.span, played.span)
        var best: (lag: Int, difference: Float) = (0, .infinity)
        for lag in -reach...reach {
            var difference: Float = 0
            for index in 0..<window where difference <= best.difference {
                let step = heard[at + index] - played[center + lag + index]
                difference += step * step
            }
            if difference < best.difference { best = (lag, difference) }
        }
        return best.difference < 0.25 * energy ? best.lag : nil
    }
}

/// Noise below some 4 kHz, so that half a frame's shift does not make it another and that it passes any rate.
private struct DarkNoise {
    private var random = SeededNumbers(seed: 7)
    private var past: [Float] = [Float](repeating: 0, count: 2 * length)
    /// Of each of the two means that it is smoothed by, frames.
    private static let length = 8

    mutating func next(_ count: Int) -> [Float] {
        let raw = past + random.noise(count, amplitude: 1)
        past = Array(raw.suffix(2 * Self.length))
        return Self.smoothed(Self.smoothed(raw)).suffix(count)
    }

    private static func smoothed(_ raw: [Float]) -> [Float] {
        (length..<raw.count).map { raw[($0 - length + 1)...$0].reduce(0, +) / Float(length) }
    }
}

/// The log as the device's event thread writes it.
private final class SharedLog: Sendable {
    private let lines = Mutex(DeviceLog())
    private let counters: DeviceCounters

    init(_ counters: DeviceCounters) { self.counters = counters }

    var log: DeviceLog { lines.withLock { $0 } }

    func note(_ event: DeviceEvent) {
        let counts = counters.counts
        lines.withLock { log in
            log.lines.append(
                DeviceLog.Line(event: event, captured: counts.capture.frames, played: counts.playback.frames))
        }
    }
}
