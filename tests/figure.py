"""The line by which a test or a benchmark hands a number to measure/measure.py, whose table knows what is wanted of it: `figure NAME VALUE UNIT`.
VALUE is a number, or RIGHT/OF where cases are counted. C programs print the same with printf."""
import math


def figure(name, value, unit):
    print(f"figure {name} {value if isinstance(value, str) else f'{value:.6g}'} {unit}", flush=True)


def count(name, right, of, unit="cases"):
    figure(name, f"{right}/{of}", unit)


def tally(name, right, of):
    """Of cases that further calls add to: nightly/nightly.py notes them, and adds up those of all slices."""
    print(f"tally {name} {right}/{of}", flush=True)


def most_allowed(of, share, chance=1e-3):
    """How many of `of` cases may be wrong where each is with the probability `share`: more are with the probability `chance` at most."""
    rest, k = 1.0, -1
    while rest >= chance:
        k += 1
        rest -= math.comb(of, k) * share ** k * (1 - share) ** (of - k)
    return k
