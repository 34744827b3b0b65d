internal import CDuplexVoice
internal import GraphEngine
internal import Synchronization

/// A function of C's and what it is called with. C says that both may be used on any thread.
@safe
struct GraphListener: @unchecked Sendable {
    let call: dv_graph_listener
    let context: UnsafeMutableRawPointer?

    func callAsFunction(_ event: GraphEvent) { unsafe event.withCEvent { unsafe call(context, $0) } }
}

/// The listeners of a graph that C gave, by their numbers. Any thread.
final class GraphListening: Sendable {
    private struct State {
        var last: UInt64 = 0
        /// Nil until the engine has given its own number.
        var all: [UInt64: GraphListenerID?] = [:]
    }

    private let gate: CallbackGate
    private let state = Mutex(State())

    init(_ gate: CallbackGate) { self.gate = gate }

    func add(
        _ listener: GraphListener, to engine: GraphEngine, _ node: String, _ event: String
    ) throws(GraphError) -> UInt64 {
        let number = state.withLock { state in
            state.last += 1
            state.all[state.last] = .some(nil)
            return state.last
        }
        do throws(GraphError) {
            let id = try engine.addEventListener(node, event) { [self] event in
                gate.pass { if isActive(number) { listener(event) } }
            }
            state.withLock { state in if state.all.keys.contains(number) { state.all[number] = id } }
            return number
        } catch {
            state.withLock { state in _ = state.all.removeValue(forKey: number) }
            throw error
        }
    }

    func remove(_ number: UInt64, from engine: GraphEngine) throws(Failure) {
        let removed = state.withLock { $0.all.removeValue(forKey: number) }
        guard let removed else { throw .argument("listener is \(number); take one of dv_graph_add_listener's") }
        if let id = removed { engine.removeEventListener(id) }
        if !CallbackGate.isInside { gate.waitUntilIdle() }
    }

    private func isActive(_ number: UInt64) -> Bool { state.withLock { $0.all.keys.contains(number) } }
}

extension GraphEvent {
    /// The event as C has it, valid during the call.
    func withCEvent(_ body: (UnsafePointer<dv_graph_event>) -> Void) {
        let sorted = values.sorted { $0.key < $1.key }
        var texts = CTexts()
        let (nodePlace, namePlace) = (texts.add(node), texts.add(name))
        let places = sorted.map { value in (name: texts.add(value.key), text: value.value.text.map { texts.add($0) }) }
        unsafe texts.withPointers { text in
            let list = unsafe zip(sorted, places).map { value, place in
                unsafe dv_graph_value(
                    name: text + place.name, text: place.text.map { unsafe text + $0 }, number: value.value.cNumber)
            }
            unsafe list.withUnsafeBufferPointer { list in
                unsafe sound.withUnsafeBufferPointer { sound in
                    // C is never given null for an array without elements.
                    let nowhere = unsafe UnsafeRawPointer(text)
                    var event = unsafe dv_graph_event(
                        size: UInt32(MemoryLayout<dv_graph_event>.size), reserved: 0, node: text + nodePlace,
                        event: text + namePlace,
                        values: list.baseAddress ?? nowhere.assumingMemoryBound(to: dv_graph_value.self),
                        value_count: list.count,
                        sound: sound.baseAddress ?? nowhere.assumingMemoryBound(to: Float.self), frames: sound.count)
                    unsafe body(&event)
                }
            }
        }
    }
}

extension GraphValue {
    fileprivate var cNumber: Double {
        if let bool { return bool ? 1 : 0 }
        return number ?? .nan
    }
}

/// Texts that each end in a zero, behind each other in one piece of memory.
private struct CTexts {
    private var bytes: [CChar] = []

    /// Returns where the text begins.
    mutating func add(_ text: String) -> Int {
        let start = bytes.count
        bytes += text.utf8.map { CChar(bitPattern: $0) }
        bytes.append(0)
        return start
    }

    /// Every graph's event has texts, so there is always memory.
    func withPointers(_ body: (UnsafePointer<CChar>) -> Void) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe body(start)
        }
    }
}
