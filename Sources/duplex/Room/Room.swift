import ArgumentParser

/// Rooms: the server, and the tokens that open them.
struct Room: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve rooms, and make the tokens that open them.",
        discussion: """
            For example, a room on this machine, and two calls to paste:

              duplex room serve --dev
            """,
        subcommands: [RoomServe.self, RoomToken.self])
}
