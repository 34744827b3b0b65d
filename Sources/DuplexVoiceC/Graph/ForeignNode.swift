internal import CDuplexVoice
internal import GraphEngine

/// A node that a function of C's processes.
final class ForeignNode: GraphNode {
    private let name: ContiguousArray<CChar>
    private let process: ForeignProcess

    init(_ name: String, _ process: ForeignProcess) {
        self.name = ContiguousArray(name.utf8CString)
        self.process = process
    }

    func process(_ input: borrowing GraphInput, into output: inout GraphOutput) {
        let sound = input.sound()
        var made = output.sound()
        dv_callback_enter()
        defer { dv_callback_leave() }
        unsafe name.withUnsafeBufferPointer { name in
            unsafe sound.withUnsafeBufferPointer { sound in
                unsafe made.withUnsafeMutableBufferPointer { made in
                    guard let name = name.baseAddress, let sound = sound.baseAddress,
                        let target = made.baseAddress
                    else { return }
                    unsafe process.call(process.context, name, sound, target, made.count)
                }
            }
        }
        // What is no number would stay in every filter behind.
        for index in made.indices where !made[index].isFinite { made[index] = 0 }
    }
}

/// A function of C's for nodes with one input and one output. C says that it may be called on any thread.
@safe
struct ForeignProcess: @unchecked Sendable {
    let call: dv_graph_process
    let context: UnsafeMutableRawPointer?
}
