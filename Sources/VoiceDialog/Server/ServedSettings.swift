/// What a served session is, as its client has set it.
package struct ServedSettings: Equatable, Sendable {
    /// When the server says by itself that a turn has ended.
    package struct Detection: Equatable, Sendable {
        /// Probability of speech from which it is speech, above 0 to 1.
        package var threshold = 0.5
        /// Sound from before the first speech that belongs to the turn.
        package var prefix = Duration.milliseconds(300)
        /// Silence that ends a turn.
        package var silence = Duration.milliseconds(500)
        /// An answer begins when a turn ends.
        package var createsResponse = true
        /// Speech ends an answer.
        package var interruptsResponse = true

        package init() {}

        /// Whether speech is found by the one as by the other; the rest matters only when some was found.
        static func areAlike(_ one: Detection?, _ other: Detection?) -> Bool {
            one?.threshold == other?.threshold && one?.silence == other?.silence
        }
    }

    /// In which shapes the client is told: by its header, from its first `session.update` on by that.
    package internal(set) var generation = RealtimeSettings.Generation.current
    package internal(set) var input = DialogSound.pcm16(rate: 24_000)
    package internal(set) var output = DialogSound.pcm16(rate: 24_000)
    /// Functions that answers may call, and whether they may.
    package internal(set) var tools: [DialogTool] = []
    var toolChoice = ServedToolChoice.automatic
    /// Nil where the client says when a turn ends.
    package internal(set) var detection: Detection? = Detection()
    package internal(set) var instructions = ""
    package internal(set) var isTextOnly = false
    /// Under which name what the talker says is told; nil where it is not told.
    package internal(set) var transcription: String?
    /// What is said to be the voice.
    package let voice: String
    package let model: String

    package init(model: String, voice: String) {
        self.model = model
        self.voice = voice
    }

    /// These for a client of this generation, from its first message on.
    package func of(_ generation: RealtimeSettings.Generation) -> ServedSettings {
        var settings = self
        settings.generation = generation
        return settings
    }

    /// As the client is told.
    var json: JSON { generation == .beta ? betaJSON : currentJSON }

    var detectionJSON: JSON {
        detection.map { detection in
            [
                "type": "server_vad", "threshold": .number(detection.threshold),
                "prefix_padding_ms": .integer(Int(detection.prefix / .milliseconds(1))),
                "silence_duration_ms": .integer(Int(detection.silence / .milliseconds(1))),
                "create_response": .bool(detection.createsResponse),
                "interrupt_response": .bool(detection.interruptsResponse),
            ]
        } ?? .null
    }

    private var currentJSON: JSON {
        [
            "type": "realtime", "model": .string(model), "instructions": .string(instructions),
            "tools": .array(tools.map(\.json)),
            "tool_choice": toolChoice == .none ? "none" : "auto", "max_output_tokens": "inf",
            "output_modalities": isTextOnly ? ["text"] : ["audio"],
            "audio": [
                "input": [
                    "format": input.currentFormat, "turn_detection": detectionJSON, "noise_reduction": .null,
                    "transcription": transcription.map { ["model": .string($0)] } ?? .null,
                ],
                "output": ["format": output.currentFormat, "voice": .string(voice), "speed": 1],
            ],
        ]
    }

    /// These settings with what a `session.update` changes; what has no type is in the older shapes. What is not
    /// offered here, as another voice or another model, stays as it is.
    func updated(by session: JSON) throws(RequestFault) -> ServedSettings {
        guard let type = session["type"] else { return try updatedByBeta(session) }
        guard type == "realtime" else { throw .invalid("session.type", "is not \"realtime\"") }
        var settings = self
        settings.generation = .current
        try settings.updateCommon(session)
        if let hearing = session["audio"]?["input"] {
            settings.input = try Self.sound(hearing, "session.audio.input.format") ?? input
            try settings.updateHearing(hearing, transcription: "transcription")
        }
        if let speaking = session["audio"]?["output"] {
            settings.output = try Self.sound(speaking, "session.audio.output.format") ?? output
        }
        return settings
    }

    /// What both generations call the same.
    mutating func updateCommon(_ session: JSON) throws(RequestFault) {
        if let text = try ClientRequest.text("instructions", in: session) { instructions = text }
        if let isTextOnly = try ClientRequest.isTextOnly(session) { self.isTextOnly = isTextOnly }
        if let tools = session["tools"] { self.tools = try DialogTool.list(tools) }
        if let choice = session["tool_choice"] { toolChoice = try ServedToolChoice(choice) }
    }

    /// What is done with what the talker says; `null` has a meaning.
    mutating func updateHearing(_ json: JSON, transcription name: String) throws(RequestFault) {
        guard case .object(let members) = json else { return }
        if let detection = members["turn_detection"] { self.detection = try Detection(detection) }
        if let transcription = members[name] {
            let model = try ClientRequest.text("model", in: transcription)
            self.transcription = transcription == .null ? nil : String((model ?? "default").prefix(64))
        }
    }

    private static func sound(_ json: JSON, _ parameter: String) throws(RequestFault) -> DialogSound? {
        guard let format = json["format"] else { return nil }
        switch format["type"]?.string {
        case "audio/pcm":
            let rate = format["rate"]?.integer ?? 24_000
            guard [16_000, 24_000, 48_000].contains(rate) else {
                throw .invalid(parameter, "has a rate that is not 24000")
            }
            return .pcm16(rate: rate)
        case "audio/pcmu": return .muLaw
        case "audio/pcma": return .aLaw
        default: throw .invalid(parameter, "is neither audio/pcm, audio/pcmu nor audio/pcma")
        }
    }
}

extension ServedSettings.Detection {
    /// Nil for none. What only a model could find is found by silence.
    fileprivate init?(_ json: JSON) throws(RequestFault) {
        if json == .null { return nil }
        guard let type = json["type"]?.string, ["server_vad", "semantic_vad"].contains(type) else {
            throw .invalid("turn_detection.type", "is neither server_vad nor semantic_vad")
        }
        self.init()
        if let value = json["threshold"]?.number {
            guard value > 0, value <= 1 else {
                throw .invalid("turn_detection.threshold", "is not above 0 and up to 1")
            }
            threshold = value
        }
        prefix = try Self.time("prefix_padding_ms", in: json, 0...2_000) ?? prefix
        silence = try Self.time("silence_duration_ms", in: json, 50...10_000) ?? silence
        createsResponse = json["create_response"]?.bool ?? true
        interruptsResponse = json["interrupt_response"]?.bool ?? true
    }

    private static func time(
        _ name: String, in json: JSON, _ range: ClosedRange<Int>
    ) throws(RequestFault) -> Duration? {
        guard let value = json[name] else { return nil }
        guard let milliseconds = value.integer, range.contains(milliseconds) else {
            throw .invalid("turn_detection.\(name)", "is not \(range.lowerBound) to \(range.upperBound)")
        }
        return .milliseconds(milliseconds)
    }
}
