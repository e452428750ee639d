"""Programs started in ways of their own, bare and under the tool: same output and status, all calls of MPI measured, functions with their names.
ways_to_start.py LATECOMER FLAVOUR [namespace|habits]
namespace: those that need a name space of processes of their own; 77 where there is none; habits: wrappers, and what programs do to themselves"""
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "programs"))
import launch  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, FLAVOUR = sys.argv[1:3]
IN_NAMESPACE = ["unshare", "--pid", "--fork"]
RANKS = 2
PYTHON = "/usr/bin/python3"
SOURCE = Path(__file__).with_suffix(".c")
LAYER = Path(__file__).with_name("pmpi_layer.c")
LIBRARY = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}[FLAVOUR]
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
    """name -> (command, options of the tool, words before the tool)"""
    program, sanitized = str(ws.root / "program"), str(ws.root / "sanitized")
    layer, by_name = str(ws.root / "liblayer.so"), str(ws.root / "libbyname.so")
    before, after = f"LD_PRELOAD={layer}:$LD_PRELOAD", f"LD_PRELOAD=$LD_PRELOAD:{layer}"
    by_name_after = f"LD_PRELOAD=$LD_PRELOAD:{by_name}"
    copy_and_remove = 'place=$(mktemp -d) && cp "$1" "$place/solver" && "$place/solver"; status=$?; rm -rf "$place"; exit $status'
    # not in the bare run, where that is the launcher
    stop_parent = ('if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] && [ "$(cat /proc/$PPID/comm)" = latecomer ]; then kill -STOP $PPID; '
                   '(sleep 2; kill -CONT $PPID) & fi; ')
    return {
        "a helper of the program asks for the version": ([program, "helper"], ()),
        "a script asks for the version first": ([script(ws.root / "asks", f"{program} version && exec {program}")], ()),
        "AddressSanitizer": ([sanitized, "shell"], ()),
        "AddressSanitizer, started by a script": ([script(ws.root / "sanitizes", f"exec {sanitized}")], ()),
        "AddressSanitizer, started by a program with it": ([sanitized, f"start={sanitized}"], ()),
        "the dynamic linker": ([LOADER, program], ()),
        "the dynamic linker in a script": ([script(ws.root / "loads", f"exec {LOADER} --argv0 solver {program}")], ()),
        "a copy that is removed afterwards": ([script(ws.root / "copies", copy_and_remove), program], ()),
        "a copy that is removed while the parent of rank 0 sleeps": ([script(ws.root / "sleeps", stop_parent + copy_and_remove), program], ()),
        "its file is removed": ([program + ".gone", f"file={program}.gone"], ()),
        "PMPI: a preloaded layer": ([program], (), ["env", f"LD_PRELOAD={layer}"]),
        "PMPI: a layer preloaded before the tool": (["sh", "-c", f"{before} exec {program}"], ()),
        "PMPI: a layer preloaded after the tool": (["sh", "-c", f"{after} exec {program}"], ()),
        "PMPI: a layer that is linked": ([str(ws.root / "layered")], ()),
        "PMPI: a layer in the program": ([str(ws.root / "holds_layer")], ()),
        "PMPI: a preloaded layer that asks for the next function": ([program], (), ["env", f"LD_PRELOAD={by_name}"]),
        "PMPI: such a layer preloaded after the tool": (["sh", "-c", f"{by_name_after} exec {program}"], ()),
        "PMPI: such a layer that is linked": ([str(ws.root / "layered_by_name")], ()),
        "PMPI: two layers": ([str(ws.root / "layered")], (), ["env", f"LD_PRELOAD={by_name}"]),
        "by name, every second call": ([program, f"name={LIBRARY}"], ()),
        "by name, every second call, with a layer": ([str(ws.root / "layered"), f"name={LIBRARY}"], ()),
        "by name, every second call, over messages": ([program, f"name={LIBRARY}"], ("--transport=mpi",)),
        "by name, in Python": ([PYTHON, str(SOURCE.with_name("by_name.py")), LIBRARY], ()),
        "by name in a library that is bound deeply, as Julia does": ([str(ws.root / "deep"), LIBRARY], ()),
        "memory is locked": ([program, "lock"], ()),
        "memory is locked, with a trace": ([program, "lock"], ("--trace",)),
    }


