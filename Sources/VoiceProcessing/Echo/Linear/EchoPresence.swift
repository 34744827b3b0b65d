import Glibc

/// Whether the microphone hears the loudspeaker at all, by proof.
///
/// Without an echo path, as with a headset, a canceller can only do harm. Proof is a peak in the correlation of the two
/// signals, or an estimate y that explains part of the microphone d: a true one has ⟨d, y⟩ / ⟨y, y⟩ near 1 however loud
/// the near end is, and explains a share (2⟨d, y⟩ − ⟨y, y⟩) / ⟨d, d⟩ > 0; without echo that share is negative. For the
/// first moments of far-end speech an echo is assumed; without proof it is then taken to be none, until there is some.
struct EchoPresence {
    struct Tuning {
        /// Share of the microphone's power explained, with the ratio near 1, that proves one.
        var share: Float = 0.03
        var ratio: Float = 0.5
        /// The share that proves one in the first half second of far-end speech, when a filter explains much of
        /// anything it has just learned from: with 0.5 a headset's wearer who speaks at the same time had 14 dB of SDR
        /// instead of 17 in one call of 30.
        var earlyShare: Float = 0.7
        /// Seconds of far-end speech without proof after which there is no echo: once proven for a while, and before.
        var patience: (proven: Float, unproven: Float) = (3, 0.4)
        /// Seconds of the first far-end speech during which an echo is assumed without proof. It trades a headset's
        /// first words for the first moments of an echo: with 0.05, 0.1, 0.15, 0.25, 0.35 s a headset's PESQ was 4.15,
        /// 4.09, 4.05, 3.90, 3.74 (seed 1; seed 3: 3.89 to 3.48; seed 7: 4.11 to 3.67) and what was removed of the echo
        /// in its first 2 s 18, 25, 30, 37, 37 dB.
        var benefit: Float = 0.07
        /// Share of the microphone, over 60 ms, below which what the estimate leaves proves an echo in the first
        /// moments, and blocks in a row that it takes: much of it is explained, or some for longer. In their first 0.3 s
        /// one of 40 simulated wearers of a headset, who begin with the far end, comes to either, and 40 of 51 recorded
        /// double talks do; to a half for 3 blocks, which it was before, the same wearer and 33.
        var quick: (much: (unexplained: Float, blocks: Int), some: (unexplained: Float, blocks: Int)) =
            ((0.65, 3), (0.8, 8))
        /// Seconds of it in which faint peaks that go on agreeing are proof too; later chance has had its time.
        var beginning: Float = 0.3
        /// Seconds of far-end speech for which the first of its echo is waited for.
        var wait: Float = 1
    }

    private static let block: Float = 0.01
    /// What may be an echo: mean square of the microphone above -60 dBFS, and so many times the room's.
    private static let audible: (power: Float, overRoom: Float) = (1e-6, 4)
    /// Growth per block of the least power heard, which is the room's or the reference's own, and what it starts to
    /// grow from: -100 dBFS.
    private static let room: (growth: Float, least: Float) = (1.003, 1e-10)
    /// Mean square of the reference that counts as playing: -70 dBFS.
    static let playing: Float = 1e-7
    /// Mean square of the reference whose echo may be heard: so many times its own floor, but never below -50 dBFS nor
    /// above -35: hiss that a reference was recorded with is no far-end speech, and music that never pauses is.
    /// Recorded references have up to -43 dBFS of it.
    private static let speech: (overFloor: Float, range: ClosedRange<Float>) = (100, 1e-5...3e-4)
    /// Seconds of far-end speech after which an estimate can be proof: if it explains nearly all, and if it explains
    /// some; then a delay that is found proves an echo for longer.
    private static let proofBegins: (early: Float, late: Float) = (0.1, 0.5)
    /// Seconds after it within which its echo may come.
    private static let longestDelay: Float = 0.6
    /// Seconds after the last that plays until its echo is over.
    private static let hangover: Float = 0.3
    /// Seconds of proof after which an echo is proven for longer.
    private static let establishment: Float = 0.3
    /// Block weights of a 60 ms and of a 0.7 s average.
    private static let quick: Float = 0.1535
    private static let slow: Float = 0.01418

    /// What proof there was. It is lost when none has come for as long as the tuning's patience says.
    private enum Proof {
        case none
        /// For so many seconds.
        case seen(Float)
        /// For long enough, or by its delay.
        case established
    }

    private let tuning: Tuning
    private var sinceFar: Float = 9
    /// Power of the reference where it plays and nothing is said.
    private var farFloor: Float = .infinity
    private var sinceSpeech: Float = 9
    private var proof = Proof.none
    private var sinceProof: Float = 0
    /// Power of the microphone where nothing is heard but the room.
    private var roomPower: Float = .infinity
    /// Power of the microphone over 60 ms: single blocks of a low hum differ by more than 6 dB.
    private var recentPower: Float?
    /// Blocks in a row of which the estimate explains much, and some.
    private var quickBlocks = (much: 0, some: 0)
    /// The delay was found since the last block that was judged.
    private var isPresumed = false
    /// Seconds in which there was something to hear besides the first far-end speech.
    private var heardTime: Float = 0
    private var slowMicrophone: Float = 0
    private var slowProduct: Float = 0
    private var slowEstimate: Float = 0
    /// Seconds of far-end speech so far.
    private(set) var farTime: Float = 0
    /// Power of the microphone and of what the filter leaves of it before it learns, over 60 ms.
    private(set) var microphonePower: Float = 0
    private(set) var errorPower: Float = 0
    private var quickProduct: Float = 0
    private var quickEstimate: Float = 0
    /// ⟨d, y⟩ / ⟨y, y⟩ over 60 ms: by how much the echo is stronger than its estimate, if there is nothing but echo.
    var gainError: Float { quickProduct / (quickEstimate + 1e-12) }
    /// Share of the microphone's power that an estimate so much stronger would not explain, 0...1.
    var unexplainedIfScaled: Float {
        max(0, 1 - quickProduct * gainError / (microphonePower + 1e-12))
    }
    /// The filter's estimate explains part of the microphone, over 0.7 s.
    private(set) var isExplained = false
    /// 0...1: how much of the canceller's output is used; the rest is the microphone.
    private(set) var presence: Float = 1

