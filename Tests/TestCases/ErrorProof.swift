import Foundation

/// The test that provokes an error: the expectation in it that holds when the error has come, and the file in which that
/// stands, below `Tests`.
public struct ErrorProof: Sendable {
    let file: String
    let expectation: String

    /// A proof in this file, by this expectation.
    public init(_ file: String, _ expectation: String) { (self.file, self.expectation) = (file, expectation) }

    /// The folder of all tests.
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    /// What is wrong with the proofs of these codes: one that has none and no reason why, both, or a proof of a code that
    /// is none; and expectations that do not stand where they are said to.
    public static func faults(
        of codes: [String], _ proofs: [String: ErrorProof], unprovoked: [String: String] = [:]
    ) -> [String] {
        var faults: [String] = []
        for code in codes where (proofs[code] != nil) == (unprovoked[code] != nil) {
            faults.append("\(code): add the test that provokes it, or why none can")
        }
        for code in Set(proofs.keys).union(unprovoked.keys).subtracting(codes).sorted() {
            faults.append("\(code): there is no such code")
        }
        for (code, proof) in proofs.sorted(by: { $0.key < $1.key }) {
            let text = try? String(contentsOf: tests.appending(path: proof.file), encoding: .utf8)
            guard let text, text.contains(proof.expectation) else {
                faults.append("\(code): \(proof.file) has no \(proof.expectation)")
                continue
            }
        }
        return faults
    }

    /// The rows of docs/errors.md whose codes are of a family, such as `room`; all rows for none.
    public static func rows(of family: String) throws -> [String] {
        let page = tests.deletingLastPathComponent().appending(path: "docs/errors.md")
        return try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix(family.isEmpty ? "| `" : "| `\(family).") }.map(String.init)
    }

    /// A row of the table.
    public static func row(_ code: String, _ origin: String, _ isRetryable: Bool, _ remedy: String) -> String {
        "| `\(code)` | \(origin) | \(isRetryable ? "yes" : "no") | \(remedy) |"
    }
}
