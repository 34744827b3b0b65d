import CVoiceKernels
import VoiceSignal

/// Takes apart what tools/suppressor/train.py or tools/speech/train.py wrote: numbers one after the other,
/// little-endian, four bytes or one each. What is read beyond the end is zero, and then the file is not whole.
@safe
struct NetworkFile {
    private let memory: UnsafeRawBufferPointer
    private var position = 0

    /// The network of ``ResidualEchoNetwork``.
    static var residualEcho: NetworkFile {
        var size = 0
        let start = unsafe vk_residual_echo_network(&size)
        return unsafe NetworkFile(memory: UnsafeRawBufferPointer(start: start, count: size))
    }

    /// The network of ``DoubleTalkNetwork``.
    static var doubleTalk: NetworkFile {
        var size = 0
        let start = unsafe vk_double_talk_network(&size)
        return unsafe NetworkFile(memory: UnsafeRawBufferPointer(start: start, count: size))
    }

    /// The network of ``SpeechNetwork``.
    static var speech: NetworkFile {
        var size = 0
        let start = unsafe vk_speech_network(&size)
        return unsafe NetworkFile(memory: UnsafeRawBufferPointer(start: start, count: size))
    }

    /// The memory must outlive it.
    @unsafe init(memory: UnsafeRawBufferPointer) { unsafe self.memory = memory }

    /// All of it was taken, and no more.
    var isAtEnd: Bool { left == 0 }

    /// Bytes that were not taken yet; negative: more were asked for than there are.
    var left: Int { unsafe memory.count - position }

    mutating func integer() -> Int {
        guard let from = take(MemoryLayout<Int32>.size) else { return 0 }
        return Int(Int32(littleEndian: unsafe memory.loadUnaligned(fromByteOffset: from, as: Int32.self)))
    }

    mutating func floats(_ count: Int) -> RealVector {
        var values = RealVector(count: count)
        guard let from = take(count * MemoryLayout<UInt32>.size) else { return values }
        for index in 0..<count {
            let at = from + index * MemoryLayout<UInt32>.size
            let bits = unsafe memory.loadUnaligned(fromByteOffset: at, as: UInt32.self)
            values[index] = Float(bitPattern: UInt32(littleEndian: bits))
        }
        return values
    }

    mutating func bytes(_ count: Int) -> FixedArray<Int8> {
        var values = FixedArray<Int8>(count: count, repeating: 0)
        guard let from = take(count) else { return values }
        for index in 0..<count { values[index] = unsafe memory.load(fromByteOffset: from + index, as: Int8.self) }
        return values
    }

    /// - Returns: where the next `size` bytes begin; nil where there are not so many.
    private mutating func take(_ size: Int) -> Int? {
        let from = position
        position += size
        return unsafe position <= memory.count ? from : nil
    }
}
