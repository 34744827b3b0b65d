import VoiceEngine

/// The stages of an interruption by `--stages confirmAfter=700,holdAfter=120`, in milliseconds (`doubt` is a factor);
/// the default ones without it.
enum WantedStages {
    static let stages: BargeInStages = {
        var stages = BargeInStages()
        for part in (BenchmarkLength.value(of: "--stages") ?? "").split(separator: ",") {
            let pair = part.split(separator: "=")
            guard pair.count == 2, let value = Double(pair[1]), value > 0, value <= 10_000 else {
                fail("bench: --stages takes NAME=VALUE,… and '\(part)' is none", code: usageError)
            }
            let length = Duration.milliseconds(Int(value))
            switch pair[0] {
            case "suspectAfter": stages.suspectAfter = length
            case "alertAfter": stages.alertAfter = length
            case "holdAfter": stages.holdAfter = length
            case "confirmAfter": stages.confirmAfter = length
            case "resumeAfter": stages.resumeAfter = length
            case "doubt": stages.doubt = value
            default: fail("bench: --stages knows no '\(pair[0])'", code: usageError)
            }
        }
        return stages
    }()

    static let mode = TalkMode.duplex(Duplex(bargeIn: .staged(stages)))
}
