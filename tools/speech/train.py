"""Trains the network that tells whether somebody speaks, and writes its weights.

train.py CLIPS... --held-out CLIPS --output speech-network.bin

CLIPS are files of scenes.py. The state of the training is kept beside the output (.state) and taken up from there when the same command is given again; another
command, and clips that are newer, begin it anew. The file that is written is described by SpeechNetwork.swift, which reads it.
"""

import argparse
import os
import pathlib
import pickle
import time

# One core: sums in another order would give other weights.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import jax
import jax.numpy as jnp
import numpy as np
import optax

from features import BANDS, COUNT

MARK = 0x4E535644
# What goes in: the features, and how much those of bands have changed since the block before.
INPUTS = COUNT + BANDS
# Blocks of a piece of a clip that is learned from, and those at its beginning that only fill the memory.
PIECE, WARM_UP = 500, 30
# A recording's gain, in common logarithms of power, is changed by up to this in training.
GAIN = 1.2


def read(paths):
    """Features, targets and weights of all clips."""
    loaded = [np.load(path) for path in paths]
    return [np.concatenate([file[name] for file in loaded]) for name in ("features", "targets", "weights")]


def initial(key, width, units):
    keys = iter(jax.random.split(key, 8))

    def layer(inputs, outputs, scale=1.0):
        return jax.random.normal(next(keys), (inputs, outputs)) * scale / np.sqrt(inputs), jnp.zeros(outputs)

    return dict(
        entry=layer(INPUTS, width),
        entry_gates_1=layer(width, 3 * units), state_gates_1=layer(units, 3 * units),
        entry_gates_2=layer(units, 3 * units), state_gates_2=layer(units, 3 * units),
        exit=layer(2 * units, 1, 0.3),
    )


def inputs(features):
    """With the changes of the bands; features: clips x blocks x COUNT."""
    bands = features[..., :BANDS]
    change = jnp.concatenate([jnp.zeros_like(bands[:, :1]), bands[:, 1:] - bands[:, :-1]], 1)
    return jnp.concatenate([features, change], -1)


def recur(entry, state, weights, bias):
    units = state.shape[-1]
    own = state @ weights + bias
    reset = jax.nn.sigmoid(entry[:, :units] + own[:, :units])
    keep = jax.nn.sigmoid(entry[:, units : 2 * units] + own[:, units : 2 * units])
    candidate = jnp.tanh(entry[:, 2 * units :] + reset * own[:, 2 * units :])
    return candidate + keep * (state - candidate)


def logits(network, scaling, features):
    """Of each block; features: clips x blocks x COUNT."""
    mean, deviation = scaling
    entered = jnp.tanh((inputs(features) - mean) / deviation @ network["entry"][0] + network["entry"][1])
    gates = entered @ network["entry_gates_1"][0] + network["entry_gates_1"][1]
    units = network["state_gates_1"][0].shape[0]

    def step(states, entry):
        first = recur(entry, states[0], *network["state_gates_1"])
        between = first @ network["entry_gates_2"][0] + network["entry_gates_2"][1]
        second = recur(between, states[1], *network["state_gates_2"])
        return (first, second), jnp.concatenate([first, second], -1)

    start = jnp.zeros((features.shape[0], units))
    _, states = jax.lax.scan(step, (start, start), gates.swapaxes(0, 1), unroll=4)
    return (states @ network["exit"][0] + network["exit"][1])[..., 0].swapaxes(0, 1)


def loss(network, scaling, features, targets, weights):
    logit = logits(network, scaling, features)
    cost = optax.sigmoid_binary_cross_entropy(logit, targets) * weights
    # What is taken for speech with confidence and is none starts turns.
    surely_wrong = (1 - targets) * jax.nn.sigmoid(logit) ** 2 * weights
    return (cost + 0.5 * surely_wrong)[:, WARM_UP:].mean()


