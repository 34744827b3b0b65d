/// What a Realtime session is to be.
package struct RealtimeSettings: Equatable, Sendable {
    /// In which shapes requests are written; answers are read in either.
    package enum Generation: String, Sendable, CaseIterable {
        /// With `session.type` and nested `audio`, since 2025.
        case current
        /// Flat, with the header `OpenAI-Beta: realtime=v1`; many compatible servers know no other.
        case beta
    }

    /// Who says when the talker's turn ends.
    package enum TurnDetection: Equatable, Sendable {
        /// This side: sound goes up during turns only.
        case client
        /// The server, by silence; all sound goes up, and the server asks itself for answers.
        case server(silence: Duration)
        /// The server, by what is said.
        case semantic
    }

    package var generation: Generation
    package var input: DialogSound
    package var output: DialogSound
    package var turnDetection: TurnDetection
    /// How the model is to behave; nil for the server's choice.
    package var instructions: String?
    /// Nil for the server's choice.
    package var voice: String?
    /// Answers are text only.
    package var isTextOnly: Bool
    /// The model that transcribes the talker; without one, what they said is not restored after a break.
    package var transcription: String?
    package var tools: [DialogTool]

    package init(
        generation: Generation = .current, input: DialogSound = .pcm16(rate: 24_000),
        output: DialogSound = .pcm16(rate: 24_000), turnDetection: TurnDetection = .client,
        instructions: String? = nil, voice: String? = nil, isTextOnly: Bool = false, transcription: String? = nil,
        tools: [DialogTool] = []
    ) {
        self.generation = generation
        self.input = input
        self.output = output
        self.turnDetection = turnDetection
        self.instructions = instructions
        self.voice = voice
        self.isTextOnly = isTextOnly
        self.transcription = transcription
        self.tools = tools
    }
}

/// A function that the model may call.
package struct DialogTool: Equatable, Sendable {
    package var name: String
    package var description: String
    /// JSON Schema of its arguments.
    package var parameters: JSON

    package init(name: String, description: String, parameters: JSON) {
        self.name = name
        self.description = description
        self.parameters = parameters
    }
}

/// The model asks for the outcome of a function.
package struct DialogToolCall: Equatable, Sendable {
    package var id: String
    package var name: String
    /// A JSON text, as the model wrote it: it may be malformed.
    package var arguments: String

    package init(id: String, name: String, arguments: String) {
        self.id = id
        self.name = name
        self.arguments = arguments
    }
}
