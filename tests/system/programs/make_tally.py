#!/usr/bin/python3
"""Writes tally_calls.h from a preprocessed mpi.h on standard input: one counting macro per MPI function.

`#define MPI_Send(...) (tally_add(TALLY_MPI_Send), MPI_Send(__VA_ARGS__))` does not expand again, so each textual call
counts itself and then calls the function. Names that the header defines as macros (argument 1: a `gcc -dM` listing) stay.
"""
import re
import sys

macros = set(re.findall(r"#define (MPIX?_\w+)\(", open(sys.argv[1], encoding="ascii").read()))
text = sys.stdin.read()
names = sorted(set(re.findall(r"\b(?:int|double|MPI_\w+)\s+(MPIX?_\w+)\s*\(", text)) - macros)
if len(names) < 350:
    sys.exit(f"make_tally.py: only {len(names)} functions found in mpi.h")
out = ["/* Made by make_tally.py: counts every call of an MPI function by this program. */", "#ifndef TALLY_CALLS_H",
       "#define TALLY_CALLS_H", "", "enum tally_call {"]
out += [f"    TALLY_{n}," for n in names]
out += ["    TALLY_CALLS", "};", "", "#ifdef TALLY_NAMES", "static const char *const tally_names[TALLY_CALLS] = {"]
out += [f'    "{n}",' for n in names]
out += ["};", "#endif", "", "#define TALLY_ADD(k) __atomic_fetch_add(&tally_count[k], 1, __ATOMIC_RELAXED)"]
out += [f"#define {n}(...) (TALLY_ADD(TALLY_{n}), {n}(__VA_ARGS__))" for n in names]
out += ["", "#endif", ""]
open(sys.argv[2], "w", encoding="ascii").write("\n".join(out))
