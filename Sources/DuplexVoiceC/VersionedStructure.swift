internal import CDuplexVoice

/// A structure of the header that begins with its size, so that programs and libraries of different ages understand
/// each other.
protocol VersionedStructure {
    /// All zero.
    init()
    var size: UInt32 { get set }
    /// Bytes that it had in the first version.
    static var firstSize: Int { get }
}

extension dv_processor_config: VersionedStructure { static var firstSize: Int { 28 } }
extension dv_processor_settings: VersionedStructure { static var firstSize: Int { 40 } }
extension dv_processor_report: VersionedStructure { static var firstSize: Int { 88 } }
extension dv_playout_config: VersionedStructure { static var firstSize: Int { 28 } }
extension dv_playout_statistics: VersionedStructure { static var firstSize: Int { 176 } }
extension dv_engine_config: VersionedStructure { static var firstSize: Int { 56 } }
extension dv_levels: VersionedStructure { static var firstSize: Int { 56 } }
extension dv_event: VersionedStructure { static var firstSize: Int { 1_432 } }
extension dv_join_options: VersionedStructure { static var firstSize: Int { 24 } }
extension dv_engine_snapshot: VersionedStructure { static var firstSize: Int { 488 } }
extension dv_participant: VersionedStructure { static var firstSize: Int { 304 } }
extension dv_engine_statistics: VersionedStructure { static var firstSize: Int { 160 } }
extension dv_talker_statistics: VersionedStructure { static var firstSize: Int { 72 } }
extension dv_token_grants: VersionedStructure { static var firstSize: Int { 440 } }
extension dv_far_end_config: VersionedStructure { static var firstSize: Int { 12 } }
extension dv_conversation_config: VersionedStructure { static var firstSize: Int { 20 } }
extension dv_agent_stages: VersionedStructure { static var firstSize: Int { 32 } }
extension dv_answer_latency: VersionedStructure { static var firstSize: Int { 64 } }
extension dv_graph_config: VersionedStructure { static var firstSize: Int { 72 } }
extension dv_graph_info: VersionedStructure { static var firstSize: Int { 20 } }

extension VersionedStructure {
    /// What it is called, for a complaint.
    private static var structure: String { "\(Self.self)" }
    /// No structure will be longer; so much is read of a caller's memory at most, bytes.
    private static var longest: Int { 4096 }

    /// What the caller has written: what a shorter structure lacks is zero.
    ///
    /// - Throws: ``Failure``, where it is null, of a size that no version has, or longer than this library's and not
    ///   zero there.
    static func read(_ pointer: UnsafePointer<Self>?) throws(Failure) -> Self {
        guard let pointer = unsafe pointer else { throw .argument("\(structure) is null; give the address of one") }
        let size = try unsafe checkedSize(of: UnsafeRawPointer(pointer))
        try unsafe checkBeyond(UnsafeRawPointer(pointer), size: size)
        var value = Self()
        unsafe withUnsafeMutableBytes(of: &value) { bytes in
            unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(size, bytes.count)))
        }
        return value
    }

    /// Fills as much of the caller's structure as both know, and says how much that is.
    func write(to pointer: UnsafeMutablePointer<Self>?) throws(Failure) {
        guard let pointer = unsafe pointer else {
            throw .argument("\(Self.structure) is null; give the address of one")
        }
        let size = min(try unsafe Self.checkedSize(of: UnsafeRawPointer(pointer)), MemoryLayout<Self>.size)
        var value = self
        value.size = UInt32(size)
        unsafe withUnsafeBytes(of: value) { bytes in
            let target = unsafe UnsafeMutableRawBufferPointer(start: pointer, count: size)
            unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<size]))
        }
    }

    /// Throws what ``write(to:)`` would.
    static func checkRoom(at pointer: UnsafeMutablePointer<Self>?) throws(Failure) {
        guard let pointer = unsafe pointer else { throw .argument("\(structure) is null; give the address of one") }
        _ = try unsafe checkedSize(of: UnsafeRawPointer(pointer))
    }

    private static func checkedSize(of pointer: UnsafeRawPointer) throws(Failure) -> Int {
        let size = Int(unsafe pointer.load(as: UInt32.self))
        guard (firstSize...longest).contains(size) else {
            throw Failure(
                DV_INVALID_SIZE,
                "\(structure).size is \(size); set it to sizeof(\(structure)), \(MemoryLayout<Self>.size)")
        }
        return size
    }

    private static func checkBeyond(_ pointer: UnsafeRawPointer, size: Int) throws(Failure) {
        var place = MemoryLayout<Self>.size
        while place < size {
            guard unsafe pointer.load(fromByteOffset: place, as: UInt8.self) == 0 else {
                throw Failure(
                    DV_UNSUPPORTED,
                    "byte \(place) of \(structure) is set, which this library does not know; leave it 0, or take a newer one"
                )
            }
            place += 1
        }
    }
}
