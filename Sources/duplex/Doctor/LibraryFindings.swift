internal import CDuplexBuild
import VoiceEngine
import VoiceRealtime

/// The libraries of the sound's way: which are really loaded, which a package's version does not tell, and what newer
/// ones have.
extension Finding {
    static var libraries: [Finding] {
        let files = loadedFiles
        func file(_ prefix: String) -> String { files.first { $0.hasPrefix(prefix) } ?? "linked in" }
        return [
            webRTC(file("libwebrtc")),
            opus(OpusLibrary.version, file: file("libopus")),
            alsa(ALSALibrary.version, file: file("libasound")),
            Finding(.ok, "speexdsp", "\(file("libspeexdsp")); the resampler, in every version"),
            Finding(
                .ok, "other libraries",
                ["libsndfile", "libjwt", "libpcap"].map(file).joined(separator: ", ")),
        ]
    }

    /// Versions 1.x and 2.x of the package have the module's third canceller; 0.3 is of 2016 and has the second.
    private static func webRTC(_ file: String) -> Finding {
        let library = try? ProcessingBackend.webRTC.makeProcessor(sampleRate: 48_000, settings: .bypass).traits.library
        guard let library else {
            return Finding(.degraded, "webrtc-audio-processing", "\(file), which does not start")
        }
        let hasThird = library.indices.contains { library[$0...].hasPrefix("AEC3") }
        return Finding(
            .ok, "webrtc-audio-processing",
            "\(library) (\(file))\(hasThird ? "" : "; lacks AEC3, which 1.x and 2.x have")")
    }

    /// What later versions of Opus brought that a voice over a bad network gains from (opus-codec.org, release notes).
    static func opus(_ text: String, file: String) -> Finding {
        guard let version = LibraryVersion(text) else { return Finding(.ok, "opus", "\(text) (\(file))") }
        let news = [
            (LibraryVersion(1, 3), "better speech below 12 kb/s"),
            (LibraryVersion(1, 5), "deep redundancy (DRED) and deep concealment"),
        ]
        let lacking = news.filter { version < $0.0 }.map { "\($0.1) of \($0.0)" }
        return Finding(
            .ok, "opus", "\(text) (\(file))\(lacking.isEmpty ? "" : "; lacks " + lacking.joined(separator: ", "))")
    }

    /// Before 1.1 alsa-lib's functions did not lock, so that two threads could not have a PCM each from one plugin.
    static func alsa(_ text: String, file: String) -> Finding {
        guard let version = LibraryVersion(text), version < LibraryVersion(1, 1) else {
            return Finding(.ok, "alsa-lib", "\(text) (\(file))")
        }
        return Finding(
            .degraded, "alsa-lib", "\(text) (\(file)); its plugins are not safe with several threads",
            remedy: "use alsa-lib 1.1 or later, or hw: devices")
    }

    /// The names of the files of shared libraries that are loaded into this process.
    static var loadedFiles: [String] {
        var paths: [String] = []
        // The linker is asked, as the text of /proc/self/maps would take a third of the time of `duplex --version` to
        // read.
        unsafe withUnsafeMutablePointer(to: &paths) { paths in
            unsafe duplex_visit_libraries(
                { path, context in
                    guard let context = unsafe context else { return }
                    unsafe context.assumingMemoryBound(to: [String].self).pointee.append(String(cString: path))
                }, paths)
        }
        return Set(paths.compactMap { $0.split(separator: "/").last.map(String.init) }).sorted()
    }
}

/// A library's version, as far as features go by it.
struct LibraryVersion: Comparable, CustomStringConvertible {
    var major: Int
    var minor: Int

    init(_ major: Int, _ minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// The first `1.3` of `libopus 1.3.1-fixed`; nil where there is none.
    init?(_ text: String) {
        for word in text.split(whereSeparator: { $0 == " " || $0 == "-" || $0 == "~" }) {
            let parts = word.split(separator: ".").map { Int($0) }
            guard parts.count >= 2, let major = parts[0], let minor = parts[1] else { continue }
            self.init(major, minor)
            return
        }
        return nil
    }

    var description: String { "\(major).\(minor)" }

    static func < (left: LibraryVersion, right: LibraryVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }
}
