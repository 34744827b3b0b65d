internal import VoiceProcessing
internal import VoiceTurns

/// A command as a recording has it: what was memory of the process is a number.
enum RecordedCommand {
    /// As it was.
    case media(MediaCommand)
    /// A far end of this number is played and fed.
    case openFarEnd(UInt64)
    /// The same of a stream that an app feeds, which is encoded so.
    case openStream(UInt64, StreamEncoding)
    /// Somebody listens, which changes nothing.
    case openSink(UInt64)
    case openMeter(UInt64)

    /// More frames than a gate can keep, or a device can take at a time: 16 s.
    private static let mostFrames = 768_000
    /// More than any volume: +60 dB.
    private static let largestGain: Float = 1_000

    init(_ command: MediaCommand) {
        self =
            switch command {
            case .openFarEnd(let handle):
                handle.encoding.map { .openStream(handle.number, $0) } ?? .openFarEnd(handle.number)
            case .openSink(let handle): .openSink(handle.number)
            case .openMeter(let handle): .openMeter(handle.number)
            // Who hears changes nothing, in whichever way.
            case .openListener(let handle): .openSink(handle.number)
            default: .media(command)
            }
    }

    /// For people.
    var description: String {
        switch self {
        case .media(let command): "\(command)"
        case .openFarEnd(let number): "openFarEnd(\(number))"
        case .openStream(let number, _): "openStream(\(number))"
        case .openSink(let number): "openSink(\(number))"
        case .openMeter(let number): "openMeter(\(number))"
        }
    }

    func write(with coder: inout RecordCoder) throws(RecordingFault) {
        var form = Form()
        switch self {
        case .openFarEnd(let number): (form.kind, form.wide) = (1, number)
        case .openStream(let number, let encoding):
            (form.kind, form.wide, form.encoding) = (25, number, encoding)
            form.adaptation = encoding.adaptation
        case .openSink(let number): (form.kind, form.wide) = (2, number)
        case .openMeter(let number): (form.kind, form.wide) = (3, number)
        case .media(let command): form.take(command)
        }
        try form.code(with: &coder)
    }

    init(reading coder: inout RecordCoder) throws(RecordingFault) {
        var form = Form()
        try form.code(with: &coder)
        self = try form.command()
        guard coder.isAtEnd else { throw .malformed("a command is too long") }
    }

    /// All that commands are made of; each uses what it needs.
    private struct Form {
        var kind: UInt8 = 0
        var wide: UInt64 = 0
        var source: UInt32 = 0
        var participant: UInt32 = 0
        var generation: UInt32 = 0
        var timestamp: UInt32 = 0
        var sequence: UInt16 = 0
        var frames = 0
        var isOn = false
        var gain: Float = 1
        var muteKind = MuteKind.stop
        var processing = ProcessingSettings()
        var policy = BargeInPolicy.off
        var encoding = StreamEncoding(application: .music, settings: .voice)
        var adaptation = SenderAdaptationPolicy()

        mutating func code(with coder: inout RecordCoder) throws(RecordingFault) {
            try coder.code(&kind)
            try coder.code(&wide)
            try coder.code(&source)
            try coder.code(&participant)
            try coder.code(&generation)
            try coder.code(&timestamp)
            try coder.code(&sequence)
            try coder.code(&frames)
            try coder.code(&isOn)
            try coder.code(&gain)
            try coder.code(choice: &muteKind)
            try processing.code(with: &coder)
            try policy.code(with: &coder)
            guard kind == 25 || kind == 29 else { return }
            try coder.code(choice: &encoding.application)
            try encoding.settings.code(with: &coder)
            try adaptation.code(with: &coder)
        }

        private mutating func take(_ start: RTPStreamStart) {
            (source, sequence, timestamp) = (start.synchronizationSource, start.sequenceNumber, start.timestamp)
            (generation, isOn, wide) = (start.generation, start.mayRepeat, start.line)
        }

        private var start: RTPStreamStart {
            RTPStreamStart(
                synchronizationSource: source, sequenceNumber: sequence, timestamp: timestamp, generation: generation,
                mayRepeat: isOn, line: wide)
        }

