#!/usr/bin/python3
"""Runs an MPI program bare and under `latecomer run`; both runs must agree, and the tool must have counted every call.

check_program.py --latecomer BIN --flavour openmpi|mpich [options] -- PROGRAM ARGS
Compared: standard output (as a multiset of lines), exit status, calls made against the metric `visits` per rank and function, a
complete result, nothing left behind."""
import argparse
import os
import re
import subprocess
import sys

from launch import Workspace, calls_seen, compare_calls, survivors
from patience import patience  # noqa: E402


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--latecomer", required=True)
    parser.add_argument("--flavour", required=True, choices=("openmpi", "mpich"))
    parser.add_argument("-n", type=int, default=3, help="ranks")
    parser.add_argument("--timeout", type=float, default=100)
    parser.add_argument("--run-option", action="append", default=[], help="option of latecomer run")
    parser.add_argument("--before", action="append", default=[], help="word before `latecomer`, as in mpirun -n 3 nice latecomer run")
    parser.add_argument("--between", action="append", default=[], help="word between `latecomer run --` and the program")
    parser.add_argument("--env", action="append", default=[], help="NAME=VALUE for both runs")
    parser.add_argument("--partial", action="store_true", help="only the functions that the program counts are compared")
    parser.add_argument("--status", type=int, default=0, help="exit status that the bare run must have")
    parser.add_argument("--audit", metavar="REGEX", help="not measured, but meta (coverage audit) must hold this")
    parser.add_argument("--expect", action="append", default=[], metavar="REGEX", help="must be in meta.json or a tool's line")
    parser.add_argument("--value", action="append", default=[], metavar="METRIC:FUNCTION:V0,V1,..:TOLERANCE",
                        help="sum over the call paths that end in this function, per location, in the metric's unit")
    parser.add_argument("--stdout-has", metavar="TEXT", help="in every rank's output of both runs")
    parser.add_argument("--mpmd", metavar="PROGRAM", help="rank 0 runs this, the others the command, in one launch")
    parser.add_argument("--sanitizer", metavar="LIBRARY", help="preload this run-time library of a sanitizer; its reports are problems")
    parser.add_argument("--ending", default="MPI_Finalize", help="meta.ending; neither MPI_Finalize nor MPI_Session_finalize: incomplete")
    parser.add_argument("--analyze", action="store_true", help="with --run-option=--trace: the analysis finds nothing to skip in the trace")
    parser.add_argument("--record", metavar="FILE", help="after success: the names of the functions called, for all_called.py")
    parser.add_argument("--sampled", action="store_true", help="the result must hold samples; where the kernel allows none, left out")
    parser.add_argument("--virtual", action="store_true", help="both runs in virtual time (tests/virtual)")
    parser.add_argument("--bare", action="store_true", help="only the bare run")
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


def problems_of_result(args, space, measured):
    problems = []
    made = space.calls_made()
    try:
        result = space.show("--metric", "visits")
    except (RuntimeError, ValueError) as error:
        return [str(error)]
    seen = calls_seen(result)
    meta = result["meta"]
    text = str(meta) + "\n".join(measured.tool_lines())
    if args.audit:
        if (compare_calls(made, seen, args.partial) or not seen) and not re.search(args.audit, str(meta.get("coverage"))):
            problems.append(f"calls not measured, and the audit does not tell ({args.audit}): {text}")
    else:
        problems += compare_calls(made, seen, args.partial)
        if not seen:
            problems.append("no MPI call measured")
    problems += [f"not found in meta or messages: {regex}" for regex in args.expect if not re.search(regex, text)]
    if args.sampled and meta["sampling"]["rate"] == 0:
        print("left out: the kernel allows no samples:", meta["sampling"]["why"])
    elif args.sampled and not meta.get("samples", 0) > 0:
        problems.append("no samples were taken")
    complete = args.ending in ("MPI_Finalize", "MPI_Session_finalize")
    if meta.get("complete") is not complete or meta.get("ending") != args.ending:
        problems.append(f"complete is {meta.get('complete')}, ending {meta.get('ending')}")
    if meta.get("ranks") != args.n:
        problems.append(f"meta.ranks is {meta.get('ranks')}")
    directory = space.root / "exp"
    for name in ("profile.cubex", "meta.json"):
        if not (directory / name).is_file():
            problems.append(f"{name} missing")
    problems += [f"left in the experiment directory: {p.name}" for p in directory.iterdir() if p.name.startswith(".")]
    return problems


