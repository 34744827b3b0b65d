import Foundation
import Synchronization
import Testing
import VoiceRealtime
import VoiceSimulation
import VoiceWire

@testable import VoiceDevices
@testable import VoiceEngine

@Suite("A call outlives its devices, in virtual time")
struct DeviceRouteTests {
    private static let usb = "hw:CARD=USB"

    private func card(_ change: (inout CardBench.Card) -> Void = { _ in }) -> CardBench.Card {
        var card = CardBench.Card()
        change(&card)
        return card
    }

    @Test("a pinned card that is pulled out is told of, is silent meanwhile, and is opened again when it is back")
    func pinned() throws {
        let rig = try RouteRig([Self.usb: card()], .alsa(ALSADeviceConfiguration(Self.usb)))
        rig.run(.seconds(4))
        let delayBefore = try #require(rig.playoutDelay(over: .seconds(1)))
        let pullBefore = try #require(rig.statistics.latency.pullToSpeaker)
        #expect(rig.takeRouteEvents().isEmpty)
        let sentBefore = rig.packetsSent

        // When it is pulled out for 5.05 s
        rig.bench.unplug(Self.usb)
        rig.run(.milliseconds(50))
        let losses = rig.takeRouteEvents()
        #expect(
            losses == [
                .lost(
                    DeviceLoss(
                        name: Self.usb, directions: [.capture, .playback], reason: .disconnected(name: Self.usb),
                        policy: .pinned))
            ])
        #expect(rig.core.route.playback?.format == nil)
        let before = rig.core.counters.counts
        rig.run(.seconds(5))
        // Then the pace is kept, in silence, and the far end goes on getting packets
        let after = rig.core.counters.counts
        #expect(abs(after.capture.frames - before.capture.frames - 240_000) <= 2_400)
        #expect(abs(after.playback.frames - before.playback.frames - 240_000) <= 2_400)
        #expect(rig.statistics.uplink.inputLevel < -100)
        #expect(abs(rig.packetsSent - sentBefore - 252) <= 4)
        #expect(rig.takeRouteEvents().isEmpty)
        // One stand-in all the time: looking for the card does not disturb it
        #expect((4...8).contains(rig.bench[Self.usb].probes), "\(rig.bench[Self.usb].probes)")
        #expect(rig.bench[Self.usb].attempts == 1)
        #expect(rig.bench.standIns == 1)