    init(tuning: Tuning = Tuning()) { self.tuning = tuning }

    /// Proof was seen lately.
    var isSeen: Bool { if case .none = proof { false } else { true } }
    /// Something is heard above the room.
    private var isAudible: Bool {
        guard let recentPower else { return false }
        return recentPower > max(Self.audible.power, Self.audible.overRoom * roomPower)
    }
    /// Whether the far end talks.
    var isPlaying: Bool { sinceFar == 0 }
    /// Whether there may be an echo of it.
    var isLive: Bool { sinceFar < Self.hangover }
    /// An echo is assumed and the path unknown, and what was said of late may be heard.
    var isUnsure: Bool { !isSeen && presence > 0.5 && sinceFar < 0.2 && sinceSpeech < Self.longestDelay }
    /// Share of the microphone's power that the filter does not explain, 0...1 and above.
    var unexplained: Float { errorPower / (microphonePower + 1e-12) }

    /// Takes a block's powers (mean squares).
    mutating func observe(referencePower: Float, microphonePower: Float) {
        let before = recentPower ?? microphonePower
        let recent = before + Self.quick * (microphonePower - before)
        recentPower = recent
        roomPower = max(Self.room.least, min(recent, roomPower * Self.room.growth))
        if referencePower > Self.playing { farFloor = min(referencePower, farFloor * Self.room.growth) }
        sinceSpeech += Self.block
        let range = Self.speech.range
        if referencePower > min(range.upperBound, max(range.lowerBound, Self.speech.overFloor * farFloor)) {
            farTime += Self.block
            sinceSpeech = 0
        }
        if referencePower > Self.playing {
            sinceFar = 0
        } else {
            sinceFar += Self.block
        }
    }

    /// The delay of the echo was found, so there is one: it is proven, or only seen where it was found in the first
    /// moments of the far end.
    mutating func presume() { isPresumed = true }

    /// Forgets the short averages, when the estimate was mended meanwhile.
    mutating func restartAverages() {
        microphonePower = 0
        errorPower = 0
        quickProduct = 0
        quickEstimate = 0
    }

    /// Takes the energies of a block in which the far end talks: microphone, error, estimate, product of microphone and
    /// estimate; and whether the correlation shows an echo.
    mutating func judge(
        microphone: Float, error: Float, estimate: Float, product: Float, isEvident: Bool,
        isPersistent: Bool
    ) {
        microphonePower += Self.quick * (microphone - microphonePower)
        errorPower += Self.quick * (error - errorPower)
        quickProduct += Self.quick * (product - quickProduct)
        quickEstimate += Self.quick * (estimate - quickEstimate)
        slowMicrophone += Self.slow * (microphone - slowMicrophone)
        slowProduct += Self.slow * (product - slowProduct)
        slowEstimate += Self.slow * (estimate - slowEstimate)
        countHeard()
        let ratio = slowProduct / (slowEstimate + 1e-12)
        let share = (2 * slowProduct - slowEstimate) / (slowMicrophone + 1e-12)
        let least = farTime > Self.proofBegins.late ? tuning.share : tuning.earlyShare
        isExplained = farTime > Self.proofBegins.early && share > least && ratio > tuning.ratio
        let isQuick =
            farTime > Self.proofBegins.early
            && (quickBlocks.much >= tuning.quick.much.blocks || quickBlocks.some >= tuning.quick.some.blocks)
        let isBegun = heardTime < tuning.beginning
        let isProof = isEvident || isExplained || isPresumed || isBegun && (isPersistent || isQuick)
        sinceProof = isProof ? 0 : sinceProof + Self.block
        if isProof { addProof() }
        isPresumed = false
        decide()
    }

    /// Counts a block with proof.
    private mutating func addProof() {
        let time: Float
        switch proof {
        case .none: time = Self.block
        case .seen(let before): time = before + Self.block
        case .established: return
        }
        // In the first moments a delay, too, may be found by chance.
        let isKnown = isPresumed && farTime > Self.proofBegins.late
        proof = isKnown || time > Self.establishment ? .established : .seen(time)
    }

    /// Counts what is heard without being explained.
    private mutating func countHeard() {
        let (much, some) = tuning.quick
        quickBlocks.much = isAudible && unexplained < much.unexplained ? quickBlocks.much + 1 : 0
        quickBlocks.some = isAudible && unexplained < some.unexplained ? quickBlocks.some + 1 : 0
        if isAudible, sinceSpeech < Self.longestDelay, quickBlocks.some == 0 { heardTime += Self.block }
    }

    private mutating func decide() {
        let patience = if case .established = proof { tuning.patience.proven } else { tuning.patience.unproven }
        let isAssumed = isSeen ? sinceProof < patience : heardTime < tuning.benefit && farTime < tuning.wait
        if sinceProof > patience { proof = .none }
        let target: Float = isAssumed ? 1 : 0
        presence += (target - presence) * (target > presence ? 1 : 0.2)
    }
}
