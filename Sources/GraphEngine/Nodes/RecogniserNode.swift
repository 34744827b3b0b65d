internal import VoicePartner

/// Keeps what it hears and has the engine's recogniser turn pieces of it into text.
///
/// A piece goes from the end of the one before to the moment of `transcribe`. Where speech is known to have begun at a
/// frame, the recogniser is spared what lies more than `leadMs` before that; it is told how much that was, so that
/// every frame is accounted for.
final class RecogniserNode: DrainingNode {
    private enum Action: Int { case transcribe, discard }
    /// Frames per second that recognisers take.
    private static let rate = 16_000
    /// Pieces that wait for a slow recogniser; behind them the newest is dropped and told.
    private static let waitingPieces = 8
    /// Actions between two drains; more than a block can have.
    private static let capacity = 64

    /// A piece that is asked for, in frames of the graph.
    private struct Request {
        var isDiscard: Bool
        var speech: Int64
        var end: Int64
    }

    private struct Piece: Sendable {
        var samples: [Float]
        var values: [String: GraphValue]
    }

    private let setup: NodeSetup
    private let recogniser: any Recogniser
    private let sound: SideSound
    private let lead: Int
    private let longest: Int
    private var requests: [Request] = []
    /// At 16 kHz: what came since the last piece, and where that begins.
    private var pending: [Float] = []
    private var pendingStart = 0
    private let pieces: AsyncStream<Piece>
    private let continuation: AsyncStream<Piece>.Continuation
    private var worker: Task<Void, Never>?

    init(_ setup: NodeSetup) throws(GraphError) {
        guard let recogniser = setup.environment.recogniser else {
            throw GraphError(node: setup.settings.id, field: "type", "the engine was given no recogniser; give it one")
        }
        self.setup = setup
        self.recogniser = recogniser
        sound = try SideSound(setup.settings, rate: Self.rate)
        lead = Int(setup.settings.number("leadMs") * Double(Self.rate) / 1_000)
        longest = Int(setup.settings.number("maximumSeconds") * Double(Self.rate))
        requests.reserveCapacity(Self.capacity)
        (pieces, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.waitingPieces))
    }

    deinit {
        continuation.finish()
        worker?.cancel()
    }

    func process(_ input: borrowing GraphInput, into output: inout GraphOutput) { sound.write(input.sound()) }

    func perform(_ action: Int, _ call: GraphCall) {
        guard let action = Action(rawValue: action), requests.count < Self.capacity else { return }
        requests.append(Request(isDiscard: action == .discard, speech: call.start, end: call.position))
    }

    nonisolated(nonsending) func prepare() async throws(GraphError) {
        guard setup.settings.bool("initializeModel") else { return }
        do throws(PartnerError) { try await recogniser.prepare() } catch {
            throw GraphError(node: setup.settings.id, error.explanation)
        }
    }

    nonisolated(nonsending) func drain(waits: Bool) async {
        // What was asked for is in the ring, so that it is there behind this.
        let asked = requests
        requests.removeAll(keepingCapacity: true)
        sound.read { pending += $0 }
        for request in asked {
            guard let piece = cut(request) else { continue }
            if waits { await recognise(piece) } else { enqueue(piece) }
        }
        // What nobody asked for is kept as long as the longest piece, and a second more, so that it is not moved each
        // time.
        if pending.count > longest + Self.rate {
            pendingStart += pending.count - longest
            pending.removeFirst(pending.count - longest)
        }
    }

    nonisolated(nonsending) func finish() async {
        // Behind what the worker still has, where there is one: a recogniser hears one piece at a time.
        await drain(waits: worker == nil)
        continuation.finish()
        await worker?.value
    }

    private func cut(_ request: Request) -> Piece? {
        func here(_ frame: Int64) -> Int { Int(frame) * Self.rate / setup.settings.sampleRate }
        let end = min(max(here(request.end) - pendingStart, 0), pending.count)
        defer {
            pending.removeFirst(end)
            pendingStart += end
        }
        guard !request.isDiscard, end > 0 else { return nil }
        // Speech begins before it is asked for, whatever a node of the program's says.
        let speech = request.speech >= 0 ? here(min(request.speech, request.end)) - lead - pendingStart : 0
        let heard = min(max(speech, end - longest, 0), end)
        func seconds(_ index: Int) -> GraphValue { .number(Double(pendingStart + index) / Double(Self.rate)) }
        return Piece(
            samples: Array(pending[heard..<end]),
            values: ["start": seconds(0), "heardFrom": seconds(heard), "end": seconds(end)])
    }

    private func enqueue(_ piece: Piece) {
        if worker == nil { worker = Self.work(on: pieces, recogniser, setup.tell) }
        if case .dropped = continuation.yield(piece) { setup.tell("overloaded", piece.values, []) }
    }

    private static func work(
        on pieces: AsyncStream<Piece>, _ recogniser: any Recogniser,
        _ tell: @escaping @Sendable (String, [String: GraphValue], [Float]) -> Void
    ) -> Task<Void, Never> {
        Task { for await piece in pieces { await recognise(piece, by: recogniser, tell) } }
    }

    nonisolated(nonsending) private func recognise(_ piece: Piece) async {
        await Self.recognise(piece, by: recogniser, setup.tell)
    }

    private static func recognise(
        _ piece: Piece, by recogniser: any Recogniser, _ tell: @Sendable (String, [String: GraphValue], [Float]) -> Void
    ) async {
        let (sound, continuation) = AsyncStream<[Float]>.makeStream()
        continuation.yield(piece.samples)
        continuation.finish()
        var values = piece.values
        do throws(PartnerError) {
            let text = try await recogniser.recognise(sound) { _ in }
            if !text.isEmpty { values["text"] = .text(text) }
            tell(text.isEmpty ? "nothingUnderstood" : "transcribed", values, [])
        } catch {
            values["message"] = .text(error.explanation)
            tell("failed", values, [])
        }
    }
}
