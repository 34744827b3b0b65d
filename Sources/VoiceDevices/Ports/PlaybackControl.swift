internal import Synchronization

/// What may be changed while a device plays: the final output gain.
///
/// Usable from any thread; every member is wait-free and real-time safe.
@safe
package final class PlaybackControl: @unchecked Sendable {
    /// The highest gain: +24 dB, above which a voice at a usual level could only clip.
    package static let highestGain: Float = 15.848_932

    let cells: PlaybackControlCells

    /// A control at unity gain. Not real-time safe.
    package init() { cells = PlaybackControlCells.make() }

    deinit { cells.free() }

    /// The factor on every sample handed to the device, 0 to ``highestGain``, reached without a click at full scale per
    /// 10 ms.
    ///
    /// A value outside is brought inside; one that is not a number is ignored.
    package var gain: Float {
        get { cells.gain }
        set {
            guard !newValue.isNaN else { return }
            cells.gain = min(max(newValue, 0), Self.highestGain)
        }
    }
}

/// The cells behind ``PlaybackControl``, as the playback thread keeps them.
@safe
struct PlaybackControlCells: BitwiseCopyable, @unchecked Sendable {
    private struct Cells: ~Copyable {
        let gain = Atomic<Float>(1)
    }

    private let cells: UnsafeMutablePointer<Cells>

    static func make() -> PlaybackControlCells {
        let cells = UnsafeMutablePointer<Cells>.allocate(capacity: 1)
        unsafe cells.initialize(to: Cells())
        return unsafe PlaybackControlCells(cells: cells)
    }

    private init(cells: UnsafeMutablePointer<Cells>) { unsafe self.cells = cells }

    func free() {
        unsafe cells.deinitialize(count: 1)
        unsafe cells.deallocate()
    }

    var gain: Float {
        @_noLocks @_noAllocation get { unsafe cells.pointee.gain.load(ordering: .relaxed) }
        nonmutating set { unsafe cells.pointee.gain.store(newValue, ordering: .relaxed) }
    }
}
