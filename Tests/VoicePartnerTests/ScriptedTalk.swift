import SimulatedCalls
import VoiceEngine
import VoiceSimulation

@testable import VoicePartner

/// A person in a simulated room who talks with a partner whose recogniser, responder and synthesiser follow a script,
/// all on one simulated clock.
final class ScriptedTalk {
    /// What the three do, and how long they take.
    struct Script {
        /// What is recognised in each turn that ends, one after the other; nothing behind the last.
        var texts: [Result<String, PartnerError>] = []
        /// How long after the turn's end.
        var recognition: Duration = .milliseconds(100)
        /// The answer.
        var answer: (Dialogue) -> String = { "You said: \($0.question)." }
        /// Its pieces come so far apart.
        var pieceInterval: Duration = .milliseconds(10)
        /// Fails with this behind so many characters.
        var responderFault: (characters: Int, error: PartnerError)?
        /// Fails with this behind so many sentences, of all that were ever spoken, and 200 ms.
        var synthesiserFault: (sentences: Int, error: PartnerError)?
    }

    /// Something that happened, and when since the beginning.
    struct Told {
        var time: Duration
        var event: PartnerEvent
    }

    let talk: SimulatedConversation
    var script: Script
    private(set) var machine = CascadeMachine()
    private(set) var told: [Told] = []
    /// What the responder was given, in each turn.
    private(set) var dialogues: [Dialogue] = []
    /// Where recognition began, by turn.
    private(set) var recognisedFrom: [TurnID: Duration] = [:]
    private var due: [(time: Duration, action: () -> Void)] = []
    private var utterances: [TurnID: UtteranceID] = [:]
    private var sentences = 0

    private static let letter = 2_880
    private static let fragment = 960

    /// - Parameter stretches: when the person speaks, seconds.
    init(_ stretches: [ClosedRange<Double>], seconds: Double, mode: TalkMode = .duplex(), script: Script) throws {
        var configuration = SimulatedConversation.Configuration(talker: Self.person(stretches, seconds))
        configuration.mode = mode
        configuration.longest = .seconds(seconds)
        talk = try SimulatedConversation(configuration)
        self.script = script
    }

    /// Synthetic speech in these stretches, from its first sound on.
    private static func person(_ stretches: [ClosedRange<Double>], _ seconds: Double) -> SpeechSource {
        let frames = Int(seconds * 48_000)
        let speech = SyntheticSpeech.samples(frames: frames + 48_000, seed: 1, voice: .high, levelDecibels: -26)
        var part = [Float](repeating: 0, count: frames)
        var spoken = speech.firstIndex { abs($0) > 0.005 } ?? 0
        for stretch in stretches {
            for frame in Int(stretch.lowerBound * 48_000)..<Int(stretch.upperBound * 48_000) {
                part[frame] = speech[spoken]
                spoken += 1
            }
        }
        return SpeechSource(part, repetition: .once)
    }

    /// Lets time pass.
    func run(seconds: Double) {
        for _ in 0..<Int((seconds * 100).rounded()) {
            talk.run(for: .milliseconds(10)) { event in
                self.told.append(Told(time: self.talk.elapsed, event: .turn(event)))
                self.machine.handle(event, now: self.now)
                self.carryOut()
            }
            if let timeout = machine.nextTimeout, timeout <= now { machine.handleTimeout(now: now) }
            while let next = due.filter({ $0.time <= now }).min(by: { $0.time < $1.time }) {
                due.removeAll { $0.time == next.time }
                next.action()
            }
            if let turn = machine.answering, let utterance = utterances[turn] {
                machine.heard(talk.heard(of: utterance), of: turn)
            }
            carryOut()
        }
    }

    /// What the partner told, without the conversation's own events.
    var events: [PartnerEvent] { told.map(\.event).filter { if case .turn = $0 { false } else { true } } }

    /// What the conversation told.
    var turns: [TurnEvent] { told.compactMap { if case .turn(let event) = $0.event { event } else { nil } } }

