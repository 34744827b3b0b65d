internal import CALSA

/// The alsa-lib that this process has loaded.
package enum ALSALibrary {
    /// Its version, such as `1.2.8`.
    package static var version: String { unsafe String(cString: snd_asoundlib_version()) }
}
