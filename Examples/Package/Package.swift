// swift-tools-version: 6.2
import PackageDescription

// A package of its own that depends on DuplexVoice as yours would; by path here, else by URL.
let package = Package(
    name: "Listener",
    dependencies: [.package(name: "DuplexVoice", path: "../..")],
    targets: [
        .executableTarget(
            name: "Listener", dependencies: [.product(name: "VoiceEngine", package: "DuplexVoice")])
    ]
)
