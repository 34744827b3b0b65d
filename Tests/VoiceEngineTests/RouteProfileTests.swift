import Testing

@testable import VoiceEngine

@Suite("Headset or loudspeaker")
struct RouteProfileTests {
    @Test(
        "names of headsets are known, and those of loudspeakers among them",
        arguments: [
            ("hw:CARD=Headset,DEV=0", "", RouteProfile.headset),
            ("plughw:1,0", "Plantronics Blackwire 3220, USB Audio", .speaker),
            ("hw:CARD=Audio", "Sennheiser USB headset, USB Audio", .headset),
            ("default", "HDA Intel PCH, ALC257 Analog", .speaker),
            ("bluez:DEV=00_11_22,PROFILE=sco", "", .headset), ("bluealsa:PROFILE=sco", "", .headset),
            ("bluealsa:PROFILE=a2dp", "JBL Bluetooth Speaker", .speaker),
            ("hw:2,0", "Jabra Hands-Free Speakerphone", .speaker), ("hw:2,0", "AirPods Pro", .headset),
            ("custom", "", .speaker), ("", "", .speaker),
        ] as [(String, String, RouteProfile)])
    func guesses(name: String, description: String, expected: RouteProfile) {
        #expect(RouteProfile.guess(name, description) == expected)
    }

    @Test("a headset has no canceller, whatever the settings; everything else stays")
    func headset() {
        for settings in [ProcessingSettings.voiceAgent, .voiceChat, .headset, .bypass] {
            for (profile, guess) in [(RouteProfile.headset, RouteProfile.speaker), (.automatic, .headset)] {
                var expected = settings
                expected.echo = .off
                #expect(profile.applied(to: settings, guessed: guess) == expected)
            }
        }
    }

    @Test("a loudspeaker that the client speaks of gets a canceller; one that is guessed, only what was asked for")
    func speaker() {
        for guess in [RouteProfile.headset, .speaker] {
            #expect(RouteProfile.speaker.applied(to: .voiceAgent, guessed: guess) == .voiceAgent)
            #expect(
                RouteProfile.speaker.applied(to: .headset, guessed: guess).echo == ProcessingSettings.voiceChat.echo)
        }
        for settings in [ProcessingSettings.voiceAgent, .voiceChat, .headset, .bypass] {
            #expect(RouteProfile.automatic.applied(to: settings, guessed: .speaker) == settings)
        }
    }
}
