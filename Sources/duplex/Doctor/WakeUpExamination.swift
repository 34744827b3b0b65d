import Glibc
import Synchronization
import VoiceEngine
import VoiceRealtime

/// How late the scheduler wakes threads that sleep until a deadline: one at SCHED_FIFO, as a device's, and an ordinary
/// one.
struct WakeUpExamination {
    /// How far apart the deadlines are.
    static let period = Duration.milliseconds(1)

    /// How long is measured.
    let seconds: Double

    /// Measures both at once, as they would run in a call. Blocks.
    var findings: [Finding] {
        let priority = ALSADeviceConfiguration().playbackPriority
        let (urgent, ordinary) = (measurement(priority: priority), measurement(priority: 0))
        let worst = Self.worstTolerated
        let scheduling = urgent?.scheduling
        let (stolenBefore, throttledBefore) = (Self.stolenMilliseconds, Self.throttledMilliseconds)
        let (urgentWakes, ordinaryWakes) = (urgent?.wait(), ordinary?.wait())
        let stolen = Self.stolenMilliseconds.flatMap { after in stolenBefore.map { after - $0 } } ?? 0
        let throttled = Self.throttledMilliseconds.flatMap { after in throttledBefore.map { after - $0 } } ?? 0
        let advice = Self.remedy(stolen: stolen, throttled: throttled)
        guard case .realtime = scheduling, let urgentWakes else {
            return [
                Finding(.ok, "wake-up at SCHED_FIFO", "not measured: no real-time priority"),
                Self.finding(
                    "wake-up of ordinary threads", ordinaryWakes, tolerating: worst,
                    remedy: "grant real-time priority\(advice)"),
            ]
        }
        return [
            Self.finding(
                "wake-up at SCHED_FIFO", urgentWakes, tolerating: worst,
                remedy: "not even real-time priority helps\(advice)"),
            // No sound depends on these where the others have their priority.
            Self.finding("wake-up of ordinary threads", ordinaryWakes, tolerating: nil, remedy: ""),
        ]
    }

    static func remedy(stolen: Double, throttled: Double) -> String {
        if stolen > 0 {
            return
                "; the host of this virtual machine took \(stolen.fixed(0)) ms away meanwhile: give it processors of its own"
        }
        if throttled > 0 {
            return
                "; a limit of processor time held the process up for \(throttled.fixed(0)) ms meanwhile: raise it (--cpus, CPUQuota=)"
        }
        return "; close what keeps the processors busy"
    }

    /// The time for which a limit on this process's group kept it from running (cgroup v2, `cpu.stat`); nil where there
    /// is no limit, or the kernel does not tell.
    private static var throttledMilliseconds: Double? {
        let own = SystemFile.text("/proc/self/cgroup")?.split(separator: "\n").first { $0.hasPrefix("0::") }
        let paths = ["/sys/fs/cgroup\(own?.dropFirst(3) ?? "")/cpu.stat", "/sys/fs/cgroup/cpu.stat"]
        return paths.lazy.compactMap { SystemFile.text($0) }.first.flatMap { throttledMilliseconds(in: $0) }
    }

    static func throttledMilliseconds(in text: String) -> Double? {
        let line = text.split(separator: "\n").first { $0.hasPrefix("throttled_usec ") }
        return line?.split(separator: " ").last.flatMap { Double($0) }.map { $0 / 1_000 }
    }

    /// The time that the host of a virtual machine gave to others, of all processors together (proc(5), /proc/stat);
    /// nil where the kernel does not tell.
    private static var stolenMilliseconds: Double? {
        guard let line = SystemFile.text("/proc/stat")?.split(separator: "\n").first else { return nil }
        let fields = line.split(separator: " ").dropFirst().compactMap { Double($0) }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        return fields.count > 7 ? fields[7] * 1_000 / ticks : nil
    }

    /// A period of the default device: what a playback thread may be late by before its buffer of two runs dry.
    private static var worstTolerated: Double {
        Double(ALSADeviceConfiguration().periodFrames) / 48
    }

