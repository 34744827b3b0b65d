import Testing
import VoiceEngine
import VoicePartner

@testable import Karaoke

@Suite("Example: karaoke")
struct KaraokeTests {
    @Test("a line is heard as far as the room's sound is, and moves nobody's cursor")
    func followed() throws {
        // Given a talker whose words lie in two seconds, with something of a terminal in them
        var track = CaptionTrack(utterance: 7)
        track.append("la la \u{1B}[2J", from: .zero, to: .seconds(1))
        track.append("lo lo", from: .seconds(1), to: .seconds(2))
        let talker = ParticipantID(rawValue: 3)
        let update = TextUpdate(
            stream: CaptionTrack.stream, round: 1, text: track.encoded, isFinal: true, extras: "")
        var follower = CaptionFollower()
        // When they are heard, little by little
        var lines: [CaptionLine] = []
        let heard = (0...8).map { step in
            EngineEvent.utteranceHeard(
                talker,
                HeardUtterance(utterance: 7, heard: .milliseconds(250 * step), bound: .seconds(2), isFinal: step == 8),
                at: .seconds(100) + .milliseconds(250 * step))
        }
        for event in [EngineEvent.text(from: talker, update)] + heard {
            if let caption = follower.handle(event) { lines.append(CaptionLine(caption.caption)) }
        }
        // Then the line is the same, and more and more of it was heard
        #expect(lines.count >= 4 && lines.allSatisfy { $0.heard + $0.rest == #"la la \u{001b}[2Jlo lo"# }, "\(lines)")
        #expect(zip(lines, lines.dropFirst()).allSatisfy { $1.heard.hasPrefix($0.heard) })
        #expect(lines.map(\.isFinal) == lines.dropLast().map { _ in false } + [true])
        #expect(lines.last?.rest == "" && lines.last?.terminal.hasSuffix("\n") == true)
    }
}

@Suite("Example: karaoke, with a loudspeaker", .timeLimit(.minutes(2)))
struct KaraokeLiveTests {
    @Test("lines that are read aloud are shown as they are heard, one after the other")
    func readAloud() async throws {
        let engine = try engine()
        try await engine.start()
        let shown = Shown<CaptionLine>()
        let lines = ["one two three four", "five six"]
        try await Karaoke.readAloud(lines, by: HummingSynthesiser(), on: engine, show: shown.append)
        await engine.stop()
        let finals = shown.lines.filter(\.isFinal)
        #expect(finals.map(\.heard) == lines && finals.allSatisfy { $0.rest.isEmpty })
        // Not all at once
        #expect(shown.lines.count > 4)
    }
}
