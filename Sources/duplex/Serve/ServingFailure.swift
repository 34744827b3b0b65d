import VoiceTransport
import VoiceWeb

extension Failure {
    /// Why a server does not begin to listen.
    init(_ failure: WebSocketFailure, servingAt address: String, _ port: UInt16) {
        let reason = if case .cannotStart(let words) = failure { words } else { "\(failure)" }
        self.init(.unavailable, "nothing can be served at \(address):\(port): \(reason)")
    }
}

/// The certificate of a server of HTTP or WebSockets, whose library does not say what is wrong with one.
enum ServingCertificate {
    /// Throws what a room server would that is given these files.
    static func check(_ certificate: String?, _ privateKey: String?) throws(Failure) {
        guard let certificate, let privateKey else { return }
        do throws(ServerIdentityError) {
            _ = try ServerIdentitySource.files(certificates: certificate, key: privateKey).load()
        } catch {
            throw Failure(RoomServerError.identity(error))
        }
    }
}
