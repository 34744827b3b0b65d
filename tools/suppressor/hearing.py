"""How much of a difference between two sounds is heard: loudness in bands of the ear, and its disturbance.

After ITU-T P.862 (PESQ), section 10.2: loudness by Zwicker's law, small differences masked, and what is added counting more than what is
missing. In place of its tables: bands of half a Bark by M. R. Schroeder's formula (1977), and E. Terhardt's threshold in quiet (1979).
Over every second of 33 recorded mixes and six ways of cleaning each, 0.2 and 0.03 times the root mean squares of `disturbances` have a
correlation of 0.92 with what PESQ takes off.
"""

import jax.numpy as jnp
import numpy as np

BINS, BIN_HERTZ = 161, 50
BANDS, LOWEST, HIGHEST = 40, 75, 7_600
# Power per band at which a talker is heard, over the threshold at 1 kHz: 70 dB in all.
LEVEL = 1e7
# What one loudness hides of another; powers added before they are compared; the asymmetry from which an addition counts, and the most it does.
MASKED, QUIET, LEAST_ASYMMETRY, MOST_ASYMMETRY = 0.25, 50, 3, 12
MOST = 45


def _bark(hertz):
    return 6 * np.arcsinh(hertz / 600)


def _hertz(bark):
    return 600 * np.sinh(bark / 6)


_EDGES = np.linspace(_bark(LOWEST), _bark(HIGHEST), BANDS + 1)
WIDTH = _EDGES[1] - _EDGES[0]
_CENTRES = _hertz((_EDGES[:-1] + _EDGES[1:]) / 2) / 1_000
THRESHOLD = 10 ** (0.1 * (3.64 * _CENTRES**-0.8 - 6.5 * np.exp(-0.6 * (_CENTRES - 3.3) ** 2) + 1e-3 * _CENTRES**4))


def _shares():
    """Of each bin's power, what lies in each band."""
    middle = (np.arange(BINS) * BIN_HERTZ)[:, None]
    low, high = _hertz(_EDGES[:-1]), _hertz(_EDGES[1:])
    width = np.minimum(high, middle + BIN_HERTZ / 2) - np.maximum(low, middle - BIN_HERTZ / 2)
    return (np.maximum(0, width) / BIN_HERTZ).astype(np.float32)


SHARES = _shares()


def _loudness(power):
    zwicker = (0.5 + 0.5 * power / THRESHOLD) ** 0.23 - 1
    return jnp.maximum(0, 0.1866 * (THRESHOLD / 0.5) ** 0.23 * zwicker)


def disturbances(wanted, found, active):
    """What is heard of a difference, of each block: all of it, and what was added.

    wanted, found: powers, pieces x blocks x BINS; active: the talker's mean power while they talk, of each piece.
    """
    scale = LEVEL / active[:, None, None]
    wanted, found = (wanted * scale) @ SHARES, (found * scale) @ SHARES
    of_wanted, of_found = _loudness(wanted), _loudness(found)
    heard = jnp.maximum(0, jnp.abs(of_found - of_wanted) - MASKED * jnp.minimum(of_wanted, of_found))
    asymmetry = ((found + QUIET) / (wanted + QUIET)) ** 1.2
    asymmetry = jnp.where(asymmetry < LEAST_ASYMMETRY, 0, jnp.minimum(asymmetry, MOST_ASYMMETRY))
    total = WIDTH * BANDS
    # The root has no slope at zero.
    all_of_it = total * jnp.sqrt(((heard * WIDTH) ** 2).sum(-1) / total + 1e-6)
    return jnp.minimum(all_of_it, MOST), jnp.minimum((heard * asymmetry * WIDTH).sum(-1), MOST)
