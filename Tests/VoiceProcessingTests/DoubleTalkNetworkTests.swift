import Glibc
import TestCases
import Testing
import VoiceSignal

@testable import VoiceProcessing

/// The network that judges what is left of an echo while both talk: its arithmetic against plain loops, and what it
/// makes of files that are not its own.
@Suite("Double-talk network")
struct DoubleTalkNetworkTests {
    private static let bins = Spectrum.bins

    private static func bytes(_ values: [Float]) -> [UInt8] {
        values.flatMap { value in
            let bits = value.bitPattern
            return (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt32($0))) }
        }
    }

    /// Rows of random numbers, as a layer takes them and as arrays: such as it need not round, the largest being 63 of
    /// their steps.
    private static func rows(_ count: Int, _ generator: inout SeededNumbers, into rows: inout BinRows) -> [[Float]] {
        (0..<count).map { row in
            (0..<bins).map { bin in
                let steps = max(-63, min(63, (16 * generator.normal()).rounded()))
                let value = (row + bin == 0 ? 63 : steps) / 16
                rows[row, bin] = value
                return value
            }
        }
    }

    /// Weights as a layer rounds them: those of an output to steps of which 127 are the largest.
    private static func rounded(_ weights: [Float], outputs: Int) -> [Float] {
        var rounded = weights
        for output in 0..<outputs {
            let places = stride(from: output, to: weights.count, by: outputs)
            let step = (places.map { abs(weights[$0]) }.max() ?? 0) / 127
            for place in places { rounded[place] = (weights[place] / step).rounded() * step }
        }
        return rounded
    }

    /// A layer as plain loops: nothing is beyond the edges.
    private static func dense(
        _ input: [[Float]], _ weights: [Float], _ bias: [Float], reach: Int
    ) -> [[Float]] {
        bias.indices.map { output in
            (0..<bins).map { bin in
                var sum = bias[output]
                for shift in -reach...reach where (0..<bins).contains(bin + shift) {
                    for row in input.indices {
                        let at = ((shift + reach) * input.count + row) * bias.count + output
                        sum += weights[at] * input[row][bin + shift]
                    }
                }
                return sum
            }
        }
    }

    private static func distance(_ rows: borrowing BinRows, _ expected: [[Float]]) -> Float {
        var worst: Float = 0
        for row in expected.indices {
            for bin in 0..<bins { worst = max(worst, abs(rows[row, bin] - expected[row][bin])) }
        }
        return worst
    }

    @Test(
        "a layer of bins is what its file says, with neighbours and without",
        arguments: cases([(3, 1), (11, 24), (24, 6), (16, 32)]), cases([0, 1]))
    func dense(size: (Int, Int), reach: Int) {
        // Given
        let (inputs, outputs) = size
        var generator = SeededNumbers(seed: UInt64(inputs * 100 + outputs))
        let weights = (0..<(2 * reach + 1) * inputs * outputs).map { _ in generator.normal() }
        let bias = (0..<outputs).map { _ in generator.normal() }
        var input = BinRows(rows: inputs)
        let values = Self.rows(inputs, &generator, into: &input)
        var plain = BinRows(rows: outputs)
        var rectified = BinRows(rows: outputs)
        // When
        let bytes = Self.bytes(weights + bias)
        unsafe bytes.withUnsafeBytes { memory in
            var (file, again) = (unsafe NetworkFile(memory: memory), unsafe NetworkFile(memory: memory))
            BinDenseLayer(inputs: inputs, outputs: outputs, reach: reach, isRectified: false, from: &file)
                .run(input, into: &plain)
            BinDenseLayer(inputs: inputs, outputs: outputs, reach: reach, isRectified: true, from: &again)
                .run(input, into: &rectified)
            let isAtEnd = file.isAtEnd
            #expect(isAtEnd)
        }
        // Then
        let expected = Self.dense(values, Self.rounded(weights, outputs: outputs), bias, reach: reach)
        #expect(Self.distance(plain, expected) < 1e-4)
        #expect(Self.distance(rectified, expected.map { $0.map { max(0, $0) } }) < 1e-4)
        // What stands for no bin stays zero, or the last bin had a neighbour.
        for row in 0..<outputs {
            for beyond in Self.bins..<BinRows.stride - BinRows.first { #expect(plain[row, beyond] == 0) }
        }
    }

    @Test("a memory of bins follows its input as its equation says", arguments: cases([UInt64(1), 2]))
    func memory(seed: UInt64) {
        // Given
        let (inputs, units) = (5, 6)
        var generator = SeededNumbers(seed: seed)
        let weights = (0..<inputs * 2 * units).map { _ in generator.normal() }
        let bias = (0..<2 * units).map { _ in generator.normal() }
        var state = [[Float]](repeating: [Float](repeating: 0, count: Self.bins), count: units)
        let bytes = Self.bytes(weights + bias)
        unsafe bytes.withUnsafeBytes { memory in
            var file = unsafe NetworkFile(memory: memory)
            var layer = BinMemoryLayer(inputs: inputs, units: units, from: &file)
            for _ in 0..<20 {
                var input = BinRows(rows: inputs)
                let values = Self.rows(inputs, &generator, into: &input)
                // When
                layer.run(input)
                // Then
                let driven = Self.dense(values, Self.rounded(weights, outputs: 2 * units), bias, reach: 0)
                for unit in 0..<units {
                    for bin in 0..<Self.bins {
                        let share = 1 / (1 + expf(-driven[unit][bin]))
                        state[unit][bin] += share * (tanhf(driven[units + unit][bin]) - state[unit][bin])
                    }
                }
                let distance = Self.distance(layer.state, state)
                #expect(distance < 1e-4, "seed \(seed)")
            }
        }
    }

    /// The file that the engine comes with.
    private static var file: [UInt8] {
        var file = NetworkFile.doubleTalk
        let count = file.left
        let bytes = file.bytes(count)
        return (0..<count).map { UInt8(bitPattern: bytes[$0]) }
    }

    private static func isTaken(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { memory in
            var file = unsafe NetworkFile(memory: memory)
            return DoubleTalkNetwork.Shape(from: &file) != nil
        }
    }

    @Test("its own file is taken; one that is short, long or of another kind is not")
    func files() {
        let own = Self.file
        #expect(Self.isTaken(own))
        for length in [0, 1, 4, 31, 32, 33, own.count / 2, own.count - 1] {
            #expect(!Self.isTaken([UInt8](own.prefix(length))), "\(length) bytes")
        }
        #expect(!Self.isTaken(own + [0]))
        // Each number of the head: sizes that are negative, zero, huge, or only wrong.
        for number in 0..<8 {
            for value: Int32 in [-1, 0, 7, .min, .max] {
                var bytes = own
                for byte in 0..<4 { bytes[4 * number + byte] = UInt8(truncatingIfNeeded: value >> (8 * Int32(byte))) }
                #expect(!Self.isTaken(bytes), "number \(number) is \(value)")
            }
        }
    }

    @Test("gains are within 0 and 1 whatever it looks at")
    func bounded() {
        var network = DoubleTalkNetwork()
        var gains = RealVector(count: Self.bins)
        var generator = SeededNumbers(seed: 5)
        for loudness: Float in [0, 1e-6, 1, 1e4] {
            var features = ResidualEchoFeatures()
            var error = Spectrum()
            var echo = Spectrum()
            var microphone = Spectrum()
            let talk = TalkState()
            let estimate = ResidualEchoFeatures.Estimate()
            for _ in 0..<20 {
                for bin in 0..<Self.bins {
                    error.real[bin] = loudness * generator.normal()
                    echo.real[bin] = loudness * generator.normal()
                    microphone.real[bin] = error.real[bin] + echo.real[bin]
                }
                features.observe(error: error, echo: echo, microphone: microphone, talk: talk, estimate: estimate)
                features.add(opinion: estimate.gain, ofNear: 1)
                network.run(features, into: &gains)
                for bin in 0..<Self.bins { #expect((0...1).contains(gains[bin])) }
            }
        }
    }

    /// A call at 16 kHz through a device that turns its echo up and down: the far end alone for 4 s, then both.
    private struct Call {
        private static let rate = 16_000
        /// Frames of the far end alone, and of the call.
        private static let (alone, end) = (4 * rate, 12 * rate)

        let far: [Float]
        let echo: [Float]
        let near: [Float]

        init(seed: UInt64) {
            var generator = SeededNumbers(seed: seed)
            far = speech(seconds: 12, rate: Self.rate, seed: seed)
            let linear = VoiceProcessingTests.echo(
                of: far, rate: Self.rate, delay: 600, returnLoss: 6, reverberation: 0.25, seed: seed + 1)
            var decibels: Float = 0
            var gain: Float = 1
            echo = linear.indices.map { index in
                if index.isMultiple(of: 320) { decibels = 0.8 * decibels + 0.6 * 4 * generator.normal() }
                gain += 0.01 * (powf(10, decibels / 20) - gain)
                return gain * linear[index]
            }
            let talk = speech(seconds: 8, rate: Self.rate, seed: seed + 2, level: -32)
            let hiss = noise(seconds: 12, rate: Self.rate, seed: seed + 3, level: -75)
            near = sum([Float](repeating: 0, count: Self.alone) + talk, hiss)
        }

        /// The talker over all else that comes out while both talk, dB, and of the far end that is alone, how much of
        /// it is gone.
        func run(_ share: DoubleTalkShare) throws -> (talker: Float, removed: Float) {
            var tuning = NativeEchoCanceller.Tuning()
            tuning.suppressor.doubleTalk = share
            let processor = try ProcessingBackend.native(tuning).makeProcessor(
                sampleRate: Self.rate, settings: ProcessingSettings(echo: .soft))
            let output = ProcessorRun(processor, capture: sum(echo, near), reference: far).output
            let lag = NativeEchoCanceller.delay
            let both = Self.alone + Self.rate..<Self.end - lag
            let error = both.map { output[$0 + lag] - near[$0] }
            let alone = Self.rate..<Self.alone - Self.rate / 4
            return (rms(near[both]) - rms(error[...]), rms(echo[alone]) - rms(output[alone]))
        }
    }

    @Test(
        "of a talker over an echo that no linear path explains it keeps more, and of the far end alone no less is gone",
        .enabled(if: isOptimised))
    func helps() throws {
        // Given
        let seeds: [UInt64] = [11, 21, 31, 41]
        // When
        let runs = try seeds.map { seed in
            let call = Call(seed: seed)
            return (with: try call.run(DoubleTalkShare()), without: try call.run(.none))
        }
        // Then
        let gained = runs.map { $0.with.talker - $0.without.talker }
        let told = "\(runs)"
        #expect(gained.reduce(0, +) / Float(gained.count) > 0.2, "\(told)")
        #expect(gained.allSatisfy { $0 > -0.5 }, "\(told)")
        for run in runs { #expect(run.with.removed > run.without.removed - 1, "\(told)") }
    }

    @Test(
        "of that talker it keeps more with a floor than by the product of all gains",
        .enabled(if: isOptimised))
    func keepsMore() throws {
        // Given
        let seeds: [UInt64] = [51, 61, 71, 81]
        // When
        let runs = try seeds.map { seed in
            let call = Call(seed: seed)
            return (with: try call.run(DoubleTalkShare()), without: try call.run(DoubleTalkShare(keepsTalker: false)))
        }
        // Then
        let told = "\(runs)"
        let gained = runs.map { $0.with.talker - $0.without.talker }
        #expect(gained.reduce(0, +) / Float(gained.count) > 0.02, "\(told)")
        for run in runs { #expect(run.with.removed > run.without.removed - 1, "\(told)") }
    }
}
