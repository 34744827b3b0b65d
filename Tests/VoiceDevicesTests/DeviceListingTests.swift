import Testing

@testable import VoiceDevices

#if canImport(Glibc)
    import Glibc
#endif

@Suite("Who holds a card")
struct DeviceHolderTests {
    @Test(
        "A PCM's name tells of its card",
        arguments: [
            ("hw:0", "0", nil), ("hw:1,3", "1", 3), ("plughw:CARD=PCH,DEV=0", "PCH", 0),
            ("sysdefault:CARD=USB", "USB", nil),
            ("front:CARD=PCH,DEV=10,SUBDEV=2", "PCH", 10), ("hdmi:CARD=HD-Audio_1,DEV=x", "HD-Audio_1", nil),
        ] as [(String, String, Int?)])
    func address(name: String, card: String, device: Int?) throws {
        let address = try #require(ALSACardAddress(pcm: name))
        #expect(address.card == card)
        #expect(address.device == device)
    }

    @Test(
        "A name that tells of no card is left alone",
        arguments: [
            "default", "", ":", "hw:", "plug:'dmix:0'", "plug:{ type hw card 0 }", "hw:../../etc", "file:CARD=a b",
        ])
    func noAddress(name: String) {
        #expect(ALSACardAddress(pcm: name) == nil)
    }

    /// What the kernel writes for a substream that a thread has open.
    private static func open(by thread: Int) -> String {
        "state: RUNNING\nowner_pid   : \(thread)\ntrigger_time: 1.5\ntstamp      : 2.5\ndelay       : 240\n"
    }

    @Test("The kernel's word on substreams becomes the processes that hold them")
    func holders() throws {
        let tree = try FolderTree([
            "asound/card0/pcm0p/sub0/status": Self.open(by: 101),
            "asound/card0/pcm0p/sub1/status": Self.open(by: 102),
            "asound/card0/pcm0c/sub0/status": "closed\n",
            "asound/card0/pcm3p/sub0/status": Self.open(by: 200),
            "asound/card0/pcm3p/info": "card: 0\n",
            "101/status": "Name:\tplayback\nTgid:\t100\nPid:\t101\n",
            "102/status": "Name:\tother\nTgid:\t100\nPid:\t102\n",
            "100/comm": "player\n",
            "200/comm": "mixer\n",
        ])
        try tree.link("asound/PCH", to: "card0")
        let holders = ALSADeviceHolders(processes: tree.path)
        let player = ALSADeviceHolder(processID: 100, command: "player")
        // Two threads of one process are one holder.
        #expect(holders.of(pcm: "hw:CARD=PCH,DEV=0", .playback) == [player])
        #expect(holders.of(pcm: "hw:0", .playback) == [player, ALSADeviceHolder(processID: 200, command: "mixer")])
        #expect(holders.of(pcm: "hw:0,0", .capture) == [])
        #expect(holders.of(pcm: "hw:7", .playback) == [])
        #expect(holders.of(pcm: "default", .playback) == [])
    }

    @Test("A holder that has ended meanwhile has no name")
    func ended() throws {
        let tree = try FolderTree(["asound/card2/pcm0c/sub0/status": Self.open(by: 9)])
        let found = ALSADeviceHolders(processes: tree.path).of(pcm: "hw:2,0", .capture)
        #expect(found == [ALSADeviceHolder(processID: 9, command: "")])
    }
}

@Suite("Device roster")
struct DeviceRosterTests {
    @Test(
        "Each look tells what came and what went, in order",
        arguments: [
            ([], ["a"], ["a"], []), (["a"], ["a"], [], []), (["a"], [], [], ["a"]),
            (["a", "b", "c"], ["d", "b", "e"], ["d", "e"], ["a", "c"]), (["a", "b"], ["b", "a"], [], []),
            (["a"], ["b", "b", "a"], ["b"], []),
        ] as [([String], [String], [String], [String])])
    func difference(before: [String], now: [String], arrived: [String], departed: [String]) {
        var roster = DeviceRoster(names: before)
        #expect(roster.update(now) == DeviceRoster.Difference(arrived: arrived, departed: departed))
        #expect(roster.update(now) == DeviceRoster.Difference())
    }
}