def rows_of_habits(ws):
    program = str(ws.root / "program")
    makefile = ws.root / "Makefile"
    makefile.write_text(f"all: run\nrun:\n\t@{program}\n.PHONY: all run\n")
    wrappers = ["env", "A=b", "nice", "-n", "1", "ionice", "-c", "3", "setarch", "-R", "stdbuf", "-oL", "timeout", "100", "nohup", "setsid", "-w",
                "taskset", "-a", hex(sum(1 << cpu for cpu in os.sched_getaffinity(0))), "sh", "-c", 'exec "$@"', "sh", program]
    shared = ws.root / "lock"
    shared.touch()
    more_wrappers = ["perl", "-e", "exec @ARGV", "flock", "-s", str(shared), "chrt", "-o", "0", "numactl", "--localalloc", "prlimit", "--core=0", program]
    spawned = "import os, sys; sys.exit(os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0)[1]))"
    small_stack = {"a stack of 128 KiB": ([program], (), ["bash", "-c", 'ulimit -s 128 && exec "$@"', "bash"])}
    child = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:], close_fds=False, start_new_session=True).returncode)"
    return {
        "a chain of wrappers": (wrappers, ()),
        "a chain of other wrappers": (more_wrappers, ()),
        "another name": (["bash", "-c", 'exec -a solver "$0"', program], ()),
        "a terminal of its own": (["script", "-qefc", f"exec {program}", "/dev/null"], ()),
        "a child of perl": (["perl", "-e", "exit(system(@ARGV) >> 8)", program], ()),
        "make": (["make", "-s", "-j2", "-f", str(makefile)], ()),
        "xargs": (["sh", "-c", f"echo word | xargs {program}"], ()),
        "in the background of a shell": (["sh", "-c", f"{program} & wait $!"], ()),
        "a subprocess of Python": ([PYTHON, "-c", child, program], ()),
        "posix_spawn in Python": ([PYTHON, "-c", spawned, program], ()),
        "standard input and error closed": (["sh", "-c", f"exec {program} <&- 2>&-"], ()),
        "it changes what it can of itself": ([program, "changes"], ()),
        "it changes what it can of itself, with a trace": ([program, "changes"], ("--trace",)),
        "it filters its system calls": ([program, "filter"], ()),
        "it becomes another user": ([program, "rights"], ()),
        "it writes numbers with a comma": ([program, "comma"], (), ["env", f"LOCPATH={ws.root}", "LC_ALL=de_DE.UTF-8"]),
        "it writes numbers with a comma, with options": ([program, "comma"], ("--what-if=time_step=0.5", "--max-overhead=4.5%"),
                                                         ["env", f"LOCPATH={ws.root}", "LC_ALL=de_DE.UTF-8"]),
        # libxml2 makes such a number, with which hwloc writes the topology that MPICH 4.2 asks for
        "it traps what is no number": ([program, "traps"], (), ["env", "HWLOC_LIBXML=0"]),
        "it traps what is no number, with all options": ([program, "traps"], ("--trace", "--what-if=time_step=0.5", "--sample=1000"), ["env", "HWLOC_LIBXML=0"]),
        "it rounds upwards": ([program, "rounds"], ()),
        "a wrapper that is linked statically": ([str(ws.root / "wrapper"), program], ()),
        "its directory was removed": ([program, "nowhere"], ()),
        "it starts itself 20 times": ([program, "again=20"], ()),
        # UCX (in Open MPI 5) complains that it cannot change the code of mmap
        "it can make nothing executable": ([program, "no_code", "again=1"], (), ["env", "UCX_MEM_MMAP_HOOK_MODE=none"]),
        "it calls MPI on a stack that it made": ([program, "coroutine"], ()),
        "it finalizes MPI in exit": ([program, "atexit"], ()),
        "it throws its environment away": ([program, "forgets"], ()),
        "it leaves calls that fail by longjmp": ([program, "jumps"], ()),
        **(small_stack if FLAVOUR == "openmpi" else {}),  # MPICH itself needs more
    }


