internal import VoiceDevices

/// Writes a WAV file, which begins with the first sound that is recorded: until then it is not known what is read, and
/// what was at its path stays.
final class WaveSinkNode: DrainingNode {
    private enum Action: Int { case start, stop }

    private let setup: NodeSetup
    private let sound: SideSound
    private let path: String
    private var writer: AudioFileWriter?
    /// The file has begun, or could not.
    private var hasBegun = false
    private var isRecording: Bool

    init(_ setup: NodeSetup) throws(GraphError) {
        self.setup = setup
        sound = try SideSound(setup.settings)
        path = Self.path(setup.settings, in: setup.environment)
        isRecording = setup.settings.bool("isRecording")
    }

    /// Where a node writes.
    static func path(_ settings: NodeSettings, in environment: GraphEnvironment) -> String {
        "\(environment.folder)/\(settings.text("path"))"
    }

    func process(_ input: borrowing GraphInput, into output: inout GraphOutput) {
        if isRecording { sound.write(input.sound()) }
    }

    func perform(_ action: Int, _ call: GraphCall) { isRecording = Action(rawValue: action) == .start }

    nonisolated(nonsending) func prepare() async throws(GraphError) {
        do throws(AudioFileError) {
            try AudioFileWriter.check(path)
        } catch {
            throw GraphError(node: setup.settings.id, field: "path", "\(error)")
        }
    }

    nonisolated(nonsending) func drain(waits: Bool) async {
        sound.read { piece in
            begin()
            do throws(AudioFileError) { try writer?.write(piece.span) } catch { fail(error) }
        }
    }

    private func begin() {
        guard !hasBegun else { return }
        hasBegun = true
        do throws(AudioFileError) {
            writer = try AudioFileWriter(path, sampleRate: setup.settings.sampleRate)
        } catch {
            fail(error)
        }
    }

    nonisolated(nonsending) func finish() async {
        await drain(waits: true)
        guard let whole = writer.take() else { return }
        let frames = whole.frames
        do throws(AudioFileError) {
            try whole.close()
            setup.tell("finished", ["path": .text(path), "frames": .integer(frames)], [])
        } catch {
            fail(error)
        }
    }

    private func fail(_ error: AudioFileError) {
        writer = nil
        setup.tell("failed", ["message": .text("\(error)")], [])
    }
}
