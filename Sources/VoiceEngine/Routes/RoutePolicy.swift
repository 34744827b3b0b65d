/// What the engine does when a device of its goes away while it runs. The call goes on in any case: while there is no
/// device, the microphone is silent and what arrives is played to nobody, at its usual pace.
public enum RoutePolicy: String, CaseIterable, Sendable {
    /// Nothing: the direction has ended. For files and for a client that owns its sound, where there is nothing to come
    /// back.
    case fixed
    /// Waits for the same device to return, and opens it again: 0.1 s after the loss, then less and less often down to
    /// every 2 s, and at once when the system tells of a device that has arrived.
    case pinned
    /// Moves to ALSA's `default` at once, stays with it, and waits for it in the same way where there is none.
    case followDefault
}
