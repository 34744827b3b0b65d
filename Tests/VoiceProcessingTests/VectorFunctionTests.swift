import Glibc
import Testing
import VoiceSignal

/// Functions of many numbers at once, beside the C library's of one.
@Suite("Vector functions")
struct VectorFunctionTests {
    /// Numbers of both signs from 1e-30 to 1e4, and 0.
    private static let numbers: [Float] =
        [0]
        + (-120...16).flatMap { quarter -> [Float] in
            let value = powf(10, Float(quarter) / 4)
            return [value, -value]
        }

    private static func worst(
        of numbers: [Float], _ function: (inout RealVector) -> Void, _ expected: (Float) -> Float,
        over scale: (Float) -> Float = { _ in 1 }
    ) -> Float {
        var vector = RealVector(count: numbers.count)
        vector.write(numbers.span)
        function(&vector)
        return numbers.indices.map { abs(vector[$0] - expected(numbers[$0])) / scale(expected(numbers[$0])) }.max()
            ?? .infinity
    }

    @Test("logistic function and hyperbolic tangent are the C library's")
    func saturating() {
        let logistic = Self.worst(of: Self.numbers) {
            $0.takeLogistic()
        } _: {
            1 / (1 + expf(-$0))
        }
        #expect(logistic < 1e-6)
        let tangent = Self.worst(of: Self.numbers) {
            $0.takeHyperbolicTangent()
        } _: {
            tanhf($0)
        }
        #expect(tangent < 1e-6)
    }

    @Test("common logarithms are the C library's, of powers between silence and full scale")
    func logarithms() {
        let powers = Self.numbers.filter { $0 >= 0 }
        for least in [Float(1e-6), 1e-30] {
            let worst = Self.worst(of: powers) {
                $0.takeCommonLogarithm(in: 0..<powers.count, adding: least)
            } _: {
                log10f($0 + least)
            }
            #expect(worst < 1e-5, "\(least)")
        }
    }

    @Test("powers are the C library's", arguments: [Float(0), 0.25, 0.7, 1])
    func powers(exponent: Float) {
        let gains = Self.numbers.filter { $0 > 0 && $0 <= 1 }
        let worst = Self.worst(of: gains) {
            $0.raise(to: exponent)
        } _: {
            powf($0, exponent)
        } over: {
            $0
        }
        #expect(worst < 1e-5)
    }

    @Test("a difference is bounded, and only in its range")
    func differences() {
        var vector = RealVector(count: 8)
        for index in 0..<8 { vector[index] = Float(index * index) }
        vector.subtract(from: 0, in: 4..<7, most: 20)
        #expect((0..<8).map { vector[$0] } == [0, 1, 4, 9, 16, 20, 20, 49])
    }
}
