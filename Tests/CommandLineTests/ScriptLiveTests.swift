import Foundation
import TestCases
import Testing

/// What `tools/environment` has for the project's scripts, and what they make of their options.
@Suite("What the scripts of tools share")
struct ScriptLiveTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path(percentEncoded: false)

    /// Runs a script that has `tools/environment`. A program that it has started and that goes on is waited for, as it
    /// has inherited the pipe of `$(...)`, until the time is up.
    private static func run(_ script: String) throws -> TestProgram.Ended {
        let inner = "set -euo pipefail; source tools/environment; folder=$1\n" + script
        let outer = #"echo "$(bash -c "$1" inner "$2" || echo failed)""#
        let folder = try TestFolder()
        return try TestProgram.run(
            "/bin/bash", ["-c", outer, "outer", inner, folder.path], limit: .seconds(30), in: root)
    }

    @Test("a script that fails ends what it has started in the background, with its children")
    func background() throws {
        let ended = try Self.run("linger() { sleep 600; }; in_background linger; false; echo further")
        #expect(ended.status == 0 && ended.text == "failed\n", "\(ended.text)\(ended.complaint)")
    }

    @Test("one of them that fails ends the script and the others")
    func failure() throws {
        let ended = try Self.run(
            """
            bad() { false; echo further; }
            linger() { sleep 600; }
            in_background bad; in_background linger
            wait_for_background; echo further
            """)
        #expect(ended.status == 0 && ended.text == "failed\n", "\(ended.text)\(ended.complaint)")
    }

    @Test(
        "a Python that is named from here is found from elsewhere",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")))
    func python() throws {
        let ended = try Self.run(
            #"ln -s /usr/bin/python3 "$folder/own"; cd "$folder"; found=$(PYTHON=./own find_python json); cd /; "$found" -c 'print("ran")'"#
        )
        #expect(ended.text == "ran\n", "\(ended.text)\(ended.complaint)")
    }

    @Test("the toolchain is found behind a swiftc that only calls another, as swiftly's")
    func toolchain() throws {
        let ended = try Self.run(
            #"""
            use_swift
            printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v swiftc)" >"$folder/swiftc"
            chmod +x "$folder/swiftc"
            PATH=$folder:$PATH
            [[ -x $(swift_toolchain)/clang ]] && echo found
            """#)
        #expect(ended.text == "found\n", "\(ended.text)\(ended.complaint)")
    }

    @Test("a folder that is given to a script is meant from where the script was started")
    func started() throws {
        let folder = try TestFolder()
        let arguments = ["--output", "secret"]
        let ended = try TestProgram.run("\(Self.root)/tools/documentation", arguments, in: folder.path)
        let name = URL(filePath: folder.path).lastPathComponent
        #expect(ended.status == 64 && ended.complaint.contains("/\(name)/secret is there"), "\(ended.complaint)")
    }

    @Test(
        "a script that is asked for help says how it is used, and builds nothing",
        arguments: [
            "package", "package-c", "package-python", "documentation", "api", "test", "train-speech",
            "train-suppressor",
        ])
    func help(_ script: String) throws {
        let ended = try TestProgram.run("\(Self.root)/tools/\(script)", ["--help"], in: "/")
        #expect(ended.status == 0 && ended.text.hasPrefix("tools/\(script): "), "\(ended.text)\(ended.complaint)")
    }

    @Test(
        "tools/setup installs nothing for an option that it does not know",
        arguments: [["--peer"], ["--agent", "--peer"]])
    func options(_ options: [String]) throws {
        let ended = try TestProgram.run("\(Self.root)/tools/setup", options)
        #expect(ended.status == 64 && ended.complaint.contains("--peers"), "\(ended.complaint)")
    }
}
