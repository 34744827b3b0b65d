import VoiceEngine
import VoiceRooms
import VoiceTransport

/// A room server of this process alone, on loopback, with a secret that nobody else knows.
struct LocalRoom {
    private let server: RoomServer
    private let key: TokenKey
    private let url: String

    /// How long its tokens are valid: longer than any demonstration or measurement, a day.
    private static let validity: Int64 = 86_400
    private static let name = "local"

    /// Starts the server on a port that the system chooses.
    init() throws {
        key = try TokenKey.made(name: Self.name)
        // As the engines' own network threads: what is shown and measured are they, and elsewhere a server does not
        // share their processors.
        let configuration = RoomServerConfiguration(threadPriority: EngineConfiguration().networkPriority)
        server = RoomServer(configuration: configuration, verifier: TokenVerifier(keys: [key]))
        do throws(RoomServerError) {
            url = "udp://127.0.0.1:\(try server.start())"
        } catch {
            throw Failure(error)
        }
    }

    /// What lets `identity` in.
    func endpoint(for identity: String) throws -> RoomEndpoint {
        let now = WallClock.seconds
        let grants = TokenGrants(identity: identity, room: Self.name)
        return try RoomEndpoint(
            url: url, token: TokenIssuer(key: key).token(for: grants, notBefore: now, expires: now + Self.validity))
    }

    /// Ends the server.
    func stop() { server.stop() }
}
