"""Programs started in ways of their own, bare and under the tool: same output and status, all calls of MPI measured, functions with their names.
ways_to_start.py LATECOMER FLAVOUR"""
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "programs"))
import launch  # noqa: E402

LATECOMER, FLAVOUR = sys.argv[1:3]
RANKS = 2
SOURCE = Path(__file__).with_suffix(".c")
LOADER = next(str(p) for p in (Path("/lib64/ld-linux-x86-64.so.2"), Path("/lib/ld-linux-aarch64.so.1")) if p.exists())
MORE_RESIDENT_MIB = 200  # tables of the state are 45, clocks of both ranks 98; all of the state would be 256, with a trace 332
failures = []


def check(what, good):
    if not good:
        failures.append(what)
        print(f"not as expected: {what}")


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def without(lines, start):
    return sorted(line for line in lines.splitlines() if not line.startswith(start))


def numbers(lines, start):
    return [int(line.split()[1]) for line in lines.splitlines() if line.startswith(start)]


def rows(ws):
    """name -> (command, options of the tool); commands are made anew where a run destroys the program"""
    program, sanitized = str(ws.root / "program"), str(ws.root / "sanitized")
    copy_and_remove = 'place=$(mktemp -d) && cp "$1" "$place/solver" && "$place/solver"; status=$?; rm -rf "$place"; exit $status'
    return {
        "a helper of the program asks for the version": ([program, "helper"], ()),
        "a script asks for the version first": ([script(ws.root / "asks", f"{program} version && exec {program}")], ()),
        "AddressSanitizer": ([sanitized, "shell"], ()),
        "the dynamic linker": ([LOADER, program], ()),
        "the dynamic linker in a script": ([script(ws.root / "loads", f"exec {LOADER} --argv0 solver {program}")], ()),
        "a copy that is removed afterwards": ([script(ws.root / "copies", copy_and_remove), program], ()),
        "its file is removed": ([program + ".gone", f"file={program}.gone"], ()),
        "memory is locked": ([program, "lock"], ()),
        "memory is locked, with a trace": ([program, "lock"], ("--trace",)),
    }


def build(ws):
    for name, options in {"program": [], "sanitized": ["-fsanitize=address"]}.items():
        subprocess.run([f"mpicc.{FLAVOUR}", "-g", "-O1", "-fno-optimize-sibling-calls", *options, "-o", str(ws.root / name), str(SOURCE)], check=True)


def run(ws, command, tool=()):
    gone = ws.root / "program.gone"
    gone.unlink(missing_ok=True)
    gone.write_bytes((ws.root / "program").read_bytes())
    gone.chmod(0o755)
    return ws.run([*ws.launcher(RANKS), *tool, *command], env=ws.environment(ASAN_OPTIONS="detect_leaks=0"))


def main():
    with launch.Workspace(FLAVOUR, LATECOMER) as ws:
        build(ws)
        for number, (name, (command, options)) in enumerate(rows(ws).items()):
            directory = f"exp{number}"
            bare, measured = run(ws, command), run(ws, command, ws.tool(*options, directory=directory))
            check(f"{name}: bare {bare.status}, measured {measured.status}: {measured.err[-600:]}", bare.status == measured.status == 0)
            if measured.status != 0:
                continue
            same = without(bare.out, ("resident:", "shell:")) == without(measured.out, ("resident:", "shell:"))
            check(f"{name}: output {measured.out!r} instead of {bare.out!r}", same)
            preloaded = [[Path(part).name for part in re.split("[: ]", text)] for text in re.findall("shell: (.*)", measured.out)]
            check(f"{name}: preloaded into a shell {preloaded}", preloaded == [["liblatecomer.so"]] * RANKS * ("shell" in command))
            written = (ws.root / directory).exists()
            check(f"{name}: no result: {measured.err[-600:]}", written)
            if not written:
                continue
            paths = ws.show("--metric", "visits", directory=directory)["metrics"]["visits"]["callpaths"]
            calls = {path: values for path, values in paths.items() if path.endswith("/MPI_Allreduce")}
            check(f"{name}: calls {calls}", list(calls.values()) == [[25] * RANKS] and "/time_step/" in next(iter(calls), ""))
            memory, real = numbers(bare.out, "resident:"), numbers(measured.out, "resident:")
            check(f"{name}: resident {real} MiB, bare {memory}", not memory or max(real) <= max(memory) + MORE_RESIDENT_MIB)
    print(f"{len(failures)} not as expected")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
