/// What becomes of several channels where one is wanted.
public enum ChannelMix: Equatable, Sendable {
    /// The mean of all of them.
    case average
    /// The mean of the first two; of one the one.
    case firstTwo
    /// The mean of these, counted from 0 up to 255. A card that has fewer is not opened
    /// (``DeviceError/unsupported(asked:offers:)``); of a file with fewer the last is taken.
    case channels(ClosedRange<Int>)

    /// One of them, counted from 0.
    public static func channel(_ index: Int) -> ChannelMix { .channels(index...index) }

    /// A frame of USB audio counts its channels in one byte.
    private static let possible = 0...255

    /// Which channels of `count`, at least 1, the mean is taken of.
    func members(of count: Int) -> ClosedRange<Int> {
        let all = 0...count - 1
        return switch self {
        case .average: all
        case .firstTwo: (0...1).clamped(to: all)
        case .channels(let chosen): chosen.clamped(to: all)
        }
    }

    /// How many channels to open a card with. Where they are chosen two at least, since of one alone a converting PCM
    /// makes the mean of all.
    var wantedChannels: Int { if case .channels(let chosen) = self { max(chosen.upperBound + 1, 2) } else { 1 } }

    func validate() throws(DeviceError) {
        guard case .channels(let chosen) = self, chosen.clamped(to: Self.possible) != chosen else { return }
        throw .invalidConfiguration(
            message: "channels \(chosen.lowerBound) to \(chosen.upperBound); they are counted from 0 to 255")
    }

    /// Throws where a device that runs with `count` channels lacks one of them.
    func check(against count: Int) throws(DeviceError) {
        guard case .channels(let chosen) = self, chosen.upperBound >= count else { return }
        throw .unsupported(asked: "\(chosen.upperBound + 1) channels", offers: "\(count)")
    }
}
