#if canImport(Glibc)
    internal import Glibc
#endif

/// A process that has a sound card's stream open.
public struct ALSADeviceHolder: Equatable, Hashable, Sendable {
    /// Its process identifier.
    public var processID: Int
    /// The name of its program, at most 15 bytes as the kernel keeps it; empty where it has just ended.
    public var command: String

    /// A holder.
    package init(processID: Int, command: String) {
        self.processID = processID
        self.command = command
    }
}

/// Finds out who holds a card, from what the kernel's sound driver tells under /proc/asound: `cardN/pcmMp/subK/status`
/// names the thread that opened a substream (linux/sound/core/pcm.c, `snd_pcm_substream_proc_status_read`).
struct ALSADeviceHolders {
    /// Where the kernel's process file system is mounted.
    var processes = "/proc"

    /// Who holds that direction of the card that the PCM's name tells of, without repetition.
    func of(pcm name: String, _ direction: DeviceDirection) -> [ALSADeviceHolder] {
        guard let address = ALSACardAddress(pcm: name) else { return [] }
        // A card is a folder by its number, and a link to it by its identifier.
        let card = "\(processes)/asound/\(Int(address.card) == nil ? address.card : "card\(address.card)")"
        let suffix = direction == .capture ? "c" : "p"
        let devices =
            address.device.map { ["pcm\($0)\(suffix)"] }
            ?? Self.entries(card).filter {
                $0.hasPrefix("pcm") && $0.hasSuffix(suffix)
            }
        var found: [ALSADeviceHolder] = []
        for device in devices {
            for substream in Self.entries("\(card)/\(device)") where substream.hasPrefix("sub") {
                let status = Self.text("\(card)/\(device)/\(substream)/status")
                guard let thread = Self.number(after: "owner_pid", in: status) else { continue }
                let holder = process(ofThread: thread)
                if !found.contains(holder) { found.append(holder) }
            }
        }
        return found
    }

    private func process(ofThread thread: Int) -> ALSADeviceHolder {
        let process = Self.number(after: "Tgid", in: Self.text("\(processes)/\(thread)/status")) ?? thread
        let command = Self.text("\(processes)/\(process)/comm")
        return ALSADeviceHolder(processID: process, command: String(command.prefix { $0 != "\n" }))
    }

    /// The number of the line `key : number`.
    private static func number(after key: String, in text: String) -> Int? {
        for line in text.split(separator: "\n") where line.hasPrefix(key) {
            guard let value = line.split(separator: ":").last else { continue }
            return Int(value.filter { $0 != " " && $0 != "\t" })
        }
        return nil
    }

    /// The names in a folder, sorted; none where it cannot be read.
    static func entries(_ folder: String) -> [String] {
        guard let handle = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(handle) }
        var names: [String] = []
        while let entry = unsafe readdir(handle) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                unsafe String(cString: UnsafeRawPointer(tuple).assumingMemoryBound(to: CChar.self))
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    /// The first 4 KiB of a file, which is more than these ever have; empty where it cannot be read.
    private static func text(_ path: String) -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
}

/// Which card, and which device on it, a PCM's name tells of.
struct ALSACardAddress: Equatable {
    /// Number or identifier.
    var card: String
    /// Nil where the name leaves it open.
    var device: Int?

    /// Reads `hw:1,0`, `plughw:CARD=PCH,DEV=0`, `sysdefault:CARD=PCH` and their like; nil for a name that tells of no
    /// card, such as `default`.
    init?(pcm name: String) {
        guard let colon = name.firstIndex(of: ":") else { return nil }
        let arguments = name[name.index(after: colon)...].split(separator: ",", omittingEmptySubsequences: false)
        var values: [String: Substring] = [:]
        for (position, argument) in arguments.enumerated() {
            if let equals = argument.firstIndex(of: "=") {
                values[String(argument[..<equals])] = argument[argument.index(after: equals)...]
            } else if position < 2 {
                values[position == 0 ? "CARD" : "DEV"] = argument
            }
        }
        // A plugin's argument is a PCM or a nest of settings, not a card: `plug:default`, `dsnoop:{...}`.
        guard let card = values["CARD"], !card.isEmpty,
            card.utf8.allSatisfy({ byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 95
                    || byte == 45
            })
        else { return nil }
        self.card = String(card)
        device = values["DEV"].flatMap { Int($0) }
    }

    /// The name of a PCM that gives what `name` has through alsa-lib's conversions.
    static func converting(_ name: String) -> String {
        if name.hasPrefix("hw:") { return "plug\(name)" }
        // A comma would begin a second argument.
        return name.utf8.contains(44) ? "plug:\"\(name)\"" : "plug:\(name)"
    }
}
