"""Makes the wrappers of what GCC's code calls of its OpenMP runtime, from gomp_entries.tsv (build time).

gen_gomp.py TABLE entries OUT.h   enum lc_gomp_entry, in the order of the stub's slots
gen_gomp.py TABLE wrappers OUT.c  the wrappers, and the table of them
gen_gomp.py TABLE names OUT.inc   the names in that order
gen_gomp.py TABLE known OUT.inc   all names of the table, sorted: also those that are not taken
"""
import re
import sys

OUTLINED = {"fn": "void (*fn)(void *)", "data": "void *data", "copy": "void (*copy)(void *, void *)"}
TYPES = {"ptr": "void *", "ull": "unsigned long long "}


class Entry:
    def __init__(self, name, template, returns, parameters):
        self.name, self.returns = name, "void *" if returns == "ptr" else returns
        self.template, _, self.kind = template.partition(":")
        self.constant = parameters[1:] if parameters.startswith("=") else None
        self.declared, self.names = [], []
        for parameter in [] if self.constant else [p.strip() for p in parameters.split(",") if p.strip()]:
            words = re.sub(r"^(ptr|ull) ", lambda m: TYPES[m.group(1)], parameter)
            self.declared.append(OUTLINED.get(parameter, words))
            self.names.append(re.search(r"(\w+|\.\.\.)$", parameter).group(1))
        self.own = "lc_gomp_entry_" + re.sub(r"^GOMP_|^omp_", "", name)

    def signature(self):
        return ", ".join(self.declared) or "void"

    def call(self, *first):
        return f"real({', '.join([*first, *self.names[len(first):]])})"

    def wait(self):
        return f"(uint64_t){self.constant or self.names[0]}"

    def around(self, before, call, after):
        """Before the call and after it; what it returns is handed on."""
        if not after:
            return [*before, "lc_gomp_call_end(call);", f"return {call};" if self.returns != "void" else f"{call};"]
        keep, give = (f"{self.returns} result = ", ["return result;"]) if self.returns != "void" else ("", [])
        return [*before, "lc_gomp_call_goes(call);", f"{keep}{call};", "lc_gomp_call_returns(call);", *after, "lc_gomp_call_end(call);", *give]


def expand(text):
    match = re.search(r"\{([^}]*)\}", text)
    return [e for part in match.group(1).split(",") for e in expand(text[:match.start()] + part + text[match.end():])] if match else [text]


def read(path):
    entries = []
    with open(path, encoding="ascii") as table:
        for line in table:
            if not line.startswith("#"):
                template, returns, names, parameters = line.rstrip("\n").split("\t")
                entries += [Entry(name, template, returns, parameters) for name in expand(names)]
    return entries


def taken(path):
    """Those that have a wrapper, in the order of the slots."""
    return [e for e in read(path) if e.template != "-"]


def t_parallel(e):
    work = f"OMPT_WORK_{e.kind}" if e.kind else "0"
    head = [f"const struct lc_gomp_construct made = {{fn, data, threads, {work}, frame, code, (void *)real}};"]
    head += ["struct lc_gomp_fork fork;", "lc_gomp_fork_begin(&fork, &made);"]
    return e.around(head, e.call("lc_gomp_run_share", "&fork"), ["lc_gomp_fork_end(&fork, call);"])


def t_parallel_reductions(e):
    return [line if "fork_begin" not in line else line + "\n    fork.reductions = *(void **)data;" for line in t_parallel(e)]


def t_fork(e):
    """As compilers before GCC 4.9 make it: the program itself calls the outlined function."""
    work = f"OMPT_WORK_{e.kind}" if e.kind else "0"
    head = [f"const struct lc_gomp_construct made = {{fn, data, threads, {work}, frame, code, (void *)real}};"]
    head += ["struct lc_gomp_fork *fork = lc_gomp_fork_new(&made);", "if (fork == NULL) {", "    lc_gomp_call_end(call);", f"    {e.call()};", "    return;", "}"]
    return e.around(head, e.call("lc_gomp_run_share", "fork"), ["lc_gomp_fork_started(fork);"])


def t_join(e):
    return e.around(["struct lc_gomp_fork *fork = lc_gomp_join_begin();"], e.call(), ["lc_gomp_join_end(fork, call);"])


def t_work(e):
    return e.around([f"lc_gomp_work_begin(OMPT_WORK_{e.kind}, code);"], e.call(), [])


def t_work_end(e):
    return e.around(["lc_gomp_work_end();"], e.call(), [])


def t_work_barrier(e):
    return e.around(["lc_gomp_barrier_begin(code);"], e.call(), ["lc_gomp_barrier_end(code);"])


def t_reductions_end(e):
    return e.around(["if (cancelled)", "    lc_gomp_work_end();", "else", "    lc_gomp_barrier_begin(code);"], e.call(),
                    ["if (!cancelled)", "    lc_gomp_barrier_end(code);"])


def t_apart(e):
    return e.around(["struct lc_gomp_share apart;", "lc_gomp_apart_begin(&apart);"], e.call(), ["lc_gomp_apart_end(&apart);"])


def t_single(e):
    return e.around([], e.call(), ["if (result)", "    lc_gomp_work_begin(OMPT_WORK_SINGLE, code);"])


def t_doacross(e):
    return e.around(["lc_gomp_doacross_begin(counts, code);"], e.call(), [])


