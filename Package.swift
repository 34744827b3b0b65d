// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// The settings that every Swift target of ours is built with.
let swift: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableExperimentalFeature("Lifetimes"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let c: [CSetting] = [.treatAllWarnings(as: .error)]

/// For tests whose own loops are short: optimising them would take longer than they run.
let unoptimized = swift + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

func module(_ name: String, _ dependencies: Target.Dependency...) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: swift)
}

func tests(_ module: String, _ dependencies: Target.Dependency..., optimized: Bool = true) -> Target {
    .testTarget(
        name: "\(module)Tests", dependencies: dependencies + ["TestCases"],
        swiftSettings: optimized ? swift : unoptimized)
}

/// WebRTC's audio processing module is packaged under a name for each of its API generations; the newest installed one
/// is taken. SwiftPM keeps the include and library paths of its .pc file and drops the defines, so those are repeated
/// below.
let webRTCAudioPackage =
    ["webrtc-audio-processing-2", "webrtc-audio-processing-1"].first { name in
        ["lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "lib", "local/lib", "share"].contains { folder in
            FileManager.default.fileExists(atPath: "/usr/\(folder)/pkgconfig/\(name).pc")
        }
    } ?? "webrtc-audio-processing"

let package = Package(
    name: "DuplexVoice",
    products: [
        .library(name: "VoiceEngine", targets: ["VoiceEngine"]),
        .library(name: "VoicePartner", targets: ["VoicePartner"]),
        .library(name: "RealtimePartner", targets: ["RealtimePartner"]),
        .library(name: "GraphEngine", targets: ["GraphEngine"]),
        .library(name: "VoiceProcessing", targets: ["VoiceProcessing"]),
        .library(name: "RoomServer", targets: ["VoiceTransport", "VoiceRooms"]),
        // What tools/package-c makes libduplexvoice.so of.
        .library(name: "DuplexVoiceC", type: .static, targets: ["DuplexVoiceC"]),
        .executable(name: "duplex", targets: ["duplex"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0")
    ],
    targets: [
        // System libraries
        .systemLibrary(
            name: "CWebRTCAudioProcessing", pkgConfig: webRTCAudioPackage,
            providers: [.apt(["libwebrtc-audio-processing-dev"])]),
        .systemLibrary(name: "CSpeexDSP", pkgConfig: "speexdsp", providers: [.apt(["libspeexdsp-dev"])]),
        .systemLibrary(name: "COpus", pkgConfig: "opus", providers: [.apt(["libopus-dev"])]),
        .systemLibrary(name: "CALSA", pkgConfig: "alsa", providers: [.apt(["libasound2-dev"])]),
        .systemLibrary(name: "CSndFile", pkgConfig: "sndfile", providers: [.apt(["libsndfile1-dev"])]),
        .systemLibrary(name: "CJWT", pkgConfig: "libjwt", providers: [.apt(["libjwt-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
        .systemLibrary(name: "CSRTP", pkgConfig: "libsrtp2", providers: [.apt(["libsrtp2-dev"])]),

        // C and C++ of ours
        .target(name: "CLinuxRealtime", cSettings: c),
        .target(name: "CAllocationCounter", dependencies: ["CLinuxRealtime"], cSettings: c),
        .target(name: "CPcap", cSettings: c, linkerSettings: [.linkedLibrary("dl")]),
        .target(name: "CDTLS", dependencies: ["COpenSSL"], cSettings: c),
        .target(
            name: "CWebSocket", dependencies: ["COpenSSL"], cSettings: c,
            linkerSettings: [.linkedLibrary("dl")]),
        .target(
            name: "CVoiceKernels",
            exclude: ["double-talk-network.bin", "residual-echo-network.bin", "speech-network.bin", "kernels"],
            cSettings: c),
        .target(name: "CRNNoise", cSettings: c),
        .target(
            name: "CWebRTCAudio", dependencies: ["CWebRTCAudioProcessing"],
            cxxSettings: [
                .define("WEBRTC_POSIX"), .define("WEBRTC_LINUX"), .define("WEBRTC_AUDIO_PROCESSING_ONLY_BUILD"),
            ]),

        // The engine, from the bottom up; what each may import is drawn in Tests/ImportRulesTests
        module("VoiceRealtime", "CLinuxRealtime"),
        module("VoiceSignal", "CVoiceKernels", "CSpeexDSP"),
        module("VoiceWire"),
        module("VoicePlayout", "VoiceWire"),
        module("VoiceQueue"),
        module("VoiceTurns", "VoiceQueue"),
        module("VoiceText"),
        module("VoiceDialog", "CJansson", "VoiceQueue"),
        module("VoiceGraph", "VoiceDialog"),
        module("ControlAPI", "VoiceDialog", "VoiceQueue"),
        module("VoiceWeb", "CWebSocket", "VoiceQueue", "VoiceRealtime"),
        module("VoicePeers", "VoiceQueue", "VoiceWire"),
        module("VoiceRooms", "VoiceQueue", "VoiceWire", "VoicePeers"),
        module("VoiceProcessing", "VoiceSignal", "CVoiceKernels", "CWebRTCAudio", "CSpeexDSP", "CRNNoise"),
        module("VoiceCoding", "COpus"),
        module("VoiceSimulation", "VoiceSignal", "VoiceCoding"),
        module("VoiceDevices", "VoiceRealtime", "VoiceSignal", "CALSA", "CSndFile"),
        module(
            "VoiceTransport", "CLinuxRealtime", "VoiceQueue", "VoiceRealtime", "VoiceWire", "VoicePeers", "VoiceRooms",
            "CJWT", "CDTLS", "COpenSSL"),
        module(
            "VoiceEngine", "VoiceQueue", "VoiceRealtime", "VoiceSignal", "VoiceWire", "VoicePlayout", "VoiceTurns",
            "VoiceText", "VoicePeers", "VoiceRooms", "VoiceProcessing", "VoiceCoding", "VoiceDevices", "VoiceTransport"),
        module("VoicePartner", "VoiceEngine", "VoiceQueue", "VoiceRealtime", "VoiceSignal", "VoiceTurns"),
        module(
            "RealtimePartner", "VoiceDialog", "VoiceEngine", "VoicePartner", "VoiceProcessing", "VoiceSignal",
            "VoiceTurns",
            "VoiceWeb"),
        module(
            "GraphEngine", "VoiceGraph", "VoiceDialog", "VoiceWeb", "VoicePartner", "VoiceEngine", "VoiceProcessing",
            "VoiceDevices", "VoiceRealtime", "VoiceSignal"),
        module(
            "ControlServer", "ControlAPI", "VoiceDialog", "VoiceWeb", "VoicePartner", "VoiceEngine", "VoiceDevices",
            "VoiceQueue", "VoiceRealtime", "VoiceTransport", "VoiceRooms"),
        module(
            "SimulatedCalls", "VoiceEngine", "VoiceSimulation", "VoiceSignal", "VoiceWire", "VoicePeers", "VoiceRooms",
            "VoiceProcessing", "VoiceDevices", "VoiceRealtime"),

        // The library for C: its header, and what is behind it; tools/package-c links it
        .target(name: "CDuplexVoice", cSettings: c),
        module(
            "DuplexVoiceC", "CDuplexVoice", "VoiceQueue", "VoiceRealtime", "VoiceSignal", "VoiceWire", "VoicePlayout",
            "VoiceProcessing", "VoiceCoding", "VoiceDevices", "VoiceEngine", "VoiceTransport", "VoicePartner",
            "GraphEngine"),
        .target(name: "CDuplexBuild", cSettings: c),
        .executableTarget(
            name: "duplex",
            dependencies: [
                "VoiceEngine", "VoicePartner", "RealtimePartner", "GraphEngine", "ControlServer", "ControlAPI",
                "VoiceDialog", "VoiceWeb", "VoiceTransport",
                "VoiceSimulation", "SimulatedCalls",
                "CAllocationCounter", "CDuplexBuild", "CPcap",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: swift),

        // Benchmarks
        .target(name: "CRing", dependencies: ["CLinuxRealtime"], path: "bench/CRing", cSettings: c),
        .executableTarget(
            name: "DuplexBench",
            dependencies: [
                "VoiceEngine", "VoicePartner", "GraphEngine", "VoiceSimulation", "SimulatedCalls", "VoiceTransport",
                "VoicePeers", "VoiceProcessing", "VoiceRealtime", "VoiceSignal", "VoiceWire", "CWebRTCAudio",
                "COpus", "CSRTP", "CAllocationCounter", "CRing", "ScriptedRealtime", "TestCases",
            ], path: "bench/DuplexBench", swiftSettings: swift),

        // What the residual echo's network learns from
        .executableTarget(
            name: "SuppressorTraining", dependencies: ["VoiceDevices", "VoiceProcessing", "VoiceSimulation"],
            path: "tools/SuppressorTraining", swiftSettings: swift),

        // Synthetic talkers that the speech network learns from
        .executableTarget(
            name: "SpeechTraining", dependencies: ["VoiceDevices", "VoiceSimulation"], path: "tools/SpeechTraining",
            swiftSettings: swift),

        // Examples: what a client writes, with the public product alone
        .executableTarget(
            name: "EchoAgent", dependencies: ["VoiceEngine"], path: "Examples/EchoAgent", swiftSettings: swift),
        .executableTarget(
            name: "NamedStreams", dependencies: ["VoiceEngine"], path: "Examples/NamedStreams", swiftSettings: swift),
        .executableTarget(
            name: "AppSound", dependencies: ["VoiceEngine"], path: "Examples/AppSound", swiftSettings: swift),
        .executableTarget(
            name: "CallControls", dependencies: ["VoiceEngine"], path: "Examples/CallControls", swiftSettings: swift),
        .executableTarget(
            name: "CustomBackend", dependencies: ["VoiceProcessing"], path: "Examples/CustomBackend",
            swiftSettings: swift),
        .executableTarget(
            name: "CustomDevice", dependencies: ["VoiceEngine"], path: "Examples/CustomDevice", swiftSettings: swift),
        .executableTarget(
            name: "VoiceControl", dependencies: ["GraphEngine", "VoiceEngine", "VoicePartner"],
            path: "Examples/VoiceControl", exclude: ["README.md", "session.txt"], swiftSettings: swift),
        .executableTarget(
            name: "BatchTranscriber", dependencies: ["GraphEngine", "VoiceEngine", "VoicePartner"],
            path: "Examples/BatchTranscriber", exclude: ["README.md", "session.txt"], swiftSettings: swift),
        .executableTarget(
            name: "TenLines", dependencies: ["VoiceEngine", "VoicePartner"], path: "Examples/TenLines",
            exclude: ["README.md", "session.txt"], swiftSettings: swift),
        .executableTarget(
            name: "PushToTalk", dependencies: ["VoiceEngine", "VoicePartner"], path: "Examples/PushToTalk",
            exclude: ["README.md", "session.txt"], swiftSettings: swift),
        .executableTarget(
            name: "Karaoke", dependencies: ["VoiceEngine", "VoicePartner"], path: "Examples/Karaoke",
            exclude: ["README.md", "session.txt"], swiftSettings: swift),
        .executableTarget(
            name: "Assistant", dependencies: ["RealtimePartner", "VoiceEngine", "VoicePartner"],
            path: "Examples/Assistant", exclude: ["README.md", "session.txt"], swiftSettings: swift),
        .executableTarget(
            name: "CProcessor", dependencies: ["DuplexVoiceC", "CDuplexVoice", "CSndFile"], path: "Examples/CProcessor",
            cSettings: c),
        .executableTarget(
            name: "CGraph", dependencies: ["DuplexVoiceC", "CDuplexVoice"], path: "Examples/CGraph", cSettings: c),
        .executableTarget(
            name: "CCall", dependencies: ["DuplexVoiceC", "CDuplexVoice"], path: "Examples/CCall", cSettings: c,
            linkerSettings: [.linkedLibrary("m")]),
        .executableTarget(
            name: "CConversation", dependencies: ["DuplexVoiceC", "CDuplexVoice"], path: "Examples/CConversation",
            cSettings: c),

        // Tests
        .target(
            name: "TestCases", dependencies: ["VoiceRealtime"], path: "Tests/TestCases", swiftSettings: swift),
        .target(
            name: "ScriptedPeers", dependencies: ["VoicePeers"], path: "Tests/ScriptedPeers", swiftSettings: swift),
        tests("VoiceRealtime", "VoiceRealtime", "CAllocationCounter", "CLinuxRealtime", optimized: false),
        tests("VoiceWire", "VoiceWire"),
        tests("VoicePlayout", "VoicePlayout", "VoiceCoding", "VoiceTurns"),
        tests("VoiceTurns", "VoiceTurns", optimized: false),
        tests("VoiceText", "VoiceText", optimized: false),
        .testTarget(
            name: "VoiceDialogTests", dependencies: ["VoiceDialog", "ScriptedRealtime", "TestCases"],
            exclude: ["ClientEvents"], swiftSettings: unoptimized),
        tests("VoiceWeb", "VoiceWeb", "VoiceQueue", "COpenSSL", optimized: false),
        .target(
            name: "ScriptedRealtime", dependencies: ["VoiceDialog", "VoiceRealtime", "VoiceWeb", "TestCases"],
            path: "Tests/ScriptedRealtime",
            swiftSettings: swift),
        tests(
            "RealtimePartner", "RealtimePartner", "ScriptedRealtime", "VoicePartner", "VoiceDialog", "VoiceWeb",
            "VoiceEngine",
            "VoiceSimulation", "SimulatedCalls", optimized: false),
        tests("VoicePeers", "VoicePeers", "VoiceSimulation", optimized: false),
        tests("VoiceRooms", "VoiceRooms", "VoicePeers", "VoiceSimulation", "ScriptedPeers", optimized: false),
        .target(
            name: "CExclusionProbe", path: "Tests/CExclusionProbe",
            cxxSettings: [.headerSearchPath("../../Sources/CWebRTCAudio")]),
        tests(
            "VoiceProcessing", "VoiceProcessing", "VoiceRealtime", "VoiceSignal", "CAllocationCounter",
            "CExclusionProbe"),
        tests("VoiceCoding", "VoiceCoding"),
        tests("VoiceDevices", "VoiceDevices", "CSndFile", optimized: false),
        tests(
            "VoiceTransport", "VoiceTransport", "CLinuxRealtime", "CAllocationCounter", "CSRTP", "COpenSSL",
            optimized: false),
        tests(
            "VoiceEngine", "VoiceEngine", "VoiceProcessing", "VoiceSimulation", "SimulatedCalls", "CAllocationCounter",
            optimized: false),
        tests(
            "VoicePartner", "VoicePartner", "VoiceEngine", "VoiceRealtime", "VoiceSimulation", "SimulatedCalls",
            optimized: false),
        tests("VoiceGraph", "VoiceGraph", optimized: false),
        tests("ControlAPI", "ControlAPI", "VoiceDialog", optimized: false),
        tests(
            "ControlServer", "ControlServer", "ControlAPI", "VoiceDialog", "VoiceWeb", "VoicePartner", "VoiceEngine",
            "VoiceSimulation", "SimulatedCalls", "VoiceTransport", "VoiceRooms", optimized: false),
        tests(
            "GraphEngine", "GraphEngine", "VoicePartner", "VoiceEngine", "VoiceProcessing", "VoiceDevices",
            "VoiceRealtime", "VoiceSimulation", "SimulatedCalls", "VoiceWeb", "CAllocationCounter", optimized: false),
        tests("VoiceSimulation", "VoiceSimulation"),
        tests(
            "EndToEnd", "VoiceEngine", "VoiceSimulation", "SimulatedCalls", "CAllocationCounter", "ScriptedPeers",
            optimized: false),
        tests(
            "Examples", "NamedStreams", "VoiceRooms", "VoiceTransport", "AppSound", "CallControls", "EchoAgent",
            "CustomBackend", "CustomDevice", "VoiceControl", "BatchTranscriber",
            "TenLines", "PushToTalk", "Karaoke", "Assistant", "RealtimePartner", "ScriptedRealtime", "VoiceDevices",
            "VoiceEngine", "VoicePartner", "VoiceProcessing", "VoiceSimulation", "SimulatedCalls",
            optimized: false),
        tests(
            "CommandLine", "duplex", "ScriptedRealtime", "VoiceDialog", "VoiceEngine", "VoiceSimulation",
            "SimulatedCalls", optimized: false),
        tests("VirtualCard", "CALSA", "CLinuxRealtime", "CAllocationCounter", optimized: false),
        tests(
            "DuplexVoiceC", "DuplexVoiceC", "CProcessor", "CCall", "CConversation", "CGraph", "CDuplexVoice",
            "VoiceDevices", "VoiceEngine", "VoiceSimulation",
            "VoiceCoding", "VoicePlayout", "VoiceProcessing", "VoiceRealtime", "VoiceTransport", "VoiceWire",
            "CAllocationCounter", optimized: false),
        tests("ImportRules", optimized: false),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu11,
    cxxLanguageStandard: .cxx17
)

// DUPLEXVOICE_ONLY=VoiceRealtimeTests,VoiceDevicesTests keeps these targets and what they need. tools/test uses it to
// build the threaded code alone under ThreadSanitizer.
if let names = Context.environment["DUPLEXVOICE_ONLY"] {
    var kept: Set<String> = []
    func keep(_ name: String) {
        guard kept.insert(name).inserted else { return }
        for case .byNameItem(let needed, _) in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
            keep(needed)
        }
    }
    names.split(separator: ",").forEach { keep(String($0)) }
    package.targets.removeAll { !kept.contains($0.name) }
    package.products.removeAll()
    if !kept.contains("duplex") { package.dependencies.removeAll() }
}

// DUPLEXVOICE_UNOPTIMIZED=DuplexBench leaves these targets unoptimised in release builds too. tools/test uses it for
// programs that it builds but never runs.
if let names = Context.environment["DUPLEXVOICE_UNOPTIMIZED"]?.split(separator: ",").map(String.init) {
    for target in package.targets where names.contains(target.name) { target.swiftSettings = unoptimized }
}

// DUPLEXVOICE_OPTIMIZED=VoiceSimulation optimises these targets in debug builds too. tools/test uses it for what makes
// and measures the sound of its debug tests, and is not looked at there.
if let names = Context.environment["DUPLEXVOICE_OPTIMIZED"]?.split(separator: ",").map(String.init) {
    for target in package.targets where names.contains(target.name) {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O"], .when(configuration: .debug))]
    }
}

// DUPLEXVOICE_SMALL=1 makes what tools/package ships smaller: code in sections of its own, so that the linker
// leaves out what nothing calls, and modules without real-time code optimised for size.
if Context.environment["DUPLEXVOICE_SMALL"] != nil {
    let forSize: Set = [
        "duplex", "ControlAPI", "ControlServer", "RealtimePartner", "SimulatedCalls", "VoiceDialog", "VoiceGraph",
        "VoicePartner", "VoiceRooms", "VoiceText", "VoiceWeb",
    ]
    for target in package.targets where target.type == .regular || target.type == .executable {
        if let settings = target.cSettings { target.cSettings = settings + [.unsafeFlags(["-ffunction-sections"])] }
        guard let settings = target.swiftSettings else { continue }
        let optimization = forSize.contains(target.name) ? ["-Osize"] : []
        target.swiftSettings = settings + [.unsafeFlags(["-Xfrontend", "-function-sections"] + optimization)]
    }
}
