import VoiceEngine

/// A stage and its audience: one stream has a name, and whoever wants to hear the stage plays that name, before it is
/// there or after.
///
///     talker:   publish(as: "stage") ──► room ──► play("stage")   audience, who publish nothing
///                                                 a raised hand ──► invited: listener becomes talker
struct Stage: Sendable {
    /// What the stage is called.
    static let name = "stage"
    /// The attribute of whoever wants to talk.
    static let hand = "hand"

    let engine: VoiceEngine

    /// Goes on the stage.
    func talk(_ endpoint: RoomEndpoint) async throws {
        try await engine.publish(as: Self.name)
        try await engine.join(endpoint)
    }

    /// Sits down in the audience: hears the stage and nobody else, says nothing.
    func listen(_ endpoint: RoomEndpoint) async throws {
        try await engine.play(Self.name)
        try await engine.join(
            endpoint, configuration: RoomClientConfiguration(capabilities: .byChoice, role: .listener))
    }

    /// Raises a hand, or takes it down: everybody sees it.
    func raiseHand(_ isUp: Bool) async throws { try await engine.setAttribute(Self.hand, to: isUp ? "up" : nil) }

    /// Speaks from the audience; the stage hears whoever talks.
    func speak() async throws {
        try await engine.setRole(.talker)
        try await raiseHand(false)
    }

    /// One line for each thing that an app would show.
    static func line(_ event: EngineEvent) -> String? {
        switch event {
        case .streamState(name, .playing): "the stage is heard"
        case .streamState(name, .waiting): "the stage is empty"
        case .attributesChanged(let who, let attributes): attributes[hand].map { "\(who) raises a hand: \($0)" }
        case .roleChanged(let who, .talker): "\(who) may speak"
        case .roleChanged(let who, .listener): "\(who) listens"
        default: nil
        }
    }
}
