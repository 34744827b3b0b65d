internal import Synchronization

/// The keys whose tokens a server takes, replaceable while it runs: whoever re-reads a key file puts what it says in
/// here.
///
/// To rotate a key: add the new one, issue tokens of it, and take the old one out when its last token has expired. Who
/// is in a room already stays. All methods may be called from any thread; none blocks for longer than a copy.
public final class TokenKeyring: Sendable {
    private let stored: Mutex<[TokenKey]>

    /// A ring of these keys. Of two with one name the first counts.
    public init(keys: [TokenKey]) { stored = Mutex(keys) }

    /// The keys at present.
    public var keys: [TokenKey] { stored.withLock { $0 } }

    /// Takes these keys in the place of all others, from the next token on.
    public func replace(keys: [TokenKey]) { stored.withLock { $0 = keys } }

    func key(named name: String) -> TokenKey? { stored.withLock { $0.first { $0.name == name } } }
}
