import Foundation
import TestCases
import Testing

@testable import VoiceProcessing

/// A shared object with RNNoise's functions, made with the C compiler: halves what it gets, LAG frames later, and is
/// sure of speech.
private enum StubLibrary {
    private static let source = """
        #include <stdlib.h>
        #include <string.h>
        #ifndef LAG
        #define LAG 1
        #endif
        #ifdef MUTE
        #define GAIN 0.0f
        #else
        #define GAIN 0.5f
        #endif
        typedef struct { float last[LAG][FRAME]; int next; } State;
        int rnnoise_get_frame_size(void) { return FRAME; }
        void *rnnoise_create(void *model) { return model ? NULL : calloc(1, sizeof(State)); }
        #ifndef LACKING
        void rnnoise_destroy(void *state) { free(state); }
        #endif
        float rnnoise_process_frame(void *state, float *out, const float *in) {
            State *s = state;
            float *last = s->last[s->next];
            s->next = (s->next + 1) % LAG;
            for (int i = 0; i < FRAME; i++) { out[i] = GAIN * last[i]; last[i] = in[i]; }
            return 1;
        }
        """

    static let compiler = ["/usr/bin/cc", "/usr/bin/clang", "/usr/bin/gcc"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// The path of one, made with these macros.
    static func make(_ macros: String...) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rnnoise-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (code, library) = (folder.appending(path: "stub.c"), folder.appending(path: "stub.so"))
        try Data(source.utf8).write(to: code)
        let compiled = try TestProgram.run(
            try #require(compiler), ["-shared", "-fPIC", "-o", library.path(), code.path()] + macros)
        try #require(compiled.status == 0, "\(compiled.complaint)")
        return library.path()
    }
}

@Suite("Neural noise suppression")
struct NeuralSuppressorTests {
    /// Whether RNNoise itself is installed here.
    private static let isInstalled: Bool = {
        do throws(NeuralSuppressor.Unavailable) {
            _ = try NeuralSuppressor()
            return true
        } catch { return false }
    }()

    private static func reason(_ path: String?) -> String? {
        do throws(NeuralSuppressor.Unavailable) {
            _ = try NeuralSuppressor(path: path)
            return nil
        } catch { return error.reason }
    }

    @Test("a library that is not there is an error that names it")
    func absent() throws {
        let reason = try #require(Self.reason("/nowhere/librnnoise.so"))
        #expect(reason.contains("/nowhere/librnnoise.so"))
    }

    @Test(
        "a library that is not RNNoise is an error, and so are frames of another length",
        .enabled(if: StubLibrary.compiler != nil, "no C compiler"))
    func unfit() throws {
        let lacking = try #require(Self.reason(try StubLibrary.make("-DFRAME=480", "-DLACKING")))
        #expect(lacking.contains("lacks"))
        let long = try #require(Self.reason(try StubLibrary.make("-DFRAME=960")))
        #expect(long.contains("960"))
        let mute = try #require(Self.reason(try StubLibrary.make("-DFRAME=480", "-DMUTE")))
        #expect(mute.contains("does not pass speech"))
    }

