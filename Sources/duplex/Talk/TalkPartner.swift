import ArgumentParser
import VoiceEngine
import VoicePartner

/// Which partner is talked with.
struct TalkPartner: ParsableArguments {
    @Flag(help: "The partner that needs no network.") var offline = false
    @OptionGroup var server: RealtimeOptions
    @OptionGroup var parts: OfflineOptions

    func validate() throws {
        guard offline != (server.realtime != nil) else {
            throw ValidationError("say whom to talk with: --offline, or --realtime URL")
        }
        guard offline || !parts.isChosen else {
            throw ValidationError(
                "--responder, --grammar, --dictation and --voice are for --offline: a Realtime server hears, answers and speaks by itself"
            )
        }
        guard !offline || !server.isShaped else {
            throw ValidationError("--model-voice, --transcription, --dialect and --turn-end are for --realtime")
        }
        guard !offline || parts.responder != nil || !server.isInstructed else {
            throw ValidationError("--key-file, --authorities and --instructions are for --realtime or --responder")
        }
    }

    /// The rate at which the partner hears.
    var nearEndRate: SoundRate { offline ? .hertz16000 : RealtimeOptions.rate }

    /// The partner that was asked for.
    ///
    /// - Parameter requests: what an app asks of it.
    func make(requests: PartnerRequests? = nil) throws -> any Partner {
        if let url = server.realtime { return try server.make(url, requests: requests) }
        let parts = try parts.make(server)
        return CascadePartner(
            recogniser: parts.recogniser, responder: parts.responder, synthesiser: parts.synthesiser,
            requests: requests)
    }
}

extension Failure {
    /// A partner that does not work.
    init(_ error: PartnerError) {
        let code: Code
        switch error {
        case .invalidConfiguration: code = .usage
        default: code = .unavailable
        }
        self.init(code, error.explanation)
    }
}
