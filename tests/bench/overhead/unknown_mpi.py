"""What a call of an MPI that the tool does not know takes longer under it: unknown_mpi.py BUILD_DIR [ROUNDS]. Least times of the rounds, bare and under
the tool in turn, a million calls each."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402


def main():
    build, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    program = f"{build}/bin/run-odd"
    ns = {"bare": [], "under the tool": []}
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(rounds):
            for how, before in zip(ns, ((), (f"{build}/bin/latecomer", "run", "-q", "-o", "result"))):
                done = subprocess.run([*before, program], cwd=directory, capture_output=True, text=True, check=True)
                ns[how].append(float(done.stdout.split()[1]))
    for how, values in ns.items():
        print(f"{how}: {min(values):.2f} ns")
    figure("call", min(ns["under the tool"]) - min(ns["bare"]), "ns")


if __name__ == "__main__":
    main()
