"""What 10,001 threads, one after the other, of one call each take longer under the tool: short_threads.py BUILD_DIR FLAVOUR [ROUNDS]. Least times of the
rounds, bare and under the tool in turn."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402
from mpirun import mpirun  # noqa: E402


def main():
    build, flavour, rounds = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 5
    program = f"{build}/bin/short-threads-{flavour}"
    seconds = {"bare": [], "under the tool": []}
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(rounds):
            for how, tool in zip(seconds, ((), (f"{build}/bin/latecomer", "run", "-q", "-o", "result"))):
                done = subprocess.run([*mpirun(flavour, 1), *tool, program], cwd=directory, capture_output=True, text=True, check=True)
                seconds[how].append(float(done.stdout))
    for how, values in seconds.items():
        print(f"{how}: {min(values):.4f} s")
    figure("times", min(seconds["under the tool"]) / min(seconds["bare"]), "times")


if __name__ == "__main__":
    main()
