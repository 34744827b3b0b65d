import Foundation
import Testing
import VoiceEngine

@testable import duplex

@Suite("Events of a call, as they are told")
struct CallEventTests {
    private static func event(_ change: ReferenceIntegrity.Change) throws -> (detail: String, json: [String: Any]) {
        let event = CallEvent(.referenceIntegrity(change)) { "\($0)" }
        let json = try JSONSerialization.jsonObject(with: Data(Console.encode(event).utf8))
        return (event.detail, try #require(json as? [String: Any]))
    }

    @Test("a problem of the echo reference begins and ends", arguments: ReferenceIntegrity.Problem.allCases)
    func problem(_ problem: ReferenceIntegrity.Problem) throws {
        let (began, first) = try Self.event(.began(problem))
        let (ended, second) = try Self.event(.ended(problem))
        #expect(first["type"] as? String == "reference_integrity")
        #expect(first["problem"] as? String == "\(problem)" && first["is_present"] as? Bool == true)
        #expect(second["problem"] as? String == "\(problem)" && second["is_present"] as? Bool == false)
        #expect(began.contains("echo reference") && ended.hasSuffix(began) && ended != began)
    }

    @Test("the echo's gain and delay change")
    func changes() throws {
        let (softer, gain) = try Self.event(.gainChanged(decibels: -6.04))
        #expect(softer == "the echo is 6.0 dB softer than before")
        #expect(gain["echo_gain_db"] as? Double == -6 && gain["problem"] == nil)
        let (later, shift) = try Self.event(.shifted(by: .milliseconds(80)))
        #expect(later == "the echo comes 80.0 ms later than before")
        #expect(shift["echo_shift_ms"] as? Double == 80)
    }
}
