import Foundation
import VoiceEngine
import VoiceRealtime

/// What this build of the engine can do.
extension Finding {
    static var processing: Finding {
        do throws(ProcessingError) {
            let capabilities = try ProcessingBackend.webRTC.makeProcessor(sampleRate: 48_000, settings: .voiceChat)
                .capabilities
            let lacking = [
                ("an echo canceller", capabilities.echo), ("levels of echo suppression", capabilities.echoLevels),
                ("noise suppression", capabilities.noise), ("gain control", capabilities.gain),
                ("voice detection", capabilities.voiceDetection), ("its likelihood", capabilities.voiceLikelihood),
            ].filter { !$0.1 }.map(\.0)
            return Finding(
                lacking.isEmpty ? .ok : .degraded, "voice processing",
                capabilities.library + (lacking.isEmpty ? "" : "; lacks " + lacking.joined(separator: ", ")))
        } catch {
            return Finding(
                .failing, "voice processing", "\(error); install libwebrtc-audio-processing-dev and build again")
        }
    }

    static var codec: Finding {
        do throws(OpusError) {
            let encoder = try OpusEncoder()
            return Finding(.ok, "codec", "Opus, looks ahead \(Double(encoder.lookaheadFrames) / 48) ms")
        } catch {
            return Finding(.failing, "codec", "\(error); install libopus0 again")
        }
    }

    static var encryption: Finding {
        Finding(
            .degraded, "encryption", "none yet: rooms beyond this machine need --allow-plaintext, on a network of yours"
        )
    }

    static var allocationCounter: Finding {
        RealtimeWatch.allocations == nil
            ? Finding(.degraded, "allocation counter", "not linked; allocations per tick are unknown")
            : Finding(.ok, "allocation counter", "counts")
    }

    /// The libraries of the sound's way, by the beginnings of their file names.
    private static let libraryNames = [
        "libwebrtc", "libopus", "libasound", "libspeexdsp", "libsndfile", "libjwt", "libpcap",
    ]

    /// The files that are really loaded, which a package's version does not tell.
    static var libraries: Finding {
        // A file of /proc has no length beforehand, so it is read to its end.
        guard let handle = FileHandle(forReadingAtPath: "/proc/self/maps"), let bytes = try? handle.readToEnd() else {
            return Finding(.ok, "libraries", "the kernel does not tell")
        }
        let maps = String(decoding: bytes, as: UTF8.self)
        let loaded = Set(maps.split(separator: "\n").compactMap { $0.split(separator: "/").last.map(String.init) })
            .filter { file in file.contains(".so") && libraryNames.contains { file.hasPrefix($0) } }
        return Finding(.ok, "libraries", loaded.sorted().joined(separator: ", "))
    }
}
