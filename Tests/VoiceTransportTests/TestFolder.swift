import Foundation

/// A folder of a test's own, which goes with it.
final class TestFolder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "duplex-" + UUID().uuidString).path()
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file; its path.
    func write(_ name: String, _ bytes: [UInt8], mode: Int = 0o600) throws -> String {
        let place = path + "/" + name
        try Data(bytes).write(to: URL(filePath: place))
        try setMode(place, mode)
        return place
    }

    func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path + "/" + name))) }

    func names(in folder: String) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder) }

    func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    func setMode(_ path: String, _ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
}
