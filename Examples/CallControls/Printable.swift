extension String {
    /// As a terminal may get it: what others wrote moves no cursor and turns no line around.
    var printable: String {
        var scalars = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            let isObeyed = scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
            scalars.append(isObeyed ? " " : scalar)
        }
        return String(scalars)
    }
}
