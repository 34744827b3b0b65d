internal import CRNNoise
import Glibc
import VoiceSignal

/// RNNoise's shared library, found at run time.
///
/// The installed one is looked for once in a process, by whoever makes the first processor at 48 kHz: that reads files
/// and takes milliseconds. Switching to it later does neither. Nothing changes in it once it is made, so any thread may
/// use it.
@safe
final class NeuralLibrary: @unchecked Sendable {
    /// Frames that it takes at a time.
    static let frame = 480
    /// Delays that it may have, in frames: one block up to version 0.1, two from 0.2 on.
    private static let delays = [frame, 2 * frame, 3 * frame]
    /// Blocks of a vowel that the delay is found with.
    private static let trial = 24

    /// The one that the dynamic linker finds, or why there is none.
    static let installed = Result { () throws(NeuralSuppressor.Unavailable) in try NeuralLibrary(path: nil) }

    private let library: OpaquePointer
    /// Frames by which what comes out lags what goes in.
    private(set) var delay = NeuralLibrary.frame

    /// Loads a file; nil for where the dynamic linker looks.
    init(path: String?) throws(NeuralSuppressor.Unavailable) {
        var reason = ""
        guard let opened = unsafe Self.open(path, &reason) else {
            throw NeuralSuppressor.Unavailable(reason: reason)
        }
        unsafe library = opened
        let size = unsafe Int(crnn_frame_size(library))
        guard size == Self.frame else {
            throw NeuralSuppressor.Unavailable(reason: "its frames have \(size) samples instead of \(Self.frame)")
        }
        guard let delay = measureDelay() else {
            throw NeuralSuppressor.Unavailable(reason: "it does not pass speech")
        }
        self.delay = delay
    }

    private static func open(_ path: String?, _ reason: inout String) -> OpaquePointer? {
        var text = [CChar](repeating: 0, count: 256)
        let opened = unsafe text.withUnsafeMutableBufferPointer { buffer -> OpaquePointer? in
            guard let reason = buffer.baseAddress else { return nil }
            guard let path else { return unsafe crnn_open(nil, reason, buffer.count) }
            return unsafe path.withCString { unsafe crnn_open($0, reason, buffer.count) }
        }
        reason = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return unsafe opened
    }

    deinit { unsafe crnn_close(library) }

    /// A suppressor's state, to be given back; nil where there is no memory. Allocates.
    @unsafe func makeState() -> UnsafeMutableRawPointer? { unsafe crnn_create(library) }

    @unsafe func giveBack(_ state: UnsafeMutableRawPointer) { unsafe crnn_destroy(library, state) }

    /// Suppresses a frame's noise, on the scale of 16 bits. Allocates nothing.
    ///
    /// - Returns: the probability, 0...1, that there is speech in it.
    @unsafe func process(
        _ state: UnsafeMutableRawPointer, _ input: borrowing RealVector, into output: inout RealVector
    ) -> Float {
        precondition(input.count == Self.frame && output.count == Self.frame)
        return unsafe crnn_process(library, state, output.start, input.start)
    }

    /// Nobody can ask the library: passes a vowel through it and looks for it. Nil where it does not come out.
    private func measureDelay() -> Int? {
        guard let state = unsafe makeState() else { return nil }
        defer { unsafe giveBack(state) }
        let vowel = Self.vowel(frames: Self.trial * Self.frame)
        var passed = [Float]()
        var input = RealVector(count: Self.frame)
        var output = RealVector(count: Self.frame)
        for block in 0..<Self.trial {
            input.write(vowel.span.extracting(block * Self.frame..<(block + 1) * Self.frame))
            unsafe _ = process(state, input, into: &output)
            for index in 0..<Self.frame { passed.append(output[index]) }
        }
        let likeness = Self.delays.map { delay in
            var (product, came, went): (Float, Float, Float) = (0, 1e-12, 1e-12)
            for index in delay..<passed.count {
                let (value, before) = (passed[index], vowel[index - delay])
                product += value * before
                came += before * before
                went += value * value
            }
            return product / (came * went).squareRoot()
        }
        let best = likeness.indices.max { likeness[$0] < likeness[$1] }
        return best.flatMap { likeness[$0] > 0.5 ? Self.delays[$0] : nil }
    }

    /// A vowel of a gliding pitch about 120 Hz, one formant at 600 Hz, a quarter of full scale.
    private static func vowel(frames: Int) -> [Float] {
        var phase: Float = 0
        return (0..<frames).map { index in
            let time = Float(index) / Float(NeuralSuppressor.sampleRate)
            phase += 2 * .pi * (120 + 20 * sinf(2 * .pi * 1.5 * time)) / Float(NeuralSuppressor.sampleRate)
            var value: Float = 0
            for harmonic in 1...20 {
                let distance = (Float(harmonic) * 120 - 600) / 300
                value += sinf(Float(harmonic) * phase) / (1 + distance * distance)
            }
            return 2_000 * value
        }
    }
}
