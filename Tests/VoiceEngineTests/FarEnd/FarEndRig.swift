import VoiceDevices
import VoiceRealtime

@testable import VoiceEngine

/// An engine's core on a device that the test moves by hand, 10 ms after 10 ms, without processing.
final class FarEndRig {
    /// How long after a fetch its first frame leaves the DAC.
    static let latency: Int64 = 12_000_000

    let core: EngineCore
    private let device = ClientDevice()
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)
    /// Frames that the loudspeaker has sounded, and when each of them did.
    private(set) var speaker: [(sample: Float, time: MonotonicTime)] = []
    private var captured = 0

    init() throws {
        let configuration = EngineConfiguration(
            device: .custom(device), backend: .bypass, processing: .bypass, mediaPriority: 0)
        core = try EngineCore(configuration, eventWake: nil) { _ in }
    }

    /// Lets blocks of 10 ms pass; while `isStalled` the loudspeaker fetches nothing. The microphone's times are told
    /// `late`, nanoseconds.
    func run(blocks: Int, isStalled: Bool = false, late: Int64 = 0, microphone: (Int) -> Float = { _ in 0 }) {
        for _ in 0..<blocks {
            let block = (captured..<captured + 480).map { microphone($0) }
            captured += 480
            device.sendAudioData(block, time: MonotonicTime(nanoseconds: now.nanoseconds + late))
            core.run(now: now)
            if !isStalled { play() }
            while core.nextEvent() != nil {}
            now = now.advanced(byFrames: 480, sampleRate: 48_000)
        }
    }

    private func play() {
        var output = [Float](repeating: 0, count: 480)
        let dacTime = MonotonicTime(nanoseconds: now.nanoseconds + Self.latency)
        device.pullPlayback(into: &output, time: dacTime)
        for (index, sample) in output.enumerated() {
            speaker.append((sample, dacTime.advanced(byFrames: index, sampleRate: 48_000)))
        }
    }

    var statistics: EngineStatistics {
        EngineStatistics(core.statistics(), device: core.counters.counts, roundTrip: nil, room: nil)
    }
}

extension LocalFarEnd {
    /// Offers an array.
    func offer(
        _ samples: [Float], rate: SoundRate = .hertz48000, utterance: UtteranceID, isLast: Bool = false
    ) -> Int {
        offer(samples.span, rate: rate, utterance: utterance, isLast: isLast)
    }

    /// Takes up to `frames`.
    func take(_ frames: Int) -> (samples: [Float], take: SoundTake) {
        var samples = [Float](repeating: 0, count: frames)
        var span = samples.mutableSpan
        let take = takeNearEnd(into: &span)
        return (Array(samples[..<take.frames]), take)
    }
}

/// Sound in which each frame tells its number: `first`, `first + 1`, ... of a million.
func numbered(_ frames: Int, from first: Int = 1) -> [Float] { (first..<first + frames).map { Float($0) / 1_000_000 } }

/// The number of a frame of such sound, at unity gain.
func number(of sample: Float) -> Int { Int((sample * 1_000_000).rounded()) }
