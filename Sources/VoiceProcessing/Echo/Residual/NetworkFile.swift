import CVoiceKernels
import VoiceSignal

/// Takes apart what tools/suppressor/train.py or tools/speech/train.py wrote: numbers one after the other,
/// little-endian, four bytes or one each.
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

    /// The network of ``SpeechNetwork``.
    static var speech: NetworkFile {
        var size = 0
        let start = unsafe vk_speech_network(&size)
        return unsafe NetworkFile(memory: UnsafeRawBufferPointer(start: start, count: size))
    }

    /// The memory must outlive it.
    @unsafe init(memory: UnsafeRawBufferPointer) { unsafe self.memory = memory }

    /// All of it was taken.
    var isAtEnd: Bool { unsafe position == memory.count }

    mutating func integer() -> Int {
        defer { position += MemoryLayout<Int32>.size }
        return Int(Int32(littleEndian: unsafe memory.loadUnaligned(fromByteOffset: position, as: Int32.self)))
    }

    mutating func floats(_ count: Int) -> RealVector {
        var values = RealVector(count: count)
        for index in 0..<count {
            let bits = unsafe memory.loadUnaligned(fromByteOffset: position, as: UInt32.self)
            values[index] = Float(bitPattern: UInt32(littleEndian: bits))
            position += MemoryLayout<UInt32>.size
        }
        return values
    }

    mutating func bytes(_ count: Int) -> FixedArray<Int8> {
        var values = FixedArray<Int8>(count: count, repeating: 0)
        for index in 0..<count { values[index] = unsafe memory.load(fromByteOffset: position + index, as: Int8.self) }
        position += count
        return values
    }
}
