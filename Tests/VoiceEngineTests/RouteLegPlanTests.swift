import Testing
import VoiceDevices

@testable import VoiceEngine

@Suite("What a route consists of")
struct RouteLegPlanTests {
    private func plans(_ capture: String?, _ playback: String?, _ policy: RoutePolicy? = nil) -> [RouteLegPlan] {
        RouteLegPlan.legs(of: .alsa(ALSADeviceConfiguration(capture: capture, playback: playback)), policy: policy)
    }

    @Test("one card is one leg; two names are two, each with its own direction")
    func legs() {
        #expect(plans("hw:1", "hw:1").map(\.directions) == [[.capture, .playback]])
        let two = plans("hw:1", "hw:2")
        #expect(two.map(\.name) == ["hw:2", "hw:1"])
        #expect(two.map(\.directions) == [[.playback], [.capture]])
        #expect(two.map(\.card.captureName) == [nil, "hw:1"])
        #expect(two.map(\.card.playbackName) == ["hw:2", nil])
        #expect(plans(nil, "hw:2").map(\.directions) == [[.playback]])
        #expect(plans("hw:1", nil).map(\.directions) == [[.capture]])
    }

    @Test("behind a sound server microphone and loudspeaker are two, though they have one name")
    func served() {
        let served = RouteLegPlan.legs(of: .systemDefault, policy: nil) { $0 == "default" }
        #expect(served.map(\.directions) == [[.playback], [.capture]])
        #expect(served.map(\.name) == ["default", "default"])
        #expect(served.map(\.policy) == [.followDefault, .followDefault])
        let other = RouteLegPlan.legs(of: .alsa(ALSADeviceConfiguration("hw:1")), policy: nil) { $0 == "default" }
        #expect(other.map(\.directions) == [[.capture, .playback]])
    }

    @Test("the default is followed, a card that was named is waited for, and the client's own device is left alone")
    func policies() throws {
        #expect(RouteLegPlan.legs(of: .systemDefault, policy: nil).map(\.policy) == [.followDefault])
        #expect(plans("default", "default").map(\.policy) == [.followDefault])
        #expect(plans("hw:1", "hw:1").map(\.policy) == [.pinned])
        #expect(plans("default", "hw:2").map(\.policy) == [.pinned, .followDefault])
        let custom = DeviceChoice.custom(ClientDevice())
        #expect(RouteLegPlan.legs(of: custom, policy: nil).map(\.policy) == [.fixed])
        for policy in RoutePolicy.allCases {
            #expect(plans("default", "hw:2", policy).allSatisfy { $0.policy == policy })
            #expect(RouteLegPlan.legs(of: custom, policy: policy).map(\.policy) == [policy])
        }
    }

    @Test("the default is opened with what was asked of the card: its directions, periods and priorities")
    func standard() throws {
        var asked = ALSADeviceConfiguration(capture: nil, playback: "hw:2")
        asked.periodFrames = 120
        asked.playbackPriority = 33
        let plan = try #require(RouteLegPlan.legs(of: .alsa(asked), policy: .followDefault).first)
        let environment = RouteEnvironment.machine(priority: 0)
        let device = try #require(plan.make(.systemDefault, environment) as? ALSADevice)
        #expect(device.configuration.captureName == nil)
        #expect(device.configuration.playbackName == "default")
        #expect(device.configuration.periodFrames == 120)
        #expect(device.configuration.playbackPriority == 33)
        let chosen = try #require(plan.make(.chosen, environment) as? ALSADevice)
        #expect(chosen.configuration == asked)
    }

    @Test("chosen channels are those of the card that was named: not of another that takes its place")
    func channels() throws {
        var asked = ALSADeviceConfiguration(capture: "hw:1", playback: "hw:2")
        asked.captureChannels = .channel(2)
        let environment = RouteEnvironment.machine(priority: 0)
        func channels(_ plan: RouteLegPlan, _ target: RouteMachine.Target) throws -> ChannelMix {
            try #require(plan.make(target, environment) as? ALSADevice).configuration.captureChannels
        }
        let plans = RouteLegPlan.legs(of: .alsa(asked), policy: .followDefault)
        #expect(try channels(plans[1], .chosen) == .channel(2))
        #expect(try channels(plans[1], .systemDefault) == .firstTwo)
        // Nor is the loudspeaker disturbed when the microphone goes over to another card
        let other = try DeviceSelection(capture: "hw:3", playback: nil).applied(to: .alsa(asked))
        let plansOfOther = RouteLegPlan.legs(of: other, policy: .followDefault)
        #expect(plansOfOther[0].isSame(as: plans[0]))
        #expect(try channels(plansOfOther[1], .chosen) == .firstTwo)
        // And what is selected again stays as it is
        let same = try DeviceSelection(capture: "hw:1", playback: nil).applied(to: .alsa(asked))
        #expect(RouteLegPlan.legs(of: same, policy: .followDefault)[1].isSame(as: plans[1]))
    }
}
