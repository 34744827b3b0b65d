import Glibc
import TestCases
import Testing
import VoiceSignal

@testable import VoiceProcessing

/// The network that judges what is left of an echo: its arithmetic against plain loops, and what it is there for.
@Suite("Residual echo network")
struct ResidualEchoNetworkTests {
    /// A network's file in the making.
    private struct Writer {
        var bytes: [UInt8] = []
        var generator: SeededNumbers

        init(seed: UInt64) { generator = SeededNumbers(seed: seed) }

        mutating func floats(_ count: Int) -> [Float] {
            let values = (0..<count).map { _ in generator.normal() }
            for value in values { unsafe withUnsafeBytes(of: value.bitPattern.littleEndian) { unsafe bytes += $0 } }
            return values
        }

        mutating func weights(_ count: Int) -> [Int8] {
            let values = (0..<count).map { _ in Int8(truncatingIfNeeded: generator.next()) }
            bytes += values.map { UInt8(bitPattern: $0) }
            return values
        }

        /// A dense layer as plain loops, which rounds its inputs to steps of which 63 are the largest.
        mutating func dense(inputs: Int, outputs: Int) -> ([Float]) -> [Float] {
            let (bias, scale) = (floats(outputs), floats(outputs).map { $0 / 1_000 })
            // The scales are written smaller than drawn.
            bytes.removeLast(4 * outputs)
            for value in scale { unsafe withUnsafeBytes(of: value.bitPattern.littleEndian) { unsafe bytes += $0 } }
            let weights = weights(inputs * outputs)
            return { input in
                let step = (input.map(abs).max() ?? 0) / 63
                let rounded = input.map { step > 0 ? ($0 / step).rounded() * step : 0 }
                return (0..<outputs).map { output in
                    bias[output]
                        + scale[output]
                        * (0..<inputs).reduce(0) { $0 + rounded[$1] * Float(weights[$1 * outputs + output]) }
                }
            }
        }
    }

    private static func vector(_ values: [Float]) -> RealVector {
        var vector = RealVector(count: values.count)
        vector.write(values.span)
        return vector
    }

    private static func distance(_ vector: borrowing RealVector, _ values: [Float]) -> Float {
        values.indices.map { abs(vector[$0] - values[$0]) }.max() ?? 0
    }

    @Test(
        "a dense layer is what its file says, whatever its width",
        arguments: cases([(3, 8), (5, 32), (7, 40), (64, 168), (1, 24)]))
    func dense(inputs: Int, outputs: Int) {
        // Given
        var writer = Writer(seed: UInt64(inputs * 1_000 + outputs))
        let plain = writer.dense(inputs: inputs, outputs: outputs)
        let input = (0..<inputs).map { _ in writer.generator.normal() }
        var output = RealVector(count: outputs)
        // When
        unsafe writer.bytes.withUnsafeBytes { memory in
            var file = unsafe NetworkFile(memory: memory)
            let layer = DenseLayer(inputs: inputs, outputs: outputs, from: &file)
            layer.run(Self.vector(input), into: &output)
            let isAtEnd = file.isAtEnd
            #expect(isAtEnd)
        }
        // Then
        #expect(Self.distance(output, plain(input)) < 1e-3)
    }

    @Test("a recurrent layer remembers as its equations say", arguments: cases([UInt64(1), 2, 3]))
    func recurrent(seed: UInt64) {
        // Given
        let (inputs, units) = (6, 16)
        var writer = Writer(seed: seed)
        let ofInput = writer.dense(inputs: inputs, outputs: 3 * units)
        let ofState = writer.dense(inputs: units, outputs: 3 * units)
        let steps = (0..<50).map { _ in (0..<inputs).map { _ in writer.generator.normal() } }
        var state = [Float](repeating: 0, count: units)
        unsafe writer.bytes.withUnsafeBytes { memory in
            var file = unsafe NetworkFile(memory: memory)
            var layer = RecurrentLayer(inputs: inputs, units: units, from: &file)
            for input in steps {
                // When
                layer.run(Self.vector(input))
                // Then
                let (x, h) = (ofInput(input), ofState(state))
                for unit in 0..<units {
                    let reset = 1 / (1 + expf(-x[unit] - h[unit]))
                    let keep = 1 / (1 + expf(-x[units + unit] - h[units + unit]))
                    let new = tanhf(x[2 * units + unit] + reset * h[2 * units + unit])
                    state[unit] = (1 - keep) * new + keep * state[unit]
                }
                let distance = Self.distance(layer.state, state)
                #expect(distance < 1e-3)
            }
        }
        #expect(state.contains { abs($0) > 0.1 })
    }

    @Test("each bin is judged by itself, by what is common and by its own weights", arguments: cases([8, 48]))
    func bins(count: Int) {
        // Given
        let (features, units) = (3, 5)
        var writer = Writer(seed: UInt64(count))
        let own = writer.floats(features * count)
        let weights = writer.floats(features * units)
        let exit = writer.floats(units)
        let values = (0..<features * count).map { _ in writer.generator.normal() }
        let common = (0..<units).map { _ in writer.generator.normal() }
        var output = RealVector(count: count, repeating: 2)
        // When
        unsafe writer.bytes.withUnsafeBytes { memory in
            var file = unsafe NetworkFile(memory: memory)
            let layer = BinLayer(features: features, bins: count, units: units, from: &file)
            layer.add(Self.vector(values), common: Self.vector(common), to: &output)
        }
        // Then
        let plain = (0..<count).map { bin -> Float in
            var sum: Float = 2
            for feature in 0..<features { sum += own[feature * count + bin] * values[feature * count + bin] }
            for unit in 0..<units {
                var active = common[unit]
                for feature in 0..<features {
                    active += weights[feature * units + unit] * values[feature * count + bin]
                }
                sum += exit[unit] * max(0, active)
            }
            return sum
        }
        #expect(Self.distance(output, plain) < 1e-3)
    }

