/// What each module of the house may import: arrows point down only, and a new one is a decision, made here.
enum ImportTable {
    /// Modules of the package and its dependencies, by the folder below `Sources` that imports them.
    static let allowed: [String: Set<String>] = [
        "VoiceRealtime": ["CLinuxRealtime"],
        "VoiceSignal": ["CVoiceKernels", "CSpeexDSP"],
        "VoiceWire": [],
        "VoicePlayout": ["VoiceWire"],
        "VoiceQueue": [],
        "VoiceTurns": ["VoiceQueue"],
        "VoiceText": [],
        "VoiceDialog": ["CJansson", "VoiceQueue"],
        "VoiceWeb": ["CWebSocket", "VoiceQueue", "VoiceRealtime"],
        "ControlAPI": ["VoiceDialog", "VoiceQueue"],
        "ControlServer": [
            "ControlAPI", "VoiceDevices", "VoiceDialog", "VoiceEngine", "VoicePartner", "VoiceQueue", "VoiceRealtime",
            "VoiceRooms", "VoiceTransport", "VoiceWeb",
        ],
        "VoiceGraph": ["VoiceDialog"],
        "VoicePeers": ["VoiceQueue", "VoiceWire"],
        "VoiceRooms": ["VoiceQueue", "VoiceWire", "VoicePeers"],
        "VoiceProcessing": ["VoiceSignal", "CVoiceKernels", "CWebRTCAudio", "CSpeexDSP", "CRNNoise"],
        "VoiceCoding": ["COpus"],
        "VoiceSimulation": ["VoiceSignal", "VoiceCoding"],
        "VoiceDevices": ["VoiceRealtime", "VoiceSignal", "CALSA", "CSndFile"],
        "VoiceTransport": [
            "VoiceQueue", "VoiceRealtime", "VoiceWire", "VoicePeers", "VoiceRooms", "CDTLS", "COpenSSL", "CJWT",
            "CLinuxRealtime",
        ],
        "VoiceEngine": stages.union(["VoiceQueue", "VoiceTurns", "VoiceText"]),
        "VoicePartner": ["VoiceEngine", "VoiceQueue", "VoiceRealtime", "VoiceSignal", "VoiceTurns"],
        "RealtimePartner": [
            "VoiceDialog", "VoiceEngine", "VoicePartner", "VoiceProcessing", "VoiceSignal", "VoiceTurns", "VoiceWeb",
        ],
        "GraphEngine": [
            "VoiceDevices", "VoiceDialog", "VoiceEngine", "VoiceGraph", "VoicePartner", "VoiceProcessing",
            "VoiceRealtime",
            "VoiceSignal", "VoiceWeb",
        ],
        "SimulatedCalls": [
            "VoiceRealtime", "VoiceSignal", "VoiceWire", "VoicePeers", "VoiceRooms", "VoiceProcessing", "VoiceDevices",
            "VoiceEngine", "VoiceSimulation",
        ],
        "DuplexVoiceC": [
            "CDuplexVoice", "GraphEngine", "VoiceCoding", "VoiceDevices", "VoiceEngine", "VoicePartner",
            "VoicePlayout", "VoiceProcessing", "VoiceRealtime", "VoiceQueue", "VoiceRooms", "VoiceSignal",
            "VoiceTransport", "VoiceWire",
        ],
        "duplex": stages.union([
            "VoiceEngine", "VoiceSimulation", "SimulatedCalls", "ArgumentParser", "CDuplexBuild", "CPcap",
            "VoicePartner", "RealtimePartner", "GraphEngine", "ControlAPI", "ControlServer", "VoiceDialog", "VoiceWeb",
        ]),
    ]

    /// Modules without a clock, socket, file, log or random source: time comes in, results go out.
    static let pure: Set<String> = [
        "ControlAPI", "VoiceDialog", "VoiceGraph", "VoicePeers", "VoicePlayout", "VoiceQueue", "VoiceRooms",
        "VoiceText", "VoiceTurns", "VoiceWire",
    ]

    /// The stages of the sound's way, which the engine joins.
    private static let stages: Set<String> = [
        "VoiceRealtime", "VoiceSignal", "VoiceWire", "VoicePlayout", "VoicePeers", "VoiceRooms", "VoiceProcessing",
        "VoiceCoding", "VoiceDevices", "VoiceTransport",
    ]

    /// Modules of the toolchain that every module may import.
    static let everywhere: Set<String> = ["Synchronization"]

    /// Modules of the toolchain that touch the system, and those who may; never the pure ones. VoiceSignal,
    /// VoiceProcessing, GraphEngine and VoiceSimulation take Glibc for its mathematics alone: sines, exponentials,
    /// logarithms; VoiceEngine for a recording's file.
    static let system: [String: Set<String>] = [
        "Glibc": [
            "VoiceRealtime", "VoiceSignal", "VoiceDevices", "VoiceTransport", "VoiceProcessing", "VoiceSimulation",
            "VoiceEngine", "VoicePartner", "GraphEngine", "duplex",
        ],
        "Dispatch": ["duplex"],
    ]

    /// Says why the module may not be imported there, or nil when it may.
    static func objection(to imported: String, in module: String) -> String? {
        guard let row = allowed[module] else { return "module \(module) has no row in the import table" }
        let isAllowed =
            row.contains(imported) || everywhere.contains(imported) || system[imported]?.contains(module) == true
        return isAllowed ? nil : "\(module) may not import \(imported)"
    }
}
