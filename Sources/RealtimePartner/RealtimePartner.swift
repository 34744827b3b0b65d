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
        let text = "\(server) \(failure)"
        switch failure {
        case .cannotStart, .noWebSocket: self.init(.refused, text)
        case .unknownHost: self.init(.unknownHost, text)
        case .unreachable: self.init(.unreachable, text)
        case .proxyRefused: self.init(.proxyRefused, text)
        case .untrusted: self.init(.untrusted, text)
        case .refused(let status):
            switch status {
            case 401, 403: self.init(.unauthorised, "\(server) refuses the key (HTTP \(status))")
            case 404: self.init(.notFound, "\(server) has no such path or model (HTTP 404)")
            case 429: self.init(.rateLimited, "\(server) asks for patience (HTTP 429)")
            case 500...599: self.init(.lost, "\(server) is out of order (HTTP \(status))")
            default: self.init(.refused, text)
            }
        case .lost, .tooSlow, .overflow: self.init(.lost, text)
        case .tooLarge: self.init(.tooLarge, text)
        case .notText: self.init(.malformed, text)
        }
    }
}
