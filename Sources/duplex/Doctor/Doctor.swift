import ArgumentParser
import VoiceEngine
import VoiceRealtime

/// Says what works here, what does not, and what to do.
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say what works on this machine, what does not, and what to do.",
        discussion: "Exit code 1 if anything is failing, 0 if it is at worst degraded.")

    @Flag(help: "Print NDJSON.")
    var json = false

    func run() async throws {
        let findings = [
            Finding.realtimePriority, .memoryLock, .processing, .codec, .devices, .allocationCounter,
        ]
        if json {
            findings.forEach { Console.emit($0) }
            Console.emit(DoctorSummary(findings))
        } else {
            var table = Table()
            for finding in findings { table.add(finding.state.rawValue, finding.subject, finding.detail) }
            table.lines.forEach { Console.say($0) }
        }
        if findings.contains(where: { $0.state == .failing }) { throw ExitCode(Failure.Code.thresholdMissed.rawValue) }
    }
}

/// One line of the doctor's.
struct Finding: JSONLine {
    /// How bad it is.
    enum State: String, Encodable {
        case ok, degraded, failing
    }

    let schema = "duplexvoice.doctor/1"
    let type = "finding"
    var state: State
    var subject: String
    var detail: String

    static var realtimePriority: Finding {
        let highest = RealtimeLimits.highestPriority
        return highest > 0
            ? Finding(state: .ok, subject: "real-time priority", detail: "SCHED_FIFO up to \(highest)")
            : Finding(
                state: .degraded, subject: "real-time priority",
                detail: "refused; add '@audio - rtprio 95' to /etc/security/limits.conf, join group audio, log in again")
    }

    static var memoryLock: Finding {
        guard let limit = RealtimeLimits.lockableMemory else {
            return Finding(state: .ok, subject: "memory lock", detail: "no limit")
        }
        do {
            try RealtimeLimits.lockMemory()
            return Finding(state: .ok, subject: "memory lock", detail: "granted")
        } catch {
            return Finding(
                state: .degraded, subject: "memory lock",
                detail: "limit \(limit / 1_024) KiB; add '@audio - memlock unlimited' to /etc/security/limits.conf")
        }
    }

    static var processing: Finding {
        do {
            let processor = try ProcessingBackend.webRTC.makeProcessor(sampleRate: 48_000, settings: .voiceChat)
            let capabilities = processor.capabilities
            let lacking = [
                ("echo suppression levels", capabilities.echoLevels), ("noise suppression", capabilities.noise),
                ("gain control", capabilities.gain), ("voice detection", capabilities.voiceDetection),
            ].filter { !$0.1 }.map(\.0)
            return Finding(
                state: lacking.isEmpty ? .ok : .degraded, subject: "voice processing",
                detail: capabilities.library + (lacking.isEmpty ? "" : "; lacks " + lacking.joined(separator: ", ")))
        } catch {
            return Finding(
                state: .failing, subject: "voice processing",
                detail: "\(error); install libwebrtc-audio-processing-dev and build again")
        }
    }

    static var codec: Finding {
        do {
            let encoder = try OpusEncoder()
            return Finding(
                state: .ok, subject: "codec", detail: "Opus, looks ahead \(Double(encoder.lookaheadFrames) / 48) ms")
        } catch {
            return Finding(state: .failing, subject: "codec", detail: "\(error); install libopus0 again")
        }
    }

    static var devices: Finding {
        let devices = ALSADevice.list()
        return devices.isEmpty
            ? Finding(
                state: .degraded, subject: "sound devices",
                detail: "none; 'duplex demo' and 'duplex call --input --output' work without")
            : Finding(state: .ok, subject: "sound devices", detail: "\(devices.count); see 'duplex devices'")
    }

    static var allocationCounter: Finding {
        RealtimeWatch.allocations == nil
            ? Finding(state: .degraded, subject: "allocation counter", detail: "not linked; allocations per tick are unknown")
            : Finding(state: .ok, subject: "allocation counter", detail: "counts")
    }
}

/// The doctor's last line.
struct DoctorSummary: JSONLine {
    let schema = "duplexvoice.doctor/1"
    let type = "summary"
    var ok: Int
    var degraded: Int
    var failing: Int

    init(_ findings: [Finding]) {
        ok = findings.count { $0.state == .ok }
        degraded = findings.count { $0.state == .degraded }
        failing = findings.count { $0.state == .failing }
    }
}
