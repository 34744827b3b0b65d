"""Trains the network that judges what is left of an echo while both talk, and writes its weights.

train_double_talk.py FOLDER --held-out RECORDS --output double-talk-network.bin --checkpoint FILE [--minutes 60] [--start FILE] [--average-with FILE]

FOLDER holds files of SuppressorTraining (NAME.records): calls of 1600 blocks, a record of 16-bit floats for each block (SuppressorLesson.swift). Files
that come while it trains are learned from as well. Training goes on from the checkpoint if there is one, else from the weights of --start, else from
chance, and writes both files every few minutes.
It runs where JAX does: on a core, or on an accelerator. DoubleTalkNetwork.swift describes the network and reads the file.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import pickle
import time

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import jax
import jax.numpy as jnp
import numpy as np
import optax

import hearing

BINS, PADDED_BINS, BLOCKS = 161, 168, 1600
FEATURES, PER_BIN = 7 * 31 + 5 + 2 * 31 + 1, 13
RECORD = FEATURES + (PER_BIN + 6) * BINS
SCALE = 64
# Features of a bin from which training sets out: the estimate's gain and the first network's.
ESTIMATED_GAIN, OPINION = 4, 10
MARK = 0x4E544456
# Blocks of a piece that is learned from, and those at its beginning that only fill the memory.
PIECE, WARM_UP = 240, 40
# Amplitudes are compared by this power of them, as they are heard.
COMPRESSION = 0.3
# Amplitude of the room's noise in the target: it is to be down wherever there may be an echo. Where there can be none, the network is not asked.
NOISE = 0.1
# Signal to distortion, dB, above which more is not worth anything.
MOST_SDR = 22.0
# Bins count less where speech has little: below 100 Hz and above 7.8 kHz.
WEIGHTS = np.where(np.arange(BINS) < 2, 0.1, np.where(np.arange(BINS) < 156, 1, 0.6)).astype(np.float32)
# What of a difference is heard, and of what was added: in PESQ's units by a fit (hearing.py).
HEARD, ADDED = 0.2, 0.03
# Blocks between the places where a piece may begin; how much likelier one is in which somebody talks beside an echo, and the range of the
# talker's level over what is left of that, dB.
STRIDE, BESIDE_ECHO, TALKER_OVER_ECHO = 20, 6, (-8, 18)
LEAST_GAIN = 1e-3


def read(path):
    """A file's calls: blocks x RECORD each."""
    records = np.memmap(path, np.float16, "r")
    whole = len(records) // (RECORD * BLOCKS)
    return list(records[: whole * RECORD * BLOCKS].reshape(whole, BLOCKS, RECORD))


def chances(call):
    """How likely a piece is to begin at each STRIDE of a call."""
    spectra = np.asarray(call[:, FEATURES + PER_BIN * BINS :], np.float32).reshape(BLOCKS, 3, 2, BINS)[..., 4:] / SCALE
    error, talk, noise = spectra.swapaxes(0, 1)
    talker, left = ((s**2).sum((1, 2)) for s in (talk, error - talk - noise))

    def chance(first):
        said, echo = talker[first + WARM_UP : first + PIECE], left[first + WARM_UP : first + PIECE]
        over = 10 * np.log10((said.sum() + 1e-3) / (echo.sum() + 1e-3))
        return BESIDE_ECHO if (said > 0.1).mean() > 0.25 and TALKER_OVER_ECHO[0] < over < TALKER_OVER_ECHO[1] else 1

    return [chance(first) for first in range(0, BLOCKS - PIECE + 1, STRIDE)]