    /// A call at 16 kHz through a loudspeaker whose amplifier clips, or through a good one.
    private struct Call {
        let far: [Float]
        let echo: [Float]
        let near: [Float]

        /// Who talks when: the far end alone for 4 s, then both.
        init(seed: UInt64, clips: Bool) {
            let rate = 16_000
            far = speech(seconds: 8, rate: rate, seed: seed)
            let ceiling: Float = clips ? 0.06 : 1
            let played = far.map { min(ceiling, max(-ceiling, $0)) }
            echo = VoiceProcessingTests.echo(
                of: played, rate: rate, delay: 600, returnLoss: 6, reverberation: 0.25, seed: seed + 1)
            let talk = speech(seconds: 4, rate: rate, seed: seed + 2, level: -30)
            let hiss = noise(seconds: 8, rate: rate, seed: seed + 3, level: -75)
            near = sum([Float](repeating: 0, count: 4 * rate) + talk, hiss)
        }

        /// What comes out, with the networks' opinions or without.
        func run(hearsNetwork: Bool, comfortNoise: Float? = nil) throws -> [Float] {
            var tuning = NativeEchoCanceller.Tuning()
            if let comfortNoise { tuning.suppressor.comfortNoise = comfortNoise }
            if !hearsNetwork {
                tuning.suppressor.network = 0
                tuning.suppressor.doubleTalk = .none
            }
            let processor = try ProcessingBackend.native(tuning).makeProcessor(
                sampleRate: 16_000, settings: ProcessingSettings(echo: .soft))
            return ProcessorRun(processor, capture: sum(echo, near), reference: far).output
        }
    }

    @Test(
        "what a clipping amplifier leaves is held back, as it is not without the networks",
        arguments: cases([UInt64(11), 21, 31]))
    func distorted(seed: UInt64) throws {
        // Given
        let call = Call(seed: seed, clips: true)
        // When
        let with = try call.run(hearsNetwork: true, comfortNoise: 0)
        let without = try call.run(hearsNetwork: false, comfortNoise: 0)
        let all = try call.run(hearsNetwork: true)
        // Then, while the far end is alone
        let alone = 24_000..<62_000
        let heard = rms(call.echo[alone])
        let (removed, before) = (heard - rms(with[alone]), heard - rms(without[alone]))
        #expect(removed > before + 4, "\(removed) dB, \(before) dB without")
        // Measured: 33.6 to 34.7 dB. A synthetic talker pauses for less than 0.2 s, so some of what is left is taken for
        // the room's noise and put back.
        #expect(heard - rms(all[alone]) > 30)
    }

    @Test(
        "a near end is kept, over a good loudspeaker and a bad one", arguments: cases([true, false]),
        cases([UInt64(11), 21, 31]))
    func near(clips: Bool, seed: UInt64) throws {
        // Given
        let call = Call(seed: seed, clips: clips)
        // When
        let output = try call.run(hearsNetwork: true)
        // Then, while both talk
        let lag = 64
        let range = 72_000..<126_000
        let kept = zip(output[range.lowerBound + lag..<range.upperBound + lag], call.near[range])
        var (product, power, rest): (Float, Float, Float) = (0, 0, 0)
        for (heard, said) in kept {
            product += heard * said
            power += said * said
        }
        let gain = product / power
        for (heard, said) in kept { rest += (heard - gain * said) * (heard - gain * said) }
        let ratio = 10 * log10f(gain * gain * power / rest)
        #expect(gain > (clips ? 0.6 : 0.8), "\(gain)")
        #expect(ratio > (clips ? 4 : 8), "\(ratio) dB")
    }

    @Test("features are numbers and within their bounds, whatever is heard")
    func bounds() {
        // Given spectra of silence, of full scale and of what is no sound at all
        var features = ResidualEchoFeatures()
        var network = ResidualEchoNetwork()
        var error = Spectrum()
        var echo = Spectrum()
        var mic = Spectrum()
        var talk = TalkState()
        var estimate = ResidualEchoFeatures.Estimate()
        var gains = RealVector(count: Spectrum.bins)
        for level in [Float(0), 1e-20, 160, 1e15] {
            for bin in 0..<Spectrum.bins {
                error.real[bin] = level
                echo.imaginary[bin] = bin % 2 == 0 ? level : 0
                mic.real[bin] = 160
                estimate.residual[bin] = level * level
                estimate.uncertainty[bin] = level
            }
            talk.observe(error: error, echo: echo, mic: mic)
            // When
            features.observe(error: error, echo: echo, microphone: mic, talk: talk, estimate: estimate)
            network.run(features, into: &gains)
            // Then
            var (isBounded, isGain) = (true, true)
            for index in 0..<ResidualEchoFeatures.inBands { isBounded = isBounded && abs(features.bands[index]) <= 5 }
            for index in 0..<ResidualEchoFeatures.perBin * ResidualEchoFeatures.paddedBins {
                isBounded = isBounded && abs(features.ofBins[index]) <= 6
            }
            for bin in 0..<gains.count { isGain = isGain && gains[bin] >= 0 && gains[bin] <= 1 }
            #expect(isBounded && isGain, "level \(level)")
        }
    }
}