    private func measurement(priority: Int) -> WakeUpMeasurement? {
        try? WakeUpMeasurement(priority: priority, wakes: Int(seconds / 0.001), period: Self.period)
    }

    /// - Parameter worst: the latest, in milliseconds, that does no harm; nil where none does.
    private static func finding(
        _ subject: String, _ latenesses: [Int64]?, tolerating worst: Double?, remedy: String
    ) -> Finding {
        guard let latenesses, let late = LatencyDistribution(milliseconds: latenesses.map { Double($0) * 1e-6 }) else {
            return Finding(
                .failing, subject, "not measured: no thread is to be had", remedy: "raise nproc in limits.conf")
        }
        return judge(subject, late, tolerating: worst, remedy: remedy)
    }

    /// What such wake-ups mean for the sound.
    static func judge(
        _ subject: String, _ late: LatencyDistribution, tolerating worst: Double?, remedy: String
    ) -> Finding {
        let values = [
            "late_p50_ms": late.median, "late_p99_ms": late.percentile(99), "late_max_ms": late.maximum,
            "wakes": Double(late.count),
        ]
        let detail =
            "late by \(late.median.fixed(3)) ms (median), \(late.percentile(99).fixed(3)) ms (99 %), "
            + "\(late.maximum.fixed(3)) ms at most, of \(late.count)"
        guard let worst, late.maximum >= worst else { return Finding(.ok, subject, detail, values: values) }
        // With every other wake-up so late no sound gets through whole.
        let isHopeless = late.median >= worst
        return Finding(
            isHopeless ? .failing : .degraded, subject,
            "\(detail): \(isHopeless ? "too late" : "gaps are to be expected")",
            remedy: "\(remedy); or use periods longer than \((late.maximum * 48).fixed(0)) frames (--period)",
            values: values)
    }
}

/// One thread that sleeps and wakes.
private final class WakeUpMeasurement: Sendable {
    /// How long after its time a measurement is given up: a machine that is so late has shown enough.
    private static let patience = Duration.seconds(10)

    let scheduling: ThreadScheduling
    private let thread: RealtimeThread
    private let length: Duration
    private let record: WakeUpRecord

    init(priority: Int, wakes: Int, period: Duration) throws(ThreadError) {
        let step = period.components.attoseconds / 1_000_000_000
        let record = try WakeUpRecord()
        self.record = record
        length = period * wakes
        thread = try RealtimeThread(name: "dv-wake-up", priority: priority) { stop in
            // Taken before the first deadline, so that nothing is allocated between them.
            var late = [Int64](repeating: 0, count: wakes)
            let begin = MonotonicTime.now().nanoseconds + 10 * step
            var count = 0
            while count < wakes, !stop.isRaised {
                let deadline = begin + Int64(count) * step
                Self.sleep(until: deadline)
                late[count] = max(MonotonicTime.now().nanoseconds - deadline, 0)
                count += 1
            }
            record.end(late.prefix(count))
        }
        scheduling = thread.scheduling
    }

    /// How late each wake-up was, in nanoseconds, once all are over. Blocks.
    func wait() -> [Int64] {
        record.wait(timeout: length + Self.patience)
        thread.stop()
        return record.latenesses
    }

    private static func sleep(until deadline: Int64) {
        var moment = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
        while unsafe clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nil) == EINTR {}
    }
}

/// What the thread leaves behind.
private final class WakeUpRecord: Sendable {
    private let all = Mutex<[Int64]>([])
    private let done: WakeSignal

    init() throws(ThreadError) { done = try WakeSignal() }

    var latenesses: [Int64] { all.withLock { $0 } }

    func end(_ latenesses: ArraySlice<Int64>) {
        all.withLock { $0 = Array(latenesses) }
        done.signal()
    }

    func wait(timeout: Duration) { done.wait(timeout: timeout) }
}
