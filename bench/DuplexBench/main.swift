import Glibc

// DuplexBench NAME [--json] [--long] [--seeds A-B] [--seconds N] [--stages NAME=VALUE,…] [--recordings DIR]
//
// bench/run builds it and says what the options mean.

/// EX_USAGE of sysexits.h.
let usageError: Int32 = 64

func fail(_ message: String, code: Int32) -> Never {
    let line = message + "\n"
    _ = unsafe write(STDERR_FILENO, line, line.utf8.count)
    exit(code)
}

let list = Benchmark.all.map { "  \($0.name): \($0.purpose)" }.joined(separator: "\n")
let usage = "usage: bench/run NAME [--json] [--long] [--seeds A-B]\n\(list)"
let options = Benchmark.all.flatMap(\.options)
let flags = ["--json", "--long"] + options.filter { !BenchmarkLength.valued.contains($0) }
var names = CommandLine.arguments.dropFirst().filter { !flags.contains($0) }
for option in BenchmarkLength.valued {
    if let at = names.firstIndex(of: option) { names.removeSubrange(at..<min(at + 2, names.endIndex)) }
}
let wantsJSON = CommandLine.arguments.contains("--json")

if names.contains(where: { $0 == "--help" || $0 == "-h" }) {
    print(usage)
    exit(0)
}
guard names.count == 1, let name = names.first else { fail(usage, code: usageError) }
guard let benchmark = Benchmark.all.first(where: { $0.name == name }) else {
    fail("bench: there is no benchmark '\(name)'\n\(usage)", code: usageError)
}
for option in options where CommandLine.arguments.contains(option) {
    guard benchmark.options.contains(option) else { fail("bench: \(name) takes no \(option)", code: usageError) }
    guard !BenchmarkLength.valued.contains(option) || BenchmarkLength.value(of: option) != nil else {
        fail("bench: \(option) takes a value", code: usageError)
    }
}

do {
    let result = try benchmark.run()
    print("## \(benchmark.name)\n\n\(result.description)\n\n\(result.table)\n")
    for part in result.further { print("### \(part.heading)\n\n\(part.description)\n\n\(part.table)\n") }
    if wantsJSON { print(SummaryLine.json(of: benchmark, result.summary)) }
} catch {
    fail("bench: \(benchmark.name) could not be measured: \(error)", code: 1)
}
