#!/usr/bin/env python3
"""OpenMP in our traces. traces.py LATECOMER golden PROGRAM ARCHIVE RUNTIME: a program of which the golden data have an archive that
Score-P wrote: the same records of threads on each location, and the same regions by role, but for what the runtime does not tell.
traces.py LATECOMER waits PROGRAM PATTERN..: what `analyze` finds in the trace is what the profile of the same run says; every wait has a
cause that pays for it, and all invariants hold. traces.py LATECOMER constructs PROGRAM: a trace of all constructs can be read. traces.py LATECOMER deep PROGRAM: regions within each other, 20 levels.
RUNTIME: clang, gcc, or mpi:FLAVOUR."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import otf2
from otf2.enums import Paradigm, RegionRole

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, MODE, PROGRAM = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])
ENV = dict(os.environ, OMP_WAIT_POLICY="passive")  # threads that spin take cores from those that work
SLACK_S = 2e-3


def check(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def run(*words, env=None):
    return subprocess.run(words, capture_output=True, text=True, timeout=patience(200), check=False, env=env or ENV)


def measure(words, launcher=(), env=None):
    shutil.rmtree("result", ignore_errors=True)
    done = run(*launcher, LATECOMER, "run", "-q", "--trace", "-o", "result", *words, env=env)
    check(os.path.exists("result/traces.otf2"), f"no trace: {done}")
    printed = run("otf2-print", "result/traces.otf2")
    check(printed.returncode == 0 and "warning" not in printed.stdout + printed.stderr, f"otf2-print: {printed.stderr}")
    return done


def show(path):
    done = run(LATECOMER, "show", "--json", path)
    check(done.returncode == 0, f"show {path}: {done}")
    return json.loads(done.stdout)


def analyse():
    done = run(LATECOMER, "analyze", "result")
    check(done.returncode == 0 and ", 0 failed" in done.stderr, f"analyze: {done}")
    return show("result/analysis.cubex"), done.stderr


# Score-P compares a loop's lines with its source, OPARI2 has regions of the lock functions whether called or not; what the compiler makes
# of functions is not ours. GCC does not tell which barriers are explicit, nor of loops with a static schedule.
ROLES = {RegionRole.PARALLEL, RegionRole.BARRIER, RegionRole.IMPLICIT_BARRIER, RegionRole.LOOP, RegionRole.CRITICAL, RegionRole.CRITICAL_SBLOCK}


def kinds(archive, gcc):
    """Per location: the records of threads, and how often regions of OpenMP were entered and left, by role; orders of locks."""
    found, orders, teams = collections.defaultdict(collections.Counter), collections.defaultdict(list), {}
    with otf2.reader.open(archive) as trace:
        for location, event in trace.events:
            name, place = type(event).__name__, (location.group.name, location.name)
            if name in ("Enter", "Leave"):
                region = event.region
                if region.paradigm != Paradigm.OPENMP:
                    continue
                check(region.region_role in ROLES, f"{archive}: {region.name}: {region.region_role}")
                role = region.region_role
                if gcc and role == RegionRole.BARRIER:
                    role = RegionRole.IMPLICIT_BARRIER
                if gcc and role == RegionRole.LOOP:
                    continue
                found[place][name, str(role)] += 1
            elif name.startswith("Thread"):
                found[place][name, ""] += 1
                if "Lock" in name:
                    orders[name, event.lock_id].append(event.acquisition_order)
                if hasattr(event, "model"):
                    check(event.model == Paradigm.OPENMP, f"{archive}: {event}")
                if name == "ThreadFork":
                    found[place]["threads", event.number_of_requested_threads] += 1
                if name == "ThreadTeamBegin":
                    teams[event.thread_team.group.name, str(event.thread_team.group.members)] = len(event.thread_team.group.members)
        paradigms = {p.paradigm: p.paradigm_class for p in trace.definitions.paradigms}
    check(paradigms.get(Paradigm.OPENMP) is not None, f"{archive}: {paradigms}")
    return found, orders, sorted(teams.values()), paradigms[Paradigm.OPENMP]


def golden():
    archive, runtime = sys.argv[4], sys.argv[5]
    mpi = runtime.startswith("mpi:")
    launcher = ()
    if mpi:
        launcher = mpirun(runtime[4:], 2)
    done = measure([PROGRAM], launcher, dict(ENV, OMP_NUM_THREADS="2" if mpi else "4"))
    check(done.returncode == 0, f"{done}")
    want = kinds(os.path.join(archive, "traces.otf2"), runtime != "clang")
    got = kinds("result/traces.otf2", runtime != "clang")
    for place in sorted(want[0].keys() | got[0].keys()):
        check(want[0][place] == got[0][place], f"{place}: {got[0][place] - want[0][place]} more, {want[0][place] - got[0][place]} less")
    check(want[1] == got[1], f"locks: {got[1]}, not {want[1]}")
    check(want[2:] == got[2:], f"teams: {got[2:]}, not {want[2:]}")
    analysed, _ = analyse()
    print({name: metric["total"] for name, metric in analysed["metrics"].items() if name.startswith("omp") and metric["total"]})


def waits():
    """Parts of a wait that end when another thread makes a task, not when this one begins it, are the one difference."""
    names = ("omp_ibarrier_wait", "omp_ebarrier_wait", "omp_taskwait_wait", "omp_idle_threads", "omp_lock_contention_critical",
             "omp_lock_contention_api")
    for pattern in sys.argv[4:]:
        done = measure([PROGRAM, pattern])
        check(done.returncode == 0, f"{pattern}: {done}")
        profile = show("result")["metrics"]
        analysed, said = analyse()
        metrics = analysed["metrics"]
        for name in names:
            have, want = metrics[name]["total"], profile[name]["total"]
            check(abs(have - want) <= SLACK_S + 0.01 * want, f"{pattern}: {name} {have} in the trace, {want} in the profile")
        waiting = sum(metrics[name]["total"] for name in names)
        costs = re.search(r"([\d.e+-]+) s of delay costs \(([\d.e+-]+) s wait-first\) for ([\d.e+-]+) s .*cause; ([\d.e+-]+) s without", said)
        check(costs, said)
        proportional, first, caused, uncaused = map(float, costs.groups())
        check(uncaused <= SLACK_S, f"{pattern}: {uncaused} s of waiting without a cause")
        for model in (proportional, first):
            check(abs(model - caused) <= SLACK_S, f"{pattern}: {model} s of costs for {caused} s")
        if pattern in ("taskwait", "taskgroup"):
            task = sum(metrics[f"delay_omptask{suffix}"]["total"] for suffix in ("", "_longterm"))
            check(abs(task - metrics["omp_taskwait_wait"]["total"]) <= SLACK_S, f"{pattern}: {task} s of costs for tasks")
            late = [path for path in metrics["delay_omptask"]["callpaths"] if "!$omp task @" in path]
            check(late, f"{pattern}: {metrics['delay_omptask']['callpaths'].keys()}")
        if pattern == "limited":
            idle, part = metrics["omp_idle_threads"]["total"], metrics["omp_limited_parallelism"]["total"]
            check(2 * 0.2 <= part < idle - 2 * 0.06 + SLACK_S, f"{pattern}: {part} s in smaller teams of {idle} s")
            for result in (analysed, show("result")):
                found = [f["severity_s"] for f in result["findings"] if f["kind"] == "limited_parallelism"]
                measured = result["metrics"]["omp_limited_parallelism"]["total"]
                check(abs(measured - part) <= SLACK_S, f"{pattern}: {measured}, not {part}")
                check(len(found) == 1 and abs(found[0] - measured) < 1e-6, f"{pattern}: {found}, not {measured}")
        print(f"{pattern:14} waiting {waiting:.4f} costs {proportional:.4f} without cause {uncaused:.6f}")


def constructs():
    bare = run(PROGRAM)
    done = measure([PROGRAM])
    check((done.returncode, done.stdout, done.stderr) == (bare.returncode, bare.stdout, bare.stderr), f"{done} not {bare}")
    with otf2.reader.open("result/traces.otf2") as trace:
        found = collections.Counter(type(event).__name__ for _, event in trace.events)
    for pair in (("ThreadFork", "ThreadJoin"), ("ThreadTeamBegin", "ThreadTeamEnd"), ("ThreadAcquireLock", "ThreadReleaseLock"),
                 ("ThreadTaskCreate", "ThreadTaskComplete"), ("Enter", "Leave")):
        check(found[pair[0]] == found[pair[1]] > 0, f"{found}")
    analyse()
    print(dict(found))


def deep():
    """Teams that are within each other are different ones, however deep they are, and each has the members that begin it."""
    done = measure([PROGRAM])
    check(done.returncode == 0, f"{done}")
    members, begun, deepest, inside = {}, collections.defaultdict(set), 0, collections.defaultdict(list)
    with otf2.reader.open("result/traces.otf2") as trace:
        for location, event in trace.events:
            name = type(event).__name__
            if name == "ThreadTeamBegin":
                team = event.thread_team._ref
                check(team not in inside[location._ref], f"{location.name}: team {team} within itself, {len(inside[location._ref])} deep")
                inside[location._ref].append(team)
                members[team] = len(event.thread_team.group.members)
                begun[team].add(location._ref)
                deepest = max(deepest, len(inside[location._ref]))
            elif name == "ThreadTeamEnd":
                check(inside[location._ref].pop() == event.thread_team._ref, f"{location.name}: another team ends")
    check(deepest == 20, f"{deepest} levels")
    check(all(members[team] == len(locations) for team, locations in begun.items()), f"members {members}, begun by {dict(begun)}")
    check(sorted(members.values()) == [1] * (20 - 1 + 11) + [2], f"{sorted(members.values())}")
    _, said = analyse()
    check("violation" not in said, said)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    {"golden": golden, "waits": waits, "constructs": constructs, "deep": deep}[MODE]()