def train(data, held, options):
    features, targets, weights = data
    sample = np.asarray(inputs(jnp.asarray(features[:: max(1, len(features) // 200), :400].astype(np.float32))))
    scaling = (sample.mean((0, 1)), sample.std((0, 1)) + 1e-2)
    steps = options.steps
    rate = optax.schedules.warmup_cosine_decay_schedule(1e-4, options.rate, steps // 20, steps, options.rate / 100)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate, weight_decay=1e-4))
    network = initial(jax.random.PRNGKey(options.seed), options.width, options.units)
    state, first = optimizer.init(network), 1
    kept, asked = pathlib.Path(options.output).with_suffix(".state"), vars(options)
    if kept.exists() and kept.stat().st_mtime > max(os.path.getmtime(clip) for clip in options.clips):
        with open(kept, "rb") as file:
            before, *rest = pickle.load(file)
        if before == asked:
            network, state, scaling, first = rest
    judge = jax.jit(lambda network, features: jax.nn.sigmoid(logits(network, scaling, features)))

    @jax.jit
    def update(network, state, *piece):
        value, slope = jax.value_and_grad(lambda n: loss(n, scaling, *piece))(network)
        change, state = optimizer.update(slope, state, network)
        return optax.apply_updates(network, change), state, value

    begun, values = time.time(), []
    for step in range(first, steps + 1):
        draw = np.random.default_rng([options.seed, step])
        drawn = draw.integers(0, len(features), options.batch)
        starts = np.where(draw.random(options.batch) < 0.15, 0, draw.integers(0, features.shape[1] - PIECE + 1, options.batch))
        cut = lambda values, kind: np.stack([values[c, f : f + PIECE] for c, f in zip(drawn, starts)]).astype(kind)
        looked = cut(features, np.float32)
        gain = draw.uniform(-GAIN, GAIN, (options.batch, 1, 1))
        for columns in (slice(0, BANDS), slice(COUNT - 1, COUNT)):
            looked[..., columns] = np.clip(looked[..., columns] + gain, -9, 3)
        network, state, value = update(network, state, looked, cut(targets, np.float32), cut(weights, np.float32))
        values.append(float(value))
        if step % 100 == 0 or step == steps:
            print(f"{step} of {steps}, {time.time() - begun:.0f} s: {np.mean(values[-100:]):.5f}, {summary(judge, network, held)}", flush=True)
            # Whole or not at all.
            with open(f"{kept}.new", "wb") as file:
                pickle.dump((asked, *jax.tree.map(np.asarray, (network, state, scaling)), step + 1), file)
            os.replace(f"{kept}.new", kept)
            write(options.output, jax.tree.map(np.asarray, network), scaling)
    return network, scaling


def summary(judge, network, held):
    """F1 by blocks, and the share of blocks that are taken for speech in clips without any."""
    features, targets, weights = held
    told = np.concatenate([judge(network, features[c : c + 50].astype(np.float32)) for c in range(0, len(features), 50)]) > 0.5
    counts = weights > 0.4
    right, wrong, missed = (np.sum(told & targets & counts), np.sum(told & ~targets & counts), np.sum(~told & targets & counts))
    silent = ~targets.any(1)
    return f"held out: F1 {2 * right / (2 * right + wrong + missed):.4f}, taken for speech in {100 * told[silent].mean():.3f} % of {silent.sum()} clips without"


def write(path, network, scaling):
    mean, deviation = scaling
    out = [np.array([MARK, INPUTS, network["entry"][0].shape[1], network["state_gates_1"][0].shape[0]], "<i4")]
    out += [np.asarray(values, "<f4") for values in (mean, 1 / deviation)]
    for name in ("entry", "entry_gates_1", "state_gates_1", "entry_gates_2", "state_gates_2", "exit"):
        weights, bias = network[name]
        missing = -len(bias) % 8
        weights, bias = np.pad(weights, ((0, 0), (0, missing))), np.pad(bias, (0, missing))
        scale = np.abs(weights).max(0) / 127 + 1e-12
        out += [np.asarray(bias, "<f4"), np.asarray(scale, "<f4"), np.round(weights / scale).astype(np.int8)]
    with open(path + ".new", "wb") as file:
        for values in out:
            file.write(values.tobytes())
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="+")
    parser.add_argument("--held-out", nargs="+", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--steps", type=int, default=1600)
    parser.add_argument("--batch", type=int, default=32, help="pieces of 5 s that are learned from at once")
    parser.add_argument("--width", type=int, default=48, help="of the first layer")
    parser.add_argument("--units", type=int, default=48, help="of each recurrent layer")
    parser.add_argument("--rate", type=float, default=6e-3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    network, scaling = train(read(options.clips), read(options.held_out), options)
    write(options.output, jax.tree.map(np.asarray, network), scaling)


if __name__ == "__main__":
    main()
