import Foundation
import TestCases
import Testing
import VoiceEngine

@testable import duplex

@Suite("Keys in a call on a terminal")
struct CallKeyLiveTests {
    /// Two ends of a terminal.
    private struct Terminal {
        let keyboard: FileHandle
        let screen: FileHandle

        init() throws {
            // posix_openpt and its like are not in Swift's Glibc; these are what they do (pts(4)).
            let (unlock, number): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
            let descriptor = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
            var (isLocked, index): (Int32, Int32) = (0, 0)
            try #require(
                unsafe ioctl(descriptor, unlock, &isLocked) == 0 && ioctl(descriptor, number, &index) == 0)
            let other = unsafe open("/dev/pts/\(index)", O_RDWR | O_NOCTTY)
            try #require(other >= 0)
            keyboard = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            screen = FileHandle(fileDescriptor: other, closeOnDealloc: true)
        }

        func press(_ keys: String) throws { try keyboard.write(contentsOf: Data(keys.utf8)) }

        /// Whether lines are read whole and what is typed is shown, as shells have it.
        var isUsual: Bool {
            var settings = termios()
            unsafe tcgetattr(screen.fileDescriptor, &settings)
            return settings.c_lflag & tcflag_t(ICANON | ECHO) == tcflag_t(ICANON | ECHO)
        }
    }

    @Test("a caller mutes, changes the volume, goes over to another loudspeaker, and leaves")
    func keys() throws {
        let virtual = try VirtualCard()
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        let terminal = try Terminal()
        #expect(terminal.isUsual)
        let arguments = server.call(token: try server.token("a"), "--seconds", "120", "--period", "960")
        var child = try ChildProcess(
            arguments + ["--capture", "vcard:ID=usb,GAIN=0", "--playback", "vcard:ID=usb"],
            environment: virtual.environment, input: .descriptor(terminal.screen.fileDescriptor))
        _ = try child.event("joined")
        try terminal.press("m")
        #expect(try child.event("note")["detail"] as? String == "you are muted")
        #expect(!terminal.isUsual)
        try terminal.press("xm-")
        #expect(try child.event("note")["detail"] as? String == "you are heard again")
        #expect(try child.event("note")["detail"] as? String == "volume 9 of 10")
        // Nobody is there whose volume could be another
        try terminal.press("p]")
        #expect(try child.event("warning")["detail"] as? String == "nobody else is here")
        #expect(try child.event("warning")["detail"] as? String == "choose somebody first, with p")
        // When somebody comes, then that one's is
        var other = try ChildProcess(
            server.call(token: try server.token("b"), "--seconds", "60", "--period", "960")
                + ["--capture", "vcard:ID=other,GAIN=0", "--playback", "vcard:ID=other"],
            environment: virtual.environment)
        _ = try other.event("joined")
        _ = try child.event("participant_joined")
        try terminal.press("p][[x")
        for told in ["volume 10 of 20", "volume 11 of 20", "volume 10 of 20", "volume 9 of 20", "muted here"] {
            #expect(try child.event("note")["detail"] as? String == "b: \(told)")
        }
        // When the loudspeaker is the next one of the list, then the call goes on over two cards
        try terminal.press("o")
        let route = try #require(try child.event("route_changed")["detail"] as? String)
        #expect(route.hasPrefix("selected") && route.contains("capture vcard:ID=usb"), "\(route)")
        #expect(!route.contains("playback vcard:ID=usb"), "\(route)")
        try terminal.press("q")
        let result = child.wait()
        #expect(result.exitCode == 0, "\(result.standardError)")
        #expect(result.json?.last?["type"] as? String == "summary")
        // Then the terminal is as it was
        #expect(terminal.isUsual)
        #expect(server.stop().exitCode == 0)
    }

    @Test("the next card is the one behind the present one, round the list; of one that is not listed, the first")
    func order() {
        #expect(CallKeys.others(than: "b", in: ["a", "b", "c"]) == ["c", "a"])
        #expect(CallKeys.others(than: "c", in: ["a", "b", "c"]) == ["a", "b"])
        #expect(CallKeys.others(than: "x", in: ["a", "b"]) == ["a", "b"])
        #expect(CallKeys.others(than: "a", in: ["a"]).isEmpty)
        #expect(CallKeys.others(than: "a", in: []).isEmpty)
    }

    @Test("every key is told of, and no two are the same")
    func legend() {
        #expect(Set(CallKey.allCases.map(\.rawValue)).count == CallKey.allCases.count)
        for key in CallKey.allCases { #expect(CallKey.legend.contains(key.text)) }
    }
}
