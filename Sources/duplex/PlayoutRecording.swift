import CSndFile

/// A mono 16-bit WAV file at 48 kHz, written block by block through libsndfile.
@safe final class PlayoutRecording {
    private let path: String
    private var file: OpaquePointer?

    /// - Throws: ``PlayoutFailure`` when the file cannot be made.
    init(path: String) throws(PlayoutFailure) {
        self.path = path
        var format = SF_INFO()
        format.samplerate = 48_000
        format.channels = 1
        format.format = Int32(SF_FORMAT_WAV | SF_FORMAT_PCM_16)
        unsafe file = sf_open(path, Int32(SFM_WRITE), &format)
        guard unsafe file != nil else {
            let reason = unsafe String(cString: sf_strerror(nil))
            throw .output(
                "\(path): cannot be written (\(reason)); choose a folder that exists and is yours to write in.")
        }
        _ = unsafe sf_command(file, Int32(SFC_SET_CLIPPING), nil, Int32(SF_TRUE))
    }

    deinit {
        if let file = unsafe file { _ = unsafe sf_close(file) }
    }

    /// Appends a block, full scale ±1, clipped.
    ///
    /// - Throws: ``PlayoutFailure`` when the disk takes no more.
    func write(_ block: Span<Float>) throws(PlayoutFailure) {
        let file = unsafe file
        let written = unsafe block.withUnsafeBufferPointer { block in
            unsafe sf_write_float(file, block.baseAddress, Int64(block.count))
        }
        guard written == block.count else { throw refused() }
    }

    /// Completes the file.
    ///
    /// - Throws: ``PlayoutFailure`` when the disk takes no more.
    func close() throws(PlayoutFailure) {
        guard let open = unsafe file else { return }
        unsafe sf_write_sync(open)
        let failure = unsafe sf_error(open) != 0 ? refused() : nil
        unsafe file = nil
        let closed = unsafe sf_close(open)
        if let failure { throw failure }
        guard closed == 0 else {
            throw .output("\(path): could not be completed (code \(closed)); free some space and run again.")
        }
    }

    private func refused() -> PlayoutFailure {
        let reason = unsafe String(cString: sf_strerror(file))
        return .output("\(path): could not be written to the end (\(reason)); free some space and run again.")
    }
}
