import RealtimePartner
import Testing

@testable import VoiceEngine
@testable import VoiceRooms
@testable import VoiceTurns

@Suite("How long an agent in a room was waited for")
struct AnswerReportTests {
    private static let share = AnswerLatency(
        endOfTurn: .milliseconds(700), agent: .milliseconds(400), playback: .milliseconds(30),
        telling: AgentStageTimes(
            recognised: .milliseconds(100), firstToken: .milliseconds(250), firstSound: .milliseconds(380)))
    private let agent = ParticipantID(rawValue: 7)

    private func speech(_ milliseconds: Int) -> SpeechMoment {
        SpeechMoment(time: .milliseconds(milliseconds), level: -30, echo: .ready)
    }

    /// `utterance` was heard for so long at a time.
    private func heard(_ utterance: UtteranceID, _ length: Int, at time: Int) -> EngineEvent {
        .utteranceHeard(
            agent, HeardUtterance(utterance: utterance, heard: .milliseconds(length), bound: .milliseconds(5)),
            at: .milliseconds(time))
    }

    @Test(
        "is read as it was written",
        arguments: [
            share, AnswerLatency(endOfTurn: .zero, agent: .zero, playback: .zero),
            AnswerLatency(
                endOfTurn: .zero, agent: .milliseconds(5), playback: .zero,
                telling: AgentStageTimes(firstSound: .milliseconds(5))),
        ])
    func roundTrip(latency: AnswerLatency) {
        let report = AnswerReport(utterance: 9, latency: latency)
        #expect(AnswerReport(report.bytes) == report)
        #expect(report.bytes.count <= 1_024)
    }

    @Test(
        "is nothing where it is another message, or tells of what cannot be",
        arguments: [
            "", "{}", #"{"agent":"say","text":"x"}"#, #"{"agent":"latency"}"#,
            #"{"agent":"latency","utterance":-1,"end_of_turn_us":1,"agent_us":1,"playback_us":1}"#,
            #"{"agent":"latency","utterance":1,"end_of_turn_us":-1,"agent_us":1,"playback_us":1}"#,
            #"{"agent":"latency","utterance":1,"end_of_turn_us":1,"agent_us":600000001,"playback_us":1}"#,
            #"{"agent":"latency","utterance":1,"end_of_turn_us":1,"agent_us":1,"playback_us":1.5}"#,
            #"{"agent":"latency","utterance":1,"end_of_turn_us":1,"agent_us":1,"playback_us":1,"response_us":-5}"#,
        ])
    func refused(text: String) {
        #expect(AnswerReport(Array(text.utf8)) == nil)
    }

    @Test("keeps the shares of an agent whose stages are longer than its share, without the stages")
    func longStages() throws {
        let text = #"{"agent":"latency","utterance":1,"end_of_turn_us":1,"agent_us":5,"playback_us":1,"response_us":6}"#
        let report = try #require(AnswerReport(Array(text.utf8)))
        #expect(report.latency.agentStages == nil && report.latency.agent == .microseconds(5))
    }

    @Test(
        "Given a question at 2 s, when the answer is heard and its agent tells its share, in either order, then the way is what is left",
        arguments: [true, false])
    func joined(isReportFirst: Bool) throws {
        var watch = RoomAnswerWatch()
        let report = EngineEvent.message(from: agent, AnswerReport(utterance: 3, latency: Self.share).bytes)
        var events = [EngineEvent.speechStarted(speech(1_000)), .speechEnded(speech(2_000))]
        // Begins at the DAC at 3.25 s
        let sound = heard(3, 20, at: 3_270)
        events += isReportFirst ? [report, sound] : [sound, report]
        let told = events.compactMap { watch.take($0) }
        try #require(told.count == 1)
        #expect(told[0].total == .milliseconds(1_250) && told[0].remote == Self.share)
        #expect(told[0].way == .milliseconds(120))
        let again = [heard(3, 250, at: 3_500), report].compactMap { watch.take($0) }
        #expect(again.isEmpty)
    }

    @Test("Given an agent that tells nothing, or more than was waited, when more is heard, then only the sum is told")
    func untold() throws {
        for share in [nil, AnswerLatency(endOfTurn: .seconds(3), agent: .zero, playback: .zero)] {
            var watch = RoomAnswerWatch()
            var told = [EngineEvent.speechEnded(speech(2_000)), heard(3, 0, at: 3_250)].compactMap { watch.take($0) }
            #expect(told.isEmpty)
            let report = share.map { EngineEvent.message(from: agent, AnswerReport(utterance: 3, latency: $0).bytes) }
            told += [report, heard(3, 250, at: 3_500)].compactMap { $0.flatMap { watch.take($0) } }
            try #require(told.count == 1)
            #expect(told[0].total == .milliseconds(1_250) && told[0].remote == nil && told[0].way == nil)
        }
    }

    @Test("Given an agent that speaks before anybody has asked, or into the question, then nothing was waited for")
    func unasked() {
        var watch = RoomAnswerWatch()
        let events = [
            heard(1, 0, at: 500), heard(1, 250, at: 750), .speechStarted(speech(1_000)), heard(2, 0, at: 1_500),
            .speechEnded(speech(2_000)), heard(2, 500, at: 2_000), heard(2, 750, at: 2_250),
        ]
        let told = events.compactMap { watch.take($0) }
        #expect(told.isEmpty)
    }

    @Test("Given a room full of participants that call themselves agents, when each tells, then few are kept")
    func bounded() {
        var watch = RoomAnswerWatch()
        _ = watch.take(.speechEnded(speech(0)))
        var told = 0
        for number in 1...100 as ClosedRange<UInt32> {
            let id = ParticipantID(rawValue: number)
            _ = watch.take(.message(from: id, AnswerReport(utterance: 1, latency: Self.share).bytes))
            let event = EngineEvent.utteranceHeard(
                id, HeardUtterance(utterance: 1, heard: .zero, bound: .zero), at: .seconds(2))
            told += watch.take(event) == nil ? 0 : 1
        }
        #expect(told == RoomAnswerWatch.capacity)
    }
}