class Calls:
    """The calls of a folder, which grows."""

    def __init__(self, folder):
        self.folder, self.known, self.all, self.chances = pathlib.Path(folder), set(), [], []
        self.sums = np.zeros(0)

    def look(self):
        for path in sorted(self.folder.glob("*.records")):
            if path not in self.known:
                self.known.add(path)
                more = read(path)
                self.chances += [chance for call in more for chance in chances(call)]
                self.all += more
                self.sums = np.cumsum(self.chances) / np.sum(self.chances)
        return self

    def draw(self, draw, batch):
        """Pieces of random calls, some of them from the beginning: batch x PIECE x RECORD."""
        sums = self.sums
        call, place = np.divmod(np.searchsorted(sums, draw.random(batch)), (BLOCKS - PIECE) // STRIDE + 1)
        first = np.minimum(STRIDE * place + draw.integers(0, STRIDE, batch), BLOCKS - PIECE)
        first[draw.random(batch) < 0.1] = 0
        pieces = np.empty((batch, PIECE, RECORD), np.float16)
        for piece, number, at in zip(pieces, call, first):
            piece[:] = self.all[number][at : at + PIECE]
        return pieces


def initial(key, width, units, bin_width, bin_units, middle):
    keys = jax.random.split(key, 10)

    def layer(key, inputs, outputs, scale=1.0):
        return jax.random.normal(key, (inputs, outputs)) * scale / np.sqrt(inputs), jnp.zeros(outputs)

    return dict(
        entry=layer(keys[0], FEATURES, width),
        entry_gates=layer(keys[1], width, 3 * units),
        state_gates=layer(keys[2], units, 3 * units),
        exit=layer(keys[3], units + width, BINS, 0.1),
        common=layer(keys[4], units + width, bin_width, 0.3),
        own=jnp.zeros((PER_BIN, BINS)).at[ESTIMATED_GAIN].set(0.7).at[OPINION].set(0.3),
        # The same for each bin; of a bin and its neighbours, the lower one first.
        bin_entry=layer(keys[5], 3 * PER_BIN, bin_width)[0],
        bin_gates=layer(keys[6], bin_width, 2 * bin_units),
        bin_middle=layer(keys[7], 3 * bin_units, middle),
        middle_gates=layer(keys[8], middle, 2 * middle),
        bin_exit=layer(keys[9], 3 * middle, 1, 0.3)[0][:, 0],
    )


def recurrent(of_input, gates, state):
    weights, bias = gates
    units = weights.shape[0]
    own = state @ weights + bias
    reset = jax.nn.sigmoid(of_input[..., :units] + own[..., :units])
    keep = jax.nn.sigmoid(of_input[..., units : 2 * units] + own[..., units : 2 * units])
    new = jnp.tanh(of_input[..., 2 * units :] + reset * own[..., 2 * units :])
    return new + keep * (state - new)


def applied(weights, values):
    """The same for each bin: inputs x calls x bins to outputs x calls x bins. Bins last are what a CPU is quickest with."""
    return (weights.T @ values.reshape(values.shape[0], -1)).reshape(-1, *values.shape[1:])


def follow(state, values, gates):
    """A unit that follows its input as fast as a gate says."""
    weights, bias = gates
    units = weights.shape[1] // 2
    driven = applied(weights, values) + bias[:, None, None]
    return state + jax.nn.sigmoid(driven[:units]) * (jnp.tanh(driven[units:]) - state)


def with_neighbours(values):
    """values: features x calls x bins; the edges have no neighbour."""
    empty = jnp.zeros_like(values[..., :1])
    below = jnp.concatenate([empty, values[..., :-1]], -1)
    above = jnp.concatenate([values[..., 1:], empty], -1)
    return jnp.concatenate([below, values, above], 0)


def gains(network, scaling, bands, bins):
    """Of each bin, 0...1; bands: calls x blocks x FEATURES, bins: calls x blocks x PER_BIN x BINS."""
    (mean, deviation), (bin_mean, bin_deviation) = scaling
    calls, blocks = bands.shape[:2]
    entered = jnp.tanh((bands - mean) / deviation @ network["entry"][0] + network["entry"][1])
    of_bands = entered @ network["entry_gates"][0] + network["entry_gates"][1]

    def wide(state, entry):
        state = recurrent(entry, network["state_gates"], state)
        return state, state

    units = network["state_gates"][0].shape[0]
    _, states = jax.lax.scan(wide, jnp.zeros((calls, units)), of_bands.swapaxes(0, 1))
    joined = jnp.concatenate([states.swapaxes(0, 1), entered], -1)
    common = joined @ network["common"][0] + network["common"][1]
    logits = joined @ network["exit"][0] + network["exit"][1]
    first_units, second_units = (network[name][0].shape[1] // 2 for name in ("bin_gates", "middle_gates"))
    weights, bias = network["bin_middle"]

    @jax.checkpoint
    def narrow(states, entry):
        features, common, logits = entry
        scaled = ((features - bin_mean[:, None]) / bin_deviation[:, None]).swapaxes(0, 1)
        hidden = jax.nn.relu(applied(network["bin_entry"], with_neighbours(scaled)) + common.T[:, :, None])
        first = follow(states[0], hidden, network["bin_gates"])
        middle = jax.nn.relu(applied(weights, with_neighbours(first)) + bias[:, None, None])
        second = follow(states[1], middle, network["middle_gates"])
        logits = logits + applied(network["bin_exit"][:, None], with_neighbours(second))[0]
        return (first, second), jax.nn.sigmoid(logits + (scaled * network["own"][:, None, :]).sum(0))

    start = jnp.zeros((first_units, calls, BINS)), jnp.zeros((second_units, calls, BINS))
    _, gain = jax.lax.scan(narrow, start, (bins.swapaxes(0, 1), common.swapaxes(0, 1), logits.swapaxes(0, 1)))
    return gain.swapaxes(0, 1)


def parts(records):
    records = records.astype(jnp.float32)
    rest = records[..., FEATURES:]
    bins = rest[..., : PER_BIN * BINS].reshape(*records.shape[:-1], PER_BIN, BINS)
    spectra = rest[..., PER_BIN * BINS :].reshape(*records.shape[:-1], 3, 2, BINS) / SCALE
    return records[..., :FEATURES], bins, spectra[..., 0, :, :], spectra[..., 1, :, :], spectra[..., 2, :, :]


def power(spectrum):
    return spectrum[..., 0, :] ** 2 + spectrum[..., 1, :] ** 2


def smooth(gain):
    """As the suppressor smooths gains, and not lower than it goes."""
    below = jnp.concatenate([gain[..., :1], gain[..., :-1]], -1)
    above = jnp.concatenate([gain[..., 1:], gain[..., -1:]], -1)
    return jnp.maximum(0.75 * gain + 0.125 * (below + above), LEAST_GAIN)


def loss(network, scaling, records, price):
    bands, bins, error, talk, noise = parts(records)
    gain = smooth(gains(network, scaling, bands, bins))[:, WARM_UP:]
    error, talk, noise = error[:, WARM_UP:], talk[:, WARM_UP:], noise[:, WARM_UP:]
    target = talk + NOISE * noise
    found = gain[..., None, :] * error
    p_target, p_found = power(target) + 1e-7, power(found) + 1e-7
    m_target, m_found = p_target ** (COMPRESSION / 2), p_found ** (COMPRESSION / 2)
    # Echo that is left counts more, the less of a near end hides it; a talker who is lost counts more than one who is not clean.
    hidden = jnp.minimum(1.0, m_target / (power(error) + 1e-7) ** (COMPRESSION / 2))
    excess = jnp.where(m_found > m_target, 1 + (price[0] - 1) * (1 - hidden), price[1])
    magnitude = excess * (m_found - m_target) ** 2
    c_target, c_found = (s * (m / jnp.sqrt(p))[..., None, :] for s, m, p in ((target, m_target, p_target), (found, m_found, p_found)))
    complex_ = power(c_found - c_target)
    spectral = ((magnitude + price[2] * complex_) * WEIGHTS).mean()
    # The talker's signal to distortion in pieces of 0.5 s, where there is a talker.
    def energy(values):
        values = (values * (np.arange(BINS) >= 4)).sum(-1)
        return values.reshape(values.shape[0], -1, 50).sum(-1)

    signal, distortion = energy(power(target)), energy(power(found - target))
    heard = energy(power(talk)) > 10 ** -1.0
    ratio = 10 * jnp.log10((signal + 1e-3) / (distortion + 10 ** (-MOST_SDR / 10) * signal + 1e-3))
    sdr = (ratio * heard).sum() / (heard.sum() + 1)
    talks = heard.sum(1) > 1.5
    said = power(talk).sum(-1)
    loud = said > 1e-3 * jnp.percentile(said, 97, axis=1, keepdims=True)
    active = jnp.maximum(1.0, (said * loud).sum(1) / (loud.sum(1) + 1e-6))
    # A root has no slope at zero.
    all_of_it, added = (jnp.sqrt((d**2).mean(1) + 1e-6) for d in hearing.disturbances(power(target), power(found), active))
    disturbed = ((HEARD * all_of_it + ADDED * added) * talks).sum() / (talks.sum() + 0.1)
    return spectral - price[3] * sdr + price[4] * disturbed, (spectral, sdr, disturbed)


def padded(weights, bias=None):
    missing = -weights.shape[-1] % 8
    weights = np.pad(weights, [(0, 0)] * (weights.ndim - 1) + [(0, missing)])
    return weights if bias is None else (weights, np.pad(bias, (0, missing)))


def write(path, network, scaling):
    network = {name: jax.tree.map(np.asarray, value) for name, value in network.items()}
    (mean, deviation), (bin_mean, bin_deviation) = scaling
    width, units = network["entry"][0].shape[1], network["state_gates"][0].shape[0]
    bin_width, bin_units = network["bin_gates"][0].shape[0], network["bin_gates"][0].shape[1] // 2
    middle = network["middle_gates"][0].shape[0]
    out = [np.array([MARK, FEATURES, width, units, PER_BIN, bin_width, bin_units, middle], "<i4")]
    out += [np.asarray(values, "<f4") for values in (mean, 1 / deviation, bin_mean, 1 / bin_deviation)]
    for name in ("entry", "entry_gates", "state_gates", "exit", "common"):
        weights, bias = padded(*network[name])
        scale = np.abs(weights).max(0) / 127 + 1e-12
        out += [np.asarray(bias, "<f4"), np.asarray(scale, "<f4"), np.round(weights / scale).astype(np.int8)]
    out += [np.asarray(padded(network["own"]), "<f4"), np.asarray(network["bin_entry"], "<f4")]
    for name in ("bin_gates", "bin_middle", "middle_gates"):
        out += [np.asarray(values, "<f4") for values in network[name]]
    out += [np.asarray(network["bin_exit"], "<f4")]
    with open(path + ".new", "wb") as file:
        for values in out:
            file.write(np.ascontiguousarray(values).tobytes())
    os.replace(path + ".new", path)


def load(path):
    """What `write` wrote: a network and its scaling."""
    data, at = pathlib.Path(path).read_bytes(), 0

    def take(kind, *shape):
        nonlocal at
        values = np.frombuffer(data, kind, int(np.prod(shape)), at).reshape(shape)
        at += values.nbytes
        return np.array(values, np.float32)

    def dense(inputs, outputs):
        padded_outputs = outputs + -outputs % 8
        bias, scale = take("<f4", padded_outputs), take("<f4", padded_outputs)
        return jnp.asarray((take(np.int8, inputs, padded_outputs) * scale)[:, :outputs]), jnp.asarray(bias[:outputs])

    mark, features, width, units, per_bin, bin_width, bin_units, middle = np.frombuffer(data, "<i4", 8)
    at += 32
    if (mark, features, per_bin) != (MARK, FEATURES, PER_BIN):
        raise SystemExit(f"{path}: not a network of these features")
    mean, slope, bin_mean, bin_slope = (take("<f4", count) for count in (FEATURES, FEATURES, PER_BIN, PER_BIN))
    joined = units + width
    sizes = dict(
        entry=(FEATURES, width), entry_gates=(width, 3 * units), state_gates=(units, 3 * units), exit=(joined, BINS), common=(joined, bin_width)
    )
    network = {name: dense(*size) for name, size in sizes.items()}
    network["own"] = jnp.asarray(take("<f4", PER_BIN, PADDED_BINS)[:, :BINS])
    network["bin_entry"] = jnp.asarray(take("<f4", 3 * PER_BIN, bin_width))
    for name, inputs, outputs in (
        ("bin_gates", bin_width, 2 * bin_units), ("bin_middle", 3 * bin_units, middle), ("middle_gates", middle, 2 * middle)
    ):
        network[name] = jnp.asarray(take("<f4", inputs, outputs)), jnp.asarray(take("<f4", outputs))
    network["bin_exit"] = jnp.asarray(take("<f4", 3 * middle))
    return network, ((mean, 1 / slope), (bin_mean, 1 / bin_slope))


def train(calls, held, options):
    draw = np.random.default_rng(options.seed)
    if options.start:
        network, scaling = load(options.start)
    else:
        some = np.stack([call[::53] for call in calls.all[:: max(1, len(calls.all) // 200)]])
        bands, bins, *_ = parts(jnp.asarray(some))
        scaling = (
            (np.asarray(bands.mean((0, 1))), np.asarray(bands.std((0, 1))) + 1e-2),
            (np.asarray(bins.mean((0, 1, 3))), np.asarray(bins.std((0, 1, 3))) + 1e-2),
        )
        network = initial(jax.random.PRNGKey(options.seed), options.width, options.units, options.bin_width, options.bin_units, options.middle)
    price = tuple(options.price)
    optimizer = optax.chain(
        optax.clip_by_global_norm(1.0), optax.scale_by_adam(b2=0.995), optax.add_decayed_weights(1e-4), optax.scale(-1.0)
    )
    state, step, spent, average = optimizer.init(network), 0, 0.0, network
    if os.path.exists(options.checkpoint):
        with open(options.checkpoint, "rb") as file:
            network, state, step, spent, scaling, average = pickle.load(file)
        draw = np.random.default_rng(options.seed + step)
        print(f"goes on from step {step}, {spent / 60:.1f} min", flush=True)
    judge = jax.jit(lambda network, piece: loss(network, scaling, piece, price)[1])

    @jax.jit
    def update(network, average, state, piece, rate):
        (value, told), slope = jax.value_and_grad(lambda n: loss(n, scaling, piece, price), has_aux=True)(network)
        change, state = optimizer.update(slope, state, network)
        network = optax.apply_updates(network, jax.tree.map(lambda c: c * rate, change))
        average = jax.tree.map(lambda a, n: a + 0.01 * (n - a), average, network)
        return network, average, state, told

    def put(network):
        if options.average_with:
            other, its_scaling = load(options.average_with)
            if not all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(its_scaling), jax.tree.leaves(scaling))):
                raise SystemExit(f"{options.average_with}: scales its features otherwise; --start it, and what comes of that can be averaged with it")
            network = jax.tree.map(lambda a, b: (a + b) / 2, network, other)
        write(options.output, network, scaling)

    unseen = np.stack([call[start : start + PIECE] for call in held for start in (200, 700, 1200)])

    def save():
        with open(options.checkpoint + ".new", "wb") as file:
            pickle.dump((jax.tree.map(np.asarray, network), jax.tree.map(np.asarray, state), step, spent, scaling, average), file)
        os.replace(options.checkpoint + ".new", options.checkpoint)
        put(average)

    # What a step costs is not known beforehand: the rate follows the time.
    begun, last, told_of = time.time() - spent, time.time(), []
    pool, ahead = concurrent.futures.ThreadPoolExecutor(options.readers), collections.deque()
    while spent < options.minutes * 60:
        while len(ahead) <= options.readers:
            ahead.append(pool.submit(calls.draw, np.random.default_rng(draw.integers(1 << 32)), options.batch))
        piece = ahead.popleft().result()
        spent = time.time() - begun
        progress = min(1, spent / (options.minutes * 60))
        rate = options.rate * min(1, (step + 1) / 200) * (0.02 + 0.98 * 0.5 * (1 + np.cos(np.pi * progress)))
        network, average, state, told = update(network, average, state, piece, rate)
        step += 1
        told_of.append(told)
        # An accelerator is told of no step before it is through with the one before the last.
        jax.block_until_ready(told_of[-2:][0])
        if step % 50 == 0:
            calls.look()
        if step in (20, 100) or time.time() - last > options.every or spent >= options.minutes * 60:
            last = time.time()
            held_out = np.mean([judge(average, unseen[at : at + 6]) for at in range(0, len(unseen), 6)], 0)
            learned = np.mean(np.array(told_of[-200:]), 0)
            print(
                f"{step} steps, {spent / 60:.1f} min, {len(calls.all)} calls: {learned[0]:.5f} {learned[1]:.2f} dB {learned[2]:.4f}, "
                f"held out {held_out[0]:.5f} {held_out[1]:.2f} dB {held_out[2]:.4f}",
                flush=True,
            )
            save()
    # Of a training that was over before, too.
    put(average)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", help="folder of them")
    parser.add_argument("--held-out", required=True, help="records that are judged by and not learned from")
    parser.add_argument("--output", required=True)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--minutes", type=float, default=60, help="of training, on the machine it runs on")
    parser.add_argument("--every", type=float, default=240, help="seconds between checkpoints")
    parser.add_argument("--batch", type=int, default=16, help="pieces of 2.4 s that are learned from at once; an accelerator takes 96")
    parser.add_argument("--readers", type=int, default=1, help="threads that read them")
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--width", type=int, default=128, help="of the first layer")
    parser.add_argument("--units", type=int, default=128, help="of the recurrent layer")
    parser.add_argument("--bin-width", type=int, default=32, help="of the layer that is the same for each bin")
    parser.add_argument("--bin-units", type=int, default=32, help="of its first recurrent layer")
    parser.add_argument("--middle", type=int, default=16, help="of its second recurrent layer")
    parser.add_argument(
        "--price", type=float, nargs=5, default=(2.0, 2.0, 1.0, 0.002, 0.03),
        help="of echo that is left where nobody talks, of a talker who is lost, of the complex spectrum, of a dB, of what is heard of a difference",
    )
    parser.add_argument("--start", help="weights from which to go on where there is no checkpoint; their layers' sizes count")
    parser.add_argument(
        "--average-with", metavar="FILE", help="weights from which --start once came: what is written lies in the middle between them and what was learned"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    calls = Calls(options.records).look()
    if not calls.all:
        parser.error(f"no calls in {options.records}: SuppressorTraining makes some")
    train(calls, read(options.held_out), options)


if __name__ == "__main__":
    main()
