import Testing
import VoiceSimulation

@Suite struct SeededGeneratorTests {
    @Test func `gives the published xoshiro256++ outputs`() {
        var generator = SeededGenerator(state: (1, 2, 3, 4))
        // The reference vector of the rand_xoshiro crate, made with the authors' C program.
        let expected: [UInt64] = [
            41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386, 9_228_616_714_210_784_205,
            9_973_669_472_204_895_162, 14_011_001_112_246_962_877, 12_406_186_145_184_390_807,
        ]
        let drawn = expected.map { _ in generator.next() }
        #expect(drawn == expected)
    }

    @Test func `one seed gives one sequence and each stream another`() {
        func draws(_ seed: UInt64, _ stream: String) -> [Double] {
            var generator = SeededGenerator(seed: seed, stream: stream)
            return (0..<50).map { _ in generator.gaussian() }
        }
        #expect(draws(7, "loss") == draws(7, "loss"))
        #expect(draws(7, "loss") != draws(7, "jitter"))
        #expect(draws(7, "loss") != draws(8, "loss"))
    }

    /// Each distribution with its mean and variance.
    @Test(arguments: [UInt64(1), 2, 3])
    func `distributions have their mean and variance`(seed: UInt64) {
        func check(_ name: String, mean: Double, variance: Double, _ draw: (inout SeededGenerator) -> Double) {
            var generator = SeededGenerator(seed: seed, stream: name)
            let values = (0..<50_000).map { _ in draw(&generator) }
            let found = values.reduce(0, +) / Double(values.count)
            let spread = values.reduce(0) { $0 + ($1 - found) * ($1 - found) } / Double(values.count)
            #expect(abs(found - mean) < 0.03 * variance.squareRoot(), "\(name), seed \(seed): mean \(found)")
            #expect(abs(spread / variance - 1) < 0.1, "\(name), seed \(seed): variance \(spread)")
        }
        check("uniform", mean: 0.5, variance: 1.0 / 12) { $0.uniform() }
        check("gaussian", mean: 0, variance: 1) { $0.gaussian() }
        check("exponential", mean: 3, variance: 9) { $0.exponential(mean: 3) }
        check("gamma 4", mean: 2, variance: 1) { $0.gamma(mean: 2, shape: 4) }
        check("gamma 0.5", mean: 2, variance: 8) { $0.gamma(mean: 2, shape: 0.5) }
        check("geometric", mean: 1.0 / 9, variance: 0.1 / 0.81) { Double($0.failuresBeforeSuccess(0.9)) }
    }
}
