import Foundation
import VoiceEngine
import VoiceRealtime

/// What the system grants, each tried and not only read from a limit.
extension Finding {
    static var realtimePriority: Finding {
        let subject = "real-time priority"
        let remedy = "add '@audio - rtprio 95' to /etc/security/limits.conf, join group audio, log in again"
        // The highest that the engine asks for.
        let wanted = ALSADeviceConfiguration().playbackPriority
        do throws(ThreadError) {
            let thread = try RealtimeThread(name: "dv-doctor", priority: wanted) { _ in }
            defer { thread.stop() }
            switch thread.scheduling {
            case .ordinaryAfterRefusal(let errno):
                return Finding(
                    .degraded, subject, "SCHED_FIFO \(wanted) is refused (\(systemReason(errno))); \(remedy)")
            default:
                return Finding(.ok, subject, "SCHED_FIFO \(wanted) is granted; up to \(RealtimeLimits.highestPriority)")
            }
        } catch {
            return Finding(
                .failing, subject, "no thread is to be had (\(error)); raise nproc in /etc/security/limits.conf")
        }
    }

    static var memoryLock: Finding {
        let limit = RealtimeLimits.lockableMemory.map { "\($0 / 1_024) KiB" } ?? "no limit"
        do throws(ThreadError) {
            try RealtimeLimits.lockMemory()
            return Finding(.ok, "memory lock", "granted; limit: \(limit)")
        } catch {
            return Finding(
                .degraded, "memory lock",
                "refused; limit: \(limit); add '@audio - memlock unlimited' to /etc/security/limits.conf")
        }
    }

    /// The kernel's names for clocks that cost a device access, microseconds, at each reading.
    private static let slowClocks = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"]

    static var clock: Finding {
        let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
        guard
            let name = try? String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(
                in: .whitespacesAndNewlines)
        else {
            return Finding(.ok, "clock source", "the kernel does not tell")
        }
        return slowClocks.contains(name)
            ? Finding(
                .degraded, "clock source",
                "\(name) is slow to read; boot with a stable TSC, or with clocksource=tsc where it is known good")
            : Finding(.ok, "clock source", name)
    }

    static var devices: Finding {
        let devices = ALSADevice.list()
        guard !devices.isEmpty else {
            return Finding(
                .degraded, "sound devices",
                "none; is a sound card present, and are you in group audio? 'duplex demo' and calls with files work without"
            )
        }
        func usable(_ state: ALSADeviceDescription.State?) -> Bool {
            if case .available = state { true } else { false }
        }
        let (microphones, speakers) = (devices.count { usable($0.capture) }, devices.count { usable($0.playback) })
        return Finding(
            microphones > 0 && speakers > 0 ? .ok : .degraded, "sound devices",
            "\(devices.count), of which \(microphones) can capture and \(speakers) can play now; see 'duplex devices'")
    }
}
