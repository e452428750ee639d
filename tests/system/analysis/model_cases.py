#!/usr/bin/python3
"""The cases in which the two models of delay costs are told apart (sections 3.4 and 3.5 of the thesis), for each pattern of waiting, as
scripted traces with the costs and classes that the formulas give.

model_cases.py LATECOMER WRITE_TRACE

A runs `f` for 60 ms, for which B waits. B then runs `g` for 30 ms, for which C waits, after `own` code. So C waits for 30 ms of code
and 60 ms of waiting: less than B waited (case 1), all of it (case 2.1), or between (case 2.2).
"""
import sys
import tempfile
from fractions import Fraction

from scripted import analyse, metric_faults, script

F, G = 60, 30
WAITING_OF_C = {"1": 40, "2.1": 90, "2.2": 75, "none": 0}  # none: C is not delayed, nothing is passed on
NONE = 0xFFFFFFFF
REST = {"lr": 1}  # a late receiver is one only if the send ends later: what is left then belongs to the send
NAMES = {"ls": "latesender", "lr": "latereceiver"}
METRICS = {"ls": "mpi_latesender", "lr": "mpi_latereceiver", "barrier": "mpi_barrier_wait", "n2n": "mpi_wait_nxn",
           "12n": "mpi_latebroadcast", "n21": "mpi_earlyreduce", "ompbarrier": "omp_ebarrier_wait"}
CALLS = {"ls": ("MPI_Recv", "MPI_Send"), "lr": ("MPI_Ssend", "MPI_Recv"), "barrier": ("MPI_Barrier",) * 2, "n2n": ("MPI_Allreduce",) * 2,
         "12n": ("MPI_Bcast",) * 2, "n21": ("MPI_Reduce",) * 2, "ompbarrier": ("barrier",) * 2}
# Of the waiting side, and of the other one: operation, root, bytes sent and received.
COLLECTIVES = {"barrier": ((0, NONE, 0, 0),) * 2, "n2n": ((11, NONE, 8, 8),) * 2, "12n": ((1, "other", 0, 8), (1, "own", 8, 0)),
               "n21": ((12, "own", 8, 8), (12, "other", 8, 0))}


def operation(kind, start, release, own, other, comm):
    """(waiting call, call of the cause): ranks `own` and `other` of the whole run; comm: of the two, the lower one first."""
    waiting, causing = CALLS[kind]
    end = release + REST.get(kind, 0)
    if kind == "ompbarrier":
        return (waiting, start, end), (causing, release, end)
    if kind in COLLECTIVES:
        numbers = {"own": int(own > other), "other": int(other > own)}
        ends = []
        for (op, root, sent, received), swap in zip(COLLECTIVES[kind], (False, True)):
            name = {"own": "other", "other": "own"}.get(root, root) if swap else root
            ends.append(f"{end} end {op} {comm} {numbers.get(name, name)} {sent} {received}")
        return (waiting, start, end, f"{start} begin", ends[0]), (causing, release, end, f"{release} begin", ends[1])
    if kind == "ls":
        return (waiting, start, end, f"{end} recv {other} 0 0 8"), (causing, release, release, f"{release} send {own} 0 0 8")
    return (waiting, start, end, f"{start} send {other} 0 0 8"), (causing, release, end, f"{end} recv {own} 0 0 8")


