import TestCases
import Testing

@testable import VoiceTurns

/// What holds whatever comes in whatever order.
struct TurnPropertyTests {
    /// What comes of one input, and how often time-outs follow each other in 400 ms, at most.
    private static let longestStep = 1_000

    /// What was told of each turn.
    private struct Account {
        var ends: [TurnID: Int] = [:]
        var asked: Set<TurnID> = []
        var cancelled: Set<TurnID> = []
        var state = TurnState.idle
        var latest = TurnID(rawValue: 0)

        mutating func take(_ machine: inout TurnMachine) {
            for _ in 0..<TurnPropertyTests.longestStep {
                guard let output = machine.pollOutput() else { return }
                if case .event(let event) = output { take(event) }
            }
            Issue.record("the machine tells something on and on")
        }

        private mutating func take(_ event: TurnEvent) {
            switch event {
            case .stateChanged(let next, let turn):
                #expect(next != state)
                #expect(turn >= latest)
                (state, latest) = (next, turn)
            case .turnEnded(let turn):
                ends[turn.id, default: 0] += 1
                #expect(turn.start <= turn.end)
                asked.insert(turn.id)
            case .turnDropped(let turn, _): ends[turn, default: 0] += 1
            case .answerCancelled(let turn, _):
                #expect(cancelled.insert(turn).inserted, "\(turn) was cancelled twice")
            case .answerStarted(let turn, let latency):
                #expect(!cancelled.contains(turn), "\(turn) is over, and its answer began")
                #expect(latency.endOfTurn >= .zero && latency.agent >= .zero && latency.playback >= .zero)
            case .bargeIn(let turn, _): #expect(!cancelled.contains(turn))
            case .speechStarted(let turn, _), .speechEnded(let turn, _, _): #expect(turn == latest)
            case .answerEnded: break
            }
        }
    }

    @Test(
        "Given random orders of what is heard and asked, when they are taken, then no answer is heard of a turn that is over, and each turn ends once",
        arguments: cases(0..<100 as Range<UInt64>))
    func randomOrders(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let modes: [TalkMode] = [
            .duplex(), .pushToTalk(), .tapToTalk(), .duplex(Duplex(bargeIn: .off)), .duplex(Duplex(endOfTurn: .zero)),
        ]
        var machine = try TurnMachine(modes[Int(seed % 5)])
        var account = Account()
        account.take(&machine)
        var now = Duration.zero
        var utterances: [UtteranceID] = []
        for _ in 0..<2_000 {
            now += ms(.random(in: 0...400, using: &random))
            var timeouts = 0
            while let next = machine.nextTimeout, next <= now {
                timeouts += 1
                try #require(timeouts < Self.longestStep, "seed \(seed): it is due at \(next) again and again")
                machine.handleTimeout(now: next)
            }
            account.take(&machine)
            let some = utterances.randomElement(using: &random) ?? UtteranceID(rawValue: 7)
            let before = machine.state
            do throws(TurnRefusal) {
                switch Int.random(in: 0...20, using: &random) {
                case 0: try machine.startSpeech(now: now)
                case 1: try machine.stopSpeech(now: now)
                case 2: try machine.putOffEnd(by: ms(300), now: now)
                case 3: try machine.endTurn(now: now)
                case 19: try utterances.append(machine.answerNow(now: now))
                case 20: try utterances.append(machine.interject(now: now))
                case 4: try utterances.append(machine.answer(nil, now: now))
                case 5...7: try utterances.append(machine.answer(machine.turn, now: now))
                case 8: machine.answerQueued(utterances.last ?? some, now: now)
                case 9: machine.finishAnswer(some, now: now)
                case 10: if Bool.random(using: &random) { try machine.cancel() } else { machine.reset() }
                case 11: try machine.setMode(modes.randomElement(using: &random)!)
                case 12, 13:
                    machine.speechStarted(at: now - ms(60), isDoubtful: .random(using: &random), now: now)
                case 18: machine.speechBelieved()
                case 14: machine.speechEnded(at: now - ms(300), now: now)
                case 15:
                    let stage = BargeInStage(rawValue: .random(in: 0...3, using: &random))!
                    machine.bargeIn(BargeInChange(stage: stage, speechStart: now - ms(700), decided: now), now: now)
                case 16: machine.utteranceStarted(some, at: now)
                default: machine.utterancePlayed(some, heard: ms(100), at: now, isComplete: .random(using: &random))
                }
            } catch {
                #expect(machine.state == before, "seed \(seed): \(error) has changed something")
                #expect(machine.pollOutput() == nil, "seed \(seed): \(error) has told something")
            }
            account.take(&machine)
            #expect(account.state == machine.state, "seed \(seed)")
        }
        #expect(account.ends.values.allSatisfy { $0 == 1 }, "seed \(seed)")
        #expect(account.ends.count > 10)
    }
}
