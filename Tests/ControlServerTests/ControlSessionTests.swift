import Synchronization
import Testing
import VoiceDialog
import VoiceEngine
import VoicePartner

@testable import ControlServer

@Suite("A session of the control server", .timeLimit(.minutes(10)))
struct ControlSessionTests {
    @Test("Given one that was ended before it began, when it is begun, then it opens no device and tells nothing")
    func endedBefore() async {
        // Given
        let opened = Mutex(0)
        var configuration = ControlConfiguration(
            clients: [], recogniser: OneTurnRecogniser(), responder: Echo(), synthesiser: ChatteringSynthesiser(),
            unixTime: { 0 })
        configuration.device = {
            opened.withLock { $0 += 1 }
            return .systemDefault
        }
        let session = ControlSession(
            "a", .local, isPartner: false, configuration, Recognition(configuration.recogniser))
        await session.end()
        let last = session.hub.last
        // When; ending waits for whatever was begun
        await session.begin()
        await session.end()
        // Then
        #expect(opened.withLock { $0 } == 0)
        #expect(session.hub.last == last)
        #expect(await session.status["state"]?.string == "ended")
    }
}
