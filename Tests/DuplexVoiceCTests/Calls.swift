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
