// Written by tools/speech/vector.py, which see.

/// Probability of every tenth block of `SpeechNetworkTests`' sound, as NumPy finds it from the same weights.
let speechNetworkVector: [Float] = [
    0.2789, 0.7986, 0.7728, 0.6524, 0.1122, 0.0257, 0.8028, 0.9803, 0.9923, 0.9178,
    0.1316, 0.0396, 0.9835, 0.9941, 0.9957, 0.9307, 0.1699, 0.0188, 0.9588, 0.9354,
    0.7807, 0.5771, 0.1006, 0.0800, 0.9567, 0.9775, 0.9801, 0.4116, 0.0968, 0.0150,
]
