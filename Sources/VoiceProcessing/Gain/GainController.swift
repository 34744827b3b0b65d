import Glibc
import VoiceSignal

/// Brings a talker to a level, by the talker's speech alone: neither noise nor what is left of an echo moves the gain.
///
///     block ─┬─> is it speech? ─> SpeechLevel ─> gain for the talker ─> bound in pauses ─> ramp ─> PeakLimiter ─> block
///            └─────────────────────────────────────────────────────────────────────────────┘
///
/// The gain moves only while there is speech, so nothing pumps. A gain of more than 11 dB is for a talker's speech
/// only: in pauses it sinks to that, so that a quiet talker's room is not lifted, and it does not rise above it before
/// the level has swung as a talker's does and a crowd's does not. No delay. One owner; allocates nothing.
package struct GainController: BitwiseCopyable, Sendable {
    /// What a block told.
    package struct Report: BitwiseCopyable, Equatable, Sendable {
        /// Gain at the end of the block, dB, without the limiter's.
        package var gain: Float
        /// What the limiter takes at the end of the block, dB, 0 or more.
        package var limiting: Float
        /// Level of the talker's speech before the gain, dBFS; nil before any speech.
        package var speechLevel: Float?
    }

    /// Most gain, dB, where there is no speech: 12 dB less what filters before it may add, the ripple of WebRTC's above
    /// all.
    private static let mostInPauses: Float = 11
    /// Least gain, dB: a talker who shouts into the microphone.
    private static let leastGain: Float = -20
    /// How fast the gain moves, dB per block of speech: 20 and 4 dB/s, and 200 dB/s while the talker is new.
    private static let slew = (down: Float(0.2), up: Float(0.04), fresh: Float(2))
    /// A block is evidence of the talker's level if speech is as probable as this,
    private static let sure: Float = 0.7
    /// and so far above the noise and above the pauses of late, and not further below the talker's level, dB.
    private static let margin = (noise: Float(6), floor: Float(10), talker: Float(20))
    /// Blocks that the gain stays up for after speech, and blocks in which it then sinks: 250 ms and 200 ms.
    private static let pause = (hold: 25, release: Float(20))

    /// What is to be done. May change between any two blocks; the gain ramps over 10 ms.
    package var settings: ProcessingSettings.Gain {
        didSet { if settings.mode != oldValue.mode { talkerGain = nil } }
    }

    private var level = SpeechLevel()
    private var floor = LevelFloor()
    private var recentPause = RecentPause(window: 60)
    private var swings = LevelSwings()
    private var limiter = PeakLimiter()
    /// What the talker's level asks for, as far as it was followed, dB.
    private var talkerGain: Float?
    /// How far the gain is opened for speech, 0...1.
    private var openness: Float = 0
    private var held = 0
    private var current: Float = 1

    /// A controller.
    package init(_ settings: ProcessingSettings.Gain) { self.settings = settings }

    /// Whether a block would be changed, now or on the way back to unity.
    var isActive: Bool { settings.mode != .off || current != 1 || limiter.gain < 1 }

    /// Processes 10 ms in place.
    ///
    /// - Parameters:
    ///   - speech: probability of near speech in the block, 0...1.
    ///   - noise: level of the noise in it, dBFS.
    package mutating func run(_ block: inout MutableSpan<Float>, speech: Float, noise: Float) -> Report {
        let wanted: Float
        switch settings.mode {
        case .off: wanted = 0
        case .fixed: wanted = Float(settings.fixedGain)
        case .adaptive:
            let power = energy(of: block.span) / Float(block.count)
            wanted = adapt(power: power, speech: speech, noise: noise)
        }
        apply(powf(10, wanted / 20), to: &block)
        if settings.mode != .off || limiter.gain < 1 { limiter.run(&block) }
        return Report(gain: wanted, limiting: -20 * log10f(limiter.gain), speechLevel: level.decibels)
    }

    /// The gain for a block, dB.
    private mutating func adapt(power: Float, speech: Float, noise: Float) -> Float {
        let decibels = decibelsFullScale(ofPower: power)
        let isNear = decibels > (level.decibels ?? -.infinity) - Self.margin.talker
        let calm = max(floor.take(power: power), recentPause.take(power: power))
        swings.take(power: power)
        let standsOut = decibels > max(noise + Self.margin.noise, calm + Self.margin.floor)
        let isLikely = speech >= Self.sure && standsOut && isNear
        if isLikely {
            level.take(power: power)
            follow()
        }
        if isLikely, swings.areTalkers {
            held = Self.pause.hold
            openness = 1
        } else if held > 0 {
            held -= 1
        } else {
            openness = max(0, openness - 1 / Self.pause.release)
        }
        let gain = talkerGain ?? 0
        return gain <= Self.mostInPauses ? gain : Self.mostInPauses + openness * (gain - Self.mostInPauses)
    }

    private mutating func follow() {
        guard let level = level.decibels else { return }
        let wanted = min(Float(settings.maximumGain), max(Self.leastGain, Float(settings.targetLevel) - level))
        let now = talkerGain ?? 0
        let up = self.level.isFresh || abs(wanted - now) > Self.mostInPauses ? Self.slew.fresh : Self.slew.up
        let down = self.level.isFresh ? Self.slew.fresh : Self.slew.down
        talkerGain = now + min(up, max(-down, wanted - now))
    }

    private mutating func apply(_ next: Float, to block: inout MutableSpan<Float>) {
        guard next != 1 || current != 1 else { return }
        let step = (next - current) / Float(block.count)
        for index in 0..<block.count { block[index] *= current + step * Float(index + 1) }
        current = next
    }
}
