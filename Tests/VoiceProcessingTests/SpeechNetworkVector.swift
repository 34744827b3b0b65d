// Written by tools/speech/vector.py, which see.

/// Probability of every tenth block of `SpeechNetworkTests`' sound, as NumPy finds it from the same weights.
let speechNetworkVector: [Float] = [
    0.5091, 0.7967, 0.8613, 0.7647, 0.1738, 0.0329, 0.6409, 0.8661, 0.9646, 0.9636,
    0.3707, 0.0797, 0.9344, 0.9714, 0.9825, 0.9225, 0.3074, 0.0874, 0.8903, 0.9718,
    0.9656, 0.8081, 0.2732, 0.1215, 0.9697, 0.9760, 0.9719, 0.9340, 0.3879, 0.0932,
]
