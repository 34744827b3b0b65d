internal import Synchronization
internal import VoiceRealtime
public import VoiceTurns

extension VoiceEngine {
    /// Begins a conversation with an agent in this process, one at a time, beside a room or without one.
    ///
    /// Interruptions need the speech detection and the echo readiness of ``ProcessingSettings/voiceAgent`` or the like.
    ///
    /// - Parameters:
    ///   - mode: how turns are taken.
    ///   - configuration: of the agent's side, as ``openFarEnd(_:)`` takes it.
    ///   - history: of the conversation that this one goes on with, or under whose name it begins; its turns are
    ///     numbered on.
    /// - Throws: ``EngineError/notStarted``, ``EngineError/alreadyConversing``, ``EngineError/turn(_:)``, and as
    ///   ``openFarEnd(_:)`` does.
    public func converse(
        _ mode: TalkMode = .duplex(), configuration: FarEndConfiguration = FarEndConfiguration(),
        resuming history: ConversationHistory = ConversationHistory()
    ) throws(EngineError) -> Conversation {
        guard let core else { throw .notStarted }
        let clock: @Sendable () -> Duration = { MonotonicTime.now().sinceEpoch }
        let timer = ConversationTimer(clock: clock)
        let (events, continuation) = AsyncStream.makeStream(
            of: TurnEvent.self, bufferingPolicy: .bufferingNewest(Conversation.eventCapacity))
        let conversation = try core.converse(
            mode, configuration, history: history, clock: clock,
            tell: { event in if let event { continuation.yield(event) } else { continuation.finish() } },
            timeoutChanged: { conversation in
                timer.update({ conversation.nextTimeout }, { [weak conversation] in conversation?.handleTimeout() })
            })
        return Conversation(conversation, events: events, timer: timer) { [weak core, weak conversation] in
            if let conversation { core?.end(conversation) }
        }
    }
}

extension EngineCore {
    /// Begins a conversation on a far end of its own; the closures are those of `ConversationCore`. Allocates.
    package func converse(
        _ mode: TalkMode, _ configuration: FarEndConfiguration, history: ConversationHistory = ConversationHistory(),
        clock: @escaping @Sendable () -> Duration,
        tell: @escaping @Sendable (TurnEvent?) -> Void, timeoutChanged: @escaping @Sendable (ConversationCore) -> Void
    ) throws(EngineError) -> ConversationCore {
        guard conversation.withLock({ $0.core == nil }) else { throw .alreadyConversing }
        if let fault = mode.fault { throw .turn(.invalidMode(fault)) }
        let line = try openLine(configuration)
        let farEnd = LocalFarEnd(line.line, number: line.number)
        let made: ConversationCore
        do throws(TurnRefusal) {
            made = try ConversationCore(
                mode, farEnd: farEnd, history: history, give: { [weak self] in self?.order($0) ?? true }, clock: clock,
                tell: tell, timeoutChanged: timeoutChanged)
        } catch {
            throw .turn(error)
        }
        line.line.observer.withLock { $0 = { [weak made] in made?.take($0) } }
        conversation.withLock { $0.core = made }
        return made
    }

    /// Whether a conversation is under way.
    var isConversing: Bool { conversation.withLock { $0.core != nil } }

    /// Another may begin.
    package func end(_ ended: ConversationCore) {
        conversation.withLock { if $0.core === ended { $0.core = nil } }
    }
}

/// A conversation for as long as its owner keeps it.
struct ConversationReference: Sendable {
    weak var core: ConversationCore?
}
