import Testing
import VoiceEngine

@testable import RealtimePartner

@Suite("The stages of a Realtime server's answer, by when its events come")
struct AnswerClockTests {
    private func ms(_ milliseconds: Int) -> Duration { .milliseconds(milliseconds) }

    @Test(
        "Given a turn, when its transcription, text and sound come in this order, then all three are told from its end")
    func inOrder() {
        var clock = AnswerClock()
        clock.text(now: ms(1_300))
        clock.text(now: ms(1_350))
        #expect(!clock.hasSound)
        let isFirst = [clock.sound(now: ms(1_400)), clock.sound(now: ms(1_420))]
        #expect(isFirst == [true, false] && clock.hasSound)
        let times = clock.times(received: ms(1_000), recognised: ms(1_100))
        #expect(times == AgentStageTimes(recognised: ms(100), firstToken: ms(300), firstSound: ms(400)))
    }

    @Test(
        "Given a server that tells the transcription or the text behind the sound, when its stages are told, then these are left out",
        arguments: [(1_500, 1_450, true, true), (1_350, 1_300, true, false), (1_200, 1_300, false, false)])
    func outOfOrder(recognised: Int, token: Int, hasNoRecognition: Bool, hasNoToken: Bool) {
        var clock = AnswerClock()
        _ = clock.sound(now: ms(1_400))
        clock.text(now: ms(token))
        let times = clock.times(received: ms(1_000), recognised: ms(recognised))
        #expect((times.recognised == nil) == hasNoRecognition)
        #expect((times.firstToken == nil) == hasNoToken)
        #expect(times.firstSound == ms(400) && times.isConsistent)
    }

    @Test("Given a server that answers before the turn has ended here, when its stages are told, then none is negative")
    func early() {
        var clock = AnswerClock()
        clock.text(now: ms(900))
        _ = clock.sound(now: ms(1_010))
        let times = clock.times(received: ms(1_000), recognised: ms(800))
        #expect(times == AgentStageTimes(recognised: .zero, firstToken: .zero, firstSound: ms(10)))
    }
}
