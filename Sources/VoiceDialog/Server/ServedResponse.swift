/// An answer that is under way in a served session.
struct ServedResponse: Sendable {
    /// How it ends.
    enum Ending: Equatable, Sendable {
        case completed
        /// For a reason that the protocol has a name for.
        case cancelled(String)
        case failed(ServedFailure)

        fileprivate var status: JSON {
            switch self {
            case .completed: "completed"
            case .cancelled: "cancelled"
            case .failed: "failed"
            }
        }

        fileprivate var details: JSON? {
            switch self {
            case .completed: nil
            case .cancelled(let reason): ["type": "cancelled", "reason": .string(reason)]
            case .failed(let failure): ["type": "failed", "error": failure.json]
            }
        }
    }

    let id: String
    let request: ResponseRequest
    /// The session's when it was asked for.
    let settings: ServedSettings
    /// Its message, once there is something in it.
    var item: String?
    /// The functions that it calls; behind its message, where there is one then.
    var calls: [String] = []
    /// Calls in an answer, at most.
    static let maximumCalls = 8
    /// The responder has been asked.
    var hasBegun = false
    var isSynthesising = false
    var isResponseOver = false
    /// Of its text, bytes.
    var length = 0
    /// When its first sound was sent.
    var began: Duration?

    init(id: String, request: ResponseRequest, settings: ServedSettings) {
        self.id = id
        self.request = request
        self.settings = settings
    }

    /// Where in the output the first call stands.
    var firstCallIndex: Int { item == nil ? 0 : 1 }
    var isTextOnly: Bool { request.isTextOnly ?? settings.isTextOnly }
    var instructions: String { request.instructions ?? settings.instructions }
    var output: DialogSound { settings.output }

    /// The members of a message about its item.
    func place(_ members: [String: JSON]) -> [String: JSON] {
        let place: [String: JSON] = ["response_id": .string(id), "output_index": 0]
        return place.merging(members) { first, _ in first }
    }

    /// The members of a message about what is in its item.
    func contentPlace(_ members: [String: JSON] = [:]) -> [String: JSON] {
        place(["item_id": item.map { .string($0) } ?? .null, "content_index": 0]).merging(members) { first, _ in first }
    }

    /// As the client is told; without an ending it is under way.
    func json(_ items: [ServedItem], _ ending: Ending? = nil) -> JSON {
        var members: [String: JSON] = [
            "id": .string(id), "object": "realtime.response", "status": ending?.status ?? "in_progress",
            "output_modalities": isTextOnly ? ["text"] : ["audio"], "output": .array(items.map(\.json)),
        ]
        if let details = ending?.details { members["status_details"] = details }
        if !request.metadata.isEmpty { members["metadata"] = .object(request.metadata.mapValues { .string($0) }) }
        return .object(members)
    }
}