        mutating func take(_ command: MediaCommand) {
            switch command {
            case .openFarEnd, .openSink, .openMeter, .openListener: break
            case .keepForRoom: kind = 4
            case .publish(let start):
                kind = 5
                take(start)
            case .report(let start):
                kind = 6
                take(start)
            case .stopPublishing: kind = 7
            case .stopStream(let line): (kind, wide) = (26, line)
            case .setSending(let sending):
                kind = 29
                (encoding.settings, adaptation) = (sending.encoder, sending.adaptation)
            case .levelTalkers(let levelling):
                (kind, isOn) = (28, levelling != nil)
                guard let levelling else { return }
                (gain, wide) = (levelling.range, UInt64(levelling.target.bitPattern))
            case .beginStreamGeneration(let generation, let line):
                (kind, self.generation, wide) = (27, generation, line)
            case .setMuted(let isMuted): (kind, isOn) = (8, isMuted)
            case .setMuteKind(let muteKind): (kind, self.muteKind) = (9, muteKind)
            case .setProcessing(let settings): (kind, processing) = (10, settings)
            case .changeCapture: kind = 11
            case .changePlayback(let period): (kind, frames) = (12, period)
            case .addStream(let source, let participant, let isMuted, let generation):
                (kind, self.source, self.participant, isOn) = (13, source, participant, isMuted)
                self.generation = generation
            case .setStreamMuted(let isMuted, let source): (kind, isOn, self.source) = (14, isMuted, source)
            case .removeStream(let source): (kind, self.source) = (15, source)
            case .setVolume(let gain, let source): (kind, self.gain, self.source) = (16, gain, source)
            case .flush(let generation, let source): (kind, self.generation, self.source) = (17, generation, source)
            case .beginGeneration(let generation): (kind, self.generation) = (18, generation)
            case .beginUtterance(let utterance):
                (kind, isOn, generation) = (19, utterance != nil, utterance ?? 0)
            case .watchAnswers(let order): (kind, wide, policy) = (20, order.farEnd, order.policy)
            case .watchTalker(let order): (kind, participant, policy) = (21, order.participant, order.policy)
            case .confirmBargeIn: kind = 22
            case .openGate: kind = 23
            case .closeGate(let frames): (kind, self.frames) = (24, frames)
            }
        }

        private func sending() throws(RecordingFault) -> EngineConfiguration.Sending {
            let configuration = EngineConfiguration(encoder: encoding.settings, adaptation: adaptation)
            do throws(EngineError) { try configuration.validate() } catch { throw .malformed("\(error)") }
            return configuration.sending
        }

        private func stream() throws(RecordingFault) -> StreamEncoding {
            var encoding = encoding
            encoding.adaptation = adaptation
            do throws(EngineError) { try adaptation.validate() } catch { throw .malformed("\(error)") }
            return encoding
        }

        private func levelling() throws(RecordingFault) -> TalkerLevelling {
            let target = Float(bitPattern: UInt32(truncatingIfNeeded: wide))
            let levelling = TalkerLevelling(target: target, range: gain)
            do throws(EngineError) { try levelling.validate() } catch { throw .malformed("a level of \(target) LUFS") }
            return levelling
        }

        func command() throws(RecordingFault) -> RecordedCommand {
            guard (0...RecordedCommand.mostFrames).contains(frames) else {
                throw .malformed("a command of \(frames) frames")
            }
            guard (0...RecordedCommand.largestGain).contains(gain) else { throw .malformed("a volume of \(gain)") }
            return switch kind {
            case 1: .openFarEnd(wide)
            case 2: .openSink(wide)
            case 3: .openMeter(wide)
            case 4: .media(.keepForRoom)
            case 5: .media(.publish(start))
            case 6: .media(.report(as: start))
            case 7: .media(.stopPublishing)
            case 8: .media(.setMuted(isOn))
            case 9: .media(.setMuteKind(muteKind))
            case 10: .media(.setProcessing(processing))
            case 11: .media(.changeCapture)
            case 12: .media(.changePlayback(periodFrames: frames))
            case 13:
                .media(
                    .addStream(
                        synchronizationSource: source, participant: participant, isMuted: isOn, generation: generation))
            case 14: .media(.setStreamMuted(isOn, synchronizationSource: source))
            case 15: .media(.removeStream(synchronizationSource: source))
            case 16: .media(.setVolume(gain: gain, synchronizationSource: source))
            case 17: .media(.flush(generation: generation, synchronizationSource: source))
            case 18: .media(.beginGeneration(generation))
            case 19: .media(.beginUtterance(isOn ? generation : nil))
            case 20: .media(.watchAnswers(AnswerWatchOrder(farEnd: wide, policy: policy)))
            case 21: .media(.watchTalker(TalkerWatchOrder(participant: participant, policy: policy)))
            case 22: .media(.confirmBargeIn)
            case 23: .media(.openGate)
            case 24: .media(.closeGate(keeping: frames))
            case 25: .openStream(wide, try stream())
            case 26: .media(.stopStream(line: wide))
            case 29: .media(.setSending(try sending()))
            case 28: .media(.levelTalkers(isOn ? try levelling() : nil))
            case 27: .media(.beginStreamGeneration(generation, line: wide))
            default: throw .malformed("\(kind) is no command of format \(RecordingFormat.version)")
            }
        }
    }
}
