internal import CDuplexVoice
internal import GraphEngine
internal import VoiceDevices
internal import VoiceEngine

/// The object behind a `dv_graph`.
final class GraphObject: HandledObject {
    static var handleKind: UInt8 { HandleKind.graph }

    let engine: GraphEngine
    let listening: GraphListening
    /// For the events' listeners, and for the recogniser, which takes its time.
    private let gates: [CallbackGate]
    private let farEnds: [FarEndLease]

    /// - Parameter recognition: what the configuration's recogniser is called through.
    init(_ json: String, _ configuration: GraphConfiguration, _ recognition: CallbackGate) throws(Failure) {
        do throws(GraphError) {
            engine = try GraphEngine.createEngine(
                json, library: configuration.library, environment: configuration.environment)
        } catch {
            throw Failure(error)
        }
        let events = CallbackGate()
        listening = GraphListening(events)
        gates = [events, recognition]
        farEnds = configuration.farEnds
    }

    /// Holds the caller up until `body` is done.
    func complete<Outcome: Sendable>(
        _ body: @escaping @Sendable (GraphEngine) async throws -> Outcome
    ) throws(Failure) -> Outcome {
        try CallbackGate.checkOutside()
        let engine = engine
        let outcome: Result<Outcome, Failure>
        do throws(EngineError) {
            outcome = try engine.wait { () -> Result<Outcome, Failure> in
                do { return .success(try await body(engine)) } catch { return .failure(Failure(running: error)) }
            }
        } catch {
            throw Failure(error)
        }
        return try outcome.get()
    }

    /// Stops it; nothing that C gave is called any more.
    func close() throws(Failure) {
        try complete { await $0.stop() }
        for gate in gates { gate.close() }
    }
}

extension Failure {
    /// What goes wrong while a graph runs.
    fileprivate init(running error: any Error) {
        switch error {
        case let error as GraphError: self.init(error, DV_WRONG_STATE)
        case let error as AudioFileError: self.init(DV_DEVICE_FAILED, error.description, code: error.code)
        case let error as EngineError: self.init(error)
        default: self.init(DV_INTERNAL, "\(error)")
        }
    }
}
