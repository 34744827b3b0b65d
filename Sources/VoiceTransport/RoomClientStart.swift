internal import CLinuxRealtime
internal import VoicePeers
internal import VoiceRealtime
internal import VoiceRooms

/// What the client's network thread does before there is anybody to speak to: looks the host up and gets the token.
enum RoomClientStart {
    /// While a token is awaited; whatever is to be seen meanwhile wakes the thread sooner.
    static let longestSleep: Duration = .seconds(60)

    static func run(
        _ endpoint: RoomEndpoint, _ configuration: RoomClientConfiguration, _ link: PacketLink,
        _ shared: RoomClientShared, until stop: borrowing StopFlag
    ) -> RoomClientEnd {
        do throws(RoomClientEnd) {
            let servers = try HostResolution.addresses(
                of: endpoint.host, port: endpoint.port, timeout: configuration.resolutionTimeout, wake: link.wake,
                stop: stop, isToLeave: { shared.isToLeave })
            guard mayReach(servers, of: endpoint, configuration) else { throw .plaintextRefused(endpoint.host) }
            let lookUp = ServerLookUp(of: endpoint.host, port: endpoint.port) {
                Self.mayReach($0, of: endpoint, configuration)
            }
            switch endpoint.tokens {
            case .given(let token):
                return try meet(
                    servers, lookUp, endpoint.security, token, nil, configuration, link, shared, until: stop)
            case .provided(let provider):
                let request = TokenRequest(provider)
                defer { request.cancel() }
                let token = try firstToken(request, link, shared, until: stop)
                return try meet(
                    servers, lookUp, endpoint.security, token, request, configuration, link, shared, until: stop)
            }
        } catch {
            return error
        }
    }

    /// Whether a client may speak to a host's addresses: plaintext stays on this machine unless it is allowed elsewhere.
    static func mayReach(
        _ servers: [EndpointAddress], of endpoint: RoomEndpoint, _ configuration: RoomClientConfiguration
    ) -> Bool {
        endpoint.security != .plaintext || configuration.allowPlaintext || servers.allSatisfy { $0.isLoopback }
    }

    private static func meet(
        _ servers: [EndpointAddress], _ lookUp: ServerLookUp?, _ security: RoomSecurity, _ token: [UInt8],
        _ tokens: TokenRequest?, _ configuration: RoomClientConfiguration, _ link: PacketLink,
        _ shared: RoomClientShared, until stop: borrowing StopFlag
    ) throws(RoomClientEnd) -> RoomClientEnd {
        switch security {
        case .plaintext:
            let plaintext = Plaintext(key: .random())
            let loop = try RoomClientLoop(servers, lookUp, token, tokens, plaintext, configuration, link, shared)
            return loop.run(until: stop)
        case .protected(let trust):
            let protected: DTLSSecurity
            do throws(ServerTrustError) {
                protected = try DTLSSecurity(trusting: trust)
            } catch {
                throw .noTrust(error)
            }
            let loop = try RoomClientLoop(servers, lookUp, token, tokens, protected, configuration, link, shared)
            return loop.run(until: stop)
        }
    }

    /// Waits for the token to join with, as long as its provider takes: whoever cannot wait leaves.
    private static func firstToken(
        _ request: TokenRequest, _ link: PacketLink, _ shared: RoomClientShared, until stop: borrowing StopFlag
    ) throws(RoomClientEnd) -> [UInt8] {
        let wake = link.wake
        request.start { wake.signal() }
        while !stop.isRaised {
            switch request.take() {
            case .token(let token): return token
            case TokenAnswer.none?: throw .tokenUnavailable
            case nil: break
            }
            if shared.isToLeave { throw .session(.left(acknowledged: false)) }
            wake.wait(timeout: Self.longestSleep)
        }
        throw .stopped
    }
}
