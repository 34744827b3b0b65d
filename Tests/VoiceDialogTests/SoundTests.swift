import TestCases
import Testing

@testable import VoiceDialog

@Suite("Sound stands in messages")
struct SoundTests {
    @Test("base64 has the vectors of RFC 4648, section 10")
    func vectors() {
        for (text, code) in [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            #expect(Base64.encode(Array(text.utf8)) == code)
            #expect(Base64.decode(code) == Array(text.utf8))
        }
    }

    @Test(
        "what is no base64 is refused",
        arguments: ["Zg", "Zg=", "Z===", "====", "Zh==", "Zm9=", "Zm 9", "Zg==Zg==", "Zé=="])
    func malformed(code: String) { #expect(Base64.decode(code) == nil) }

    @Test("G.711 has the values of the recommendation")
    func companding() {
        // Tables 1a to 2b: first and last decision intervals, on the scale of 16 bits.
        #expect(G711.decodeMuLaw(0xFF) == 0)
        #expect(G711.decodeMuLaw(0x80) == 32_124)
        #expect(G711.decodeMuLaw(0x00) == -32_124)
        #expect(G711.decodeMuLaw(0xFE) == 8)
        #expect(G711.decodeALaw(0xD5) == 8)
        #expect(G711.decodeALaw(0x55) == -8)
        #expect(G711.decodeALaw(0xAA) == 32_256)
        #expect(G711.decodeALaw(0x2A) == -32_256)
        for byte in UInt8.min ... .max {
            // Both zeros of the µ-law sound the same.
            if byte != 0x7F { #expect(G711.encodeMuLaw(G711.decodeMuLaw(byte)) == byte) }
            #expect(G711.encodeALaw(G711.decodeALaw(byte)) == byte)
        }
    }

    @Test("companding errs by at most half of its step")
    func companded() {
        for sample in stride(from: Int(Int16.min), through: Int(Int16.max), by: 7) {
            let companded = Int16(sample)
            // An octave has 16 steps; those of the µ-law begin 132 below zero, those of the A-law are 16 long at least.
            let (ofMuLaw, ofALaw) = ((abs(sample) + 132) / 32, max(8, abs(sample) / 32))
            #expect(abs(Int(G711.decodeMuLaw(G711.encodeMuLaw(companded))) - sample) <= ofMuLaw, "\(sample)")
            #expect(abs(Int(G711.decodeALaw(G711.encodeALaw(companded))) - sample) <= ofALaw, "\(sample)")
        }
    }

    @Test("16-bit sound is little endian, and half a sample is none")
    func pcm() {
        let sound = DialogSound.pcm16(rate: 24_000)
        #expect(sound.encode([1, -2, .max]) == [1, 0, 0xFE, 0xFF, 0xFF, 0x7F])
        #expect(sound.decode([1, 0, 0xFE, 0xFF]) == [1, -2])
        #expect(sound.decode([1, 0, 2]) == nil)
        #expect(sound.duration(36_000) == .milliseconds(1_500))
    }
}
