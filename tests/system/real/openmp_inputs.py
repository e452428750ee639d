"""Inputs of OpenMP programs from Debian, as large as one asks for."""
import random

PAIR = """O -1.551007 -0.114520 0.000000
H -1.934259 0.762503 0.000000
H -0.599677 0.040712 0.000000
O 1.350625 0.111469 0.000000
H 1.680398 -0.373741 -0.758561
H 1.680398 -0.373741 0.758561
"""
APART = 6.0  # angstroms between two pairs


def waters(path, pairs):
    """Pairs of molecules of water, one beside the other."""
    atoms = []
    for pair in range(pairs):
        for line in PAIR.splitlines():
            name, x, y, z = line.split()
            atoms.append(f"{name} {x} {y} {float(z) + pair * APART:.6f}\n")
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{len(atoms)}\nmolecules of water\n{''.join(atoms)}")


def sequences(path, count, length):
    """A family: each sequence is an earlier one with 8 % of its letters changed."""
    rng = random.Random(7)
    family = [[rng.choice("ACGT") for _ in range(length)]]
    while len(family) < count:
        family.append([rng.choice("ACGT") if rng.random() < 0.08 else letter for letter in rng.choice(family)])
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f">t{i}\n{''.join(letters)}\n" for i, letters in enumerate(family))
