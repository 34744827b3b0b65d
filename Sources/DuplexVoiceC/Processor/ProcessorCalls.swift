public import CDuplexVoice
internal import VoiceProcessing

/// `dv_processor_preset`.
@c @implementation
public func dv_processor_preset(
    _ preset: UInt32, _ settings: UnsafeMutablePointer<dv_processor_settings>?
) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        guard let chosen = ProcessingSettings.preset(preset) else { throw .argument("preset is \(preset)") }
        try unsafe chosen.cSettings.write(to: settings)
    }
}

/// `dv_processor_create`.
@c @implementation
public func dv_processor_create(
    _ config: UnsafePointer<dv_processor_config>?, _ settings: UnsafePointer<dv_processor_settings>?,
    _ processor: UnsafeMutablePointer<dv_processor>?, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let processor = unsafe processor else { throw .argument("processor is null; say where the handle goes") }
        unsafe processor.pointee = 0
        let configuration = try ProcessorConfiguration(try unsafe dv_processor_config.read(config))
        var wanted = ProcessingSettings.voiceChat
        if let settings = unsafe settings {
            wanted = try ProcessingSettings(try unsafe dv_processor_settings.read(settings))
        }
        unsafe processor.pointee = try Processor.make(configuration, wanted).named()
    }
}

/// `dv_processor_destroy`.
@c @implementation
public func dv_processor_destroy(_ processor: dv_processor) -> dv_status { Processor.destroy(processor) }

/// `dv_processor_run`.
@c @implementation
public func dv_processor_run(
    _ processor: dv_processor, _ capture: UnsafePointer<Float>?, _ reference: UnsafePointer<Float>?,
    _ output: UnsafeMutablePointer<Float>?, _ frames: Int
) -> dv_status {
    Processor.with(processor, sides: Side.sound) { unsafe $0.run(capture, reference, output, frames) }
}

/// `dv_processor_run_int16`.
@c @implementation
public func dv_processor_run_int16(
    _ processor: dv_processor, _ capture: UnsafePointer<Int16>?, _ reference: UnsafePointer<Int16>?,
    _ output: UnsafeMutablePointer<Int16>?, _ frames: Int
) -> dv_status {
    Processor.with(processor, sides: Side.sound) { unsafe $0.run(capture, reference, output, frames) }
}

/// `dv_processor_apply`.
@c @implementation
public func dv_processor_apply(
    _ processor: dv_processor, _ settings: UnsafePointer<dv_processor_settings>?,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        var failure: Failure?
        let status = Processor.with(processor, sides: Side.control) { processor in
            do throws(Failure) {
                processor.apply(try ProcessingSettings(try unsafe dv_processor_settings.read(settings)))
                return DV_OK
            } catch let refused {
                failure = refused
                return refused.status
            }
        }
        if let failure { throw failure }
        guard status == DV_OK else { throw Failure(status) }
    }
}

/// `dv_processor_delay`.
@c @implementation
public func dv_processor_delay(_ processor: dv_processor, _ frames: UnsafeMutablePointer<UInt32>?) -> dv_status {
    Processor.with(processor, sides: Side.control) { processor in
        guard let frames = unsafe frames else { return DV_INVALID_ARGUMENT }
        unsafe frames.pointee = UInt32(processor.news().delay)
        return DV_OK
    }
}

/// `dv_processor_get_report`.
@c @implementation
public func dv_processor_get_report(
    _ processor: dv_processor, _ report: UnsafeMutablePointer<dv_processor_report>?
) -> dv_status {
    Processor.with(processor, sides: Side.control) { processor in
        unsafe written(processor.news().cReport, to: report)
    }
}

/// `dv_processor_get_active`.
@c @implementation
public func dv_processor_get_active(
    _ processor: dv_processor, _ settings: UnsafeMutablePointer<dv_processor_settings>?
) -> dv_status {
    Processor.with(processor, sides: Side.control) { processor in
        unsafe written(processor.news().active.cSettings, to: settings)
    }
}

private func written<Structure: VersionedStructure>(
    _ value: Structure, to pointer: UnsafeMutablePointer<Structure>?
) -> dv_status {
    reporting(to: nil) { () throws(Failure) in try unsafe value.write(to: pointer) }
}