def rows_in_namespace(ws):
    """The one that asks for the version in between does not see the other process, but must not take its state for that of one that has ended.
    A program with a /proc of its own does not see the tool's other process (one rank: between name spaces MPICH 4.0 may hang in MPI_Finalize)."""
    program, path = str(ws.root / "program"), f"{ws.root}/wait.$$"
    wait_for_asked = f"while [ ! -e {path}.asked ]; do sleep 0.05; done"
    text = f"{program} after={path} &\n{wait_for_asked}\n{' '.join(IN_NAMESPACE)} {program} version\n> {path}\nwait $!"
    return {"another process asks for the version in a name space of its own": ([script(ws.root / "apart", text)], ()),
            "name spaces of a container": (["unshare", "--mount", "--ipc", "--uts", "--cgroup", program], ()),
            "a name space of users": (["unshare", "--user", "--map-root-user", program], (), (), 1),
            "chroot": (["chroot", "/", program], ()),
            "the program has a /proc of its own": ([*IN_NAMESPACE, "--mount-proc", program], (), (), 1)}


def says_why(ws):
    """Where the program cannot be measured: as bare, no result, and one line with the reason."""
    ws.root.chmod(0o755)
    program = str(ws.root / "program")
    rows_of = {"LD_PRELOAD is replaced": (["env", "LD_PRELOAD=libm.so.6", program], "LD_PRELOAD was unset, replaced"),
               "no environment": (["env", "-i", program], "env -i removes the environment")}
    if FLAVOUR == "mpich":  # ranks of another user than mpirun's do not start with Open MPI 4
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program]
        rows_of["another user"] = command, "`latecomer run` cannot be reached"
        rows_of["another user by su"] = ["su", "-s", "/bin/sh", "nobody", "-c", program], "`latecomer run` cannot be reached"
    for number, (name, (command, reason)) in enumerate(rows_of.items()):
        bare, measured = run(ws, command), run(ws, command, ws.tool(directory=f"why{number}"))
        check(f"{name}: bare {bare.status}, measured {measured.status}", bare.status == measured.status)
        same = without(bare.out, "options:") == without(measured.out, "options:")  # they stay where the tool was never loaded
        check(f"{name}: output {measured.out!r} instead of {bare.out!r}", same)
        check(f"{name}: said {measured.err[-600:]}", reason in " ".join(measured.tool_lines()))
        check(f"{name}: there is a result", not (ws.root / f"why{number}").exists())


def starts_a_launcher(ws):
    """A script that starts the launcher, and the tool before the script: as bare, and told where the tool belongs."""
    script = ["sh", "-c", '"$@"', "sh", *ws.launcher(RANKS), str(ws.root / "program")]
    done = ws.run([*ws.tool(directory="script"), *script], timeout=patience(60))
    said = " ".join(line for line in done.tool_lines() if "ran unmeasured" in line)
    check(f"a launcher in a script: {done.status}, {done.err[-600:]}", done.status == 0 and not (ws.root / "script").exists())
    check(f"a launcher in a script: said {said}", "put `latecomer run` after the launcher that it starts, right before the program" in said)


def dies_before_init(ws):
    """Programs that find their command line wrong after they have asked for MPI's version, with variables of a launcher that kills nobody: both ranks,
    or rank 1 alone, since rank 0 is late. Each is the rank that its launcher says, and no result is whole without the others."""
    for ranks in ([0, 1], [1]):
        directory, processes = f"dies{len(ranks)}", []
        for rank in ranks:
            env = ws.environment(PMI_RANK=rank, PMI_SIZE=RANKS, PMI_JOBID=directory, MPI_LOCALNRANKS=RANKS)
            words = [*ws.tool(directory=directory), str(ws.root / "program"), f"after={ws.root}/{directory}.{rank}", "dies"]
            processes.append(ws.start(words, env))
        end = time.monotonic() + patience(60)
        while not all((ws.root / f"{directory}.{rank}.asked").exists() for rank in ranks) and time.monotonic() < end:
            time.sleep(0.01)
        for rank in ranks:
            (ws.root / f"{directory}.{rank}").touch()
        ended = [ws.finish(process, time.monotonic(), patience(60)) for process in processes]
        check(f"{directory}: {[(one.status, one.err[-600:]) for one in ended]}", all(one.status == -signal.SIGABRT for one in ended))
        result = ws.show(directory=directory)
        meta, known = result["meta"], [place["rank"] for place in result["locations"]]
        said = {key: meta.get(key) for key in ("ranks", "unknown_ranks", "endings")}
        check(f"{directory}: places of ranks {known}", known == list(range(RANKS)))
        check(f"{directory}: {said}", said == {"ranks": RANKS, "unknown_ranks": [0] if ranks == [1] else None,
                                               "endings": ["signal 6" if rank in ranks else "" for rank in range(RANKS)]})


