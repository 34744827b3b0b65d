internal import CALSA

#if canImport(Glibc)
    internal import Glibc
#endif

/// What ALSA's `default` means at the moment, by alsa-lib's configuration files: a card, or a sound server.
///
/// One thread at a time; reads files, so it is not real-time safe. Keeps a configuration of its own, because alsa-lib's
/// shared one may be replaced by any thread that opens a PCM.
@safe
package struct DefaultCard: ~Copyable, @unchecked Sendable {
    /// What stands behind `default`.
    package enum Meaning: Equatable, Sendable {
        /// A sound card of the kernel's, by its identifier, such as `PCH`; nil where the one that is meant is not
        /// there.
        case card(identifier: String?)
        /// The plugin of this type, such as `pipewire` or `pulse`, which moves streams between cards by itself.
        case server(type: String)
        /// Another PCM of a configuration file, by its name.
        case other(name: String)
    }

    /// The types of the plugins that are a sound server's door.
    private static let servers: Set<String> = ["pipewire", "pulse", "jack", "bluealsa"]
    /// The names that alsa-lib defines for cards; what follows their colon is a card.
    private static let cardNames: Set<String> = ["hw", "plughw", "default", "sysdefault", "dmix", "dsnoop", "front"]

    /// What `default` refers to as alsa-lib is delivered: the card `defaults.pcm.card`.
    private static let cardsOwn = "cards.pcm.default"

    private let files: String?
    private var configuration: OpaquePointer?
    private var update: OpaquePointer?

    /// A look-up that has read nothing yet.
    package init() { files = nil }

    /// The same in other files than alsa-lib's own, their paths separated by colons.
    init(files: String) { self.files = files }

    deinit {
        unsafe configuration.map { _ = unsafe snd_config_delete($0) }
        unsafe update.map { _ = unsafe snd_config_update_free($0) }
    }

    /// What `default` means now; nil where alsa-lib's configuration cannot be read. The files are read again only when
    /// they have changed.
    package mutating func look() -> Meaning? {
        guard unsafe dv_config_update(&configuration, &update, files) >= 0, let top = unsafe configuration else {
            return nil
        }
        if let type = unsafe Self.text("pcm.default.type", in: top) {
            if Self.servers.contains(type) { return .server(type: type) }
            let slave = unsafe Self.text("pcm.default.slave.pcm", in: top)
            return slave.map { unsafe Self.meaning(of: $0, in: top) } ?? .other(name: "default")
        }
        if let name = unsafe Self.text("pcm.default", in: top), name != Self.cardsOwn {
            return unsafe Self.meaning(of: name, in: top)
        }
        let environment = unsafe getenv("ALSA_CARD").map { unsafe String(cString: $0) }
        let card = unsafe environment ?? Self.text("defaults.pcm.card", in: top) ?? "0"
        return .card(identifier: ALSACards.identifier(of: card))
    }

    /// Whether the PCM of this name is a sound server's door; false where alsa-lib's configuration cannot be read.
    mutating func isServed(_ name: String) -> Bool {
        guard let standard = look(), let top = unsafe configuration else { return false }
        let kind = String(name.prefix { $0 != ":" })
        var meaning = standard
        if kind != "default" { unsafe meaning = Self.meaning(of: kind, in: top) }
        if case .server = meaning { return true }
        return false
    }

    private static func meaning(of name: String, in top: OpaquePointer) -> Meaning {
        if let type = unsafe text("pcm.\(name).type", in: top), servers.contains(type) { return .server(type: type) }
        guard let kind = name.split(separator: ":").first, cardNames.contains(String(kind)),
            let address = ALSACardAddress(pcm: name)
        else { return .other(name: name) }
        return .card(identifier: ALSACards.identifier(of: address.card))
    }

    private static func text(_ key: String, in top: OpaquePointer) -> String? {
        var node: OpaquePointer?
        guard unsafe snd_config_search(top, key, &node) == 0, let node = unsafe node else { return nil }
        var value: UnsafeMutablePointer<CChar>?
        guard unsafe snd_config_get_ascii(node, &value) == 0, let value = unsafe value else { return nil }
        defer { unsafe free(value) }
        return unsafe String(cString: value)
    }
}

/// What the kernel's sound cards are called.
enum ALSACards {
    /// The identifier of a card by its number or identifier; nil where there is no such card.
    static func identifier(of card: String) -> String? {
        guard let control = unsafe open(card) else { return nil }
        defer { unsafe snd_ctl_close(control) }
        return unsafe information(control) { unsafe snd_ctl_card_info_get_id($0) }
    }

    /// What a card calls itself at length: `Logitech USB Headset at usb-0000:00:14.0-3, full speed`; nil where there is
    /// no such card.
    static func description(of card: String) -> String? {
        guard let control = unsafe open(card) else { return nil }
        defer { unsafe snd_ctl_close(control) }
        return unsafe information(control) { unsafe snd_ctl_card_info_get_longname($0) }
    }

    private static func open(_ card: String) -> OpaquePointer? {
        var control: OpaquePointer?
        guard unsafe dv_control_open(&control, "hw:\(card)") == 0 else { return nil }
        return unsafe control
    }

    private static func information(
        _ control: OpaquePointer, _ field: (OpaquePointer) -> UnsafePointer<CChar>?
    ) -> String? {
        var memory: OpaquePointer?
        guard unsafe snd_ctl_card_info_malloc(&memory) == 0, let info = unsafe memory else { return nil }
        defer { unsafe snd_ctl_card_info_free(info) }
        guard unsafe snd_ctl_card_info(control, info) == 0 else { return nil }
        return unsafe field(info).map { unsafe String(cString: $0) }
    }
}

extension ALSADevice {
    /// Whether a PCM is a sound server's, which connects each direction to a device of its own choice. Reads alsa-lib's
    /// configuration, which takes some milliseconds; opens no PCM. Not real-time safe.
    package static func isServed(_ name: String) -> Bool {
        var standard = DefaultCard()
        return standard.isServed(name)
    }

    /// What the device behind a PCM's name calls itself; nil where it does not tell, as behind a sound server. Opens no
    /// PCM; takes a few milliseconds. Not real-time safe.
    package static func description(of name: String) -> String? {
        if let address = ALSACardAddress(pcm: name) { return ALSACards.description(of: address.card) }
        var standard = DefaultCard()
        if name == "default", case .card(let identifier?) = standard.look() {
            return ALSACards.description(of: identifier)
        }
        return ALSAHint.all()?.first { $0.name == name }?.description
    }
}
