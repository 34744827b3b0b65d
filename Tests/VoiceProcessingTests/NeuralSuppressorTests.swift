import Foundation
import Testing

@testable import VoiceProcessing

/// A shared object with RNNoise's functions, made with the C compiler: halves what it gets, a frame later, and is sure of speech.
private enum StubLibrary {
    private static let source = """
        #include <stdlib.h>
        #include <string.h>
        typedef struct { float last[FRAME]; } State;
        int rnnoise_get_frame_size(void) { return FRAME; }
        void *rnnoise_create(void *model) { return model ? NULL : calloc(1, sizeof(State)); }
        #ifndef LACKING
        void rnnoise_destroy(void *state) { free(state); }
        #endif
        float rnnoise_process_frame(void *state, float *out, const float *in) {
            float *last = ((State *)state)->last;
            for (int i = 0; i < FRAME; i++) { out[i] = 0.5f * last[i]; last[i] = in[i]; }
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
        let process = Process()
        process.executableURL = URL(filePath: try #require(compiler))
        process.arguments = ["-shared", "-fPIC", "-o", library.path(), code.path()] + macros
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
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
    }

    @Test(
        "what the library makes of the sound comes out a block later, on our scale",
        .enabled(if: StubLibrary.compiler != nil, "no C compiler"))
    func stub() throws {
        var suppressor = try NeuralSuppressor(path: try StubLibrary.make("-DFRAME=480"))
        let signal = speech(seconds: 1, rate: 48_000, seed: 1)
        var output = signal
        for start in stride(from: 0, to: signal.count, by: 480) {
            var block = Array(signal[start..<start + 480])
            var span = block.mutableSpan
            let taken = suppressor.run(&span, floor: 0)
            if start > 4_800 { #expect(abs(taken - 6.02) < 0.1) }
            output.replaceSubrange(start..<start + 480, with: block)
        }
        let worst = (480..<signal.count).map { abs(output[$0] - 0.5 * signal[$0 - 480]) }.max() ?? 1
        #expect(worst < 1e-6)
    }

    @Test(
        "the stages use it where it is asked for, tell what it took, and pass no less than the mode's floor",
        .enabled(if: StubLibrary.compiler != nil, "no C compiler"))
    func stages() throws {
        let settings = ProcessingSettings(noise: .low, noiseMethod: .neural, voiceDetection: .moderate)
        var stages = NearEndStages(
            sampleRate: 48_000, settings: settings, neuralLibrary: try StubLibrary.make("-DFRAME=480"))
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
        let lag = NearEndStages.delay(settings, sampleRate: 48_000)
        #expect(lag == 480)
        let worst = (24_000..<signal.count).map { abs(output[$0] - gain * signal[$0 - lag]) }.max() ?? 1
        #expect(worst < 1e-3)
    }

    @Test("where it is not to be had the settings that are active say so", arguments: [16_000, 48_000])
    func resolved(rate: Int) throws {
        let asked = ProcessingSettings(noise: .high, noiseMethod: .neural)
        for backend in [ProcessingBackend.native, .webRTC] {
            let processor = try backend.makeProcessor(sampleRate: rate, settings: asked)
            let isThere = rate == 48_000 && Self.isInstalled
            #expect(processor.capabilities.neuralNoise == isThere)
            #expect(processor.activeSettings.noiseMethod == (isThere ? .neural : .spectral))
            #expect(processor.activeSettings.noise == .high)
            #expect(processor.requestedSettings == asked)
        }
    }

    @Test("the library itself takes noise and leaves speech", .enabled(if: isInstalled, "librnnoise is not installed"))
    func installed() throws {
        var suppressor = try NeuralSuppressor()
        let hiss = noise(seconds: 3, rate: 48_000, seed: 3, level: -40)
        var output = hiss
        for start in stride(from: 0, to: hiss.count, by: 480) {
            var block = Array(hiss[start..<start + 480])
            var span = block.mutableSpan
            _ = suppressor.run(&span, floor: 0)
            output.replaceSubrange(start..<start + 480, with: block)
        }
        #expect(rms(output[96_000...]) < -55)
    }
}
