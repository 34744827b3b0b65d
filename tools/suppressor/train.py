"""Trains the network that tells a near end from what is left of an echo, and writes its weights.

train.py RECORDS... --output residual-echo-network.bin

RECORDS are files of SuppressorTraining: calls of 1600 blocks, a record of 16-bit floats for each block (SuppressorLesson.swift): what the
networks look at, in bands and in bins, and spectra, of which the near end's power is what this one is to find. A twentieth of the calls is held out. The file that is
written is described by ResidualEchoNetwork.swift, which reads it.
"""

import argparse
import os
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

BINS, PADDED_BINS, BANDS, BLOCKS = 161, 168, 31, 1600
# What the network looks at (ResidualEchoFeatures.swift): in bands and of the block, and of each bin.
FEATURES, PER_BIN = 7 * BANDS + 5, 8
# What a record holds besides: features for the second network, and three spectra, of which two are the talkers' and the room's noise.
ALL_FEATURES, ALL_PER_BIN, SCALE = FEATURES + 2 * BANDS + 1, PER_BIN + 5, 64
RECORD = ALL_FEATURES + (ALL_PER_BIN + 6) * BINS
# Units of the network that is the same for each bin.
BIN_UNITS = 16
# The feature of a bin that is the estimate's gain, from which training sets out.
ESTIMATED_GAIN = 4
MARK = 0x4E525644
# Blocks of a piece of a call that is learned from, and those at its beginning that only fill the memory.
PIECE, WARM_UP = 400, 40
# Amplitudes are compared by this power of them, as they are heard.
COMPRESSION = 0.3
# Bins count less where speech has little: below 100 Hz and above 6 kHz.
WEIGHTS = np.where(np.arange(BINS) < 2, 0.1, np.where(np.arange(BINS) < 120, 1, 0.6)).astype(np.float32)


def read(paths):
    """Each call's records: blocks x RECORD."""
    calls = []
    for path in paths:
        records = np.memmap(path, np.float16, "r")
        whole = len(records) // (RECORD * BLOCKS)
        calls += list(records[: whole * RECORD * BLOCKS].reshape(whole, BLOCKS, RECORD))
    return calls


def unpack(records):
    """Features of bands and of bins, and the near end's power in bins as a common logarithm; of 32-bit floats."""
    rest = records[..., ALL_FEATURES:]
    bins = rest[..., : ALL_PER_BIN * BINS].reshape(*records.shape[:-1], ALL_PER_BIN, BINS)[..., :PER_BIN, :]
    spectra = rest[..., ALL_PER_BIN * BINS :].reshape(*records.shape[:-1], 3, 2, BINS) / SCALE
    near = ((spectra[..., 1, :, :] + spectra[..., 2, :, :]) ** 2).sum(-2)
    return records[..., :FEATURES], bins, jnp.log10(near + 1e-6)


def initial(key, width, units):
    keys = jax.random.split(key, 7)

    def layer(key, inputs, outputs, scale=1.0):
        return jax.random.normal(key, (inputs, outputs)) * scale / np.sqrt(inputs), jnp.zeros(outputs)

    return dict(
        entry=layer(keys[0], FEATURES, width),
        entry_gates=layer(keys[1], width, 3 * units),
        state_gates=layer(keys[2], units, 3 * units),
        exit=layer(keys[3], units + width, BINS, 0.1),
        common=layer(keys[4], units + width, BIN_UNITS, 0.3),
        own=jnp.zeros((PER_BIN, BINS)).at[ESTIMATED_GAIN].set(1.0),
        bin=layer(keys[5], PER_BIN, BIN_UNITS)[0],
        bin_exit=jax.random.normal(keys[6], (BIN_UNITS,)) * 0.3,
    )


def gains(network, scaling, bands, bins):
    """Of each bin, 0...1; bands: calls x blocks x FEATURES, bins: calls x blocks x PER_BIN x BINS."""
    (mean, deviation), (bin_mean, bin_deviation) = scaling
    entered = jnp.tanh((bands - mean) / deviation @ network["entry"][0] + network["entry"][1])
    entry_gates = entered @ network["entry_gates"][0] + network["entry_gates"][1]
    units = network["state_gates"][0].shape[0]

    def step(state, entry):
        own = state @ network["state_gates"][0] + network["state_gates"][1]
        reset = jax.nn.sigmoid(entry[:, :units] + own[:, :units])
        keep = jax.nn.sigmoid(entry[:, units : 2 * units] + own[:, units : 2 * units])
        candidate = jnp.tanh(entry[:, 2 * units :] + reset * own[:, 2 * units :])
        state = candidate + keep * (state - candidate)
        return state, state

    start = jnp.zeros((bands.shape[0], units))
    _, states = jax.lax.scan(step, start, entry_gates.swapaxes(0, 1))
    joined = jnp.concatenate([states.swapaxes(0, 1), entered], -1)
    common = joined @ network["common"][0] + network["common"][1]
    scaled = (bins - bin_mean[:, None]) / bin_deviation[:, None]
    hidden = jax.nn.relu(jnp.einsum("cbfk,fu->cbku", scaled, network["bin"]) + common[:, :, None, :])
    logits = joined @ network["exit"][0] + network["exit"][1] + hidden @ network["bin_exit"]
    return jax.nn.sigmoid(logits + jnp.einsum("cbfk,fk->cbk", scaled, network["own"]))


