import Testing
import VoiceDevices
import VoiceRealtime
import VoiceTurns
import VoiceWire

@testable import VoiceEngine

/// The end of a conversation by button, over sound of the client's own: whether the microphone is sent tells of the
/// gate.
@Suite("The end of a conversation")
struct ConversationEndTests {
    private final class Rig {
        let client = ClientDevice()
        let core: EngineCore
        private let begin = MonotonicTime.now()
        private var blocks = 0

        init() throws {
            var configuration = EngineConfiguration.voiceAgent
            configuration.backend = .bypass
            configuration.processing = .bypass
            configuration.device = .custom(client)
            core = try EngineCore(configuration, eventWake: nil) { _ in }
            try core.send(.publish(RTPStreamStart(synchronizationSource: 1, sequenceNumber: 0, timestamp: 0)))
        }

        func converse() throws -> ConversationCore {
            try core.converse(
                .pushToTalk(), FarEndConfiguration(), clock: { .zero }, tell: { _ in }, timeoutChanged: { _ in })
        }

        /// Leaves no room for a command.
        func fillCommands() {
            var sent = 0
            while sent < 10_000, (try? core.send(.setMuted(false))) != nil { sent += 1 }
            #expect(sent < 10_000)
        }

        /// Has the media thread take its commands, of which nobody is told.
        func takeCommands() { core.run(now: begin.advanced(byFrames: 480 * blocks, sampleRate: 48_000)) }

        /// Lets so many blocks pass; returns how many packets they made.
        func run(_ count: Int) -> Int {
            let before = core.statistics().uplink.sender.packetsSent
            var block = [Float](repeating: 0.1, count: 480)
            for _ in 0..<count {
                let now = begin.advanced(byFrames: 480 * blocks, sampleRate: 48_000)
                blocks += 1
                _ = client.sendAudioData(block.span, time: now)
                var output = block.mutableSpan
                _ = client.pullPlayback(into: &output, time: now)
                core.run(now: now)
                while core.nextEvent() != nil {}
                while core.link.sending.available > 0 { core.link.sending.release() }
            }
            return core.statistics().uplink.sender.packetsSent - before
        }
    }

    @Test("what is asked of it later is refused, however it ended", arguments: [false, true])
    func closed(closesFarEnd: Bool) throws {
        // Given a conversation that is over in the middle of a turn
        let rig = try Rig()
        let conversation = try rig.converse()
        _ = rig.run(20)
        try conversation.ask { (machine, now) throws(TurnRefusal) in try machine.startSpeech(now: now) }
        if closesFarEnd {
            conversation.farEnd.close()
            _ = rig.run(20)
        } else {
            conversation.close()
        }
        // Then nobody is told that it is their turn, or is given an answer that nobody will hear
        #expect(throws: TurnRefusal.closed) {
            try conversation.ask { (machine, now) throws(TurnRefusal) in try machine.startSpeech(now: now) }
        }
        #expect(throws: TurnRefusal.closed) { try conversation.answer(nil) }
        #expect(throws: TurnRefusal.closed) { try conversation.cancelAwaiting() }
        #expect(conversation.turnState == .idle)
    }

    @Test("orders that find no room when it is closed are carried out, before those of the next conversation")
    func fullRing() throws {
        for isFollowed in [false, true] {
            let rig = try Rig()
            var ended: ConversationCore? = try rig.converse()
            _ = rig.run(20)
            #expect(rig.run(50) == 0, "the button is not pressed")
            // When it is closed while the media thread takes nothing, and is gone
            rig.fillCommands()
            ended?.close()
            if let conversation = ended { rig.core.end(conversation) }
            ended = nil
            rig.takeCommands()
            let next = try isFollowed ? rig.converse() : nil
            _ = rig.run(20)
            // Then the microphone is as the last of them has it
            let packets = rig.run(50)
            #expect(isFollowed ? packets == 0 : packets > 40, "\(packets)")
            next?.close()
            _ = rig.run(20)
            #expect(rig.run(50) > 40)
        }
    }

    @Test("the microphone is open after it, be it ended by its owner or by its far end's closing, and stays open")
    func gate() throws {
        for closesFarEnd in [false, true] {
            let rig = try Rig()
            let conversation = try rig.converse()
            _ = rig.run(20)
            #expect(rig.run(50) == 0, "the button is not pressed")
            // When it ends
            if closesFarEnd {
                conversation.farEnd.close()
                _ = rig.run(20)
            }
            conversation.close()
            _ = rig.run(20)
            // Then the microphone is sent, whatever is asked of the conversation later
            #expect(rig.run(50) > 40, "\(closesFarEnd)")
            conversation.perform { machine, _ in machine.reset() }
            _ = try? conversation.perform { (machine, _) throws(TurnRefusal) in try machine.setMode(.pushToTalk()) }
            _ = rig.run(20)
            #expect(rig.run(50) > 40, "\(closesFarEnd)")
        }
    }
}
