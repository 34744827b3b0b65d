#if canImport(Glibc)
    internal import Glibc
#endif

/// Whether the process may use the kernel's sound cards at all.
enum SoundNodeAccess {
    /// True where there are cards, and none may be opened: the user is not in their group, or a container has been
    /// given their nodes without it.
    static func isDenied(folder: String = "/dev/snd", mayOpen: (String) -> Bool = mayUse) -> Bool {
        let controls = ALSADeviceHolders.entries(folder).filter { $0.hasPrefix("controlC") }
        return !controls.isEmpty && !controls.contains { mayOpen("\(folder)/\($0)") }
    }

    private static func mayUse(_ path: String) -> Bool { unsafe access(path, R_OK | W_OK) == 0 }
}