    @Test(
        "what the library makes of the sound comes out a block or two later, on our scale",
        .enabled(if: StubLibrary.compiler != nil, "no C compiler"), arguments: [1, 2])
    func stub(blocks: Int) throws {
        var suppressor = try NeuralSuppressor(path: try StubLibrary.make("-DFRAME=480", "-DLAG=\(blocks)"))
        let lag = suppressor.delay
        #expect(lag == 480 * blocks)
        let signal = speech(seconds: 1, rate: 48_000, seed: 1)
        var output = signal
        for start in stride(from: 0, to: signal.count, by: 480) {
            var block = Array(signal[start..<start + 480])
            var span = block.mutableSpan
            let taken = suppressor.run(&span, floor: 0)
            if start > 4_800 { #expect(abs(taken - 6.02) < 0.1) }
            output.replaceSubrange(start..<start + 480, with: block)
        }
        let worst = largestDifference(output[lag...], signal.dropLast(lag), times: 0.5)
        #expect(worst < 1e-6)
    }

    @Test(
        "the stages use it where it is asked for, tell what it took, and pass no less than the mode's floor",
        .enabled(if: StubLibrary.compiler != nil, "no C compiler"), arguments: [1, 2])
    func stages(blocks: Int) throws {
        let settings = ProcessingSettings(noise: .low, noiseMethod: .neural, voiceDetection: .moderate)
        var stages = NearEndStages(
            sampleRate: 48_000, settings: settings,
            neuralLibrary: try StubLibrary.make("-DFRAME=480", "-DLAG=\(blocks)"))
        let hasNeuralNoise = stages.hasNeuralNoise
        #expect(hasNeuralNoise)
        let signal = speech(seconds: 1, rate: 48_000, seed: 2)
        var output = signal
        for start in stride(from: 0, to: signal.count, by: 480) {
            var block = Array(signal[start..<start + 480])
            var span = block.mutableSpan
            var report = ProcessingReport(inputLevel: 0, outputLevel: 0)
            stages.run(&span, report: &report)
            #expect(report.speechProbability != nil)
            output.replaceSubrange(start..<start + 480, with: block)
        }
        // Half of it, and of the other half the 10 dB that the mode leaves
        let gain: Float = 0.5 + 0.5 * 0.3162
        let lag = stages.delay
        #expect(lag == 480 * blocks)
        let worst = largestDifference(output[24_000...], signal[(24_000 - lag)...], times: gain)
        #expect(worst < 1e-3)
    }

    @Test("where it is not to be had the settings that are active say so", arguments: [16_000, 48_000])
    func resolved(rate: Int) throws {
        let asked = ProcessingSettings(noise: .high, noiseMethod: .neural)
        for backend in [ProcessingBackend.native, .webRTC] {
            let processor = try backend.makeProcessor(sampleRate: rate, settings: asked)
            let isThere = rate == 48_000 && Self.isInstalled
            #expect(processor.hasNeuralNoise == isThere)
            #expect(processor.activeSettings.noiseMethod == (isThere ? .neural : .spectral))
            #expect(processor.activeSettings.noise == .high)
            #expect(processor.requestedSettings == asked)
        }
    }

    /// What RNNoise itself makes of a signal, and its delay.
    private static func installed(_ signal: [Float], floor: Float) throws -> (output: [Float], delay: Int) {
        var suppressor = try NeuralSuppressor()
        var output = signal
        for start in stride(from: 0, to: signal.count, by: 480) {
            var block = Array(signal[start..<start + 480])
            var span = block.mutableSpan
            _ = suppressor.run(&span, floor: floor)
            output.replaceSubrange(start..<start + 480, with: block)
        }
        return (output, suppressor.delay)
    }

    @Test("the library itself takes noise and leaves speech", .enabled(if: isInstalled, "librnnoise is not installed"))
    func noiseAlone() throws {
        let hiss = noise(seconds: 3, rate: 48_000, seed: 3, level: -40)
        #expect(rms(try Self.installed(hiss, floor: 0).output[96_000...]) < -55)
    }

    /// Vowels of a gliding pitch about 190 Hz, one after the other: a voice to RNNoise, which takes much of
    /// ``speech(seconds:rate:seed:level:)``.
    private static func vowels(seconds: Double) -> [Float] {
        var phase: Float = 0
        let sound = (0..<Int(seconds * 48_000)).map { index -> Float in
            let time = Float(index) / 48_000
            phase += 2 * .pi * (190 + 30 * sinf(2 * .pi * 1.1 * time)) / 48_000
            let formant: Float = sinf(2 * .pi * 1.7 * time) > 0 ? 500 : 900
            let value = (1...16).reduce(Float(0)) { sum, harmonic in
                let distance = (Float(harmonic) * 190 - formant) / 250
                return sum + sinf(Float(harmonic) * phase) / (1 + distance * distance)
            }
            return value * (0.55 + 0.45 * sinf(2 * .pi * 3.5 * time))
        }
        return scaled(sound, to: -26)
    }

    @Test(
        "what is left on purpose goes with what the library gives: its delay is as told, and nothing is combed",
        .enabled(if: isInstalled, "librnnoise is not installed"))
    func floor() throws {
        let hiss = noise(seconds: 3, rate: 48_000, seed: 4, level: -70)
        let talk = sum(Self.vowels(seconds: 3), hiss)
        let clean = try Self.installed(talk, floor: 0)
        let found = lag(of: clean.output[loudest(clean.output, length: 4_800)], behind: talk, upTo: 2_000)
        #expect(abs(found.frames - clean.delay) <= 2, "\(found), told \(clean.delay)")
        // Then half of all that the library took is there, and what it left is as it was
        let half = try Self.installed(talk, floor: 0.5).output
        let worst = (96_000..<half.count).map { index in
            abs(half[index] - 0.5 * (clean.output[index] + talk[index - clean.delay]))
        }
        #expect(worst.max() ?? 1 < 1e-5)
    }
}