def problems_of_value(space, wanted):
    metric, function, values, tolerance = wanted.split(":")
    values = list(map(float, values.split(",")))
    paths = space.show("--metric", metric)["metrics"].get(metric, {}).get("callpaths", {})
    rows = [row for path, row in paths.items() if path.rsplit("/", 1)[-1] == function]
    got = [sum(column) for column in zip(*rows)] or [0.0] * len(values)
    if len(got) == len(values) and all(abs(g - v) <= float(tolerance) for g, v in zip(got, values)):
        return []
    return [f"{metric} of {function}: {got}, expected {values} within {tolerance}"]


def problems_of_trace(args, space):
    """Requests that were completed twice, or by another thread, and the like are lines of the analysis."""
    done = subprocess.run([args.latecomer, "analyze", str(space.root / "exp")], capture_output=True, text=True, check=False, timeout=patience(60))
    problems = [] if done.returncode == 0 else [f"analyze: exit status {done.returncode}"]
    return problems + [line for line in done.stderr.splitlines() if re.search(r"skipped|damaged|never completed|not matched", line)]


def main():
    args = parse()
    with Workspace(args.flavour, args.latecomer, args.virtual) as space:
        env = space.environment(**dict(pair.split("=", 1) for pair in args.env))
        if args.sampled: # 100 samples at 5,000 per second of processor time
            env["PROGRAM_COMPUTE_MS"] = "20"
        before = args.before
        if args.sanitizer:
            common = f"log_path={space.root}/san exitcode=0"
            env.update(TSAN_OPTIONS=common, UBSAN_OPTIONS=f"{common} print_stacktrace=1",
                       ASAN_OPTIONS=f"{common} detect_leaks=0 verify_asan_link_order=0",
                       UCX_MEM_MMAP_HOOK_MODE="none") # MPICH's UCX patches mmap, which the sanitizer has done before

        def preloaded(tool):
            """The sanitizer is for the tool: the program is not made for it. What stands behind it in the list is for both runs."""
            wanted = args.sanitizer if tool else args.sanitizer.partition(":")[2]
            return ["env", f"LD_PRELOAD={wanted}"] if wanted else []

        def launch(tool):
            words = before + (preloaded(tool) if args.sanitizer else []) + tool + args.between
            if args.mpmd:
                return space.launcher_of_two([*words, args.mpmd, "first"], args.n, [*words, *args.command])
            return space.launcher(args.n) + words + args.command

        bare = space.run(launch([]), patience(args.timeout), env)
        problems = []
        if bare.status != args.status or any("FAILED" in line for line in bare.lines()):
            problems.append(f"the bare run failed (status {bare.status})")
        bare_calls = space.calls_made()
        if not bare_calls and not args.audit:
            problems.append("the bare run counted no calls")
        measured = None
        if not args.bare and not problems:
            measured = space.run(launch(space.tool(*args.run_option)), patience(args.timeout), env)
            if args.sanitizer:  # what the program prints of its environment
                library = args.sanitizer.partition(":")[0]
                measured.out = measured.out.replace(f"{library}:", "").replace(library, "")
            if args.stdout_has and measured.out.count(args.stdout_has) != args.n:
                problems.append(f"not in every rank's output: {args.stdout_has}")
            if measured.status != bare.status:
                problems.append(f"exit status {measured.status}, bare {bare.status}")
            if measured.lines() != bare.lines():
                problems += [f"output only bare: {line}" for line in (bare.lines() - measured.lines())]
                problems += [f"output only measured: {line}" for line in (measured.lines() - bare.lines())]
            if len(measured.tool_lines()) > 6:
                problems.append(f"{len(measured.tool_lines())} lines of messages")
            problems += problems_of_result(args, space, measured)
            for wanted in args.value if not problems else []:
                problems += problems_of_value(space, wanted)
            if args.analyze and not problems:
                problems += problems_of_trace(args, space)
            problems += [f"sanitizer: {report[:1500]}" for report in space.sanitizer_reports()[:3]]
            problems += [f"left behind: {name}" for name in space.leftovers()]
            problems += [f"still running: {p}" for p in survivors(space.root)]
        for problem in problems:
            print(f"PROBLEM {problem}")
        if problems:
            for name, outcome in (("bare", bare), ("measured", measured)):
                if outcome:
                    print(f"--- {name}: status {outcome.status}\n{outcome.out[-3000:]}\n--- stderr\n{outcome.err[-3000:]}")
        else:
            calls = sum(bare_calls.values())
            if args.record:
                os.makedirs(os.path.dirname(args.record), exist_ok=True)
                with open(args.record, "w", encoding="ascii") as record:
                    record.write("\n".join(sorted({name for _, name in bare_calls})))
            print(f"ok: {calls} calls bare {bare.seconds:.2f} s" + (f", measured {measured.seconds:.2f} s" if measured else ""))
        return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
