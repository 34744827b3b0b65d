import VoiceWeb

extension Failure {
    /// Why a server does not begin to listen.
    init(_ failure: WebSocketFailure, servingAt address: String, _ port: UInt16) {
        let reason = if case .cannotStart(let words) = failure { words } else { "\(failure)" }
        self.init(.unavailable, "nothing can be served at \(address):\(port): \(reason)")
    }
}
