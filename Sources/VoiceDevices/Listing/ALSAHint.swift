internal import CALSA

#if canImport(Glibc)
    internal import Glibc
#endif

/// A PCM that alsa-lib's configuration shows to people.
struct ALSAHint: Equatable, Sendable {
    let name: String
    /// On one line; empty where alsa-lib says nothing.
    let description: String
    /// Nil for both directions.
    let direction: DeviceDirection?

    func has(_ wanted: DeviceDirection) -> Bool { direction == nil || direction == wanted }

    /// All of them, in alsa-lib's order; nil where it cannot tell. Reads the configuration and asks every card for its
    /// names, which takes milliseconds; opens no PCM.
    static func all() -> [ALSAHint]? {
        var list: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        guard unsafe dv_pcm_hints(&list) == 0, let hints = unsafe list else { return nil }
        defer { unsafe snd_device_name_free_hint(hints) }
        var found: [ALSAHint] = []
        var position = 0
        while let hint = unsafe hints[position] {
            position += 1
            guard let name = unsafe text(hint, "NAME"), name != "null" else { continue }
            let direction: DeviceDirection? =
                switch unsafe text(hint, "IOID") {
                case "Input": .capture
                case "Output": .playback
                default: nil
                }
            let description = unsafe text(hint, "DESC") ?? ""
            found.append(
                ALSAHint(
                    name: name, description: description.split(separator: "\n").joined(separator: ", "),
                    direction: direction))
        }
        return found
    }

    private static func text(_ hint: UnsafeMutableRawPointer, _ key: String) -> String? {
        guard let value = unsafe snd_device_name_get_hint(hint, key) else { return nil }
        defer { unsafe free(value) }
        return unsafe String(cString: value)
    }
}
