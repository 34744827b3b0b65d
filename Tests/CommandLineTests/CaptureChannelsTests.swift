import ArgumentParser
import Testing
import VoiceEngine

@testable import duplex

@Suite("The inputs of an interface that are the microphone")
struct CaptureChannelsTests {
    @Test("are counted from 1, as interfaces number them")
    func argument() {
        #expect(ChannelMix(argument: "3") == .channel(2))
        #expect(ChannelMix(argument: "3-4") == .channels(2...3))
        #expect(ChannelMix(argument: "256") == .channel(255))
        #expect(ChannelMix(argument: "all") == .average)
        for wrong in ["", "0", "x", "-", "3-", "-3", "4-3", "1-2-3", "257", "0-1", "99999999999999999999"] {
            #expect(ChannelMix(argument: wrong) == nil, "\(wrong)")
        }
    }

    @Test("are those of the card that a call or a talk opens; without the option the first two")
    func commands() throws {
        func channels(_ configuration: EngineConfiguration) -> ChannelMix? {
            if case .alsa(let card) = configuration.device { card.captureChannels } else { nil }
        }
        let call = ["--server", "udp://127.0.0.1:1", "--token", "t"]
        let cases: [([String], ChannelMix)] = [(["--capture-channels", "3-4"], .channels(2...3)), ([], .firstTwo)]
        for (option, mix) in cases {
            #expect(channels(try Call.parse(call + option).engineConfiguration(files: nil)) == mix)
            #expect(channels(try Talk.parse(["--offline"] + option).engineConfiguration(files: nil)) == mix)
        }
    }
}
