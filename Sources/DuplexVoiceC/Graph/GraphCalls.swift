public import CDuplexVoice
internal import GraphEngine

/// `dv_graph_create`.
@c @implementation
public func dv_graph_create(
    _ json: UnsafePointer<CChar>?, _ config: UnsafePointer<dv_graph_config>?, _ graph: UnsafeMutablePointer<dv_graph>?,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let graph = unsafe graph else { throw .argument("graph is null; say where the handle goes") }
        unsafe graph.pointee = 0
        let json = try unsafe needed(json, "json")
        let recognition = CallbackGate()
        var configuration = GraphConfiguration()
        if let config = unsafe config {
            configuration = try unsafe GraphConfiguration(try unsafe dv_graph_config.read(config), recognition)
        }
        unsafe graph.pointee = try GraphObject(json, configuration, recognition).named()
    }
}

/// `dv_graph_destroy`.
@c @implementation
public func dv_graph_destroy(_ graph: dv_graph) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        try CallbackGate.checkOutside()
        try GraphObject.retired(graph).close()
    }
}

/// `dv_graph_get_info`.
@c @implementation
public func dv_graph_get_info(_ graph: dv_graph, _ info: UnsafeMutablePointer<dv_graph_info>?) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        let description = try GraphObject.held(graph).engine.description
        var filled = dv_graph_info()
        filled.sample_rate = UInt32(description.sampleRate)
        filled.block_frames = UInt32(description.bufferSize)
        filled.input_channels = UInt32(description.inputChannels)
        filled.output_channels = UInt32(description.outputChannels)
        try unsafe filled.write(to: info)
    }
}

/// `dv_graph_add_listener`.
@c @implementation
public func dv_graph_add_listener(
    _ graph: dv_graph, _ node: UnsafePointer<CChar>?, _ event: UnsafePointer<CChar>?, _ call: dv_graph_listener?,
    _ context: UnsafeMutableRawPointer?, _ listener: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let (node, event) = (try unsafe needed(node, "node"), try unsafe needed(event, "event"))
        guard let call = unsafe call else { throw .argument("call is null; give a function") }
        let object = try GraphObject.held(graph)
        do throws(GraphError) {
            let number = try object.listening.add(
                unsafe GraphListener(call: call, context: context), to: object.engine, node, event)
            if let listener = unsafe listener { unsafe listener.pointee = number }
        } catch {
            throw Failure(error)
        }
    }
}

/// `dv_graph_remove_listener`.
@c @implementation
public func dv_graph_remove_listener(_ graph: dv_graph, _ listener: UInt64) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        let object = try GraphObject.held(graph)
        try object.listening.remove(listener, from: object.engine)
    }
}

/// `dv_graph_call_action`.
@c @implementation
public func dv_graph_call_action(
    _ graph: dv_graph, _ node: UnsafePointer<CChar>?, _ action: UnsafePointer<CChar>?,
    _ arguments: UnsafePointer<dv_graph_value>?, _ count: Int, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let (node, action) = (try unsafe needed(node, "node"), try unsafe needed(action, "action"))
        let numbers = try unsafe numbers(arguments, count)
        let engine = try GraphObject.held(graph).engine
        do throws(GraphError) { try engine.callAction(node, action, numbers) } catch { throw Failure(error) }
    }
}

/// `dv_graph_push`.
@c @implementation
public func dv_graph_push(
    _ graph: dv_graph, _ samples: UnsafePointer<Float>?, _ frames: Int, _ output: UnsafeMutablePointer<Float>?,
    _ output_frames: Int, _ given: UnsafeMutablePointer<Int>?, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let samples = unsafe samples, SoundCall.takes(frames) else {
            throw .argument("samples is null, or \(frames) frames; give up to \(SoundCall.mostFrames)")
        }
        let object = try GraphObject.held(graph)
        let description = object.engine.description
        let target = try unsafe GraphTarget(output, output_frames, atLeast: frames + description.bufferSize)
        let channels = description.inputChannels
        let sound = (0..<channels).map { channel in
            (0..<frames).map { frame in unsafe samples[frame * channels + channel] }
        }
        target.fill(try object.complete { try await $0.push(sound) })
        if let given = unsafe given { unsafe given.pointee = target.frames }
    }
}

/// `dv_graph_finish`.
@c @implementation
public func dv_graph_finish(
    _ graph: dv_graph, _ output: UnsafeMutablePointer<Float>?, _ output_frames: Int,
    _ given: UnsafeMutablePointer<Int>?, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let object = try GraphObject.held(graph)
        let target = try unsafe GraphTarget(output, output_frames, atLeast: object.engine.description.bufferSize)
        target.fill(try object.complete { await $0.finish() })
        if let given = unsafe given { unsafe given.pointee = target.frames }
    }
}

/// `dv_graph_run_file`.
@c @implementation
public func dv_graph_run_file(
    _ graph: dv_graph, _ input: UnsafePointer<CChar>?, _ output: UnsafePointer<CChar>?,
    _ frames: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let (input, output) = (try unsafe needed(input, "input"), try unsafe text(output, "output"))
        let count = try GraphObject.held(graph).complete { try await $0.run(file: input, output: output) }
        if let frames = unsafe frames { unsafe frames.pointee = UInt64(count) }
    }
}

/// `dv_graph_start`.
@c @implementation
public func dv_graph_start(
    _ graph: dv_graph, _ engine: dv_engine, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let object = try GraphObject.held(graph)
        let voice = try EngineObject.held(engine).engine
        try object.complete { try await $0.start(on: voice) }
    }
}

/// `dv_graph_stop`.
@c @implementation
public func dv_graph_stop(_ graph: dv_graph, _ error: UnsafeMutablePointer<dv_error>?) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in try GraphObject.held(graph).complete { await $0.stop() } }
}

/// A text that must be there.
private func needed(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(Failure) -> String {
    guard let given = try unsafe text(pointer, name) else { throw .argument("\(name) is null; give a text") }
    return given
}

/// The arguments of an action; more than a handful has none.
private func numbers(
    _ arguments: UnsafePointer<dv_graph_value>?, _ count: Int
) throws(Failure) -> [String: Double] {
    var numbers: [String: Double] = [:]
    try unsafe forEachNamed(arguments, count, of: "arguments", limit: 16, name: { unsafe $0.name }) {
        (name, value) throws(Failure) in
        guard unsafe value.text == nil else { throw .argument("argument '\(name)' has a text; give a number") }
        guard numbers.updateValue(unsafe value.number, forKey: name) == nil else {
            throw .argument("argument '\(name)' is there twice; give it once")
        }
    }
    return numbers
}

/// Where what goes out of a graph is written to, interleaved.
@safe
private final class GraphTarget {
    private let output: UnsafeMutablePointer<Float>?
    /// How many were written.
    private(set) var frames = 0

    init(_ output: UnsafeMutablePointer<Float>?, _ room: Int, atLeast needed: Int) throws(Failure) {
        guard unsafe output == nil || room >= needed else {
            throw .argument("output_frames is \(room); give room for \(needed)")
        }
        unsafe self.output = output
    }

    func fill(_ channels: [[Float]]) {
        guard let output = unsafe output, let first = channels.first else { return }
        frames = first.count
        for (channel, sound) in channels.enumerated() {
            for frame in sound.indices { unsafe output[frame * channels.count + channel] = sound[frame] }
        }
    }
}
