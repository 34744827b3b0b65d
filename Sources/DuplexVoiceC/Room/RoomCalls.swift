public import CDuplexVoice
internal import VoiceEngine
internal import VoiceRooms

/// `dv_engine_join`.
@c @implementation
public func dv_engine_join(
    _ engine: dv_engine, _ url: UnsafePointer<CChar>?, _ token: UnsafePointer<CChar>?,
    _ options: UnsafePointer<dv_join_options>?, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let url = try unsafe text(url, "url"), let token = try unsafe text(token, "token") else {
            throw .argument("url or token is null; give both")
        }
        var configuration = RoomClientConfiguration()
        if let options = unsafe options {
            configuration = try unsafe RoomClientConfiguration(try unsafe dv_join_options.read(options))
        }
        let object = try EngineObject.held(engine)
        let provider = try object.tokens.provider(first: token, asking: object.events)
        let endpoint: RoomEndpoint
        do throws(RoomEndpointError) {
            endpoint = try RoomEndpoint(url: url, tokenProvider: provider)
        } catch {
            throw Failure(error)
        }
        try object.complete { [configuration] engine in
            do throws(EngineError) {
                _ = try await engine.join(endpoint, configuration: configuration)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
    }
}

/// `dv_engine_set_token`.
@c @implementation
public func dv_engine_set_token(
    _ engine: dv_engine, _ token: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let token = try unsafe text(token, "token") else { throw .argument("token is null; give one") }
        try EngineObject.held(engine).tokens.give(token)
    }
}

/// `dv_engine_leave`.
@c @implementation
public func dv_engine_leave(_ engine: dv_engine, _ error: UnsafeMutablePointer<dv_error>?) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        try EngineObject.held(engine).complete { .success(await $0.leave()) }
    }
}

/// `dv_engine_send`.
@c @implementation
public func dv_engine_send(
    _ engine: dv_engine, _ participant: UInt32, _ bytes: UnsafeRawPointer?, _ count: Int,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        // Not before it is known that so much may be read.
        guard 0...RoomProtocol.messageLimit ~= count else {
            throw Failure(EngineError.requestRefused(.messageTooLong))
        }
        guard let bytes = unsafe bytes else { throw .argument("bytes is null; give the message") }
        let message = unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
        try EngineObject.held(engine).perform { engine throws(EngineError) in
            try engine.send(message, to: ParticipantID(number: participant))
        }
    }
}

/// `dv_engine_interrupt`.
@c @implementation
public func dv_engine_interrupt(
    _ engine: dv_engine, _ participant: UInt32, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        try EngineObject.held(engine).perform { engine throws(EngineError) in
            try engine.interrupt(ParticipantID(number: participant))
        }
    }
}

/// `dv_engine_set_barge_in`.
@c @implementation
public func dv_engine_set_barge_in(
    _ engine: dv_engine, _ participant: UInt32, _ policy: UInt32, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let policy = try BargeInPolicy(number: policy)
        try EngineObject.held(engine).perform { engine throws(EngineError) in
            try engine.setBargeIn(policy, for: ParticipantID(rawValue: participant))
        }
    }
}

/// `dv_engine_begin_utterance`.
@c @implementation
public func dv_engine_begin_utterance(
    _ engine: dv_engine, _ utterance: UInt32, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        try EngineObject.held(engine).perform { engine throws(EngineError) in
            try engine.beginUtterance(utterance == 0 ? nil : UtteranceID(rawValue: utterance))
        }
    }
}

/// `dv_engine_set_volume`.
@c @implementation
public func dv_engine_set_volume(
    _ engine: dv_engine, _ participant: UInt32, _ volume: Float, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        try EngineObject.held(engine).perform { engine throws(EngineError) in
            try engine.setVolume(volume, for: ParticipantID(rawValue: participant))
        }
    }
}

/// `dv_engine_set_participant_muted`.
@c @implementation
public func dv_engine_set_participant_muted(
    _ engine: dv_engine, _ participant: UInt32, _ muted: UInt32, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let muted = try flag(muted, "muted")
        try EngineObject.held(engine).perform { engine throws(EngineError) in
            try engine.setMuted(muted, for: ParticipantID(rawValue: participant))
        }
    }
}

extension BargeInPolicy {
    /// By the header's number.
    fileprivate init(number: UInt32) throws(Failure) {
        switch Int(number) {
        case DV_BARGE_IN_OFF: self = .off
        case DV_BARGE_IN_STAGES: self = .staged()
        case DV_BARGE_IN_IMMEDIATE: self = .immediate()
        default: throw .argument("policy is \(number); take one of DV_BARGE_IN_OFF and its like")
        }
    }
}

extension ParticipantID {
    /// Nil for 0, which is nobody.
    fileprivate init?(number: UInt32) {
        guard number != 0 else { return nil }
        self.init(rawValue: number)
    }
}

extension RoomClientConfiguration {
    fileprivate init(_ given: dv_join_options) throws(Failure) {
        unsafe self.init(
            allowPlaintext: try flag(given.allow_plaintext, "options.allow_plaintext"),
            room: try unsafe text(given.room, "options.room") ?? "",
            role: try RoomRole(number: given.role, "options.role"),
            publishing: try !flag(given.listen_only, "options.listen_only"))
        if try unsafe flag(given.by_choice, "options.by_choice") { capabilities.remove(.autoSubscribe) }
        if !publishing { capabilities.remove(.publish) }
        guard let raw = unsafe UInt8(exactly: given.interruptible), let policy = InterruptionPolicy(rawValue: raw)
        else {
            throw .argument(
                unsafe "options.interruptible is \(given.interruptible); take one of DV_INTERRUPTIBLE_BY_ITSELF, …_ANYONE"
            )
        }
        interruptibleBy = policy
    }
}

extension Failure {
    fileprivate init(_ error: RoomEndpointError) {
        switch error {
        case .malformedURL(let url, let fault):
            self.init(DV_INVALID_ARGUMENT, "url is '\(url)'; \(fault)", code: .configurationInvalid)
        case .tokenTooLong: self.init(EngineError.requestRefused(.tokenTooLong))
        }
    }
}