    var captions: String {
        events.compactMap { if case .caption(_, let words) = $0 { words } else { nil } }.joined(separator: " ")
    }

    var answers: [SpokenText] { events.compactMap { if case .answered(_, let text) = $0 { text } else { nil } } }

    var failures: [PartnerError] { events.compactMap { if case .failed(_, let error) = $0 { error } else { nil } } }

    private var now: Duration { talk.beginning + talk.elapsed }

    private func after(_ delay: Duration, _ action: @escaping () -> Void) {
        // No two at one time, so that their order is that of their making.
        var time = now + delay
        while due.contains(where: { $0.time == time }) { time += .nanoseconds(1) }
        due.append((time, action))
    }

    private func carryOut() {
        while let output = machine.pollOutput() {
            switch output {
            case .recognise(let turn, let start): recognisedFrom[turn] = start
            case .finishRecognition(let turn):
                let outcome = script.texts.isEmpty ? .success("") : script.texts.removeFirst()
                after(script.recognition) {
                    self.machine.recognised(turn, outcome, now: self.now)
                    self.carryOut()
                }
            case .cancelRecognition: break
            case .respond(let turn, let dialogue):
                dialogues.append(dialogue)
                respond(turn, script.answer(dialogue)[...], said: 0)
            case .synthesise(let turn, let sentence): synthesise(turn, sentence)
            case .finish(let turn):
                guard let utterance = utterance(turn) else { continue }
                talk.finish(utterance)
            case .stop: break
            case .event(let event): told.append(Told(time: talk.elapsed, event: event))
            }
        }
    }

    private func respond(_ turn: TurnID, _ rest: Substring, said: Int) {
        after(script.pieceInterval) {
            defer { self.carryOut() }
            if let fault = self.script.responderFault, said >= fault.characters {
                return self.machine.responseEnded(turn, fault.error)
            }
            guard !rest.isEmpty else { return self.machine.responseEnded(turn, nil) }
            guard self.machine.responded(turn, String(rest.prefix(12)), now: self.now) else { return }
            self.respond(turn, rest.dropFirst(12), said: said + 12)
        }
    }

    private func synthesise(_ turn: TurnID, _ sentence: String) {
        sentences += 1
        let fault = script.synthesiserFault.flatMap { sentences > $0.sentences ? $0.error : nil }
        let length = fault == nil ? sentence.count * Self.letter : 9_600
        let sound = SyntheticSpeech.samples(
            frames: length, seed: UInt64(sentences), voice: .low, levelDecibels: -26)
        speak(turn, sound[...], fault)
    }

    /// Ten times faster than it sounds.
    private func speak(_ turn: TurnID, _ rest: ArraySlice<Float>, _ fault: PartnerError?) {
        after(.milliseconds(2)) {
            defer { self.carryOut() }
            guard !rest.isEmpty else { return self.machine.synthesisEnded(turn, fault) }
            let samples = Array(rest.prefix(Self.fragment))
            guard self.machine.synthesised(turn, .seconds(1) * samples.count / 48_000, now: self.now) else { return }
            if let utterance = self.utterance(turn) {
                if let times = self.machine.stageTimes(of: turn) {
                    _ = self.talk.conversation.agentStages(times, of: utterance)
                }
                self.talk.offer(samples, of: utterance)
            }
            self.speak(turn, rest.dropFirst(Self.fragment), fault)
        }
    }

    private func utterance(_ turn: TurnID) -> UtteranceID? {
        if utterances[turn] == nil { utterances[turn] = talk.takeAnswer(turn) }
        return utterances[turn]
    }
}

/// All that a machine has to say now.
func outputs(_ machine: inout CascadeMachine) -> [CascadeMachine.Output] {
    var outputs: [CascadeMachine.Output] = []
    while let output = machine.pollOutput() { outputs.append(output) }
    return outputs
}
