/// What a dialog tells the app.
package enum DialogEvent: Equatable, Sendable {
    /// The server listens, with the history restored.
    case ready
    /// The server is gone; it is tried again after so long.
    case lost(DialogError, again: Duration)
    /// The dialog is over, by an error or because it was stopped.
    case ended(DialogError?)
    /// By the server's turn detection.
    case speechStarted
    case speechStopped
    /// The server has what the talker said in the present turn, as this item.
    case committed(item: String)
    /// What the talker said, as the server understood it, in this item where that is told: a later turn may have begun.
    case recognised(String, item: String?)
    /// The server answers without having been asked.
    case answerBegan(AnswerID)
    /// Sound can be taken.
    case soundWaits(AnswerID)
    /// Text of what is spoken, or of an answer in text, and how much sound of the answer had come before it.
    case text(AnswerID, String, after: Duration)
    /// Call the function, and hand in its outcome, also where the answer is over by then.
    case toolCall(AnswerID, DialogToolCall)
    /// Nothing more of an answer comes; what waits can still be taken. With an error it is not whole.
    case answerDone(AnswerID, DialogError?)
    case rateLimits([RateLimit])
    /// The server did not do something; the dialog goes on.
    case failed(DialogError)
}

/// What a dialog wants done.
package enum DialogOutput: Equatable, Sendable {
    /// Open a connection.
    case connect
    /// Close it.
    case disconnect
    /// Send a text message.
    case send([UInt8])
    case event(DialogEvent)
}

/// What was refused or dropped.
package struct DialogCounts: Equatable, Sendable {
    /// Deltas of answers that were over, or done.
    package var staleDeltas = 0
    /// Samples handed out.
    package var takenSamples = 0
    /// The server's refusals to cancel, truncate or delete what was gone already.
    package var lateRefusals = 0
    package var connections = 0
}
