#!/usr/bin/env python3
"""On which OpenMP runtime programs run, and what is said about it: one line, and the program does what it does without the tool.
runtimes.py LATECOMER CC PROGRAM (PROGRAM: built for libgomp)"""
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

LATECOMER, CC, PROGRAM = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])
NUMBER, LEFT_OUT = [0], []


def check(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def run(program, *words, options=(), before=(), **variables):
    NUMBER[0] += 1
    done = subprocess.run([*before, LATECOMER, "run", *options, "-o", f"r{NUMBER[0]}", program, *words], capture_output=True, text=True, timeout=patience(60),
                          env=dict(os.environ, **variables), check=False)
    said = [line for line in done.stderr.splitlines() if line.startswith("latecomer: ")]
    check(done.stderr.count("\n") == len(said), done.stderr)
    show = subprocess.run([LATECOMER, "show", "--json", f"r{NUMBER[0]}"], capture_output=True, text=True, timeout=patience(60), check=False)
    return done, said, json.loads(show.stdout) if show.returncode == 0 else None


def exchanged(program, *words, **more):
    """On LLVM's runtime in place of GCC's."""
    return run(program, *words, options=["--openmp=libomp"], **more)


def runtime_of_llvm():
    """The library that the tool finds."""
    _, said, _ = exchanged(PROGRAM, "serial", "2")
    return said[0].split("runs on ")[1].split()[0]


def build(name, text, *options):
    with open(f"{name}.c", "w", encoding="ascii") as file:
        file.write(text)
    subprocess.run([CC, "-g", "-O1", "-fopenmp", f"{name}.c", "-o", name, *options], check=True)
    return os.path.abspath(name)


def measured(result):
    return result is not None and "openmp_runtime" in result["meta"]


def test_exchange():
    done, said, result = exchanged(PROGRAM, "serial", "2")
    check(done.returncode == 0 and measured(result) and "LLVM" in result["meta"]["openmp_runtime"] and result["meta"]["threads"] == [2], f"{done} {result and result['meta']}")
    check("instead of libgomp" in said[0] and len(said) == 2, done.stderr)


def test_no_hints():
    """LLVM's runtime prints hints that libgomp has not (run() checks that stderr has lines of the tool only)."""
    nested = build("nested", "#include <omp.h>\nint main(void) {\n  omp_set_nested(1);\n#pragma omp parallel\n  ;\n  return 0;\n}\n", "-Wno-deprecated-declarations")
    done, _, result = exchanged(nested)
    check(done.returncode == 0 and measured(result), f"{done}")


def on_its_own(done, said, result, threads):
    check(done.returncode == 0 and result["meta"].get("openmp_runtime") == "libgomp" and result["meta"]["threads"] == [threads], f"{done} {result}")
    check(len(said) == 1 and "result in" in said[0], done.stderr)


def test_native():
    on_its_own(*run(PROGRAM, "serial", "2"), 2)
    on_its_own(*run(PROGRAM, "serial", "2", options=["--openmp=native"]), 2)
    on_its_own(*run(PROGRAM, "serial", "2", options=["--openmp=auto"]), 2)
    on_its_own(*run(PROGRAM, "serial", "2", LATECOMER_OPENMP="native"), 2)
    check(run(PROGRAM, options=["--openmp=other"])[0].returncode == 2, "usage")


def test_disabled():
    done, said, result = run(PROGRAM, "serial", "2", OMP_TOOL="disabled")
    check(done.returncode == 0 and not measured(result) and "OMP_TOOL=disabled" in said[0], f"{done}")


def test_other_tool():
    on_its_own(*run(PROGRAM, "serial", "2", OMP_TOOL_LIBRARIES="/nowhere/tool.so"), 2)
    done, said, result = exchanged(PROGRAM, "serial", "2", OMP_TOOL_LIBRARIES="/nowhere/tool.so")
    check(done.returncode == 0 and not measured(result) and any("another tool" in line for line in said), f"{done}")


def test_what_fails_there():
    """GCC's code for ordered loops with dependences crashes LLVM 14's runtime: such a program keeps libgomp."""
    program = build("doacross", """#include <stdio.h>
int main(void) { static long line[8];
#pragma omp parallel for ordered(1) num_threads(2)
  for (int i = 1; i < 8; i++) {
#pragma omp ordered depend(sink : i - 1)
    line[i] = line[i - 1] + i;
#pragma omp ordered depend(source)
  }
  printf("%ld\\n", line[7]); return 4; }
""")
    done, said, result = run(program)
    check(done.returncode == 4 and done.stdout == "28\n" and measured(result), f"{done}")
    done, said, result = exchanged(program)
    check(done.returncode == 4 and done.stdout == "28\n" and not measured(result), f"{done}")
    check("doacross" in said[0] and "OpenMP is not measured" in said[0], done.stderr)


def test_taskwait_depend():
    """LLVM's runtimes before 19 crash now and then at it: such a program keeps libgomp. On 19 it is measured (what of it: openmp.newer.constructs.gcc)."""
    program = build("depend", """int main(void) { int x = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : x) shared(x)
    x = 4;
#pragma omp taskwait depend(in : x)
  }
  return x; }
""")
    done, said, result = run(program)
    check(done.returncode == 4 and measured(result), f"{done}")
    done, said, result = exchanged(program)
    if hasattr(ctypes.CDLL(runtime_of_llvm()), "__kmpc_dispatch_deinit"):  # since 19
        check(done.returncode == 4 and measured(result) and "LLVM" in result["meta"]["openmp_runtime"], f"{done}")
        return
    check(done.returncode == 4 and not measured(result), f"{done}")
    check("it calls GOMP_taskwait_depend, on which" in said[0] and "OpenMP is not measured" in said[0], done.stderr)


REGION = """#include <stdio.h>
int main(void) {
  int x = 0;
#pragma omp parallel num_threads(2)
#pragma omp atomic
  x++;
  printf("%d\\n", x); return 4; }
"""


def keeps_its_own(done, said, result, reason):
    check(done.returncode == 4 and done.stdout == "2\n" and not measured(result), f"{done}")
    check(len([line for line in said if "OpenMP is not measured" in line]) == 1 and reason in said[0], done.stderr)


def test_both_runtimes():
    library = runtime_of_llvm()
    keeps_its_own(*exchanged(build("both", REGION, "-lgomp", "-Wl,--no-as-needed", library)), "both libgomp and LLVM's")
    subprocess.run([CC, "-g", "-O1", "-fopenmp", "-c", "both.c"], check=True)
    subprocess.run([CC, "both.o", "-o", "llvm_first", "-Wl,--no-as-needed", library, "-lgomp"], check=True)
    done, said, result = run(os.path.abspath("llvm_first"))
    check(done.returncode == 4 and done.stdout == "2\n" and measured(result) and len(said) == 1 and "result in" in said[0], f"{done}")


def test_lacks_functions():
    os.mkdir("other")
    with open("nothing.c", "w", encoding="ascii") as file:
        file.write("int nothing;\n")
    subprocess.run([CC, "-shared", "-fPIC", "-Wl,-soname,libomp.so.5", "-o", "other/libomp.so.5", "nothing.c"], check=True)
    keeps_its_own(*exchanged(build("region", REGION), LD_LIBRARY_PATH=os.path.abspath("other")), "it calls GOMP_parallel, which LLVM's")


PYTHON_USES = """import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1], mode=os.RTLD_LOCAL | os.RTLD_NOW)
print(library.sum_up(1000), library.threads())
"""


def test_local_scope():
    """An interpreter opens libraries that bring a runtime for themselves alone."""
    with open("part.c", "w", encoding="ascii") as file:
        file.write("""#include <omp.h>
int threads(void) { int n = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  n = omp_get_num_threads();
  return n; }
int sum_up(int n) { int sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic) num_threads(2)
  for (int i = 0; i < n; i++)
    sum += 1;
#pragma omp parallel num_threads(2)
#pragma omp critical
  sum += 0;
  return sum; }
""")
    subprocess.run([CC, "-g", "-O1", "-fopenmp", "-shared", "-fPIC", "part.c", "-o", "libpart.so"], check=True)
    with open("uses.py", "w", encoding="ascii") as file:
        file.write(PYTHON_USES)
    done, _, result = run(sys.executable, "uses.py", "./libpart.so", options=["--openmp=native"])
    check(done.returncode == 0 and done.stdout == "1000 3\n" and measured(result) and result["meta"]["threads"] == [3], f"{done} {result and result['meta']}")
    paths = result["metrics"]["time"]["callpaths"]
    check(any("!$omp parallel @part.c:" in path for path in paths), f"{sorted(paths)}")
    done, _, result = run(sys.executable, "uses.py", "./libpart.so", options=["--openmp=libomp"])
    check(done.returncode == 0 and done.stdout == "1000 3\n" and not measured(result), f"{done}")


def test_llvm_by_dlopen():
    """LLVM's runtime, which a library brings that is opened later, finds the tool by itself."""
    clang = shutil.which("clang")
    if clang is None:
        print("left out: a library built by clang")
        LEFT_OUT.append("clang")
        return
    subprocess.run([clang, "-g", "-O1", "-fopenmp", "-shared", "-fPIC", "part.c", "-o", "libllvm_part.so"], check=True)
    done, said, result = run(sys.executable, "uses.py", "./libllvm_part.so")
    check(done.returncode == 0 and done.stdout == "1000 3\n" and measured(result) and "LLVM" in result["meta"]["openmp_runtime"], f"{done} {result and result['meta']}")
    check(result["meta"]["threads"] == [3] and len(said) == 1, f"{done}")


def with_library(name, function, adds):
    """A program that returns what `function` of a library of its own makes of 3."""
    with open(f"{name}.c", "w", encoding="ascii") as file:
        file.write(f"int {function}(int n) {{ return n + {adds}; }}\n")
    subprocess.run([CC, "-shared", "-fPIC", f"{name}.c", "-o", f"lib{name}.so"], check=True)
    return build(f"calls_{name}", REGION.replace("int main", f"int {function}(int n);\nint main").replace("return 4", f"return {function}(3)"),
                 "-L.", f"-l{name}", f"-Wl,-rpath,{os.getcwd()}")


def test_unknown_calls():
    """Of a newer compiler: they reach the runtime, and the audit names them."""
    done, _, result = run(with_library("newer", "GOMP_newer_thing", 1), options=["--openmp=native"])
    check(done.returncode == 4 and done.stdout == "2\n" and measured(result), f"{done}")
    check(result["meta"]["openmp_unknown_calls"] == ["GOMP_newer_thing"], f"{result['meta']}")
    full = shown()
    check("openmp calls" in full and "GOMP_newer_thing" in full, full)
    check("not reported" in full and "OMPT_MASKED" in full and "this path may be longer" not in full, full)
    # what clang makes of a region for another device
    done, _, result = run(with_library("device", "__tgt_target_kernel", 2), options=["--openmp=native"])
    check(done.returncode == 5 and result["meta"]["openmp_unknown_calls"] == ["__tgt_target_kernel"], f"{done} {result and result['meta']}")


def shown():
    """All of the last result."""
    return subprocess.run([LATECOMER, "show", "--full", f"r{NUMBER[0]}"], capture_output=True, text=True, timeout=patience(60), check=True).stdout


def test_limits():
    """What the runtime did not tell, as its result says, limits what is claimed."""
    run(PROGRAM, "serial", "2")
    path = f"r{NUMBER[0]}/profile.cubex"
    with open(path, "rb") as file:
        result = file.read()
    for was, now in ((b"openmp_edges_lost&quot;: 0", b"openmp_edges_lost&quot;: 3"), (b"&quot;OMPT_CONTROL_TOOL&quot;", b"&quot;OMPT_DEPENDENCES&quot; ")):
        check(result.count(was) == 1 and len(was) == len(now), f"{was}")
        result = result.replace(was, now)
    with open(path, "wb") as file:
        file.write(result)
    full = shown()
    check("may be longer: 3 edges between threads of OpenMP are not known" in full and "does not report every dependence of a task" in full, full)


def test_no_libomp():
    """In a namespace of its own in which the folder of the library is empty."""
    program, folder = build("region", REGION), os.path.dirname(os.path.realpath(runtime_of_llvm()))
    hide = ["unshare", *(["-m"] if os.geteuid() == 0 else ["-rm"]), "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', folder]
    if folder.startswith("/usr/lib/llvm") and subprocess.run([*hide, "true"], check=False, capture_output=True).returncode == 0:
        keeps_its_own(*exchanged(program, before=hide), "LLVM's runtime is not installed")
    else:
        print("left out: a program without libomp (no namespaces here)")
        LEFT_OUT.append("libomp")


def test_libgomp_inside():
    """Linked statically: nothing of it can be replaced, and nothing is seen of it."""
    subprocess.run([CC, "-O1", "-fopenmp", "-c", "region.c"], check=True)
    subprocess.run([CC, "-o", "inside", "region.o", "-l:libgomp.a", "-lpthread", "-ldl"], check=True)
    done, said, result = run(os.path.abspath("inside"))
    check(done.returncode == 4 and done.stdout == "2\n" and not measured(result) and len(said) == 1, f"{done}")
    check("libgomp is linked into it" in said[0] and "only its run time" in said[0], f"{done}")


def test_own_tool():
    program = build("tool", REGION + "void *ompt_start_tool(unsigned v, const char *r) { (void)v; (void)r; return 0; }\n", "-rdynamic")
    keeps_its_own(*exchanged(program), "a tool for OpenMP of its own")
    done, said, result = run(program)
    check(done.returncode == 4 and done.stdout == "2\n" and measured(result) and len(said) == 1, f"{done}")


def test_cancelled():
    """Tasks of a cancelled taskgroup that have not begun are discarded, as without the tool."""
    program = build("cancelled", """#include <stdio.h>
int main(void) { static int ran;
#pragma omp parallel num_threads(1)
#pragma omp taskgroup
  for (int i = 0; i < 50; i++)
#pragma omp task
  {
    ran++;
#pragma omp cancel taskgroup
  }
  printf("%d\\n", ran); return 4; }
""")
    variables = {"OMP_CANCELLATION": "true"}
    bare = subprocess.run([program], capture_output=True, text=True, env=dict(os.environ, **variables), check=False, timeout=patience(60))
    done, _, result = run(program, **variables)
    check(0 < int(bare.stdout) < 50 and done.stdout == bare.stdout and done.returncode == 4 and measured(result), f"{done}, not {bare}")


def test_children():
    """Programs that a measured one starts run on their own runtime, unmeasured."""
    program = build("parent", """#include <stdio.h>
#include <stdlib.h>
int main(void) {
  static int x;
#pragma omp parallel num_threads(2)
#pragma omp atomic
  x++;
  fflush(stdout); return system("echo \\"[$LD_PRELOAD][$LATECOMER_STATE]\\"") == 0 ? 0 : 1; }
""")
    done, _, result = run(program)
    check(done.returncode == 0 and done.stdout == "[][]\n" and measured(result), f"{done}")


def test_serial():
    done, said, result = run("sh", "-c", "exit 6")
    check(done.returncode == 6 and len(said) == 1 and "only its run time" in said[0], f"{done}")
    check(result["meta"]["complete"] is True and result["metrics"]["time"]["total"] > 0, f"{result}")
    text = subprocess.run([LATECOMER, "show", f"r{NUMBER[0]}"], capture_output=True, text=True, timeout=patience(60), check=True).stdout
    check("only the run time was measured\n" in text and "nothing is known of waiting" in text, text)
    for word in ("MPI", "estimated", "0.0 %", "Heaviest", "--trace"):
        check(word not in text, f"{word}: {text}")
    check("wait states" not in shown(), shown())


def test_no_team():
    """A program that only asks for the number of threads has no team of them, and one that is killed does not lack MPI_Finalize."""
    program = build("asks", """#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int n, char **words) { (void)words; printf("%d\\n", omp_get_max_threads()); if (n > 1) abort(); return 4; }
""")
    for words, status in ((), 4), (("dies",), -signal.SIGABRT):
        done, said, result = run(program, *words, OMP_NUM_THREADS="2")
        check(done.returncode == status and len(said) == 1 and "only its run time" in said[0], f"{done}")
        check(result["meta"]["threads_wanted"] == 1 and result["meta"]["openmp"] is True, f"{result['meta']}")
        text = " ".join(shown().split())
        check("computes with" not in text and "efficiency need" not in text and ("incomplete" in text) == bool(words), text)
    program = build("aborts", REGION.replace("return", "abort(); return").replace("#include", "#include <stdlib.h>\n#include", 1))
    done, _, _ = run(program)
    check(done.returncode == -signal.SIGABRT and "efficiency need an end of its own" in " ".join(shown().split()), f"{done}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(name)
sys.exit(77 if LEFT_OUT else 0)