def t_post(e):
    return e.around(["lc_gomp_doacross_posts((const uint64_t *)iteration);"], e.call(), [])


def t_ordered_next(e):
    return e.around(["bool waits = lc_gomp_turn_passes(code);"], e.call(), ["if (waits)", "    lc_gomp_turn_passed(code);"])


def t_acquire(e):
    words = f"OMPT_MUTEX_{e.kind}, {e.wait()}, code"
    return e.around([f"lc_gomp_acquire({words});"], e.call(), [f"lc_gomp_acquired({words});"])


def t_release(e):
    return e.around([f"lc_gomp_released(OMPT_MUTEX_{e.kind}, {e.wait()}, code);"], e.call(), [])


def t_lock_init(e):
    return e.around([], e.call(), [f"lc_gomp_lock_init(OMPT_MUTEX_{e.kind}, {e.wait()}, code);"])


def t_try(e):
    return e.around([], e.call(), ["if (result)", f"    lc_gomp_acquired(OMPT_MUTEX_{e.kind}, {e.wait()}, code);"])


def t_test_nest(e):
    return e.around([], e.call(), ["if (result == 1)", f"    lc_gomp_acquired(OMPT_MUTEX_TEST_NEST_LOCK, {e.wait()}, code);"])


def test_of(e):
    return f"int (*test)(void *) = (int (*)(void *))lc_gomp_real(LC_{re.sub('_(un)?set_', '_test_', e.name)}, code);"


def t_set_nest(e):
    """How deep the thread is in it, only the test tells."""
    words = f"OMPT_MUTEX_NEST_LOCK, {e.wait()}, code"
    return [test_of(e), "int depth = test(lock);", "if (depth > 1) {", "    lc_gomp_call_end(call);", "    return;", "}", f"lc_gomp_acquire({words});",
            "lc_gomp_call_goes(call);", "if (depth == 0)", f"    {e.call()};", "lc_gomp_call_returns(call);", f"lc_gomp_acquired({words});",
            "lc_gomp_call_end(call);"]


def t_unset_nest(e):
    return [test_of(e), "int depth = test(lock);", "if (depth == 2)", f"    lc_gomp_released(OMPT_MUTEX_NEST_LOCK, {e.wait()}, code);",
            "lc_gomp_call_end(call);", "if (depth > 0)", f"    {e.call()};", f"{e.call()};"]


def wrapper(e):
    """What is done is there twice: in the wrapper, where nothing is measured, and apart, where what it costs is."""
    frame = ["void *frame"] if e.template in ("parallel", "parallel_reductions", "fork") else []
    given, code = [*e.declared, "const void *code", *frame], "    const void *code = __builtin_return_address(0);\n"
    handed = ", ".join([*e.names, "code", *(["frame"] if frame else [])])
    real = f"    {e.returns} (*real)({e.signature()}) = ({e.returns} (*)({e.signature()}))lc_gomp_real(LC_{e.name}, code);\n"
    body = "".join(f"    {line}\n" for line in globals()["t_" + e.template](e))
    give, leave = ("return ", "") if e.returns != "void" else ("", "        return;\n")
    return (f"static inline __attribute__((always_inline)) {e.returns} do_{e.name}({', '.join([*given, 'struct lc_gomp_call *call'])}) {{\n{real}{body}}}\n"
            f"static LC_COLD {e.returns} m_{e.name}({', '.join(given)}) {{\n    struct lc_gomp_call call;\n    lc_gomp_call_begin(&call);\n"
            f"    {give}do_{e.name}({handed}, &call);\n}}\n"
            f"static {e.returns} w_{e.name}({e.signature()}) {{\n{code}{'    void *frame = __builtin_frame_address(0);' + chr(10) if frame else ''}"
            f"    if (lc_gomp_call_is_drawn()) {{\n        {give}m_{e.name}({handed});\n{leave}    }}\n    {give}do_{e.name}({handed}, NULL);\n}}\n")


def main():
    what, taken_ones = sys.argv[2], taken(sys.argv[1])
    with open(sys.argv[3], "w", encoding="ascii") as out:
        head = "/* Generated from gomp_entries.tsv. */\n"
        if what == "entries":
            out.write(f"{head}#ifndef LC_GOMP_ENTRIES_H\n#define LC_GOMP_ENTRIES_H\n\nenum lc_gomp_entry {{\n")
            out.writelines(f"    LC_{e.name},\n" for e in taken_ones)
            out.write("    LC_GOMP_ENTRIES\n};\n\n#endif\n")
        elif what == "wrappers":
            out.write(f"{head}#include \"measure/gomp/gomp.h\"\n\n")
            out.write("\n".join(wrapper(e) for e in taken_ones if e.template != "own"))
            out.write("\nvoid *const lc_gomp_wrappers[LC_GOMP_ENTRIES] = {\n")
            out.writelines(f"    (void *){e.own if e.template == 'own' else 'w_' + e.name},\n" for e in taken_ones)
            out.write("};\n")
        elif what == "names":
            out.writelines(f'"{e.name}",\n' for e in taken_ones)
        elif what == "known":
            out.writelines(f'"{name}",\n' for name in sorted(e.name for e in read(sys.argv[1])))
        else:
            sys.exit(f"unknown output {what}")


if __name__ == "__main__":
    main()
