import TestCases
import Testing

@testable import VoiceEngine

/// Every error of docs/errors.md is provoked by a test: where, and by which line that test can be told from others.
@Suite("Each error is provoked by a test")
struct ProvokedErrorTests {
    /// What no test can bring about, and why.
    private static let unprovoked = [
        "transport.noMemory": "OpenSSL would have to run out of memory"
    ]

    private static let proofs: [String: ErrorProof] = [
        "configuration.invalid": ErrorProof(
            "VoiceEngineTests/EngineLifecycleLiveTests.swift", "guard case .invalidConfiguration(let text) = error"),
        "engine.notStarted": ErrorProof(
            "DuplexVoiceCTests/EngineTests.swift", #"text(of: error.code) == "engine.notStarted""#),
        "engine.alreadyStarted": ErrorProof(
            "DuplexVoiceCTests/EngineLiveTests.swift", #"text(of: engine.error.code) == "engine.alreadyStarted""#),
        "engine.calledFromItsThread": ErrorProof(
            "VoiceEngineTests/ControlThreadLiveTests.swift", "if case EngineError.calledFromEngineThread = error"),
        "engine.resourcesExhausted": ErrorProof(
            "DuplexVoiceCTests/GraphLiveTests.swift", #"text(of: error.code) == "engine.resourcesExhausted""#),
        "engine.overloaded": ErrorProof("VoiceEngineTests/MediaPipelineTests.swift", "guard case .overloaded = error"),
        "device.notFound": ErrorProof(
            "VoiceDevicesTests/ALSADeviceLiveTests.swift", #"guard case .notFound("no-such-card", let available)"#),
        "device.permissionDenied": ErrorProof(
            "VoiceDevicesTests/ALSADeviceLiveTests.swift", #"== .permissionDenied(name: "locked")"#),
        "device.unsupported": ErrorProof(
            "VoiceDevicesTests/ALSADeviceLiveTests.swift", #"offers.hasSuffix("'plug:telephone'")"#),
        "device.busy": ErrorProof(
            "VoiceDevicesTests/VirtualCardTests.swift", "refusal == .busy(name: card.pcm, holders: [])"),
        "device.disconnected": ErrorProof(
            "VoiceDevicesTests/VirtualCardTests.swift", "log.all.contains(.disconnected(.capture))"),
        "device.failed": ErrorProof(
            "VoiceDevicesTests/ALSAErrorTests.swift", #"error == .io(message: "opening of 'x': Input/output error")"#),
        "device.invalidConfiguration": ErrorProof(
            "VoiceEngineTests/EngineLifecycleLiveTests.swift", "guard case .device(.invalidConfiguration(let message))"),
        "device.alreadyRunning": ErrorProof(
            "VoiceEngineTests/EngineLifecycleLiveTests.swift", "guard case .device(.alreadyRunning) = error"),
        "file.missing": ErrorProof("VoiceDevicesTests/AudioFileTests.swift", "== .missing(path: none)"),
        "file.permissionDenied": ErrorProof(
            "VoiceDevicesTests/AudioFileTests.swift", "== .permissionDenied(path: locked)"),
        "file.notAudio": ErrorProof(
            "VoiceDevicesTests/AudioFileTests.swift", "guard case .notAudio(words, _) = notAudio"),
        "file.unreadable": ErrorProof(
            "VoiceDevicesTests/EncodedSoundTests.swift", "guard case .unreadable(endless, _) = unreadable"),
        "file.unwritable": ErrorProof(
            "VoiceDevicesTests/AudioFileTests.swift", "guard case .unwritable(nowhere, _) = unwritable"),
        "file.diskFull": ErrorProof(
            "VoiceDevicesTests/AudioFileTests.swift", #"error == .diskFull(path: "/dev/full")"#),
        "file.unsupportedRate": ErrorProof(
            "VoiceDevicesTests/AudioFileBoundsTests.swift", "error == .unsupportedRate(path: path, sampleRate: rate)"),
        "file.tooManyChannels": ErrorProof(
            "VoiceDevicesTests/AudioFileBoundsTests.swift", "error == .tooManyChannels(path: path, channels: 1_000)"),
        "file.tooLong": ErrorProof("VoiceDevicesTests/AudioFileBoundsTests.swift", "error == .tooLong(path: path)"),
        "transport.unknownHost": ErrorProof(
            "VoiceTransportTests/LoopbackLiveTests.swift",
            "end == .unknownHost(name) || end == .nameServiceUnavailable(name)"),
        "transport.nameServiceUnavailable": ErrorProof(
            "VoiceTransportTests/LoopbackLiveTests.swift",
            "end == .unknownHost(name) || end == .nameServiceUnavailable(name)"),
        "transport.plaintextRefused": ErrorProof(
            "VoiceTransportTests/LoopbackLiveTests.swift", #"== .plaintextRefused("192.0.2.1")"#),
        "transport.authoritiesUnreadable": ErrorProof(
            "VoiceTransportTests/DTLSIdentityTests.swift", "ServerTrustError.authoritiesUnreadable(file: file)"),
        "transport.invalidHost": ErrorProof(
            "VoiceTransportTests/DTLSIdentityTests.swift", #"throws: ServerTrustError.invalidHost("")"#),
        "transport.refusedBySystem": ErrorProof(
            "VoiceEngineTests/ProvokedErrorLiveTests.swift", "== .transportRefusedBySystem"),
        "transport.noAnswer": ErrorProof(
            "VoiceRoomsTests/RoomJoinTests.swift", "session.state == .ended(.joinTimedOut)"),
        "transport.lost": ErrorProof(
            "EndToEndTests/BreakTests.swift", "Self.ending(call.events(.a)) == .connectionLost"),
        "transport.handshakeFailed": ErrorProof(
            "VoiceTransportTests/DTLSForeignTests.swift", "client.state == .closed(.handshakeFailed)"),
        "transport.otherFingerprint": ErrorProof(
            "VoiceTransportTests/DTLSIdentityTests.swift", "client == .closed(.identityRefused(.otherFingerprint))"),
        "transport.untrusted": ErrorProof(
            "VoiceTransportTests/DTLSIdentityTests.swift", "stranger == .closed(.identityRefused(.untrusted))"),
        "transport.otherHost": ErrorProof(
            "VoiceTransportTests/DTLSIdentityTests.swift",
            #"(localhost, "voice.example", .closed(.identityRefused(.otherHost)))"#),
        "transport.certificateOutOfDate": ErrorProof(
            "VoiceTransportTests/DTLSIdentityTests.swift",
            #"(expired, "localhost", .closed(.identityRefused(.outOfDate)))"#),
        "token.unavailable": ErrorProof(
            "VoiceTransportTests/LoopbackLiveTests.swift", "await alice.nextEnd() == .tokenUnavailable"),
        "token.tooLong": ErrorProof("VoiceTransportTests/TokenTests.swift", "throws: TokenKeyError.tokenTooLong"),
        "token.malformed": ErrorProof(
            "DuplexVoiceCTests/CallLiveTests.swift", #"text(of: error.code) == "token.malformed""#),
        "token.badSignature": ErrorProof("VoiceEngineTests/EngineRoomLiveTests.swift", "== .badSignature)"),
        "token.expired": ErrorProof(
            "DuplexVoiceCTests/EngineTests.swift", #"check(made, at: 2_000).1 == "token.expired""#),
        "token.notYetValid": ErrorProof("DuplexVoiceCTests/EngineTests.swift", #"== "token.notYetValid""#),
        "token.wrongRoom": ErrorProof("VoiceRoomsTests/RoomExpiryTests.swift", #"("alice@cellar", .wrongRoom)"#),
        "token.wrongIdentity": ErrorProof(
            "VoiceRoomsTests/RoomExpiryTests.swift", #"("carol@kitchen", RoomRefusal.wrongIdentity)"#),
        "token.noJoinRight": ErrorProof(
            "VoiceRoomsTests/RoomExpiryTests.swift", #"("alice@kitchen -join", .noJoinRight)"#),
        "token.noPublishRight": ErrorProof("VoiceTransportTests/LoopbackLiveTests.swift", "refusal == .noPublishRight"),
        "token.noSubscribeRight": ErrorProof(
            "VoiceRoomsTests/RoomRequestTests.swift", ".noSubscribeRight"),
        "room.notJoined": ErrorProof(
            "DuplexVoiceCTests/EngineTests.swift", #"text(of: error.code) == "room.notJoined""#),
        "room.alreadyJoined": ErrorProof(
            "DuplexVoiceCTests/CallLiveTests.swift", #"text(of: error.code) == "room.alreadyJoined""#),
        "room.left": ErrorProof("DuplexVoiceCTests/CallLiveTests.swift", #"text(of: $0.code) }) == "room.left""#),
        "room.full": ErrorProof("VoiceRoomsTests/RoomJoinTests.swift", ".refused(.roomFull, serverVersions:"),
        "room.serverFull": ErrorProof("VoiceRoomsTests/RoomJoinTests.swift", ".refused(.serverFull, serverVersions:"),
        "room.versionMismatch": ErrorProof(
            "VoiceRoomsTests/RoomJoinTests.swift", "answer == .refused(.versionMismatch"),
        "room.serverShuttingDown": ErrorProof(
            "VoiceEngineTests/EngineRoomLiveTests.swift", "end == .session(.removed(.serverShuttingDown))"),
        "room.serverRestarting": ErrorProof("VoiceRoomsTests/RoomRestartTests.swift", "shutDown(telling: .restarting"),
        "room.removed": ErrorProof(
            "VoiceTransportTests/LoopbackLiveTests.swift", "== .session(.removed(.removedByServer))"),
        "room.replaced": ErrorProof(
            "VoiceRoomsTests/RoomRejoinTests.swift", "session.state == .ended(.removed(.replaced))"),
        "room.unknownStream": ErrorProof(
            "VoiceRoomsTests/RoomRequestTests.swift",
            ".requestRefused(.interrupt, subject: agent.stream.stream.rawValue, .unknownStream)"),
        "room.unknownParticipant": ErrorProof(
            "VoiceRoomsTests/RoomRequestTests.swift", ".requestRefused(.send, subject: 999, .unknownParticipant)"),
        "room.receiverBusy": ErrorProof(
            "VoiceRoomsTests/RoomCarrierTests.swift", "if case .requestRefused(.send, _, .receiverBusy)"),
        "room.noInterruptionRight": ErrorProof(
            "EndToEndTests/InterruptionTests.swift", "if case .requestRefused(.interrupt, .noInterruptionRight)"),
        "room.tooOften": ErrorProof(
            "VoiceRoomsTests/RoomInterruptionTests.swift", "subject: stream.rawValue, .tooOften)"),
        "room.queueFull": ErrorProof("VoiceEngineTests/ProvokedErrorLiveTests.swift", "== .roomQueueFull"),
        "room.messageTooLong": ErrorProof(
            "VoiceRoomsTests/RoomRequestTests.swift", "throws: RoomSessionError.messageTooLong"),
        "room.nameTooLong": ErrorProof("VoiceEngineTests/ProvokedErrorLiveTests.swift", "== .roomNameTooLong"),
        "room.streamNameTaken": ErrorProof(
            "VoiceEngineTests/NamedStreamLiveTests.swift", #"refused.first(\.refusal) == .nameTaken"#),
        "room.streamNameTooLong": ErrorProof("VoiceRoomsTests/SelfDescriptionTests.swift", ".streamNameTooLong"),
        "room.tooManyStreamNames": ErrorProof(
            "VoiceEngineTests/ProvokedErrorLiveTests.swift", "== .roomTooManyStreamNames"),
        "room.listener": ErrorProof("VoiceRoomsTests/SelfDescriptionTests.swift", ".listenerCannotPublish"),
        "room.attributesTooLong": ErrorProof("VoiceRoomsTests/SelfDescriptionTests.swift", ".attributesTooLong"),
        "text.invalidName": ErrorProof("VoiceTextTests/TextStreamTests.swift", "throws: TextError.invalidName"),
        "text.tooLong": ErrorProof("VoiceEngineTests/TextLiveTests.swift", "error.code == .textTooLong"),
        "text.extrasTooLong": ErrorProof("VoiceTextTests/TextStreamTests.swift", "throws: TextError.extrasTooLong"),
        "text.tooManyStreams": ErrorProof("VoiceTextTests/TextStreamTests.swift", "throws: TextError.tooManyStreams"),
        "turn.conversing": ErrorProof(
            "DuplexVoiceCTests/EngineLiveTests.swift", #"text(of: error.code) == "turn.conversing""#),
        "turn.notInThisMode": ErrorProof("VoiceTurnsTests/TurnStoryTests.swift", "throws: TurnRefusal.notInThisMode"),
        "turn.alreadyListening": ErrorProof(
            "VoiceTurnsTests/TurnStoryTests.swift", "throws: TurnRefusal.alreadyListening"),
        "turn.notListening": ErrorProof("VoiceTurnsTests/TurnStoryTests.swift", "throws: TurnRefusal.notListening"),
        "turn.over": ErrorProof("VoiceTurnsTests/TurnStoryTests.swift", "throws: TurnRefusal.turnIsOver(turn(1))"),
        "turn.idle": ErrorProof("DuplexVoiceCTests/EngineLiveTests.swift", #"text(of: error.code) == "turn.idle""#),
        "turn.busy": ErrorProof("VoiceTurnsTests/TurnStoryTests.swift", "throws: TurnRefusal.busy(.responding)"),
        "turn.closed": ErrorProof("VoiceEngineTests/ConversationEndTests.swift", "throws: TurnRefusal.closed"),
        "turn.invalidMode": ErrorProof(
            "VoiceTurnsTests/TurnStoryTests.swift", "catch TurnRefusal.invalidMode(let fault)"),
    ]

    @Test("every error that the engine can throw or tell is provoked, or it is said why none can be")
    func all() {
        let faults = ErrorProof.faults(
            of: ErrorCode.allCases.map(\.rawValue), Self.proofs, unprovoked: Self.unprovoked)
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }
}