class Case:
    """first, second: the kinds in which B and C wait. team: which of A, B, C are threads of one process, the master first. ranks: of
    the processes of A, B, C; B's is its own where it communicates from a team."""

    def __init__(self, first, second, waiting_of_c, team="", a=0, b=1, c=2):
        self.first, self.second, self.w, self.team = first, second, waiting_of_c, team
        self.location = {"A": a, "B": b, "C": c}
        self.threads = [1] * (3 - len(team)) if team else []
        if team:  # the team is the last process, or the first one
            self.threads = [2, 1] if min(self.location[x] for x in team) == 0 else [1, 2]

    def rank(self, name):
        location = self.location[name]
        return location if not self.threads else int(location >= self.threads[0])

    def trace(self):
        rest = REST.get(self.first, 0)
        second_start = F + G - self.w
        waits, late = operation(self.first, 0, F, self.rank("B"), self.rank("A"), 1)
        waits2, late2 = operation(self.second, second_start, F + G, self.rank("C"), self.rank("B"), 2)
        calls = {"A": [("f", 0, F), late], "B": [waits, ("g", F + rest, F + G), late2], "C": [("own", 0, second_start), waits2]}
        if not self.w:  # B goes on alone
            calls["B"], calls["C"] = [waits, ("g", F + rest, F + G)], [("own", 0, F + G)]
        calls = {name: [c for c in list_ if c[1] < c[2] or c[0] != "own"] for name, list_ in calls.items()}
        for number, name in enumerate(self.team):
            calls[name] = [*(["0 fork 2"] if number == 0 else []), "0 team_begin 3", ("parallel", 0, 95, *calls[name]), "95 team_end 3",
                           *(["95 join"] if number == 0 else [])]
        locations = [calls[name] for name in sorted(calls, key=self.location.get)]
        pairs = [sorted({self.rank(x), self.rank(y)}) for x, y in ("AB", "BC")]
        team = sorted(self.location[name] for name in self.team) or [0]
        return script(*locations, threads=self.threads, definitions=[f"comm {' '.join(map(str, p))}" for p in pairs] + [f"team {' '.join(map(str, team))}"])

    def expected(self):
        rest, table = Fraction(REST.get(self.first, 0), G), {}
        in_team = lambda name: "parallel/" if name in self.team else ""

        def add(metric, model, path, name, ms):
            places = table.setdefault(metric, {"": [], "_waitfirst": []})[model]
            if ms:
                places.append((in_team(name) + path, self.location[name], ms))

        for model in ("", "_waitfirst"):
            passed_on = Fraction(self.w * F, F + G) if model == "" else min(self.w, F)
            direct = self.w - passed_on
            for kind, call, name, waiting, from_code, handed in (
                    (self.first, CALLS[self.first][0], "B", F, F, passed_on), (self.second, CALLS[self.second][0], "C", self.w, direct, 0)):
                long_, prefix = NAMES.get(kind, kind), "omp" if kind == "ompbarrier" else "mpi"
                add(f"{prefix}_wait_direct_{long_}", model, call, name, from_code)
                add(f"{prefix}_wait_indirect_{long_}", model, call, name, waiting - from_code)
                add(f"{prefix}_wait_propagating_{kind}", model, call, name, handed)
                add(f"{prefix}_wait_terminal_{kind}", model, call, name, waiting - handed)
            add(f"delay_{NAMES.get(self.first, self.first)}", model, "f", "A", F)
            add(f"delay_{NAMES.get(self.second, self.second)}", model, "g", "B", direct * (1 - rest))
            add(f"delay_{NAMES.get(self.second, self.second)}", model, CALLS[self.first][0], "B", direct * rest)
            add(f"delay_{NAMES.get(self.second, self.second)}_longterm", model, "f", "A", passed_on)
        for kind, call, name, waiting in ((self.first, CALLS[self.first][0], "B", F), (self.second, CALLS[self.second][0], "C", self.w)):
            table.setdefault(METRICS[kind], []).extend([(in_team(name) + call, self.location[name], waiting)] if waiting else [])
        return table


# Both waits of one kind; one-to-all and all-to-one in a chain; then threads: their process waits for a message or in a collective
# operation of the master (funnelled) or of the worker (multiple), and the other thread for it; a thread delays its master and that
# another process.
PATTERNS = {kind: {"first": kind, "second": kind} for kind in ("ls", "lr", "barrier", "n2n", "12n", "n21")}
PATTERNS |= {"12n then n21": {"first": "12n", "second": "n21"}, "n21 then 12n": {"first": "n21", "second": "12n"}}
PATTERNS |= {f"{kind} in a team": {"first": kind, "second": "ompbarrier", "team": "BC"} for kind in ("ls", "lr", "barrier")}
PATTERNS |= {f"{kind} of a worker": {"first": kind, "second": "ompbarrier", "team": "CB", "b": 2, "c": 1} for kind in ("ls", "n2n")}
PATTERNS |= {f"threads, then {kind}": {"first": "ompbarrier", "second": kind, "team": "BA", "a": 1, "b": 0} for kind in ("ls", "barrier")}

faults = traces = 0
with tempfile.TemporaryDirectory() as directory:
    for pattern, options in PATTERNS.items():
        for case, waiting in WAITING_OF_C.items():
            traces += 1
            what = Case(waiting_of_c=waiting, **options)
            result, _, _ = analyse(f"{traces}", what.trace(), directory)
            found = [*metric_faults(result, what.expected()), *(f"health: {h}" for h in result["meta"].get("health", [])),
                     *result["meta"]["invariants"]["broken"]]
            faults += len(found)
            for fault in found:
                print(f"{pattern}, case {case}: {fault}")
print(f"{traces} traces, {faults} faults")
sys.exit(1 if faults else 0)
