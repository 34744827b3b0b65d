import ArgumentParser
import VoiceEngine

/// How much sound a packet carries: whatever the codec offers, in milliseconds.
struct FrameMilliseconds: ExpressibleByArgument {
    let duration: OpusFrameDuration

    init?(argument: String) {
        guard let found = OpusFrameDuration.allCases.first(where: { Self.text($0) == argument }) else { return nil }
        duration = found
    }

    static var allValueStrings: [String] { OpusFrameDuration.allCases.map(text) }

    static func text(_ duration: OpusFrameDuration) -> String {
        duration.frames % 48 == 0 ? "\(duration.frames / 48)" : "\(Double(duration.frames) / 48)"
    }
}
