/// What a state machine wants done, until whoever drives it takes it, in order.
package struct OutputQueue<Output: Sendable>: Sendable {
    private var outputs: [Output] = []
    private var next = 0

    package init() {}

    package mutating func append(_ output: Output) { outputs.append(output) }

    /// The oldest that was not taken; nil where there is none.
    package mutating func poll() -> Output? {
        guard next < outputs.count else {
            outputs.removeAll(keepingCapacity: true)
            next = 0
            return nil
        }
        next += 1
        return outputs[next - 1]
    }
}