def loss(network, scaling, records, excess):
    bands, bins, near = unpack(records.astype(jnp.float32))
    gain = gains(network, scaling, bands, bins)
    # As the suppressor smooths them, and not lower than it goes.
    edge = lambda at: gain[..., at : at + 1] if at >= 0 else gain[..., -1:]
    below = jnp.concatenate([edge(0), gain[..., :-1]], -1)
    above = jnp.concatenate([gain[..., 1:], edge(-1)], -1)
    gain = jnp.maximum(0.75 * gain + 0.125 * (below + above), 1e-3)
    left = bins[:, :, 0] / 2
    ideal = jnp.minimum(1.0, 10 ** (near / 2 - left))

    def cost(error):
        # Echo that is left counts more, the less of a near end hides it.
        return jnp.where(error > 0, 1 + (excess - 1) * (1 - ideal), 1.0) * error**2

    heard = cost(10 ** (COMPRESSION * (left + jnp.log10(gain))) - 10 ** (COMPRESSION * near / 2))
    passed = cost(gain**0.5 - ideal**0.5) * (left > -2.3)
    return ((heard + 0.5 * passed) * WEIGHTS)[:, WARM_UP:].mean()


def train(calls, options):
    held = max(1, len(calls) // 20)
    count = len(calls) - held
    bands, bins, _ = unpack(np.stack([call[::53] for call in calls[:count:3]]).astype(np.float32))
    scaling = (
        (bands.mean((0, 1)), bands.std((0, 1)) + 1e-2),
        (bins.mean((0, 1, 3)), bins.std((0, 1, 3)) + 1e-2),
    )
    steps = int(options.epochs * count * BLOCKS / (options.batch * PIECE))
    rate = optax.cosine_decay_schedule(2.5e-3, steps, 0.02)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate, weight_decay=1e-4))
    network = initial(jax.random.PRNGKey(options.seed), options.width, options.units)
    state = optimizer.init(network)
    judge = jax.jit(lambda network, piece: loss(network, scaling, piece, options.excess))

    @jax.jit
    def update(network, state, piece):
        value, slope = jax.value_and_grad(lambda n: loss(n, scaling, piece, options.excess))(network)
        change, state = optimizer.update(slope, state, network)
        return optax.apply_updates(network, change), state, value

    draw = np.random.default_rng(options.seed)
    begun, values = time.time(), []
    for step in range(1, steps + 1):
        drawn = draw.integers(0, count, options.batch)
        first = np.where(draw.random(options.batch) < 0.3, 0, draw.integers(0, BLOCKS - PIECE + 1, options.batch))
        pieces = np.stack([calls[c][f : f + PIECE] for c, f in zip(drawn, first)])
        network, state, value = update(network, state, pieces)
        values.append(float(value))
        if step % 200 == 0 or step == steps:
            unseen = [judge(network, np.stack(calls[c : c + 10])) for c in range(count, len(calls), 10)]
            print(f"{step} of {steps}, {time.time() - begun:.0f} s: {np.mean(values[-200:]):.5f}, held out {np.mean(unseen):.5f}", flush=True)
    return {name: jax.tree.map(np.asarray, value) for name, value in network.items()}, scaling


def write(path, network, scaling):
    (mean, deviation), (bin_mean, bin_deviation) = scaling
    # The features of bins are scaled by their weights.
    own, bin = network["own"] / bin_deviation[:, None], network["bin"] / bin_deviation[:, None]
    shift = dict(exit=-bin_mean @ own, common=-bin_mean @ bin)
    out = [np.array([MARK, FEATURES, network["entry"][0].shape[1], network["state_gates"][0].shape[0]], "<i4")]
    out += [np.asarray(values, "<f4") for values in (mean, 1 / deviation)]
    for name in ("entry", "entry_gates", "state_gates", "exit", "common"):
        weights, bias = network[name]
        missing = -len(bias) % 8
        weights, bias = np.pad(weights, ((0, 0), (0, missing))), np.pad(bias + shift.get(name, 0), (0, missing))
        scale = np.abs(weights).max(0) / 127 + 1e-12
        out += [np.asarray(bias, "<f4"), np.asarray(scale, "<f4"), np.round(weights / scale).astype(np.int8)]
    own = np.pad(own, ((0, 0), (0, PADDED_BINS - BINS)))
    out += [np.asarray(values, "<f4") for values in (own, bin, network["bin_exit"])]
    with open(path + ".new", "wb") as file:
        for values in out:
            file.write(values.tobytes())
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+")
    parser.add_argument("--output", required=True)
    parser.add_argument("--epochs", type=float, default=8)
    parser.add_argument("--batch", type=int, default=32, help="pieces of 4 s that are learned from at once")
    parser.add_argument("--width", type=int, default=128, help="of the first layer")
    parser.add_argument("--units", type=int, default=128, help="of the recurrent layer")
    parser.add_argument("--excess", type=float, default=3, help="how much more echo that is left counts than a near end that is lost")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    write(options.output, *train(read(options.records), options))


if __name__ == "__main__":
    main()
