import Synchronization
import Testing
import VoiceRealtime

@testable import VoiceDevices

@Suite("Device watcher", .enabled(if: CardlessALSA.isReady, "alsa-lib's configuration is missing"))
struct DeviceWatcherLiveTests {
    /// The list as the test wants it, and what the watcher told.
    private final class Stage: Sendable {
        private struct State {
            var names: [String]? = []
            var looks = 0
            var told: [DeviceChange] = []
        }
        private let state = Mutex(State())
        private let news: WakeSignal

        init(_ names: [String]) throws {
            news = try WakeSignal()
            show(names)
        }

        func show(_ names: [String]?) { state.withLock { $0.names = names } }

        var told: [DeviceChange] { state.withLock { $0.told } }

        @Sendable func hints() -> [ALSAHint]? {
            defer { news.signal() }
            return state.withLock { state in
                state.looks += 1
                return state.names?.map { ALSAHint(name: $0, description: "", direction: nil) }
            }
        }

        func awaitTold(_ count: Int) -> Bool {
            let limit = MonotonicTime.now().nanoseconds + 10_000_000_000
            while told.count < count {
                guard MonotonicTime.now().nanoseconds < limit else { return false }
                news.wait(timeout: .milliseconds(100))
            }
            return true
        }

        @Sendable func note(_ change: DeviceChange) {
            state.withLock { $0.told.append(change) }
            news.signal()
        }

        var looks: Int { state.withLock { $0.looks } }

        /// Waits until the list has been looked at again, and what that look showed has been told.
        func settle() -> Bool { awaitLooks(looks + 3) }

        func awaitLooks(_ goal: Int) -> Bool {
            let limit = MonotonicTime.now().nanoseconds + 10_000_000_000
            while state.withLock({ $0.looks < goal }) {
                guard MonotonicTime.now().nanoseconds < limit else { return false }
                news.wait(timeout: .milliseconds(100))
            }
            return true
        }
    }

    private func watcher(
        _ stage: Stage, interval: Duration = .milliseconds(10), folder: String = "/nowhere"
    ) throws -> DeviceWatcher {
        try DeviceWatcher(interval: interval, folder: folder, hints: stage.hints, handler: stage.note)
    }

    @Test("What is there at the start is not told; what comes is probed, what goes is named")
    func changes() throws {
        let stage = try Stage(["silent", "old"])
        let watcher = try watcher(stage)
        #expect(stage.settle())
        #expect(stage.told == [])
        stage.show(["silent", "tape"])
        #expect(stage.settle())
        watcher.stop()
        let told = stage.told
        try #require(told.count == 2)
        #expect(told[0] == .departed(name: "old"))
        guard case .arrived(let entry) = told[1], case .available(let rates, _, _) = entry.playback else {
            Issue.record("it told \(told[1])")
            return
        }
        #expect(entry.name == "tape" && rates.contains(48_000))
    }

    @Test("A list that cannot be read is not taken for an empty one")
    func unreadable() throws {
        let stage = try Stage(["silent"])
        let watcher = try watcher(stage)
        stage.show(nil)
        #expect(stage.settle())
        stage.show(["silent"])
        #expect(stage.settle())
        watcher.stop()
        #expect(stage.told == [])
    }

    @Test("A new node is looked at long before the interval is over, and so is one that goes")
    func nodes() throws {
        let tree = try FolderTree(["snd/pcmC0D0p": ""])
        let stage = try Stage([])
        let watcher = try watcher(stage, interval: .seconds(3_600), folder: tree.path + "/snd")
        for name in ["snd/pcmC1D0p", "snd/pcmC2D0p", "snd/pcmC3D0p"] {
            let looks = stage.looks
            try tree.write("", to: name)
            #expect(stage.awaitLooks(looks + 1))
        }
        let looks = stage.looks
        tree.remove("snd/pcmC1D0p")
        #expect(stage.awaitLooks(looks + 1))
        watcher.stop()
    }

    @Test("A folder of nodes that comes into being later is taken up")
    func lateFolder() throws {
        let tree = try FolderTree()
        var watch = SoundNodeWatch(folder: tree.path + "/snd")
        #expect(watch.descriptor < 0)
        #expect(watch.news() == .nothing)
        tree.makeFolder("snd")
        #expect(watch.news() == .arrivals)
        #expect(watch.descriptor >= 0)
        #expect(watch.news() == .nothing)
        try tree.write("", to: "snd/controlC0")
        #expect(watch.news() == .arrivals)
        tree.remove("snd/controlC0")
        #expect(watch.news() == .departures)
        tree.remove("snd")
        #expect(watch.news() == .departures)
        #expect(watch.descriptor < 0)
    }

    @Test("The handler may stop the watcher, and hears nothing afterwards")
    func stopFromHandler() throws {
        let stage = try Stage([])
        let holder = Mutex<DeviceWatcher?>(nil)
        let heard = Atomic<Int>(0)
        let done = try WakeSignal()
        let watcher = try DeviceWatcher(interval: .milliseconds(10), folder: "/nowhere", hints: stage.hints) { _ in
            heard.add(1, ordering: .relaxed)
            holder.withLock { $0?.stop() }
            done.signal()
        }
        holder.withLock { $0 = watcher }
        stage.show(["silent"])
        #expect(done.wait(timeout: .seconds(10)))
        watcher.stop()
        stage.show([])
        #expect(heard.load(ordering: .relaxed) == 1)
        holder.withLock { $0 = nil }
    }

    @Test("What is added to alsa-lib's configuration arrives, and departs when it is taken out again")
    func configuration() throws {
        let stage = try Stage([])
        let folder = try #require(CardlessALSA.folder)
        let watcher = try DeviceWatcher(interval: .milliseconds(20), folder: "/nowhere", hints: { ALSAHint.all() }) {
            stage.note($0)
        }
        let addition = "\npcm.newcomer { type null hint { show on description \"Has just been plugged in\" } }\n"
        try folder.replace(Array((CardlessALSA.text + addition).utf8), in: "asound.conf")
        #expect(stage.awaitTold(1))
        try folder.replace(Array(CardlessALSA.text.utf8), in: "asound.conf")
        #expect(stage.awaitTold(2))
        watcher.stop()
        guard case .arrived(let entry) = stage.told.first else {
            Issue.record("it told \(stage.told)")
            return
        }
        #expect(entry.name == "newcomer" && entry.description == "Has just been plugged in")
        #expect(stage.told.last == .departed(name: "newcomer"))
    }
}