        // When it is plugged in again
        rig.bench.plug(Self.usb)
        rig.core.noteArrival()
        rig.run(.milliseconds(20))
        // Then it is open at once
        let events = rig.takeRouteEvents()
        guard case .changed(let route, .reopened, _) = events.first, events.count == 1 else {
            Issue.record("\(events)")
            return
        }
        #expect(route.capture?.name == Self.usb && route.playback?.name == Self.usb)
        #expect(route.playback?.format?.active.periodFrames == 240)
        #expect(rig.core.route == route)
        #expect(rig.hearsTalker())
        rig.run(.seconds(4))
        // And after that nothing is later than it was
        let delayAfter = try #require(rig.playoutDelay(over: .seconds(1)))
        #expect(delayAfter < delayBefore + 5, "\(delayBefore) ms before, \(delayAfter) ms after")
        let pullAfter = try #require(rig.statistics.latency.pullToSpeaker)
        #expect(pullAfter < pullBefore + .milliseconds(3), "\(pullBefore) before, \(pullAfter) after")
        #expect(rig.statistics.uplink.captureOverflowFrames == 0)
        #expect(rig.core.counters.counts.playback.overflowFrames == 0)
    }

    @Test("without news of its arrival a pinned card is found within 2 s")
    func polling() throws {
        let rig = try RouteRig([Self.usb: card()], .alsa(ALSADeviceConfiguration(Self.usb)))
        rig.run(.seconds(1))
        rig.bench.unplug(Self.usb)
        rig.run(.seconds(10))
        rig.bench.plug(Self.usb)
        rig.run(.milliseconds(2_050))
        #expect(rig.core.route.playback?.format != nil)
    }

    @Test("the canceller's reference is re-timed, and stays on time after")
    func reference() throws {
        let rig = try RouteRig([Self.usb: card { $0.hasEcho = true }], .alsa(ALSADeviceConfiguration(Self.usb))) {
            $0.backend = .webRTC
        }
        rig.run(.seconds(3))
        _ = rig.takeEngineEvents()
        let removedBefore = try #require(rig.statistics.uplink.echoReturnLossEnhancement)
        rig.bench.unplug(Self.usb)
        rig.run(.milliseconds(1_234))
        rig.bench.plug(Self.usb)
        rig.core.noteArrival()
        rig.run(.seconds(6))
        let retimings = rig.takeEngineEvents().count { if case .referenceRetimed = $0 { true } else { false } }
        #expect(retimings >= 1)
        let alignment = try #require(rig.statistics.uplink.alignment)
        #expect(abs(alignment.timingError) < 48, "1 ms at most, not \(alignment.timingError / 48) ms")
        #expect(alignment.confidence > 0.8)
        let removedAfter = try #require(rig.statistics.uplink.echoReturnLossEnhancement)
        #expect(removedAfter > removedBefore - 6, "\(removedBefore) dB before, \(removedAfter) dB after")
    }

    @Test("where the default is followed, the sound is there at once, with that card's period and without a gap after")
    func followDefault() throws {
        let cards = [Self.usb: card(), "onboard": card { $0.periodFrames = 1_024 }]
        let rig = try RouteRig(cards, .alsa(ALSADeviceConfiguration(Self.usb)), policy: .followDefault)
        rig.run(.seconds(2))
        rig.bench.unplug(Self.usb)
        rig.run(.milliseconds(5))
        let events = rig.takeRouteEvents()
        guard case .lost(let loss)? = events.first, case .changed(let route, .movedToDefault, _)? = events.last else {
            Issue.record("\(events)")
            return
        }
        #expect(events.count == 2)
        #expect(loss.policy == .followDefault)
        #expect(route.playback?.name == "default")
        #expect(route.playback?.format?.active.periodFrames == 1_024)
        rig.run(.seconds(1))
        let underruns = rig.core.counters.counts.playback.underrunFrames
        rig.run(.seconds(3))
        #expect(rig.core.counters.counts.playback.underrunFrames == underruns, "the ring is kept full enough")
        // And it stays there when the old card is back
        rig.bench.plug(Self.usb)
        rig.core.noteArrival()
        rig.run(.seconds(3))
        #expect(rig.takeRouteEvents().isEmpty)
        #expect(rig.bench[Self.usb].openings == 1)
    }

    @Test("who loses the microphone behind a sound server goes on hearing the others, and is heard when it is back")
    func lostMicrophone() throws {
        let rig = try RouteRig(["onboard": card()], .systemDefault, isServed: true)
        rig.run(.seconds(2))
        rig.bench.unplugMicrophone(of: "onboard")
        rig.run(.milliseconds(50))
        let events = rig.takeRouteEvents()
        guard case .lost(let loss)? = events.first, events.count == 1 else {
            Issue.record("\(events)")
            return
        }
        #expect(loss.directions == [.capture])
        #expect(rig.core.route.playback?.format != nil && rig.core.route.capture?.format == nil)
        let before = rig.core.counters.counts.playback
        rig.run(.seconds(3))
        let after = rig.core.counters.counts.playback
        #expect(abs(after.frames - before.frames - 144_000) <= 2_400)
        #expect(after.restarts == before.restarts)
        // When it is there again
        rig.bench["onboard"].hasMicrophone = true
        rig.core.noteArrival()
        rig.run(.milliseconds(50))
        #expect(rig.core.route.capture?.format != nil)
        #expect(rig.hearsTalker())
    }

    @Test("the default is waited for where there is none, and followed when it means another card")
    func defaultArrives() throws {
        let cards = ["onboard": card(), "dock": card()]
        let rig = try RouteRig(cards, .systemDefault)
        rig.run(.seconds(3))
        rig.bench.unplug("onboard")
        rig.run(.seconds(1))
        #expect(rig.takeRouteEvents().count == 1)
        #expect(rig.core.route.capture?.format == nil)
        // When there is a default again
        rig.bench.standard = "dock"
        rig.core.noteArrival()
        rig.run(.milliseconds(10))
        guard case .changed(let route, .reopened, _)? = rig.takeRouteEvents().first else {
            Issue.record("the default was not opened")
            return
        }
        #expect(route.capture?.format != nil)
        // And when it is another one, while the present one still runs
        rig.bench.plug("onboard")
        rig.bench.standard = "onboard"
        rig.core.noteDefaultChange()
        rig.run(.milliseconds(10))
        #expect(rig.bench["onboard"].openings == 2)
        #expect(rig.takeRouteEvents().count == 1)
        rig.run(.seconds(1))
        #expect(rig.hearsTalker())
    }

    @Test("a default that is chosen later is followed from then on, and no longer than it is chosen")
    func defaultChosenLater() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "asound-\(UUID().uuidString)").path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        func setMeaning(_ type: String) throws {
            try "pcm.default { type \(type) }".write(toFile: path, atomically: true, encoding: .utf8)
        }
        try setMeaning("pipewire")
        let rig = try RouteRig(
            [Self.usb: card(), "onboard": card(), "dock": card()], .alsa(ALSADeviceConfiguration(Self.usb)))
        var lookout = RouteLookout(rig.core) { DefaultCard(files: path) }
        lookout.look()
        // Given a pinned card that was given up for the default
        try rig.select(capture: "default", playback: "default")
        lookout.look()
        rig.run(.seconds(1))
        #expect(rig.bench["onboard"].openings == 1)
        _ = rig.takeRouteEvents()
        // When that means another card
        rig.bench.standard = "dock"
        try setMeaning("jack")
        lookout.look()
        rig.run(.milliseconds(10))
        // Then the sound has gone there
        #expect(rig.bench["dock"].openings == 1)
        #expect(rig.takeRouteEvents().count == 1)
        // And a card that is chosen by its name stays
        try rig.select(capture: Self.usb, playback: Self.usb)
        lookout.look()
        rig.bench.standard = "onboard"
        try setMeaning("pulse")
        lookout.look()
        rig.run(.seconds(1))
        #expect(rig.bench["onboard"].openings == 1)
    }

    @Test("a microphone that is lost leaves the loudspeaker alone, and the other way round")
    func twoCards() throws {
        let cards = ["hw:CARD=Mic": card(), "hw:CARD=Speakers": card { $0.hasTalker = false }]
        let choice = DeviceChoice.alsa(ALSADeviceConfiguration(capture: "hw:CARD=Mic", playback: "hw:CARD=Speakers"))
        for (lost, direction) in [("hw:CARD=Mic", DeviceDirection.capture), ("hw:CARD=Speakers", .playback)] {
            let rig = try RouteRig(cards, choice)
            let formats = rig.core.formats
            #expect(formats.capture != nil && formats.playback != nil)
            rig.run(.seconds(2))
            let underruns = rig.core.counters.counts.playback.underrunFrames
            rig.bench.unplug(lost)
            rig.run(.seconds(3))
            guard case .lost(let loss)? = rig.takeRouteEvents().first else {
                Issue.record("the loss of \(lost) was not told")
                return
            }
            #expect(loss.name == lost && loss.directions == [direction])
            let route = rig.core.route
            #expect((route.capture?.format == nil) == (direction == .capture))
            #expect((route.playback?.format == nil) == (direction == .playback))
            let other = direction == .capture ? "hw:CARD=Speakers" : "hw:CARD=Mic"
            #expect(rig.bench[other].openings == 1)
            if direction == .capture {
                #expect(rig.core.counters.counts.playback.underrunFrames == underruns)
                #expect(rig.statistics.uplink.inputLevel < -100)
            } else {
                #expect(rig.hearsTalker())
            }
            rig.bench.plug(lost)
            rig.core.noteArrival()
            rig.run(.seconds(1))
            #expect(rig.core.route.capture?.format != nil && rig.core.route.playback?.format != nil)
            #expect(rig.hearsTalker())
        }
    }

    @Test("a card that comes back with another period tells so, and is played without a gap")
    func anotherFormat() throws {
        let rig = try RouteRig([Self.usb: card()], .alsa(ALSADeviceConfiguration(Self.usb)))
        rig.run(.seconds(1))
        rig.bench.unplug(Self.usb)
        rig.run(.milliseconds(100))
        rig.bench[Self.usb].periodFrames = 960
        rig.bench.plug(Self.usb)
        rig.run(.seconds(2))
        guard case .changed(let route, .reopened, _)? = rig.takeRouteEvents().last else {
            Issue.record("it was not opened again")
            return
        }
        #expect(route.playback?.format?.active.periodFrames == 960)
        let underruns = rig.core.counters.counts.playback.underrunFrames
        rig.run(.seconds(3))
        #expect(rig.core.counters.counts.playback.underrunFrames == underruns)
    }

    @Test("a card that comes back with a period that the rings cannot serve is not taken, and let go")
    func impossibleFormat() throws {
        let rig = try RouteRig([Self.usb: card()], .alsa(ALSADeviceConfiguration(Self.usb)))
        rig.run(.seconds(1))
        rig.bench.unplug(Self.usb)
        rig.bench[Self.usb].periodFrames = 16_000
        rig.bench.plug(Self.usb)
        rig.run(.seconds(2))
        #expect(rig.core.route.playback?.format == nil)
        rig.bench[Self.usb].periodFrames = 240
        rig.run(.milliseconds(2_050))
        #expect(rig.core.route.playback?.format != nil)
    }

    @Test("a card that is pulled out and plugged in thirty times leaves nothing behind")
    func manyTimes() throws {
        let rig = try RouteRig([Self.usb: card()], .alsa(ALSADeviceConfiguration(Self.usb))) {
            $0.processing = .bypass
        }
        rig.run(.seconds(3))
        let before = try #require(rig.playoutDelay(over: .seconds(1)))
        var generator = SeededGenerator(seed: 3)
        for round in 0..<30 {
            rig.bench.unplug(Self.usb)
            rig.run(.milliseconds(Int(generator.uniform(in: 1...150))))
            rig.bench.plug(Self.usb)
            rig.core.noteArrival()
            rig.run(.milliseconds(Int(generator.uniform(in: 50...400))))
            #expect(rig.core.route.playback?.format != nil, "round \(round)")
        }
        #expect(rig.takeRouteEvents().count == 60)
        // Then there is no more delay than so many disturbances make the jitter buffer careful of, for a minute: each
        // shifts the pulls by up to a period or two, and none of the seconds that the card was away is left
        rig.run(.seconds(10))
        let after = try #require(rig.playoutDelay(over: .seconds(1)))
        #expect(after < before + 12, "\(before) ms before, \(after) ms after")
    }

    @Test("nobody gets the ports of a thread that hangs, until it has ended")
    func hangingDriver() throws {
        let rig = try RouteRig([Self.usb: card()], .alsa(ALSADeviceConfiguration(Self.usb)))
        rig.run(.seconds(4))
        let before = try #require(rig.playoutDelay(over: .seconds(1)))
        rig.bench.unplug(Self.usb)
        rig.bench[Self.usb].hangs = true
        rig.bench.plug(Self.usb)
        rig.run(.seconds(1))
        rig.bench[Self.usb].hangs = false
        let openings = rig.bench[Self.usb].openings
        rig.run(.seconds(10))
        #expect(rig.bench[Self.usb].openings == openings, "it cannot even be asked without ports")
        #expect(rig.core.route.playback?.format == nil)
        // When the thread ends
        rig.bench.releaseHostages()
        rig.run(.milliseconds(2_050))
        #expect(rig.core.route.playback?.format != nil)
        #expect(rig.hearsTalker())
        // Then what came in the 11 s is not heard late
        rig.run(.seconds(15))
        let after = try #require(rig.playoutDelay(over: .seconds(1)))
        #expect(after < before + 1, "\(before) ms before, \(after) ms after")
    }

    @Test("where the policy is fixed, the loss is told and nothing is opened")
    func fixed() throws {
        let rig = try RouteRig([Self.usb: card()], .alsa(ALSADeviceConfiguration(Self.usb)), policy: .fixed)
        rig.run(.seconds(1))
        rig.bench.unplug(Self.usb)
        rig.run(.seconds(1))
        rig.bench.plug(Self.usb)
        rig.core.noteArrival()
        rig.run(.seconds(5))
        #expect(rig.takeRouteEvents().count == 1)
        #expect(rig.bench[Self.usb].openings == 1)
    }

    @Test("the canceller goes with the kind of loudspeaker that is moved to, and with what the client says of it")
    func profiles() throws {
        let cards = [Self.usb: card { $0.description = "Logitech USB Headset" }, "onboard": card()]
        let rig = try RouteRig(cards, .alsa(ALSADeviceConfiguration(Self.usb)), policy: .followDefault) {
            $0.backend = .webRTC
        }
        rig.run(.seconds(1))
        func echo() -> ProcessingSettings.EchoSuppression { rig.statistics.uplink.processing.echo }
        #expect(rig.core.route.likelyProfile == .headset)
        #expect(echo() == .off)
        // When the headset is pulled out, the canceller is needed
        rig.bench.unplug(Self.usb)
        rig.run(.seconds(1))
        #expect(rig.core.route.likelyProfile == .speaker)
        // WebRTC's module takes auto for that.
        #expect(ProcessingSettings.voiceChat.echo == .auto)
        #expect(echo() == .medium)
        // And what the client says outweighs the name
        try rig.core.setProfile(.headset)
        rig.run(.milliseconds(200))
        #expect(echo() == .off)
        try rig.core.setProcessing(.voiceAgent)
        rig.run(.milliseconds(200))
        #expect(echo() == .off)
        #expect(rig.statistics.uplink.processing.noise == ProcessingSettings.voiceAgent.noise)
        try rig.core.setProfile(.automatic)
        rig.run(.milliseconds(200))
        #expect(rig.statistics.uplink.processing == .voiceAgent)
    }
}
