internal import CALSA

/// The alsa-lib that this process has loaded.
public enum ALSALibrary {
    /// Its version, such as `1.2.8`.
    public static var version: String { unsafe String(cString: snd_asoundlib_version()) }
}
