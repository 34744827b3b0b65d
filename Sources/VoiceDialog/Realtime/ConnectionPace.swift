/// When a lost server is tried again: soon, then every second and a half, so that it is found within two of its return;
/// one that asks for patience gets more.
struct ConnectionPace: Sendable {
    private static let shortest = Duration.milliseconds(100)
    private static let longest = Duration.milliseconds(1_500)
    private static let shortestPatience = Duration.seconds(5)
    private static let longestPatience = Duration.seconds(60)
    private var attempts = 0

    mutating func succeed() { attempts = 0 }

    mutating func next(after error: DialogErrorCode) -> Duration {
        attempts += 1
        let factor = 1 << min(attempts - 1, 10)
        return error == .rateLimited
            ? min(Self.shortestPatience * factor, Self.longestPatience)
            : min(Self.shortest * factor, Self.longest)
    }
}
