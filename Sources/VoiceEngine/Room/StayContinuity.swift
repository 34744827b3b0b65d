/// How the stay that the engine is in goes on from what is known of it.
enum StayContinuity {
    /// It is another one: nothing that was asked for before is answered.
    case anew
    /// It is the same, and events of it were lost; answers may be among them.
    case withLoss
    /// It is the same, and what was asked for may still be answered.
    case whole

    /// Whether what was not answered yet may still be.
    var mayAnswer: Bool { self == .whole }
}
