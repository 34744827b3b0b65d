import Testing

@Suite("Calls whose sound card is pulled out")
struct HotPlugCallLiveTests {
    /// A call over a virtual card in real time, in periods so long that no wake-up is too late.
    private func call(
        _ virtual: VirtualCard, _ server: RunningServer, seconds: Int = 30, _ more: String...
    ) throws -> ChildProcess {
        let arguments = server.call(token: try server.token("a"), "--seconds", "\(seconds)", "--period", "960") + more
        return try ChildProcess(arguments, environment: virtual.environment)
    }

    @Test("a card that is named is waited for, and the call goes on")
    func pinned() throws {
        let virtual = try VirtualCard()
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        var child = try call(
            virtual, server, "--capture", "vcard:ID=usb,GAIN=0", "--playback", "vcard:ID=usb")
        _ = try child.event("joined")
        // When it is pulled out
        try virtual.control("usb", "unplug")
        let loss = try child.event("device_lost")
        #expect((loss["detail"] as? String)?.contains("silence until it is back") == true)
        // And put back
        try virtual.control("usb", "replug")
        let route = try child.event("route_changed")
        #expect((route["detail"] as? String)?.contains("period 960") == true)
        // Then the call is as it was, and ends as ever
        child.interrupt()
        let result = child.wait()
        #expect(result.exitCode == 0, "\(result.standardError)")
        let summary = try #require(result.json?.last)
        #expect(summary["type"] as? String == "summary")
        #expect(summary["ending"] as? String == "interrupted")
        #expect((summary["packets_sent"] as? Int ?? 0) > 0)
        #expect(server.stop().exitCode == 0)
    }

    @Test("a call over the default moves to what is the default then")
    func followDefault() throws {
        // Given a default card, and another one in the drawer
        let virtual = try VirtualCard(default: "vcard:ID=first,GAIN=0")
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        var child = try call(virtual, server)
        _ = try child.event("joined")
        try virtual.control("first", "unplug")
        let loss = try child.event("device_lost")
        #expect((loss["detail"] as? String)?.contains("moving to the default device") == true)
        // When the default means the other one
        try virtual.configure(adding: "pcm.!default \"vcard:ID=second,GAIN=0\"\n")
        let route = try child.event("route_changed")
        #expect((route["detail"] as? String)?.contains("capture default") == true)
        child.interrupt()
        #expect(child.wait().exitCode == 0)
        #expect(server.stop().exitCode == 0)
    }

    @Test("a card that is named gives way to the default where that is asked for")
    func policy() throws {
        let virtual = try VirtualCard(default: "vcard:ID=second,GAIN=0")
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        var child = try call(
            virtual, server, "--capture", "vcard:ID=usb,GAIN=0", "--playback", "vcard:ID=usb", "--route-policy",
            "followDefault")
        _ = try child.event("joined")
        try virtual.control("usb", "unplug")
        let loss = try child.event("device_lost")
        #expect((loss["detail"] as? String)?.contains("moving to the default device") == true)
        // Then each direction does
        for _ in 0..<2 {
            let route = try child.event("route_changed")
            #expect((route["detail"] as? String)?.contains("default") == true, "\(route)")
        }
        child.interrupt()
        #expect(child.wait().exitCode == 0)
        #expect(server.stop().exitCode == 0)
    }
}
