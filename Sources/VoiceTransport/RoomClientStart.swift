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
            let server = try HostResolution.address(
                of: endpoint.host, port: endpoint.port, timeout: configuration.resolutionTimeout, wake: link.wake,
                stop: stop)
            guard configuration.allowPlaintext || server.isLoopback else { throw .plaintextRefused(endpoint.host) }
            switch endpoint.tokens {
            case .given(let token):
                return try meet(server, token, nil, configuration, link, shared, until: stop)
            case .provided(let provider):
                let request = TokenRequest(provider)
                defer { request.cancel() }
                let token = try firstToken(request, link, shared, until: stop)
                return try meet(server, token, request, configuration, link, shared, until: stop)
            }
        } catch {
            return error
        }
    }

    private static func meet(
        _ server: EndpointAddress, _ token: [UInt8], _ tokens: TokenRequest?, _ configuration: RoomClientConfiguration,
        _ link: PacketLink, _ shared: RoomClientShared, until stop: borrowing StopFlag
    ) throws(RoomClientEnd) -> RoomClientEnd {
        try RoomClientLoop(server, token, tokens, Plaintext(key: .random()), configuration, link, shared).run(until: stop)
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
