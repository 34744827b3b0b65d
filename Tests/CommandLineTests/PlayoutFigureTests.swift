import Foundation
import Testing
import VoicePlayout
import VoiceWire

@testable import duplex

@Suite("The figure of a playout")
struct PlayoutFigureTests {
    @Test("gives each decision the same colour, whichever others there were")
    func colors() throws {
        let kinds: [PlayoutDecision.Kind] = [.restore, .conceal, .bridge, .skip, .shorten, .lengthen]
        func colors(_ present: [PlayoutDecision.Kind]) throws -> [String: Int] {
            let series = PlayoutLog.series(
                of: Dictionary(uniqueKeysWithValues: present.map { ($0, [(1.0, 5.0)]) }), end: 2)
            return Dictionary(uniqueKeysWithValues: try series.map { ($0.name, try #require($0.color)) })
        }
        let all = try colors(kinds)
        #expect(Set(all.values).count == kinds.count)
        for left in kinds {
            let some = try colors(kinds.filter { $0 != left })
            #expect(some.count == kinds.count - 1)
            for (name, color) in some { #expect(all[name] == color) }
        }
    }

    @Test("marks what came too late, and draws the delay that was played")
    func marks() throws {
        var log = PlayoutLog()
        log.notePull(at: .milliseconds(5), target: .milliseconds(20), bufferedFrames: 960)
        log.notePlayed(at: .milliseconds(5), delay: 31)
        log.notePlayed(at: .milliseconds(10), delay: 33)
        for (number, outcome) in [(0, InsertOutcome.stored), (1, .late), (2, .stored), (3, .late)] {
            let header = RTPHeader(
                payloadType: 111, sequenceNumber: UInt16(number), timestamp: UInt32(number * 960),
                synchronizationSource: 7)
            let packet = PlayoutCapture.Packet(
                time: .milliseconds(number * 20), header: header, payload: [], repeats: false)
            log.noteArrival(packet, at: .milliseconds(number * 20), outcome)
        }
        let figure = log.figure(title: "", findings: [])
        guard case .lines(let series) = try #require(figure.panels.first).content else {
            Issue.record("no lines")
            return
        }
        let played = try #require(series.first { $0.name == "delay of what is played" })
        #expect(played.points.map(\.y) == [31, 33])
        let late = try #require(series.first { $0.name == "too late to be played" })
        #expect(late.style == .marks)
        #expect(late.points.map { ($0.x * 1_000).rounded() } == [20, 60])
        // In the figure alone: the log has its arrivals and its pull.
        #expect(log.csv.split(separator: "\n").count == 1 + 4 + 1)
    }
}
