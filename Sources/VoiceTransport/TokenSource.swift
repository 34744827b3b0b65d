internal import Synchronization
internal import VoiceRealtime
internal import VoiceRooms

/// Makes an access token; see ``RoomEndpoint/init(url:tokenProvider:)``.
public typealias TokenProvider = @Sendable () async throws -> String

/// Where an endpoint's tokens come from.
enum TokenSource: Sendable {
    case given([UInt8])
    case provided(TokenProvider)
}

/// What became of a request for a token.
enum TokenAnswer: Sendable {
    case token([UInt8])
    /// The provider threw, or its token is too long.
    case none
}

/// Asks a token provider on a task of its own, so that the network thread goes on meanwhile.
final class TokenRequest: Sendable {
    private let provider: TokenProvider
    private let state = Mutex<(task: Task<Void, Never>?, answer: TokenAnswer?)>((nil, nil))

    init(_ provider: @escaping TokenProvider) { self.provider = provider }

    /// Asks, unless it has asked already; `whenAnswered` is called when `take()` has something.
    func start(whenAnswered: @escaping @Sendable () -> Void) {
        let provider = provider
        state.withLock { state in
            guard state.task == nil else { return }
            // A call waits for it.
            state.task = Task(priority: .high) { [weak self] in
                let token = (try? await provider()).map { Array($0.utf8) } ?? []
                let isUsable = (1...RoomProtocol.tokenLimit).contains(token.count)
                self?.state.withLock { $0.answer = isUsable ? .token(token) : TokenAnswer.none }
                whenAnswered()
            }
        }
    }

    /// The answer, once.
    func take() -> TokenAnswer? {
        state.withLock { state in
            guard let answer = state.answer else { return nil }
            state = (nil, nil)
            return answer
        }
    }

    func cancel() { state.withLock { $0.task }?.cancel() }
}
