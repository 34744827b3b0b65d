import TestCases
import Testing
import VoiceDevices
import VoicePeers
import VoiceRooms
import VoiceTransport
import VoiceTurns

@testable import VoiceEngine

@Suite("Errors have names that stay the same")
struct ErrorCodeTests {
    /// An error of each kind.
    private static let errors: [EngineError] =
        [
            .invalidConfiguration("the volume is 7; use 0 to 4"), .resourcesExhausted("no memory for a ring"),
            .notStarted,
            .alreadyStarted, .notJoined, .alreadyJoined, .unknownParticipant(ParticipantID(rawValue: 7)), .overloaded,
            .alreadyConversing, .calledFromEngineThread, .tooManyStreamNames,
        ] + devices.map(EngineError.device) + ends.map { .room(.session($0)) } + clientEnds.map(EngineError.room)
        + requests.map(EngineError.requestRefused) + turns.map(EngineError.turn)
        + [TextError.invalidName, .textTooLong(bytes: 1), .extrasTooLong(bytes: 1), .tooManyStreams].map(
            EngineError.text)

    private static let devices: [DeviceError] =
        [
            .notFound(name: "x", available: []), .busy(name: "x", holders: []), .permissionDenied(name: "x"),
            .unsupported(asked: "96 kHz", offers: "48 kHz"), .disconnected(name: "x"), .io(message: "x"),
            .invalidConfiguration(message: "x"), .alreadyRunning,
        ]
        + [
            AudioFileError.missing(path: "x"), .permissionDenied(path: "x"), .notAudio(path: "x", reason: "y"),
            .unreadable(path: "x", reason: "y"), .unwritable(path: "x", reason: "y"), .diskFull(path: "x"),
            .unsupportedRate(path: "x", sampleRate: 1), .tooManyChannels(path: "x", channels: 99), .tooLong(path: "x"),
        ].map(DeviceError.file)

    private static let ends: [RoomSessionEnd] =
        RoomRefusal.allCases.map { .refused($0, serverVersions: 1...4) } + RemovalReason.allCases.map { .removed($0) }
        + [.left(acknowledged: true), .joinTimedOut, .connectionLost, .handshakeFailed]
        + [IdentityRefusal.otherFingerprint, .untrusted, .otherHost, .outOfDate].map { .identityRefused($0) }

    private static let clientEnds: [RoomClientEnd] = [
        .unknownHost("x"), .nameServiceUnavailable("x"), .noTrust(.authoritiesUnreadable(file: nil)),
        .noTrust(.invalidHost("x")), .noTrust(.outOfMemory), .plaintextRefused("x"), .system(errno: 101),
        .tokenUnavailable, .stopped,
    ]

    private static let requests: [RoomSessionError] = [
        .notJoined, .alreadyStarted, .queueFull, .messageTooLong, .tokenTooLong, .roomNameTooLong,
        .streamNameTooLong, .attributesTooLong,
    ]

    private static let turns: [TurnRefusal] = [
        .notInThisMode, .alreadyListening, .notListening, .turnIsOver(TurnID(rawValue: 3)), .idle, .busy(.thinking),
        .closed,
    ]

    @Test("each name is that of an error, but for a mode whose numbers are out of range")
    func reached() {
        let unreached = Set(ErrorCode.allCases).subtracting(Self.errors.map(\.code))
        #expect(unreached == [.turnInvalidMode])
    }

    @Test("each error says in a sentence of its own what is wrong")
    func explained() {
        let sentences = Dictionary(grouping: Self.errors, by: \.explanation)
        for (sentence, errors) in sentences {
            #expect(sentence.count > 12, "\(errors)")
            #expect(Set(errors.map(\.code)).count == 1, "\(sentence): \(errors)")
            // Whoever prints the error reads it too.
            #expect(errors.allSatisfy { "\($0)" == sentence })
        }
    }

    @Test("the server's own number is kept")
    func serverCode() {
        #expect(EngineError.room(.session(.refused(.expired, serverVersions: 1...4))).serverCode == 4)
        #expect(EngineError.room(.session(.removed(.replaced))).serverCode == 2)
        #expect(EngineError.room(.session(.joinTimedOut)).serverCode == nil)
    }

    @Test("the table in docs/errors.md is that of the engine")
    func table() throws {
        let meant = ErrorCode.allCases.map {
            ErrorProof.row($0.rawValue, $0.origin.rawValue, $0.isRetryable, $0.remedy)
        }
        var families: [String] = []
        for code in ErrorCode.allCases {
            let family = String(code.rawValue.prefix { $0 != "." })
            if families.last != family { families.append(family) }
        }
        // An agent's server, a partner and the control API follow: DialogErrorTests, PartnerErrorTests,
        // ControlErrorTests.
        let found = try families.flatMap { try ErrorProof.rows(of: $0) }
        #expect(found == meant, "the table should be:\n\(meant.joined(separator: "\n"))")
        let table = try ErrorProof.rows(of: "").map { String($0.dropFirst(3).prefix { $0 != "." }) }
        #expect(Set(table) == Set(families).union(["dialog", "partner", "control"]))
    }
}
