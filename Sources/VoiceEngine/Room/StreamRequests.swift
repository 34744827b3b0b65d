/// What an app has asked of streams, whatever room the engine is in, or none.
package struct StreamRequests {
    /// Streams that are to be played, or not, by name.
    package var played: [String: Bool] = [:]
    /// Of which another volume than 1 was asked for.
    package var volumes: [String: Float] = [:]
    /// Which are muted here.
    package var muted: Set<String> = []
    /// What the engine is to be itself.
    package var presence = RequestedPresence()

    package init() {}
}
