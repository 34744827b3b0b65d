import Foundation
import Testing

@testable import VoiceDevices
@testable import duplex

@Suite("Devices that are listed and watched")
struct DevicesTests {

    @Test("who holds a device is told")
    func holders() {
        let usable = ALSADeviceDescription.State.available(
            sampleRates: 44_100...48_000, channels: 2...2, periodFrames: 32...2_000_000)
        let device = ALSADeviceDescription(
            name: "hw:CARD=PCH", description: "d", capture: .busy, playback: usable,
            captureHolders: [ALSADeviceHolder(processID: 77, command: "arecord")],
            playbackHolders: [ALSADeviceHolder(processID: 78, command: "")])
        #expect(device.captureText == "busy, held by arecord (pid 77)")
        #expect(device.playbackText == "44100-48000 Hz, 2 ch, period 32 and more, held by a process (pid 78)")
        let holders = DeviceLine(device).capture?.holders
        #expect(holders?.map(\.processID) == [77] && holders?.map(\.command) == ["arecord"])
    }

    @Test("a device that was listed as it arrived is not told again")
    func tally() {
        var tally = DeviceTally(["a"])
        let arrival = ALSADeviceDescription(name: "a", description: "", capture: nil, playback: nil)
        let told = [
            tally.note(.arrived(arrival)), tally.note(.departed(name: "a")), tally.note(.departed(name: "a")),
            tally.note(.arrived(arrival)),
        ]
        #expect(told == [false, true, false, true])
        #expect(tally.arrivals == 1 && tally.departures == 1 && tally.present == ["a"])
    }
}
