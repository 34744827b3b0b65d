public import CDuplexVoice
internal import Synchronization
internal import VoiceEngine
internal import VoiceRealtime

/// The object behind a `dv_meter`: keeps the newest report.
private final class MeterObject: HandledObject, Sendable {
    static var handleKind: UInt8 { HandleKind.meter }

    /// Lets go of it, and it is closed.
    private let meter: LevelMeter
    private let newest = Mutex(dv_levels.unknown)

    var levels: dv_levels { newest.withLock { $0 } }

    init(_ meter: LevelMeter) {
        self.meter = meter
        let reports = meter.levels
        Task { [weak self] in for await report in reports { self?.take(report) } }
    }

    private func take(_ report: SoundLevels) { newest.withLock { $0.take(report) } }
}

extension dv_levels {
    /// Before the first interval is over.
    fileprivate static var unknown: dv_levels {
        var levels = dv_levels()
        levels.captured_rms = .nan
        levels.captured_peak = .nan
        levels.near_rms = .nan
        levels.near_peak = .nan
        levels.far_rms = .nan
        levels.far_peak = .nan
        levels.near_speaks = -1
        levels.far_speaks = -1
        return levels
    }

    fileprivate mutating func take(_ report: SoundLevels) {
        number &+= 1
        time_ns = report.time.nanoseconds
        duration_ns = report.interval.nanoseconds
        captured_rms = report.captured.rms
        captured_peak = report.captured.peak
        near_rms = report.near.rms
        near_peak = report.near.peak
        far_rms = report.far.rms
        far_peak = report.far.peak
        near_speaks = report.near.speaks
        far_speaks = report.far.speaks
    }
}

extension SoundLevels.Level {
    fileprivate var speaks: Int32 { isSpeaking.map { $0 ? 1 : 0 } ?? -1 }
}

/// `dv_engine_open_meter`.
@c @implementation
public func dv_engine_open_meter(
    _ engine: dv_engine, _ interval_ms: UInt32, _ meter: UnsafeMutablePointer<dv_meter>?,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let meter = unsafe meter else { throw .argument("meter is null; say where the handle goes") }
        unsafe meter.pointee = 0
        let opened = try EngineObject.held(engine).perform { engine throws(EngineError) in
            try engine.openMeter(every: .milliseconds(interval_ms))
        }
        unsafe meter.pointee = try MeterObject(opened).named()
    }
}

/// `dv_meter_read`.
@c @implementation
public func dv_meter_read(_ meter: dv_meter, _ levels: UnsafeMutablePointer<dv_levels>?) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        let newest = try MeterObject.held(meter).levels
        try unsafe newest.write(to: levels)
    }
}

/// `dv_meter_close`.
@c @implementation
public func dv_meter_close(_ meter: dv_meter) -> dv_status {
    reporting(to: nil) { () throws(Failure) in _ = try MeterObject.retired(meter) }
}
