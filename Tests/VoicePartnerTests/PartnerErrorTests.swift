import TestCases
import Testing
import VoicePartner

@Suite("Errors of a partner")
struct PartnerErrorTests {
    private static let all: [PartnerError] = [
        .notInstalled("espeak-ng", package: "espeak-ng"), .invalidConfiguration("no such voice"),
        .recogniserFailed("it fell"), .responderFailed("it fell"), .synthesiserFailed("it fell"),
    ]

    private static let proofs: [String: ErrorProof] = [
        "partner.notInstalled": ErrorProof(
            "VoicePartnerTests/OfflineSpeechLiveTests.swift", "throws: PartnerError.notInstalled(\"the model"),
        "partner.invalidConfiguration": ErrorProof(
            "VoicePartnerTests/PartnerErrorTests.swift", "guard case .invalidConfiguration(let sentence)? = refused"),
        "partner.recogniserFailed": ErrorProof(
            "VoicePartnerTests/CascadeStoryTests.swift", "let error = PartnerError.recogniserFailed("),
        "partner.responderFailed": ErrorProof(
            "VoicePartnerTests/CascadeStoryTests.swift", "let error = PartnerError.responderFailed("),
        "partner.synthesiserFailed": ErrorProof(
            "VoicePartnerTests/OfflineSpeechLiveTests.swift", "throws: PartnerError.synthesiserFailed("),
    ]

    @Test("are in the table of docs/errors.md, and no others")
    func table() throws {
        let meant = PartnerErrorCode.allCases.map {
            ErrorProof.row($0.rawValue, $0.origin, $0.isRetryable, $0.remedy)
        }
        #expect(try ErrorProof.rows(of: "partner") == meant, "they should be:\n\(meant.joined(separator: "\n"))")
        #expect(Self.all.map(\.code) == PartnerErrorCode.allCases.map(\.rawValue))
    }

    @Test("each is provoked by a test")
    func provoked() {
        let faults = ErrorProof.faults(of: PartnerErrorCode.allCases.map(\.rawValue), Self.proofs)
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }

    @Test("a voice or a pace that nobody can have is refused by what may be had of it")
    func invalidVoice() {
        for (voice, pace, remedy) in [
            ("", 165, "the voice is ''; use one of"), ("-x", 165, "the voice is '-x'; use one of"),
            (String(repeating: "v", count: 65), 165, "; use one of 'espeak-ng --voices'"),
            ("en", 79, "the pace is 79 words a minute; use 80 to 450"), ("en", 451, "the pace is 451 words"),
        ] {
            var refused: PartnerError?
            do throws(PartnerError) { _ = try EspeakSynthesiser(voice: voice, wordsPerMinute: pace) } catch {
                refused = error
            }
            guard case .invalidConfiguration(let sentence)? = refused else {
                Issue.record("'\(voice)' at \(pace) was taken")
                continue
            }
            #expect(sentence.contains(remedy), "\(sentence)")
        }
    }

    @Test("what is not installed says what to install")
    func remedy() {
        #expect(Self.all[0].explanation == "espeak-ng is not installed: apt install espeak-ng, or tools/setup --agent")
    }
}
