import Glibc
import VoiceEngine
import VoiceRealtime

/// What the system grants, each tried and not only read from a limit.
extension Finding {
    static var realtimePriority: Finding {
        let subject = "real-time priority"
        // The highest that the engine asks for.
        let wanted = ALSADeviceConfiguration().playbackPriority
        do throws(ThreadError) {
            let thread = try RealtimeThread(name: "dv-doctor", priority: wanted) { _ in }
            defer { thread.stop() }
            switch thread.scheduling {
            case .ordinaryAfterRefusal(let errno):
                return Finding(
                    .degraded, subject,
                    "SCHED_FIFO \(wanted) is refused (\(systemReason(errno))); the limit is \(RealtimeLimits.highestPriority)",
                    remedy: realtimeRemedy)
            case .realtime(let granted) where granted < wanted && granted == RealtimeLimits.highestPriority:
                return Finding(
                    .ok, subject,
                    "SCHED_FIFO \(granted) is granted, the limit, which goes before all ordinary threads; \(wanted) is not permitted"
                )
            case .realtime(let granted) where granted < wanted:
                return Finding(
                    .ok, subject,
                    "RealtimeKit grants SCHED_RR \(granted), which goes before all ordinary threads; SCHED_FIFO \(wanted) is not permitted"
                )
            default:
                return Finding(.ok, subject, "SCHED_FIFO \(wanted) is granted; up to \(RealtimeLimits.highestPriority)")
            }
        } catch {
            return Finding(
                .failing, subject, "no thread is to be had (\(error))",
                remedy: "raise nproc in /etc/security/limits.conf")
        }
    }

    private static var realtimeRemedy: String {
        if isContainer {
            return "start the container with --cap-add SYS_NICE, or --ulimit rtprio=95"
        }
        let rtkit =
            SystemFile.exists("/usr/share/dbus-1/system-services/org.freedesktop.RealtimeKit1.service")
            ? "rtkit is installed, but refuses or does not run: systemctl status rtkit-daemon" : "install rtkit"
        return
            "\(rtkit); or add '@audio - rtprio 95' to /etc/security/limits.d/audio.conf, join group audio, log in again; "
            + "or for this program alone: setcap cap_sys_nice+ep FILE"
    }

    /// Docker and Podman leave these marks.
    static var isContainer: Bool { SystemFile.exists("/.dockerenv") || SystemFile.exists("/run/.containerenv") }

    static var memoryLock: Finding {
        // What `duplex call` asks for; an engine in another program locks its rings alone unless told.
        let limit = RealtimeLimits.lockableMemory.map { "\($0 / 1_024) KiB" } ?? "no limit"
        do throws(ThreadError) {
            try RealtimeLimits.lockMemory()
            return Finding(.ok, "memory lock", "granted; limit: \(limit)")
        } catch {
            return Finding(
                .degraded, "memory lock", "refused; limit: \(limit)",
                remedy: isContainer
                    ? "start the container with --ulimit memlock=-1"
                    : "add '@audio - memlock unlimited' to /etc/security/limits.d/audio.conf, join group audio, log in again"
            )
        }
    }

    /// How the kernel lets urgent threads in, and how much time it leaves them.
    static var kernel: Finding {
        let release = SystemFile.text("/proc/sys/kernel/osrelease") ?? "unknown"
        let version = SystemFile.text("/proc/sys/kernel/version") ?? ""
        let isRealtime = SystemFile.text("/sys/kernel/realtime") == "1"
        let preemption =
            isRealtime ? "PREEMPT_RT" : version.split(separator: " ").first { $0.hasPrefix("PREEMPT") }.map(String.init)
        // The share of each second that SCHED_FIFO may take, microseconds; -1 for all of it (sched(7)).
        if SystemFile.text("/proc/sys/kernel/sched_rt_runtime_us") == "0" {
            return Finding(
                .degraded, "kernel", "\(release), which leaves no time to real-time threads",
                remedy: "sysctl kernel.sched_rt_runtime_us=950000")
        }
        return Finding(
            .ok, "kernel", "\(release), \(preemption ?? "without forced preemption; a threaded kernel wakes sooner")")
    }

    /// The kernel's names for clocks that cost a device access, microseconds, at each reading.
    private static let slowClocks = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"]
    /// A reading that takes longer, in nanoseconds, has gone through the kernel to a device. A vDSO's takes 20 to 60.
    private static let slowReading = 400.0

    static var clock: Finding {
        let name = SystemFile.text("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        let reading = clockReadingNanoseconds
        let detail = "\(name ?? "unknown"), \(reading.fixed(0)) ns a reading"
        let values = ["reading_ns": reading]
        guard name.map(slowClocks.contains) == true || reading > slowReading else {
            return Finding(.ok, "clock source", detail, values: values)
        }
        return Finding(
            .degraded, "clock source", "\(detail): slow to read",
            remedy: "boot with a stable TSC, or with clocksource=tsc where it is known to be good", values: values)
    }

    /// The least of several means, since whatever else runs can only add to it.
    private static var clockReadingNanoseconds: Double {
        let readings = 2_000
        return (0..<10).map { _ in
            let begin = MonotonicTime.now()
            var last = begin
            for _ in 0..<readings { last = MonotonicTime.now() }
            return Double(last.nanoseconds - begin.nanoseconds) / Double(readings)
        }.min() ?? 0
    }

    /// Governors that are slow to raise the clock when a period's work comes.
    private static let slowGovernors: Set<String> = ["powersave", "ondemand", "conservative"]

    static var governor: Finding {
        let root = "/sys/devices/system/cpu"
        let governors = SystemFile.names(in: root).compactMap {
            SystemFile.text("\(root)/\($0)/cpufreq/scaling_governor")
        }
        let driver = SystemFile.text("\(root)/cpu0/cpufreq/scaling_driver") ?? ""
        let names = Set(governors).sorted().joined(separator: ", ")
        guard !governors.isEmpty else {
            return Finding(
                .ok, "CPU governor", "none; the clock is not the kernel's to change, as in a virtual machine")
        }
        // These two do it in hardware, and call the balanced way powersave
        // (Documentation/admin-guide/pm/intel_pstate.rst).
        let inHardware = driver == "intel_pstate" || driver == "amd-pstate-epp"
        guard !inHardware, !slowGovernors.isDisjoint(with: governors) else {
            return Finding(.ok, "CPU governor", "\(names) (\(driver))")
        }
        return Finding(
            .degraded, "CPU governor", "\(names) (\(driver)): slow to wake from idle",
            remedy: "cpupower frequency-set -g performance, or schedutil")
    }
}
