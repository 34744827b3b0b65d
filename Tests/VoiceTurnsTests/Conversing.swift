@testable import VoiceTurns

/// A conversation in milliseconds of simulated time, and all that came out of it.
struct Conversing {
    var machine: TurnMachine
    private(set) var outputs: [TurnOutput] = []

    init(_ mode: TalkMode) throws {
        machine = try TurnMachine(mode)
        _ = take()
    }

    /// What came out since the last look.
    mutating func take() -> [TurnOutput] {
        var new: [TurnOutput] = []
        while let output = machine.pollOutput() { new.append(output) }
        outputs += new
        return new
    }

    /// The events among it.
    mutating func events() -> [TurnEvent] {
        take().compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    /// Lets time pass.
    mutating func pass(until now: Int) {
        while let next = machine.nextTimeout, next <= ms(now) { machine.handleTimeout(now: next) }
    }

    /// Somebody speaks from `start` to `end`, which the detector tells 60 and 300 ms later.
    mutating func say(from start: Int, to end: Int) {
        pass(until: start + 60)
        machine.speechStarted(at: ms(start), now: ms(start + 60))
        pass(until: end + 300)
        machine.speechEnded(at: ms(end), now: ms(end + 300))
    }

    /// The agent's answer begins to be heard `delay` after it was queued.
    mutating func answer(_ turn: UInt32?, queued: Int, heard: Int) throws -> UtteranceID {
        pass(until: heard)
        let utterance = try machine.answer(turn.map { TurnID(rawValue: $0) }, now: ms(queued))
        machine.answerQueued(utterance, now: ms(queued))
        machine.utteranceStarted(utterance, at: ms(heard))
        return utterance
    }

    mutating func bargeIn(_ stage: BargeInStage, speech start: Int, now: Int) {
        machine.bargeIn(BargeInChange(stage: stage, speechStart: ms(start), decided: ms(now)), now: ms(now))
    }
}

func ms(_ milliseconds: Int) -> Duration { .milliseconds(milliseconds) }
func turn(_ number: UInt32) -> TurnID { TurnID(rawValue: number) }
