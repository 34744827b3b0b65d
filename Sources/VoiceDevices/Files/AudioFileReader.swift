internal import CSndFile
internal import VoiceSignal

#if canImport(Glibc)
    internal import Glibc
#endif

/// Reads a sound file bit by bit as mono Float32, at 48 kHz or as asked: channels are mixed, other rates are resampled
/// without an offset in time.
///
/// For one thread at a time. Blocks on the disk. A value that is not a finite number reads as silence.
package struct AudioFileReader: ~Copyable, Sendable {
    /// Frames per second in the file.
    package var sampleRate: Int { handle.sampleRate }
    /// Channels in the file.
    package var channels: Int { handle.channels }
    /// How many frames the file says it has; nil where that is not known. It need not be true.
    package var declaredFrames: Int? { handle.declaredFrames }
    /// How far the mix lies below the loudest of the channels in what has been read, dB. Nil for one channel, or before
    /// any sound.
    package var mixLossDecibels: Double? {
        guard channels > 1, let loudest = channelEnergies.max(), loudest > 0 else { return nil }
        return 10 * log10(loudest / max(mixEnergy, 1e-12))
    }

    private let handle: AudioFileHandle
    private let mix: ChannelMix
    private let outputRate: Int
    private var converter: RateConverter?
    /// As many frames as are read from the file at a time.
    private static let blockFrames = 4_096
    private var interleaved: [Float]
    private var mono: [Float]
    /// Of what has been read: the sum of the squares of each channel, and of their mix.
    private var channelEnergies: [Double]
    private var mixEnergy = 0.0
    private var used = 0
    private var filled = 0
    private var framesRead = 0
    private var framesGiven = 0
    private var hasEnded = false

    /// Opens the file at `path`, to be read at `rate` Hz; nil keeps the file's own rate.
    package init(
        _ path: String, convertedTo rate: Int? = 48_000, channels: ChannelMix = .average
    ) throws(AudioFileError) {
        let handle = try AudioFileHandle(reading: path)
        let outputRate = rate ?? handle.sampleRate
        let converter = try Self.converter(path, from: handle.sampleRate, to: outputRate)
        self.init(handle, channels, outputRate, converter)
    }

    /// Opens sound from elsewhere, to be read at `rate` Hz; nil keeps its own rate.
    package init(_ sound: EncodedSound, convertedTo rate: Int? = 48_000) throws(AudioFileError) {
        let handle = try AudioFileHandle(reading: sound)
        let outputRate = rate ?? handle.sampleRate
        let converter = try Self.converter(sound.name, from: handle.sampleRate, to: outputRate)
        self.init(handle, .average, outputRate, converter)
    }

    private init(
        _ handle: consuming AudioFileHandle, _ mix: ChannelMix, _ outputRate: Int, _ converter: consuming RateConverter?
    ) {
        self.outputRate = outputRate
        interleaved = Array(repeating: 0, count: Self.blockFrames * handle.channels)
        mono = Array(repeating: 0, count: Self.blockFrames)
        channelEnergies = Array(repeating: 0, count: handle.channels)
        self.mix = mix
        self.handle = handle
        self.converter = converter
    }

    private static func converter(
        _ path: String, from rate: Int, to outputRate: Int
    ) throws(AudioFileError) -> RateConverter? {
        guard rate != outputRate else { return nil }
        guard AudioFile.sampleRates.contains(outputRate) else {
            throw .unsupportedRate(path: path, sampleRate: outputRate)
        }
        do { return try RateConverter(inputRate: rate, outputRate: outputRate) } catch {
            throw .unsupportedRate(path: path, sampleRate: rate)
        }
    }

    /// Reads up to `target.count` frames and returns how many; fewer than asked for only at the end of the file.
    package mutating func read(into target: inout MutableSpan<Float>) throws(AudioFileError) -> Int {
        var count = 0
        while count < target.count {
            if used == filled, try !refill() { break }
            count += take(into: &target, from: count)
        }
        return count
    }

    /// Goes back to the first frame. Does nothing on a pipe.
    package mutating func rewind() {
        guard handle.seekable else { return }
        unsafe sf_seek(handle.file, 0, SEEK_SET)
        (used, filled, framesRead, framesGiven) = (0, 0, 0, 0)
        hasEnded = false
        converter?.reset()
    }

    /// True where ``rewind()`` works.
    var canRewind: Bool { handle.seekable }

    /// Reads the next block; false once everything has been given.
    private mutating func refill() throws(AudioFileError) -> Bool {
        used = 0
        filled = 0
        if !hasEnded {
            let file = unsafe handle.file
            let read = unsafe interleaved.withUnsafeMutableBufferPointer { buffer in
                unsafe sf_readf_float(file, buffer.baseAddress, sf_count_t(Self.blockFrames))
            }
            if read <= 0 && handle.hasError { throw .unreadable(path: handle.path, reason: handle.reason) }
            hasEnded = read <= 0
            filled = max(Int(read), 0)
            framesRead += filled
            mixDown()
        }
        guard hasEnded else { return true }
        // The resampler still holds back what it needs the future for; silence stands in for that.
        guard converter != nil, framesGiven < framesWanted else { return false }
        for index in mono.indices { mono[index] = 0 }
        filled = mono.count
        return true
    }

    private var framesWanted: Int { (framesRead * outputRate + handle.sampleRate - 1) / handle.sampleRate }

    private mutating func mixDown() {
        let channels = handle.channels
        let members = mix.members(of: channels)
        for frame in 0..<filled {
            var value: Float = 0
            for channel in members { value += interleaved[frame * channels + channel] }
            value /= Float(members.count)
            mono[frame] = value.isFinite ? value : 0
        }
        if channels > 1 { measure() }
    }

    private mutating func measure() {
        let channels = handle.channels
        for frame in 0..<filled {
            for channel in 0..<channels {
                let value = Double(interleaved[frame * channels + channel])
                if value.isFinite { channelEnergies[channel] += value * value }
            }
            mixEnergy += Double(mono[frame]) * Double(mono[frame])
        }
    }

    /// Moves frames from the block to the target, converted where they must be.
    private mutating func take(into target: inout MutableSpan<Float>, from start: Int) -> Int {
        let room = target.count - start
        guard converter != nil else {
            let count = min(room, filled - used)
            for index in 0..<count { target[start + index] = mono[used + index] }
            used += count
            return count
        }
        let limit = hasEnded ? min(room, framesWanted - framesGiven) : room
        guard limit > 0 else {
            used = filled
            return 0
        }
        let (consumed, produced) = convert(into: &target, from: start, limit: limit)
        used += consumed
        framesGiven += produced
        return produced
    }

    private mutating func convert(
        into target: inout MutableSpan<Float>, from start: Int, limit: Int
    ) -> (consumed: Int, produced: Int) {
        let (first, count) = (used, filled - used)
        let output = unsafe target.withUnsafeMutableBufferPointer { unsafe $0.baseAddress.unsafelyUnwrapped + start }
        let input = unsafe mono.withUnsafeBufferPointer { unsafe $0.baseAddress.unsafelyUnwrapped + first }
        // Both stay where they are: the span is the caller's memory, and nothing appends to the array.
        let (consumed, produced) = unsafe converter?.process(input, count, output, limit) ?? (count, 0)
        // Of the largest finite numbers a filter makes what is none.
        for index in start..<start + produced where !target[index].isFinite { target[index] = 0 }
        return (consumed, produced)
    }
}
