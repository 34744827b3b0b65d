import CDuplexVoice

/// A processor as C has it, destroyed in the end.
final class CProcessor {
    let handle: dv_processor
    private(set) var status = DV_OK

    init(
        rate: Int = 48_000, blockFrames: Int = 0, backend: Int = DV_BACKEND_NATIVE, channels: (Int, Int) = (1, 1),
        preset: Int = DV_PRESET_BYPASS
    ) throws {
        var config = dv_processor_config()
        config.size = UInt32(MemoryLayout<dv_processor_config>.size)
        config.sample_rate = UInt32(rate)
        config.block_frames = UInt32(blockFrames)
        config.backend = UInt32(backend)
        config.capture_channels = UInt32(channels.0)
        config.reference_channels = UInt32(channels.1)
        var chosen = settings(of: preset)
        var made: dv_processor = 0
        var error = dv_error()
        let status = unsafe dv_processor_create(&config, &chosen, &made, &error)
        handle = made
        guard status == DV_OK else { throw Refusal(status: status, message: text(error)) }
    }

    deinit { _ = dv_processor_destroy(handle) }

    var delay: Int {
        var frames: UInt32 = 0
        status = unsafe dv_processor_delay(handle, &frames)
        return Int(frames)
    }

    var report: dv_processor_report {
        var report = dv_processor_report()
        report.size = UInt32(MemoryLayout<dv_processor_report>.size)
        status = unsafe dv_processor_get_report(handle, &report)
        return report
    }

    var active: dv_processor_settings {
        var settings = dv_processor_settings()
        settings.size = UInt32(MemoryLayout<dv_processor_settings>.size)
        status = unsafe dv_processor_get_active(handle, &settings)
        return settings
    }

    /// All of a sound, in calls of so many frames each.
    func run(_ capture: [Float], _ reference: [Float]?, calls: some Sequence<Int>) -> [Float] {
        var output: [Float] = []
        var done = 0
        for frames in calls where done < capture.count {
            let count = min(frames, capture.count - done)
            var part = [Float](repeating: .nan, count: count)
            let heard = Array(capture[done..<done + count])
            if let reference {
                let played = Array(reference[done..<done + count])
                status = unsafe dv_processor_run(handle, heard, played, &part, count)
            } else {
                status = unsafe dv_processor_run(handle, heard, nil, &part, count)
            }
            output += part
            done += count
        }
        return output
    }
}

struct Refusal: Error {
    var status: dv_status
    var message: String
}

/// The settings of a preset.
func settings(of number: Int) -> dv_processor_settings {
    var settings = dv_processor_settings()
    settings.size = UInt32(MemoryLayout<dv_processor_settings>.size)
    _ = unsafe dv_processor_preset(UInt32(number), &settings)
    return settings
}

/// What an error says.
func text(_ error: dv_error) -> String {
    unsafe withUnsafeBytes(of: error.message) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}

/// A structure with its size.
protocol Sized {
    init()
    var size: UInt32 { get set }
}

extension Sized {
    /// All zero but the size.
    static var empty: Self {
        var made = Self()
        made.size = UInt32(MemoryLayout<Self>.size)
        return made
    }
}

extension dv_event: Sized {}
extension dv_levels: Sized {}
extension dv_engine_config: Sized {}
extension dv_engine_snapshot: Sized {}
extension dv_engine_statistics: Sized {}
extension dv_talker_statistics: Sized {}
extension dv_participant: Sized {}
extension dv_token_grants: Sized {}
extension dv_far_end_config: Sized {}
extension dv_join_options: Sized {}
extension dv_conversation_config: Sized {}
extension dv_agent_stages: Sized {}
extension dv_answer_latency: Sized {}

/// A text in an array of characters of C's.
func text<Characters: BitwiseCopyable>(of field: Characters) -> String {
    unsafe withUnsafeBytes(of: field) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}

/// An engine as C has it, whose sound is the test's own; destroyed in the end.
final class CEngine {
    let handle: dv_engine
    private(set) var error = dv_error()

    convenience init() throws { try unsafe self.init { _ in } }

    init(_ change: (inout dv_engine_config) -> Void) throws {
        var config = unsafe dv_engine_config.empty
        unsafe config.preset = UInt32(DV_ENGINE_LOW_DELAY)
        unsafe config.sound = UInt32(DV_SOUND_CLIENT)
        unsafe config.priority = -1
        unsafe change(&config)
        var made: dv_engine = 0
        let status = unsafe dv_engine_create(&config, &made, &error)
        handle = made
        guard status == DV_OK else { throw Refusal(status: status, message: text(error)) }
    }

    deinit { _ = dv_engine_destroy(handle) }

    func start() -> dv_status { unsafe dv_engine_start(handle, &error) }
    func stop() -> dv_status { unsafe dv_engine_stop(handle, &error) }

    var snapshot: dv_engine_snapshot {
        var snapshot = dv_engine_snapshot.empty
        _ = unsafe dv_engine_get_snapshot(handle, &snapshot)
        return snapshot
    }

    var statistics: dv_engine_statistics {
        var statistics = dv_engine_statistics.empty
        _ = unsafe dv_engine_get_statistics(handle, &statistics)
        return statistics
    }

    /// The next event of a kind, of those that come within a time-out each.
    func next(_ kind: Int, milliseconds: Int32 = 60_000) -> dv_event? {
        var event = dv_event.empty
        while unsafe dv_engine_next_event(handle, milliseconds, &event) == DV_OK, event.kind != UInt32(DV_EVENT_NONE) {
            if event.kind == UInt32(kind) { return event }
        }
        return nil
    }
}

/// What opens `room` for `identity` at a server of this key and secret, between two times in seconds since
/// 1970.
func token(_ identity: String, room: String, secret: String, from: Int64, until: Int64) throws -> String {
    var grants = dv_token_grants.empty
    (grants.not_before, grants.expires) = (from, until)
    set(&grants.identity, identity)
    set(&grants.room, room)
    var bytes = [CChar](repeating: 1, count: Int(DV_TOKEN_BYTES))
    var error = dv_error()
    let status = unsafe dv_token_create("test", secret, &grants, &bytes, &error)
    guard status == DV_OK else { throw Refusal(status: status, message: text(error)) }
    return String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// Writes a text into an array of characters of C's.
func set<Characters: BitwiseCopyable>(_ field: inout Characters, _ text: String) {
    unsafe withUnsafeMutableBytes(of: &field) { bytes in
        unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
        unsafe bytes.copyBytes(from: text.utf8.prefix(bytes.count - 1))
    }
}
