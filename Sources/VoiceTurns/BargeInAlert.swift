/// Sounds of the near end that may become speech: how long one lasts, and whether it is a reason to duck.
///
/// Who hears a chair, a cough or keys ducks once; what was in vain is none for a while, and the longer the more often
/// that happened in a row.
struct BargeInAlert: BitwiseCopyable {
    /// Beyond this length a sound without speech is no beginning of a word; the longest hisses last so long.
    private static let longest = Duration.milliseconds(150)
    /// How long nothing is a reason after one that was in vain, and after several.
    private static let rest = (initial: Duration.seconds(2), maximum: Duration.seconds(16))

    /// How much of the sound before a vowel counts as speech, at most: some consonants are as long, none of them is a
    /// word.
    private static let consonant = Duration.milliseconds(60)

    /// How long the present sound lasts.
    private(set) var sound = Duration.zero
    /// Whether the suspicion rests on it alone.
    private(set) var isRaised = false
    /// How long ago it was raised.
    private var age = Duration.zero
    private var resting = Duration.zero
    private var nextRest = BargeInAlert.rest.initial

    /// Takes a block of the near end, or of something else.
    mutating func take(_ duration: Duration, isNear: Bool) {
        sound = isNear ? sound + duration : .zero
        age += duration
        resting = max(.zero, resting - duration)
    }

    /// Whether a sound that began so long ago is one.
    func isReason(after length: Duration) -> Bool { sound >= length && resting == .zero }

    /// Whether the sound that it was raised by may still become a word; others that follow it, as keystrokes do, do not
    /// count.
    var isOpen: Bool { isRaised && sound > .zero && age < Self.longest }

    /// What of the sound belongs to the speech that has begun in it.
    var consonant: Duration { isOpen ? min(sound, Self.consonant) : .zero }

    mutating func raise() {
        isRaised = true
        age = sound
    }

    /// It has become speech.
    mutating func fulfil() {
        isRaised = false
        nextRest = Self.rest.initial
    }

    /// What was suspected is retracted.
    mutating func retract() {
        guard isRaised else { return }
        isRaised = false
        resting = nextRest
        nextRest = min(Self.rest.maximum, nextRest * 2)
    }
}
