internal import VoiceCoding

/// How much of the path a sender takes: bit rate, packet length, and whether there is room for copies.
///
/// What is narrow for most listeners is what they have in common, the sender's own path; what is narrow for one of two
/// or of many is that listener's, and takes nothing from the others (decision 039).
///
/// Loss alone says nothing about bandwidth: radio links lose without a queue. What says it is a round trip that grows
/// while packets are lost, or one that grows very much. Then the rate falls by the factor of Google's congestion
/// control, and rises again as that does (draft-ietf-rmcat-gcc-02, section 5.5). Longer packets come when the rate
/// alone has not helped: at 20 ms the headers of IP, UDP and RTP take 19 kbit/s, at 40 ms half of that.
struct BandwidthControl: BitwiseCopyable, Sendable {
    /// A queue of this length, in seconds, with this loss; or of that length without any.
    private static let narrowExcess = 0.04
    private static let narrowLoss = 0.02
    private static let veryNarrowExcess = 0.15
    /// A queue no longer than this is none.
    private static let clearExcess = 0.02
    private static let decrease = 0.85
    private static let increase = 1.08
    /// A change shows in the reports after an interval and a round trip.
    private static let settling: Duration = .seconds(2)
    private static let pace: Duration = .seconds(1)
    /// Packets are one step longer below the first share of the configured rate, two below the second, and as
    /// configured from the third on.
    private static let longer = 0.75
    private static let longest = 0.5
    private static let restored = 0.95
    /// Copies that have filled the path are not tried again for so long; each time for twice as long.
    private static let firstBan: Duration = .seconds(30)
    private static let longestBan: Duration = .seconds(240)

    private let configured: OpusEncoderSettings
    private let policy: SenderAdaptationPolicy
    private var rate: Double
    private var lengthening = 0
    private var lastChange: Duration?
    private var ban: Duration = .zero
    private var bannedUntil: Duration?

    init(_ configured: OpusEncoderSettings, _ policy: SenderAdaptationPolicy) {
        self.configured = configured
        self.policy = policy
        rate = Double(configured.bitratePerSecond)
    }

    /// Whether round trips longer by `excess` seconds, with this share of packets lost, mean a path without room.
    static func isNarrow(excess: Double, loss: Double) -> Bool {
        (excess > narrowExcess && loss > narrowLoss) || excess > veryNarrowExcess
    }

    /// Whether they mean a path with room.
    static func isClear(excess: Double) -> Bool { excess < clearExcess }

    /// Takes how many of the paths are narrow now, and how many are clear.
    mutating func update(narrow: Int, clear: Int, of paths: Int, hadCopies: Bool, now: Duration) {
        let full = Double(configured.bitratePerSecond)
        if hadCopies ? 2 * narrow >= paths : 2 * narrow > paths {
            guard lastChange.map({ now - $0 >= Self.settling }) ?? true else { return }
            lastChange = now
            // Copies go first, as they came: as half of the listeners have it. What is left may fit.
            if hadCopies {
                ban = min(max(ban * 2, Self.firstBan), Self.longestBan)
                bannedUntil = now + ban
                return
            }
            let least = min(Double(policy.minimumBitratePerSecond), full)
            rate = min(rate, max(least, rate * Self.decrease))
        } else if 2 * clear >= paths, rate < full {
            guard lastChange.map({ now - $0 >= Self.pace }) ?? true else { return }
            lastChange = now
            rate = min(full, rate * Self.increase)
        }
        if rate >= Self.restored * full { lengthening = 0 }
        if rate < Self.longer * full { lengthening = max(lengthening, 1) }
        if rate < Self.longest * full { lengthening = 2 }
    }

    /// Whether there may be room for copies.
    func allowsCopies(now: Duration) -> Bool {
        rate >= Self.restored * Double(configured.bitratePerSecond) && bannedUntil.map { now >= $0 } ?? true
    }

    /// Puts rate and packet length into the encoder's settings.
    func apply(to settings: inout OpusEncoderSettings) {
        settings.bitratePerSecond = Int(rate.rounded())
        settings.frameDuration = configured.frameDuration.lengthened(by: lengthening, upTo: policy.maximumFrameDuration)
    }
}

extension OpusFrameDuration {
    /// So many steps longer, but not beyond `longest`, nor shorter than it is.
    fileprivate func lengthened(by steps: Int, upTo longest: OpusFrameDuration) -> OpusFrameDuration {
        var length = self
        for _ in 0..<steps {
            let next: OpusFrameDuration =
                switch length.frames {
                case ..<480: .milliseconds10
                case 480: .milliseconds20
                case 960: .milliseconds40
                default: .milliseconds60
                }
            if next.frames > longest.frames { break }
            length = next
        }
        return length
    }
}
