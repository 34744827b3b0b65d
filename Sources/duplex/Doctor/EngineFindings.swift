import VoiceEngine
import VoiceRealtime

/// What this build of the engine can do.
extension Finding {
    static var processing: Finding {
        do throws(ProcessingError) {
            var libraries: [String] = []
            for backend in [ProcessingBackend.native, .webRTC, .speexDSP] {
                libraries.append(
                    try backend.makeProcessor(sampleRate: 48_000, settings: .voiceChat).traits.library)
            }
            return Finding(.ok, "voice processing", libraries.joined(separator: ", "))
        } catch {
            return Finding(
                .failing, "voice processing", "\(error)",
                remedy: "install libwebrtc-audio-processing-dev and build again")
        }
    }

    static var neuralNoise: Finding {
        do throws(NeuralSuppressor.Unavailable) {
            _ = try NeuralSuppressor()
            return Finding(.ok, "RNNoise", "installed; neural noise suppression can be chosen")
        } catch {
            return Finding(
                .ok, "RNNoise", "not usable: \(error.reason); noise suppression works without, neural cannot be chosen")
        }
    }

    static var codec: Finding {
        do throws(OpusError) {
            let encoder = try OpusEncoder()
            return Finding(.ok, "codec", "Opus, looks ahead \(Double(encoder.lookaheadFrames) / 48) ms")
        } catch {
            return Finding(.failing, "codec", "\(error)", remedy: "install libopus0 again")
        }
    }

    static var encryption: Finding {
        Finding(.ok, "encryption", "DTLS 1.2 and SRTP to rooms; plaintext to those on this machine, by udp:// URLs")
    }

    static var allocationCounter: Finding {
        RealtimeWatch.allocations == nil
            ? Finding(.degraded, "allocation counter", "not linked; allocations per tick are unknown")
            : Finding(.ok, "allocation counter", "counts")
    }
}
