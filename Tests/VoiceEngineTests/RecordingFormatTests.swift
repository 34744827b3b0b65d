import Testing
import VoiceCoding
import VoiceProcessing
import VoiceTurns

@testable import VoiceEngine

/// What docs/recording.md says of versions holds only where every change of the form comes with a new number.
@Suite("A recording's format has a version")
struct RecordingFormatTests {
    private static let stream = StreamEncoding(application: .music, settings: .voice)

    /// One of each command that a recording holds as it was.
    private static let commands: [MediaCommand] = [
        .keepForRoom, .publish(start), .report(as: start), .stopPublishing, .stopStream(line: 1),
        .beginStreamGeneration(2, line: 1), .setMuted(true), .setMuteKind(.keepAlive), .setProcessing(.voiceAgent),
        .setSending(EngineConfiguration.voiceChat.sending), .changeCapture, .changePlayback(periodFrames: 480),
        .addStream(synchronizationSource: 5), .setStreamMuted(true, synchronizationSource: 5),
        .removeStream(synchronizationSource: 5), .setVolume(gain: 0.5, synchronizationSource: 5),
        .levelTalkers(TalkerLevelling()), .flush(generation: 2, synchronizationSource: 5), .beginGeneration(3),
        .beginUtterance(4), .watchAnswers(AnswerWatchOrder(farEnd: 1, policy: .staged())),
        .watchTalker(TalkerWatchOrder(participant: 2, policy: .off)), .confirmBargeIn, .openGate,
        .closeGate(keeping: 9),
    ]

    private static let start = RTPStreamStart(synchronizationSource: 7, sequenceNumber: 8, timestamp: 9)

    private static let recorded: [RecordedCommand] =
        commands.map { .media($0) } + [.openFarEnd(1), .openSink(2), .openMeter(3), .openStream(4, stream)]

    /// A new command needs a sample above, and a number.
    private static func isSampled(_ command: MediaCommand) -> Bool {
        switch command {
        case .openFarEnd, .openSink, .openMeter, .openListener: false
        case .keepForRoom, .publish, .report, .stopPublishing, .stopStream, .beginStreamGeneration, .setMuted,
            .setMuteKind, .setProcessing, .setSending, .changeCapture, .changePlayback, .addStream, .setStreamMuted,
            .removeStream, .setVolume, .levelTalkers, .flush, .beginGeneration, .beginUtterance, .watchAnswers,
            .watchTalker, .confirmBargeIn, .openGate, .closeGate:
            true
        }
    }

    private static func bytes(_ command: RecordedCommand) throws -> [UInt8] {
        var coder = RecordCoder()
        try command.write(with: &coder)
        return coder.bytes
    }

    @Test("every command has a number of its own, and comes back as it was")
    func commands() throws {
        #expect(Self.commands.allSatisfy(Self.isSampled))
        var numbers: Set<UInt8> = []
        for command in Self.recorded {
            let bytes = try Self.bytes(command)
            #expect(numbers.insert(bytes[0]).inserted, "\(command.description)")
            var reader = RecordCoder(reading: bytes)
            let read = try RecordedCommand(reading: &reader)
            #expect(read.description == command.description && reader.isAtEnd)
            #expect(try Self.bytes(read) == bytes)
        }
        #expect(numbers == Set(1...29))
    }

    @Test("a command or a piece that this version does not know is refused by its number and the format's")
    func unknown() throws {
        var bytes = try Self.bytes(.media(.openGate))
        for number in [0, 30, 255] as [UInt8] {
            bytes[0] = number
            #expect(throws: RecordingFault.malformed("\(number) is no command of format 4")) {
                var reader = RecordCoder(reading: bytes)
                _ = try RecordedCommand(reading: &reader)
            }
        }
        #expect(RecordedPiece(rawValue: 0) == nil && RecordedPiece(rawValue: 17) == nil)
    }

    @Test(
        "Given a jitter buffer of any capacity and any times, when its engine is recorded, then the recording has what the buffer makes of them",
        arguments: [true, false])
    func playout(isLarge: Bool) throws {
        let time = Duration.seconds(isLarge ? 1_000_000_000_000 : -1_000_000_000_000)
        var configuration = EngineConfiguration.voiceChat
        configuration.playout.packetCapacity = isLarge ? .max : -1
        (configuration.playout.minimumDelay, configuration.playout.maximumDelay) = (time, time)
        (configuration.playout.skippedExcess, configuration.playout.keptLateness) = (time, time)
        configuration.playout.keptAfterFreeze = time
        try configuration.validate()
        var settings = RecordedSettings(
            configuration, includesSound: true, devicePeriod: 480, keepsDeadlines: true)
        var writer = RecordCoder()
        try settings.code(with: &writer)
        var reader = RecordCoder(reading: writer.bytes)
        var read = RecordedSettings()
        try read.code(with: &reader)
        let playout = try read.configuration().playout
        #expect(reader.isAtEnd && playout.packetCapacity == (isLarge ? 4_096 : 16))
        let times = [
            playout.minimumDelay, playout.maximumDelay, playout.skippedExcess, playout.keptLateness,
            playout.keptAfterFreeze,
        ]
        #expect(times == [Duration](repeating: .seconds(isLarge ? 86_400 : -86_400), count: 5))
    }

    /// The sizes and the order of all that is written. Where this fails, what is written has changed: raise
    /// `RecordingFormat.version`, add a line to docs/recording.md, and only then correct what stands here.
    @Test("the form of version 4 is this, and any other form is another version")
    func form() throws {
        func settings(_ processing: ProcessingSettings) throws -> Int {
            var settings = RecordedSettings()
            settings.processing = processing
            var coder = RecordCoder()
            try settings.code(with: &coder)
            return coder.bytes.count
        }
        var without = ProcessingSettings()
        without.speechDetector = nil
        var with = ProcessingSettings()
        with.speechDetector = SpeechDetector.Configuration()
        let sizes = try Self.recorded.map { "\(try Self.bytes($0)[0]):\(try Self.bytes($0).count)" }
        let choices: [String] = [
            names(of: MuteKind.self), names(of: OpusApplication.self), names(of: OpusFrameDuration.self),
            names(of: ProcessingSettings.EchoSuppression.self), names(of: ProcessingSettings.NoiseSuppression.self),
            names(of: ProcessingSettings.NoiseMethod.self), names(of: ProcessingSettings.Gain.Mode.self),
            names(of: ProcessingSettings.VoiceDetection.self),
        ]
        let form = [
            "version \(RecordingFormat.version)", "settings \(try settings(without)) \(try settings(with))",
            "commands \(sizes.joined(separator: " "))", "choices \(choices.joined(separator: "; "))",
        ]
        #expect(form == Self.form)
    }

    private func names<Choice: CaseIterable>(of type: Choice.Type) -> String {
        type.allCases.map { "\($0)" }.joined(separator: " ")
    }

    private static let form = [
        "version 4", "settings 284 372",
        "commands 4:217 5:217 6:217 7:217 26:217 27:217 8:217 9:217 10:217 29:263 11:217 12:217 13:217 14:217 15:217 16:217 "
            + "28:217 17:217 18:217 19:217 20:217 21:217 22:217 23:217 24:217 1:217 2:217 3:217 25:263",
        "choices stop silence keepAlive; voip music lowDelay; "
            + "microseconds2500 milliseconds5 milliseconds10 milliseconds20 milliseconds40 milliseconds60; "
            + "off soft medium aggressive auto; off low moderate high veryHigh; spectral neural; off fixed adaptive; "
            + "off veryLow low moderate high",
    ]
}