def chosen_habits():
    return "habits" in sys.argv[3:]


def build(ws):
    def compile_it(name, *words, compiler=f"mpicc.{FLAVOUR}"):
        command = [compiler, "-g", "-O1", "-fno-optimize-sibling-calls", "-o", str(ws.root / name), *map(str, words), "-ldl", "-lm"]
        subprocess.run(command, check=True)

    shared, linked = ["-shared", "-fPIC"], [f"-L{ws.root}", f"-Wl,-rpath,{ws.root}"]
    compile_it("program", SOURCE)
    compile_it("deep", SOURCE.with_name("bound_deeply.c"), compiler="cc")
    compile_it("sanitized", SOURCE, "-fsanitize=address")
    compile_it("liblayer.so", LAYER, *shared)
    compile_it("libbyname.so", LAYER, "-DNEXT_BY_NAME", *shared)
    compile_it("layered", SOURCE, *linked, "-llayer")
    compile_it("layered_by_name", SOURCE, *linked, "-lbyname")
    compile_it("holds_layer", SOURCE, LAYER)
    if chosen_habits():
        compile_it("wrapper", SOURCE.with_name("wrapper.c"), "-static", compiler="cc")
        subprocess.run(["localedef", "-f", "UTF-8", "-i", "de_DE", str(ws.root / "de_DE.UTF-8")], check=True)


def run(ws, command, tool=(), before=(), ranks=RANKS, sanitized=False):
    gone = ws.root / "program.gone"
    gone.unlink(missing_ok=True)
    gone.write_bytes((ws.root / "program").read_bytes())
    gone.chmod(0o755)
    env = ws.environment(ASAN_OPTIONS="detect_leaks=0")
    if sanitized:  # its library wants to be the first of the program: nothing but the tool is preloaded, and the ranks do not sleep while they wait
        env.pop("LD_PRELOAD", None)
    return ws.run([*ws.launcher(ranks), *before, *tool, *command], env=env)


def main():
    in_namespace = "namespace" in sys.argv[3:]
    if in_namespace and subprocess.run([*IN_NAMESPACE, "true"], capture_output=True, check=False).returncode != 0:
        print("unshare --pid needs root")
        return 77
    chosen = rows_in_namespace if in_namespace else rows_of_habits if chosen_habits() else rows
    with launch.Workspace(FLAVOUR, LATECOMER) as ws:
        build(ws)
        for number, (name, (command, options, *more)) in enumerate(chosen(ws).items()):
            directory = f"exp{number}"
            before, ranks = (*more, *((), RANKS)[len(more):])
            sanitized = name.startswith("AddressSanitizer")
            bare, measured = (run(ws, command, tool, before, ranks, sanitized) for tool in ((), ws.tool(*options, directory=directory)))
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
            check(f"{name}: said {measured.err[-600:]}", "only its run time" not in measured.err)
            result = ws.show("--metric", "visits", directory=directory)
            paths, coverage = result["metrics"]["visits"]["callpaths"], result["meta"].get("coverage", {})
            whole = result["meta"]["complete"] and ("jumps" not in command or coverage.get("calls_in_callbacks", 0) == 0)
            check(f"{name}: ended by {result['meta']['ending']}, {coverage}", whole)
            calls = {path: values for path, values in paths.items() if path.endswith("/MPI_Allreduce")}
            total = [sum(values) for values in zip(*calls.values())]
            check(f"{name}: calls {calls}", total == [25] * ranks and all("time_step" in path for path in calls))
            asked = [values for path, values in paths.items() if path.endswith("/ask_and_wait/MPI_Get_version")]
            check(f"{name}: asked {paths}", "asks" not in name or not in_namespace or asked == [[1] * RANKS])
            fractions = "--max-overhead=4.5%" in options
            text = json.dumps(ws.show(directory=directory)) if fractions else ""
            check(f"{name}: fractions {text[:3000]}", not fractions or ('"budget": 0.045' in text and '"spec": "time_step=0.5"' in text))
            memory, real = numbers(bare.out, "resident:"), numbers(measured.out, "resident:")
            check(f"{name}: resident {real} MiB, bare {memory}", not memory or max(real) <= max(memory) + MORE_RESIDENT_MIB)
        if in_namespace:
            says_why(ws)
        if chosen_habits():
            dies_before_init(ws)
            starts_a_launcher(ws)
    print(f"{len(failures)} not as expected")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
