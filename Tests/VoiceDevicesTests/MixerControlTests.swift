import Testing

@testable import VoiceDevices

@Suite struct MixerControlTests {
    struct Card: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var controls: [MixerControl]
        var playback: [String] = []
        var capture: [String] = []
    }

    static let cards: [Card] = [
        Card(testDescription: "no controls at all", controls: []),
        Card(
            testDescription: "an Intel HDA card as the kernel leaves it",
            controls: [
                MixerControl("Master", .playback, isMuted: true), MixerControl("PCM", .playback),
                MixerControl("Capture", .capture, isMuted: true, isAtMinimum: true),
            ], playback: ["Master"], capture: ["Capture"]),
        Card(
            testDescription: "headphones in, loudspeaker off",
            controls: [
                MixerControl("Master", .playback), MixerControl("Speaker", .playback, isMuted: true),
                MixerControl("Headphone", .playback),
            ]),
        Card(
            testDescription: "every connector off",
            controls: [
                MixerControl("Master", .playback), MixerControl("Speaker", .playback, isMuted: true),
                MixerControl("Headphone", .playback, isAtMinimum: true),
            ], playback: ["Speaker", "Headphone"]),
        Card(
            testDescription: "the microphone's monitoring off, which silences nothing",
            controls: [MixerControl("Mic", .playback, isMuted: true), MixerControl("Beep", .playback, isMuted: true)]),
        Card(
            testDescription: "a laptop's digital microphone off, and nothing in its socket",
            controls: [
                MixerControl("Dmic0", .capture, isMuted: true), MixerControl("Headset Mic", .capture, isMuted: true),
            ], capture: ["Dmic0", "Headset Mic"]),
        Card(
            testDescription: "one of two microphones on",
            controls: [MixerControl("Front Mic", .capture, isMuted: true), MixerControl("Rear Mic", .capture)]),
    ]

    @Test(
        "Given a card's controls, when asked what keeps it silent, then only what all sound passes is named",
        arguments: cards)
    func silencing(card: Card) {
        #expect(MixerControl.silencing(card.controls, .playback).map(\.name) == card.playback)
        #expect(MixerControl.silencing(card.controls, .capture).map(\.name) == card.capture)
    }

    @Test("Given no such card, when its mixer is read, then there is none")
    func missing() {
        #expect(ALSAMixer.controls(ofCard: "NoSuchCard") == nil)
        #expect(ALSADevice.silencingControls(of: "hw:CARD=NoSuchCard,DEV=0", .playback) == nil)
        #expect(ALSADevice.silencingControls(of: "pipewire", .playback) == nil)
    }
}
