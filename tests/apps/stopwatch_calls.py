"""The calls of stopwatch.c, C and Fortran, from the table of MPI calls: stopwatch_calls.py TABLE > stopwatch_calls.h"""
import sys

with open(sys.argv[1], encoding="utf-8") as table:
    names = [line.split("\t")[0] for line in table if line.startswith("MPI_")]
for name in sorted(set(names)):
    kind = "SECONDS" if name in ("MPI_Wtime", "MPI_Wtick") else "WORDS"
    print(f"{kind}({name})")
    if not name.startswith("MPI_T_") and not name.endswith(("_c2f", "_f2c", "_c2f08", "_f082c", "_f2f08", "_f082f")):
        print(f"{kind}({name.lower()}_)")
