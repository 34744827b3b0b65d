import Testing
import VoiceProcessing

@testable import VoiceEngine

@Suite("Commands on their way to the media thread")
struct MediaCommandTests {
    @inline(never)
    private func settings(in command: MediaCommand) -> ProcessingSettings? {
        if case .setProcessing(let settings) = command { settings } else { nil }
    }

    @Test("settings arrive as such, whichever they are: optimised code once lost what the command was")
    func settings() {
        for round in 0..<100 {
            // Other commands before, whose bits may be left in registers
            let others = [MediaCommand.setVolume(gain: .infinity, synchronizationSource: .max), .changeCapture]
            for other in others { #expect(settings(in: other) == nil) }
            let command = MediaCommand.setProcessing(round % 2 == 0 ? .voiceAgent : .headset)
            #expect(settings(in: command) == (round % 2 == 0 ? .voiceAgent : .headset))
        }
    }

    @Test("the tag shares no register with a payload")
    func layout() {
        #expect((MemoryLayout<MediaCommand>.size - 1) % MemoryLayout<UInt64>.size == 0)
        #expect(MemoryLayout<ProcessingSettings>.size <= MemoryLayout<RTPStreamStart>.size, "then pad that one as well")
        #expect(MemoryLayout<FarEndHandle>.size <= MemoryLayout<RTPStreamStart>.size, "then pad that one as well")
        #expect(MemoryLayout<AnswerWatchOrder>.size <= MemoryLayout<RTPStreamStart>.size, "then pad that one as well")
    }
}
