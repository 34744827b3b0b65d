import ArgumentParser
import RealtimePartner
import VoiceDialog
import VoiceEngine
import VoicePartner
import VoiceWeb

/// A Realtime server as the partner.
struct RealtimeOptions: ParsableArguments {
    /// Which shapes a server understands.
    enum Dialect: String, CaseIterable, ExpressibleByArgument {
        case current, beta
    }

    /// Who finds the end of a turn.
    enum TurnEnd: String, CaseIterable, ExpressibleByArgument {
        case client, server, semantic
    }

    @Option(help: "The URL of a Realtime server, such as wss://host/v1/realtime?model=NAME.") var realtime: String?
    @Option(
        help:
            "A file whose first line is the server's key; or set DUPLEX_REALTIME_KEY, or for OpenAI's servers OPENAI_API_KEY.",
        completion: .file())
    var keyFile: String?
    @Option(help: "A PEM file of the authorities to trust instead of the system's.", completion: .file())
    var authorities: String?
    @Option(help: "How the model is to behave, at the Realtime server or at the responder.") var instructions: String?
    @Option(help: "Realtime: the model's voice.") var modelVoice: String?
    @Option(help: "Realtime: the model that writes down what you say, such as whisper-1.") var transcription: String?
    @Option(help: "Realtime: the shapes of the protocol that the server understands.") var dialect = Dialect.current
    @Option(help: "Realtime: who finds the end of your turn.") var turnEnd = TurnEnd.client

    /// Whether something is said of a Realtime server alone.
    var isShaped: Bool { modelVoice != nil || transcription != nil || dialect != .current || turnEnd != .client }

    /// Whether something is said that a responder takes as well.
    var isInstructed: Bool { keyFile != nil || authorities != nil || instructions != nil }

    /// The rate of PCM16 in both directions.
    static let rate = SoundRate.hertz24000

    func validate() throws {
        guard let realtime else { return }
        guard WebAddress(realtime) != nil else {
            throw ValidationError("'\(realtime)' is no URL of a Realtime server: give one like wss://host/path")
        }
    }

    /// The partner at this URL.
    func make(_ url: String, requests: PartnerRequests?) throws -> RealtimePartner {
        guard let address = WebAddress(url) else { throw Failure(.usage, "'\(url)' is no URL like wss://host/path") }
        var request = try WebSocketRequest(address, authorities: authorities)
        if let key = try key(for: address) {
            guard address.isSecure || ServerKey.isThisMachine(address.host) else {
                throw Failure(.usage, "a key would go over ws:// in plaintext: use wss://")
            }
            request.headers.append((name: "Authorization", value: "Bearer \(key)"))
        }
        if dialect == .beta { request.headers.append((name: "OpenAI-Beta", value: "realtime=v1")) }
        return RealtimePartner(request, settings, requests: requests)
    }

    private var settings: RealtimeSettings {
        let detection: RealtimeSettings.TurnDetection =
            switch turnEnd {
            case .client: .client
            case .server: .server(silence: .milliseconds(600))
            case .semantic: .semantic
            }
        return RealtimeSettings(
            generation: dialect == .current ? .current : .beta, input: .pcm16(rate: Self.rate.rawValue),
            output: .pcm16(rate: Self.rate.rawValue), turnDetection: detection, instructions: instructions,
            voice: modelVoice, transcription: transcription)
    }

    /// Nil where none is given: servers of one's own need none.
    private func key(for address: WebAddress) throws -> String? {
        guard let keyFile else {
            return ServerKey.inEnvironment("DUPLEX_REALTIME_KEY", for: address)
        }
        return try ServerKey.read(keyFile)
    }
}

extension WebSocketRequest {
    /// By the environment's proxy, and trusting the authorities of a file where one is given.
    init(_ address: WebAddress, authorities: String?) throws {
        self.init(address)
        if let authorities {
            try InputFile.checkReadable(authorities, option: "--authorities")
            self.authorities = authorities
        }
        do throws(WebSocketFailure) {
            // What is for this machine does not leave it, nor does a key in plaintext.
            guard !ServerKey.isThisMachine(address.host) else { return }
            proxy = try WebProxy.proxy(for: address, environment: Environment.value)
        } catch {
            throw Failure(.usage, DialogError(error, address).explanation)
        }
    }
}
