import Foundation
import Testing

@testable import VoiceEngine

/// Every error of docs/errors.md is provoked by a test: where, and by which line that test can be told from others.
@Suite("Each error is provoked by a test")
struct ProvokedErrorTests {
    /// The expectation that holds when the error has come, and the file in which it stands.
    private struct Proof {
        let file: String
        let expectation: String

        init(_ file: String, _ expectation: String) { (self.file, self.expectation) = (file, expectation) }
    }

    /// What no test can bring about, and why.
    private static let unprovoked = [
        "device.unsupported": "ALSA's plugins convert everything; a card that refuses a layout is needed",
        "device.permissionDenied": "tests run as root too, to whom all devices are open; the mapping is tested",
        "transport.noMemory": "OpenSSL would have to run out of memory",
    ]

    private static let proofs: [String: Proof] = [
        "configuration.invalid": Proof(
            "VoiceEngineTests/EngineLifecycleLiveTests.swift", "guard case .invalidConfiguration(let text) = error"),
        "engine.notStarted": Proof(
            "DuplexVoiceCTests/EngineTests.swift", #"text(of: error.code) == "engine.notStarted""#),
        "engine.alreadyStarted": Proof(
            "DuplexVoiceCTests/EngineLiveTests.swift", #"text(of: engine.error.code) == "engine.alreadyStarted""#),
        "engine.calledFromItsThread": Proof(
            "VoiceEngineTests/ControlThreadLiveTests.swift", "if case EngineError.calledFromEngineThread = error"),
        "engine.resourcesExhausted": Proof(
            "VoiceEngineTests/ControlThreadLiveTests.swift", "guard case .failure(.resourcesExhausted(let complaint))"),
        "engine.overloaded": Proof("VoiceEngineTests/MediaPipelineTests.swift", "guard case .overloaded = error"),
        "device.notFound": Proof(
            "VoiceDevicesTests/ALSADeviceLiveTests.swift", #"guard case .notFound("no-such-card", let available)"#),
        "device.busy": Proof(
            "VoiceDevicesTests/VirtualCardTests.swift", "refusal == .busy(name: card.pcm, holders: [])"),
        "device.disconnected": Proof(
            "VoiceDevicesTests/VirtualCardTests.swift", "log.all.contains(.disconnected(.capture))"),
        "device.failed": Proof(
            "VoiceDevicesTests/ALSAErrorTests.swift", #"error == .io(message: "opening of 'x': Input/output error")"#),
        "device.invalidConfiguration": Proof(
            "VoiceEngineTests/EngineLifecycleLiveTests.swift", "guard case .device(.invalidConfiguration(let message))"),
        "device.alreadyRunning": Proof(
            "VoiceEngineTests/EngineLifecycleLiveTests.swift", "guard case .device(.alreadyRunning) = error"),
        "file.missing": Proof("VoiceDevicesTests/AudioFileTests.swift", "== .missing(path: none)"),
        "file.permissionDenied": Proof(
            "VoiceDevicesTests/AudioFileTests.swift", "== .permissionDenied(path: locked)"),
        "file.notAudio": Proof("VoiceDevicesTests/AudioFileTests.swift", "guard case .notAudio(words, _) = notAudio"),
        "file.unreadable": Proof(
            "VoiceDevicesTests/EncodedSoundTests.swift", "guard case .unreadable(endless, _) = unreadable"),
        "file.unwritable": Proof(
            "VoiceDevicesTests/AudioFileTests.swift", "guard case .unwritable(nowhere, _) = unwritable"),
        "file.diskFull": Proof("VoiceDevicesTests/AudioFileTests.swift", #"error == .diskFull(path: "/dev/full")"#),
        "file.unsupportedRate": Proof(
            "VoiceDevicesTests/AudioFileBoundsTests.swift", "error == .unsupportedRate(path: path, sampleRate: rate)"),
        "file.tooManyChannels": Proof(
            "VoiceDevicesTests/AudioFileBoundsTests.swift", "error == .tooManyChannels(path: path, channels: 1_000)"),
        "file.tooLong": Proof("VoiceDevicesTests/AudioFileBoundsTests.swift", "error == .tooLong(path: path)"),
        "transport.unknownHost": Proof(
            "VoiceTransportTests/LoopbackLiveTests.swift",
            "end == .unknownHost(name) || end == .nameServiceUnavailable(name)"),
        "transport.nameServiceUnavailable": Proof(
            "VoiceTransportTests/LoopbackLiveTests.swift",
            "end == .unknownHost(name) || end == .nameServiceUnavailable(name)"),
        "transport.plaintextRefused": Proof(
            "VoiceTransportTests/LoopbackLiveTests.swift", #"== .plaintextRefused("192.0.2.1")"#),
        "transport.authoritiesUnreadable": Proof(
            "VoiceTransportTests/DTLSIdentityTests.swift", "ServerTrustError.authoritiesUnreadable(file: file)"),
        "transport.invalidHost": Proof(
            "VoiceTransportTests/DTLSIdentityTests.swift", #"throws: ServerTrustError.invalidHost("")"#),
        "transport.refusedBySystem": Proof(
            "VoiceEngineTests/ProvokedErrorLiveTests.swift", "== .transportRefusedBySystem"),
        "transport.noAnswer": Proof(
            "VoiceRoomsTests/RoomJoinTests.swift", "session.state == .ended(.joinTimedOut)"),
        "transport.lost": Proof("EndToEndTests/BreakTests.swift", "Self.ending(call.events(.a)) == .connectionLost"),
        "transport.handshakeFailed": Proof(
            "VoiceTransportTests/DTLSForeignTests.swift", "client.state == .closed(.handshakeFailed)"),
        "transport.otherFingerprint": Proof(
            "VoiceTransportTests/DTLSIdentityTests.swift", "client == .closed(.identityRefused(.otherFingerprint))"),
        "transport.untrusted": Proof(
            "VoiceTransportTests/DTLSIdentityTests.swift", "stranger == .closed(.identityRefused(.untrusted))"),
        "transport.otherHost": Proof(
            "VoiceTransportTests/DTLSIdentityTests.swift",
            #"(localhost, "voice.example", .closed(.identityRefused(.otherHost)))"#),
        "transport.certificateOutOfDate": Proof(
            "VoiceTransportTests/DTLSIdentityTests.swift",
            #"(expired, "localhost", .closed(.identityRefused(.outOfDate)))"#),
        "token.unavailable": Proof(
            "VoiceTransportTests/LoopbackLiveTests.swift", "await alice.nextEnd() == .tokenUnavailable"),
        "token.tooLong": Proof("VoiceTransportTests/TokenTests.swift", "throws: TokenKeyError.tokenTooLong"),
        "token.malformed": Proof(
            "DuplexVoiceCTests/CallLiveTests.swift", #"text(of: error.code) == "token.malformed""#),
        "token.badSignature": Proof("VoiceEngineTests/EngineRoomLiveTests.swift", "== .badSignature)"),
        "token.expired": Proof("DuplexVoiceCTests/EngineTests.swift", #"check(made, at: 2_000).1 == "token.expired""#),
        "token.notYetValid": Proof("DuplexVoiceCTests/EngineTests.swift", #"== "token.notYetValid""#),
        "token.wrongRoom": Proof("VoiceRoomsTests/RoomExpiryTests.swift", #"("alice@cellar", .wrongRoom)"#),
        "token.wrongIdentity": Proof(
            "VoiceRoomsTests/RoomExpiryTests.swift", #"("carol@kitchen", RoomRefusal.wrongIdentity)"#),
        "token.noJoinRight": Proof("VoiceRoomsTests/RoomExpiryTests.swift", #"("alice@kitchen -join", .noJoinRight)"#),
        "token.noPublishRight": Proof("VoiceTransportTests/LoopbackLiveTests.swift", "refusal == .noPublishRight"),
        "token.noSubscribeRight": Proof(
            "VoiceRoomsTests/RoomRequestTests.swift", ".noSubscribeRight"),
        "room.notJoined": Proof("DuplexVoiceCTests/EngineTests.swift", #"text(of: error.code) == "room.notJoined""#),
        "room.alreadyJoined": Proof(
            "DuplexVoiceCTests/CallLiveTests.swift", #"text(of: error.code) == "room.alreadyJoined""#),
        "room.left": Proof("DuplexVoiceCTests/CallLiveTests.swift", #"text(of: $0.code) }) == "room.left""#),
        "room.full": Proof("VoiceRoomsTests/RoomJoinTests.swift", ".refused(.roomFull, serverVersions:"),
        "room.serverFull": Proof("VoiceRoomsTests/RoomJoinTests.swift", ".refused(.serverFull, serverVersions:"),
        "room.versionMismatch": Proof("VoiceRoomsTests/RoomJoinTests.swift", "answer == .refused(.versionMismatch"),
        "room.serverShuttingDown": Proof(
            "VoiceEngineTests/EngineRoomLiveTests.swift", "end == .session(.removed(.serverShuttingDown))"),
        "room.serverRestarting": Proof("VoiceRoomsTests/RoomRestartTests.swift", "shutDown(telling: .restarting"),
        "room.removed": Proof(
            "VoiceTransportTests/LoopbackLiveTests.swift", "== .session(.removed(.removedByServer))"),
        "room.replaced": Proof("VoiceRoomsTests/RoomRejoinTests.swift", "session.state == .ended(.removed(.replaced))"),
        "room.unknownStream": Proof(
            "VoiceRoomsTests/RoomRequestTests.swift",
            ".requestRefused(.interrupt, subject: agent.stream.stream.rawValue, .unknownStream)"),
        "room.unknownParticipant": Proof(
            "VoiceRoomsTests/RoomRequestTests.swift", ".requestRefused(.send, subject: 999, .unknownParticipant)"),
        "room.receiverBusy": Proof(
            "VoiceRoomsTests/RoomCarrierTests.swift", "if case .requestRefused(.send, _, .receiverBusy)"),
        "room.noInterruptionRight": Proof(
            "EndToEndTests/InterruptionTests.swift", "if case .requestRefused(.interrupt, .noInterruptionRight)"),
        "room.tooOften": Proof(
            "VoiceRoomsTests/RoomInterruptionTests.swift", "subject: stream.rawValue, .tooOften)"),
        "room.queueFull": Proof("VoiceEngineTests/ProvokedErrorLiveTests.swift", "== .roomQueueFull"),
        "room.messageTooLong": Proof(
            "VoiceRoomsTests/RoomRequestTests.swift", "throws: RoomSessionError.messageTooLong"),
        "room.nameTooLong": Proof("VoiceEngineTests/ProvokedErrorLiveTests.swift", "== .roomNameTooLong"),
        "room.streamNameTaken": Proof(
            "VoiceEngineTests/NamedStreamLiveTests.swift", #"refused.first(\.refusal) == .nameTaken"#),
        "room.streamNameTooLong": Proof("VoiceRoomsTests/SelfDescriptionTests.swift", ".streamNameTooLong"),
        "room.tooManyStreamNames": Proof(
            "VoiceEngineTests/ProvokedErrorLiveTests.swift", "== .roomTooManyStreamNames"),
        "room.listener": Proof("VoiceRoomsTests/SelfDescriptionTests.swift", ".listenerCannotPublish"),
        "room.attributesTooLong": Proof("VoiceRoomsTests/SelfDescriptionTests.swift", ".attributesTooLong"),
        "text.invalidName": Proof("VoiceTextTests/TextStreamTests.swift", "throws: TextError.invalidName"),
        "text.tooLong": Proof("VoiceEngineTests/TextLiveTests.swift", "error.code == .textTooLong"),
        "text.extrasTooLong": Proof("VoiceTextTests/TextStreamTests.swift", "throws: TextError.extrasTooLong"),
        "text.tooManyStreams": Proof("VoiceTextTests/TextStreamTests.swift", "throws: TextError.tooManyStreams"),
        "turn.conversing": Proof(
            "DuplexVoiceCTests/EngineLiveTests.swift", #"text(of: error.code) == "turn.conversing""#),
        "turn.notInThisMode": Proof("VoiceTurnsTests/TurnStoryTests.swift", "throws: TurnRefusal.notInThisMode"),
        "turn.alreadyListening": Proof(
            "VoiceTurnsTests/TurnStoryTests.swift", "throws: TurnRefusal.alreadyListening"),
        "turn.notListening": Proof("VoiceTurnsTests/TurnStoryTests.swift", "throws: TurnRefusal.notListening"),
        "turn.over": Proof("VoiceTurnsTests/TurnStoryTests.swift", "throws: TurnRefusal.turnIsOver(turn(1))"),
        "turn.idle": Proof("DuplexVoiceCTests/EngineLiveTests.swift", #"text(of: error.code) == "turn.idle""#),
        "turn.busy": Proof("VoiceTurnsTests/TurnStoryTests.swift", "throws: TurnRefusal.busy(.responding)"),
        "turn.invalidMode": Proof(
            "VoiceTurnsTests/TurnStoryTests.swift", "catch TurnRefusal.invalidMode(let fault)"),
    ]

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    @Test("every error that the engine can throw or tell is provoked, or it is said why none can be")
    func all() throws {
        for code in ErrorCode.allCases {
            let isProvoked = Self.proofs[code.rawValue] != nil
            let isExplained = Self.unprovoked[code.rawValue] != nil
            #expect(isProvoked != isExplained, "\(code.rawValue): add the test that provokes it")
        }
        let known = Set(ErrorCode.allCases.map(\.rawValue))
        #expect(known.isSuperset(of: Self.proofs.keys) && known.isSuperset(of: Self.unprovoked.keys))
    }

    @Test("the tests that provoke them are there")
    func proofs() throws {
        for (code, proof) in Self.proofs {
            let text = try String(contentsOf: Self.root.appending(path: proof.file), encoding: .utf8)
            #expect(text.contains(proof.expectation), "\(code): \(proof.file) has no \(proof.expectation)")
        }
    }
}
