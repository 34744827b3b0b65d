/// A whole sound file in memory: mono Float32 at 48 kHz, or at the rate that was asked for, whatever it was before.
package struct AudioFile: Equatable, Sendable {
    /// The sound, mono, at the rate asked for when it was read; full scale +-1.
    package var samples: [Float]
    /// Frames per second in the file.
    package var sampleRate: Int
    /// Channels in the file.
    package var channels: Int

    /// How far the mix of the file's channels lies below the loudest of them, dB: what is lost because they cancel each
    /// other. Nil for one channel.
    package var mixLossDecibels: Double?

    /// The sample rates that can be read and written. Half the telephone's, below which nothing is speech, so that a
    /// small file cannot ask for a large memory at 48 kHz; up to what the fastest converters take.
    package static let sampleRates = 4_000...768_000
    /// The most channels of a file: an ambisonic recording of the seventh order; larger arrays are rare and their mix
    /// is no voice.
    package static let maximumChannels = 64
    /// The longest sound that ``read(_:convertedTo:channels:longest:)`` takes into memory: 2.8 GB at 48 kHz.
    /// ``AudioFileReader`` has no such limit.
    package static let longest = Duration.seconds(4 * 3_600)

    /// A sound of `sampleRate` Hz and `channels` channels that has been brought to 48 kHz mono.
    package init(samples: [Float], sampleRate: Int, channels: Int) {
        self.samples = samples
        self.sampleRate = sampleRate
        self.channels = channels
        mixLossDecibels = nil
    }

    /// Reads all of the file at `path`: WAV, FLAC and whatever else libsndfile knows. Blocks.
    ///
    /// `convertedTo` is the rate of ``samples``; nil keeps the file's own. What lasts longer than `longest`, in whole
    /// seconds, is refused.
    package static func read(
        _ path: String, convertedTo rate: Int? = 48_000, channels: ChannelMix = .average,
        longest: Duration = Self.longest
    ) throws(AudioFileError) -> AudioFile {
        var reader = try AudioFileReader(path, convertedTo: rate, channels: channels)
        let limit = Int(longest.components.seconds) * (rate ?? reader.sampleRate)
        if let frames = reader.declaredFrames, frames / reader.sampleRate >= longest.components.seconds {
            throw .tooLong(path: path)
        }
        var samples: [Float] = []
        var block = [Float](repeating: 0, count: 16_384)
        while true {
            var room = block.mutableSpan
            let count = try reader.read(into: &room)
            if count == 0 { break }
            // What a file says of its length need not be true.
            guard samples.count + count <= limit else { throw .tooLong(path: path) }
            samples.append(contentsOf: block[..<count])
        }
        var file = AudioFile(samples: samples, sampleRate: reader.sampleRate, channels: reader.channels)
        file.mixLossDecibels = reader.mixLossDecibels
        return file
    }

    /// Writes mono `samples` of `sampleRate` Hz to a WAV file at `path`. Blocks.
    package static func write(
        _ samples: [Float], to path: String, sampleRate: Int = 48_000, encoding: AudioFileEncoding = .int16
    ) throws(AudioFileError) {
        var writer = try AudioFileWriter(path, sampleRate: sampleRate, encoding: encoding)
        try writer.write(samples.span)
        try writer.close()
    }
}

/// How samples are written to a WAV file.
public enum AudioFileEncoding: String, Equatable, Sendable {
    /// 16-bit integers, limited to full scale.
    case int16
    /// 32-bit IEEE floats.
    case float32
}
