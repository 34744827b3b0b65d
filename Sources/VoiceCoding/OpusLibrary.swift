import COpus

/// The Opus library that this process has loaded.
package enum OpusLibrary {
    /// Its name and version, such as `libopus 1.3.1`; a build without floating point says so.
    package static var version: String { unsafe String(cString: opus_get_version_string()) }
}
