package import VoiceDialog
package import VoiceEngine
package import VoicePartner
package import VoiceWeb

/// A Realtime server as a partner: the near talker is sent to it, and its answers are spoken.
package struct RealtimePartner: Partner {
    package let request: WebSocketRequest
    package let settings: RealtimeSettings
    /// Calls a function of the settings; returns what it came to.
    private let call: @Sendable (DialogToolCall) async -> String
    private let requests: PartnerRequests?

    /// - Parameters:
    ///   - settings: sound is 16-bit PCM at 16 or 24 kHz.
    ///   - requests: what the app asks while it converses.
    package init(
        _ request: WebSocketRequest, _ settings: RealtimeSettings, requests: PartnerRequests? = nil,
        call: @escaping @Sendable (DialogToolCall) async -> String = { _ in "there is no such function" }
    ) {
        precondition(
            [settings.input, settings.output].allSatisfy { SoundRate(rawValue: $0.rate) != nil },
            "a conversation has no sound of 8 kHz")
        self.request = request
        self.settings = settings
        self.call = call
        self.requests = requests
    }

    /// The rate at which the conversation's near end is to be taken.
    package var nearEndRate: SoundRate { SoundRate(rawValue: settings.input.rate) ?? .hertz24000 }

    package func converse(
        in conversation: Conversation, tell: @escaping @Sendable (PartnerEvent) -> Void
    ) async throws(PartnerError) {
        let driver = DialogDriver(request, settings, conversation, tell: tell, call: call)
        requests?.serve { await driver.take($0) }
        defer { requests?.serve(nil) }
        let error = await withTaskCancellationHandler {
            await driver.run()
        } onCancel: {
            Task { await driver.stop() }
        }
        if let error { throw PartnerError(error) }
    }
}

extension PartnerError {
    init(_ error: DialogError) { self = .server(code: error.code.rawValue, explanation: error.explanation) }
}

extension DialogError {
    package init(_ failure: WebSocketFailure, _ address: WebAddress) {
        let server = "\(address.host):\(address.port)"
        switch failure {
        case .cannotStart(let reason): self.init(.refused, "no connection can be made: \(reason)")
        case .unknownHost: self.init(.unknownHost, "nobody knows the host \(address.host)")
        case .unreachable(let words): self.init(.unreachable, "\(server) does not answer: \(words)")
        case .proxyRefused(let words): self.init(.proxyRefused, "the proxy does not let us through: \(words)")
        case .untrusted(let reason):
            self.init(.untrusted, "the certificate of \(server) is not to be trusted: \(reason)")
        case .refused(let status):
            switch status {
            case 401, 403: self.init(.unauthorised, "\(server) refuses the key (HTTP \(status))")
            case 404: self.init(.notFound, "\(server) has no such path or model (HTTP 404)")
            case 429: self.init(.rateLimited, "\(server) asks for patience (HTTP 429)")
            case 500...599: self.init(.lost, "\(server) is out of order (HTTP \(status))")
            default: self.init(.refused, "\(server) refuses a WebSocket (HTTP \(status))")
            }
        case .noWebSocket(let words): self.init(.refused, "\(server) speaks no WebSocket: \(words)")
        case .lost(let status):
            self.init(.lost, "the connection to \(server) broke\(status == 0 ? "" : " (status \(status))")")
        case .tooLarge(let limit): self.init(.tooLarge, "\(server) sent a message of more than \(limit) bytes")
        case .tooSlow: self.init(.lost, "\(server) took too long for a message")
        case .notText: self.init(.malformed, "\(server) sent a message that is no text")
        case .overflow: self.init(.lost, "\(server) takes less than is sent")
        }
    }
}
