internal import ControlAPI
internal import VoiceDialog
internal import VoiceEngine
internal import VoicePartner

/// A talk whose answers come from outside: what is said is recognised and told, and what the bot gives is spoken.
actor BotTalk {
    /// Sound from before the first speech that belongs to a turn: words begin softly, and the detector is not exact.
    private static let lead = Duration.milliseconds(300)

    private let conversation: Conversation
    private let recognition: Recognition
    private let synthesiser: any Synthesiser
    private let tell: @Sendable (PartnerEvent) -> Void
    private var memory = SoundMemory()
    /// The last turn that ended, and was not answered.
    private var open: TurnID?
    private var recognising: Task<Void, Never>?
    private var speech: BotSpeech?
    /// Of which it is not told yet how far they were heard: the present one, and those that were cut just now, with why.
    private var answers: [TurnID: (answer: SpokenAnswer, end: AnswerEnd)] = [:]
    private let pieceTime: Duration

    init(
        _ conversation: Conversation, _ recognition: Recognition, _ synthesiser: any Synthesiser, pieceTime: Duration,
        tell: @escaping @Sendable (PartnerEvent) -> Void
    ) {
        self.pieceTime = pieceTime
        self.conversation = conversation
        self.recognition = recognition
        self.synthesiser = synthesiser
        self.tell = { event in
            conversation.remember(event)
            tell(event)
        }
    }

    /// Listens until the conversation ends.
    func run() async {
        let hearing = Task {
            for await frame in conversation.farEnd.nearEnd(.milliseconds20) { self.memory.append(frame) }
        }
        for await event in conversation.events {
            tell(.turn(event))
            switch event {
            case .turnEnded(let turn): recognise(turn)
            case .answerCancelled(let turn, let reason):
                if speech?.turn == turn { speech?.cancel() }
                if open == turn { open = nil }
                answers[turn]?.end = reason
                // Of one that has not sounded nothing more is told.
                if answers[turn]?.answer.currentCaption?.isFinal == true { answered(turn, reason) }
            case .answerEnded(let turn, let heard): answered(turn, heard.reason)
            default: break
            }
        }
        hearing.cancel()
        recognising?.cancel()
        speech?.cancel()
        // Nor of one whose loudspeaker has gone with the conversation.
        for (turn, last) in answers.sorted(by: { $0.key < $1.key }) { answered(turn, last.end) }
    }

    /// It is known how far an answer was heard.
    private func answered(_ turn: TurnID, _ end: AnswerEnd) {
        guard let caption = answers.removeValue(forKey: turn)?.answer.currentCaption else { return }
        tell(.answered(turn, SpokenText(said: caption.text, heard: caption.heard, end: end)))
    }

    private func recognise(_ turn: Turn) {
        open = turn.id
        let sound = memory.frames(from: turn.start - Self.lead).prefix { $0.time < turn.end }.flatMap(\.samples)
        recognising?.cancel()
        recognising = Task {
            do throws(PartnerError) {
                let text = try await recognition.recognise(sound)
                guard !Task.isCancelled else { return }
                self.tell(.recognised(turn.id, text, isFinal: true))
                if text.isEmpty { await self.pass(turn.id) }
            } catch {
                self.tell(.failed(turn.id, error))
                await self.pass(turn.id)
            }
        }
    }

    /// Nothing is to be answered.
    private func pass(_ turn: TurnID) async {
        guard open == turn else { return }
        open = nil
        await (try? conversation.answer(turn))?.finish()
    }

    /// Speaks a text, or more of one; returns the turn that it is spoken in, and how much waits.
    func say(_ text: String, in turn: UInt32?, isLast: Bool) throws(ControlError) -> JSON {
        // A control character is no word.
        let plain = String(text.unicodeScalars.map { $0.value < 32 ? " " : Character($0) })
        return try speak(.text(plain), in: turn, isLast)
    }

    /// Plays a sound file that can be decoded, or more of a sound.
    func play(_ sound: [UInt8], in turn: UInt32?, isLast: Bool) throws(ControlError) -> JSON {
        try speak(.sound(sound), in: turn, isLast)
    }

    private func speak(_ piece: BotSpeech.Piece, in turn: UInt32?, _ isLast: Bool) throws(ControlError) -> JSON {
        let speech: BotSpeech
        if let open = self.speech, let turn, open.turn.rawValue == turn, open.isOpen {
            speech = open
        } else {
            let answer: SpokenAnswer
            do throws(TurnRefusal) {
                answer = try conversation.answer(turn.map(TurnID.init(rawValue:)) ?? self.open)
            } catch {
                throw ControlError(EngineError.turn(error))
            }
            if self.open == answer.turn { self.open = nil }
            answers[answer.turn] = (answer, .interrupted)
            speech = BotSpeech(answer, synthesiser, patience: pieceTime) { [tell] error in
                tell(.failed(answer.turn, error))
            }
            self.speech = speech
        }
        let waiting = try speech.append(piece, isLast: isLast)
        return ["turn": .integer(Int(speech.turn.rawValue)), "waiting": .integer(waiting)]
    }
}

extension EventHub {
    /// Tells what happens in a talk.
    func tell(_ event: PartnerEvent) {
        switch event {
        case .ready: break
        case .recognised(let turn, let text, let isFinal):
            if isFinal { tell("recognised", ["turn": number(turn), "text": .string(text)]) }
        case .caption(let turn, let text): tell("caption", ["turn": number(turn), "text": .string(text)])
        case .answered(let turn, let text):
            tell(
                "answered",
                [
                    "turn": number(turn), "said": .string(text.said), "heard": .string(text.heard),
                    "isCut": .bool(text.isCut),
                ])
        case .failed(let turn, let error):
            var members = ["error": ControlError(409, error.code, error.explanation).json]
            if let turn { members["turn"] = number(turn) }
            tell("turnFailed", members)
        case .turn(let event): tell(event)
        }
    }

    private func tell(_ event: TurnEvent) {
        switch event {
        case .stateChanged(let state, let turn): tell("state", ["state": .string("\(state)"), "turn": number(turn)])
        case .speechStarted(let turn, _): tell("speechStarted", ["turn": number(turn)])
        case .turnEnded(let turn): tell("turnEnded", ["turn": number(turn.id)])
        case .turnDropped(let turn, _): tell("turnDropped", ["turn": number(turn)])
        case .answerStarted(let turn, _): tell("answerStarted", ["turn": number(turn)])
        case .answerCancelled(let turn, let end):
            tell("answerCancelled", ["turn": number(turn), "reason": .string("\(end)")])
        case .answerEnded(let turn, let heard):
            tell(
                "answerEnded",
                ["turn": number(turn), "heardMs": .number((heard.heard / .milliseconds(1)).rounded())])
        case .bargeIn(let turn, let change):
            tell("bargeIn", ["turn": number(turn), "stage": .string("\(change.stage)")])
        case .speechEnded: break
        }
    }

    private func number(_ turn: TurnID) -> JSON { .integer(Int(turn.rawValue)) }
}
