/// Brings the messages of a room to the other end of a path and back: in order and once each, as long as the path
/// lives. What it still holds when the path dies is lost; the ``Outbox`` above it repeats what must not be.
///
///     RoomDirectory, RoomSession: Outbox ◄── exchange ──► RoomCarrier ◄── bytes ──► the driver's path
///
/// Whoever keeps a path keeps its carrier beside it, hands it the bytes, and calls `exchange` of the directory or the
/// session when something has come, when it has room again, and when they ask for it. Generic code only: nothing here
/// is looked up at run time.
protocol RoomCarrier {
    /// Whether it takes one more message now, however long it is.
    var hasRoom: Bool { get }
    /// Takes a message. `ping` and `pong` it must take at any time, and may lose.
    mutating func send(_ message: RoomMessage)

    /// Whether `next` would return a message. What is not taken waits, and holds up the sender.
    var hasNext: Bool { get }
    /// The next message that came.
    mutating func next() -> RoomMessage?

    /// Whether the other end is known to have all that was sent, and there is nothing to be acknowledged to it. A
    /// carrier that cannot know says no.
    var isDelivered: Bool { get }
    /// Takes a round trip that `ping` and `pong` have measured.
    mutating func measure(_ roundTrip: Duration)
}
