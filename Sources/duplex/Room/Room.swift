import ArgumentParser

/// Rooms: the server, and the tokens that open them.
struct Room: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve rooms, and make the tokens that open them.", subcommands: [RoomServe.self, RoomToken.self])
}
