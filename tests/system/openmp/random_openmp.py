"""Random programs of OpenMP over all constructs: each counts what it executes, so that its output is the same with any schedule."""
import os
import random
import subprocess


def newer_of(compiler, *options):
    """Which of the directives that OpenMP has since 5.1 the compiler has."""
    def has(name):
        done = subprocess.run([compiler, "-fopenmp", *(o for o in options if o.startswith("-f")), "-Werror", "-c", "-o", os.devnull, "-xc", "-"], input=f"void f(void) {{\n#pragma omp {name}\n {{ }}\n}}\n",
                              capture_output=True, text=True, check=False)
        return done.returncode == 0
    return {name for name in ("masked", "scope") if has(name)}


class Program:
    """What may stand where: `team`: all threads of a team come here; `held`: a lock is held, so nothing that may wait for others;
    `outside`: of every region."""

    WORK = "static void work(int n) { for (volatile int i = 0; i < 100 * n; i++) ; }"

    def __init__(self, seed, all_constructs=True, taskwait_depend=True, one_after_the_other=False, newer=frozenset(), levels=1, untied_groups=True):
        """all_constructs: also those that LLVM's runtime does not have, or fails at. one_after_the_other: no second thread that starts regions. newer: as
        newer_of; in place of some older ones, so that a seed remains the same program but for these. levels: of teams of several threads, for which the program asks,
        and has more of them; 1: as the environment says. untied_groups: untied tasks with taskgroups and taskloops of their own, for which clang (14) makes invalid code: it takes
        the number of the thread from before the tasks inside, where an untied task begins again after them without having passed there; now and then it crashes itself."""
        self.rng = random.Random(seed)
        self.all_constructs, self.taskwait_depends = all_constructs, taskwait_depend
        self.one_after_the_other = one_after_the_other
        self.newer = newer
        self.levels = levels
        self.untied_groups = untied_groups
        self.number = 0
        self.left = 120  # constructs

    def value(self):
        self.number += 1
        return f"add({self.number});"

    def block(self, **where):
        return "{ " + " ".join(self.statement(**where) for _ in range(self.rng.randint(1, 4))) + " }"

    def leaf(self):
        return "{ " + self.value() + f" work({self.rng.randint(0, 40)}); " + "}"

    def statement(self, level=0, team=False, held=False, depth=0, outside=False):
        self.left -= 1
        if self.left < 0 or depth > 5 or self.rng.random() < 0.2:
            return self.value()
        inner = {"level": level, "depth": depth + 1}
        kinds = [self.critical, self.lock, self.atomic] if held else [
            self.critical, self.lock, self.nest_lock, self.test_lock, self.atomic, self.task, self.task, self.tasks_in_order, self.taskwait,
            self.taskgroup, self.taskloop, self.taskyield, self.taskwait_depend]
        if team and not held:
            kinds += [self.barrier, self.loop, self.ordered, self.sections, self.single, self.master, self.reduction,
                      self.copyprivate] * 3
            kinds += [self.doacross] * (3 if self.all_constructs else 0)
        if level < 2 and not held:
            kinds += [self.parallel] * (8 if level == 0 or self.levels > 1 else 1)
        if outside and self.all_constructs:
            kinds += [self.target, self.detached, self.task_reduction] * 3
        return self.rng.choice(kinds)(inner)

    def parallel(self, inner):
        inner = dict(inner, level=inner["level"] + 1)
        clause = self.rng.choice(["", " if(0)", "", ""])
        return f"\n#pragma omp parallel num_threads({self.rng.randint(1, 3)}){clause}\n{self.block(team=True, **inner)}\n"

    def teams(self, inner):
        return (f"\n#pragma omp teams num_teams({self.rng.randint(1, 2)})\n\n#pragma omp distribute\n"
                f"for (int i = 0; i < {self.rng.randint(1, 6)}; i++) {self.leaf()}\n")

    def target(self, inner):
        return (f"\n#pragma omp target map(tofrom: total)\n\n#pragma omp parallel for num_threads(2)\n"
                f"for (int i = 0; i < {self.rng.randint(1, 6)}; i++) {self.leaf()}\n")

    # LLVM's runtime 14 fails at these inside of other constructs, and after some of them, without any tool.
    def alone(self, text):
        return f"\n#pragma omp parallel num_threads({self.rng.randint(2, 3)})\n{{ {text} }}\n"

    def cancelled_region(self, inner):
        return self.alone(f"work({self.rng.randint(0, 20)}); \n#pragma omp cancel parallel\n work(1); \n"
                          "#pragma omp cancellation point parallel\n")

    def cancelled_loop(self, inner):
        return self.alone(f"\n#pragma omp for schedule(static, 1)\nfor (int i = 0; i < 9; i++) {{ work(1); "
                          f"if (i == {self.rng.randint(0, 9)}) {{ \n#pragma omp cancel for\n }} }}\n")

    def cancelled_tasks(self, inner):
        tasks = "".join(f"\n#pragma omp task\n{{ work({self.rng.randint(0, 20)}); \n#pragma omp cancellation point taskgroup\n }}\n"
                        for _ in range(self.rng.randint(1, 4)))
        return self.alone("\n#pragma omp single\n\n#pragma omp taskgroup\n"
                          f"{{ {tasks} \n#pragma omp task\n{{ \n#pragma omp cancel taskgroup\n }} }}\n")

    def copyprivate(self, inner):
        return f"{{ long n; \n#pragma omp single copyprivate(n)\n{{ {self.value()} n = 3; }}\n add(n); }}"

    def doacross(self, inner):
        return (f"\n#pragma omp for ordered(1) schedule({self.rng.choice(['static, 1', 'dynamic'])})\n"
                f"for (int i = 0; i < {self.rng.randint(1, 6)}; i++) {{ {self.leaf()}\n#pragma omp ordered depend(sink: i - 1)\n{self.leaf()}\n"
                "#pragma omp ordered depend(source)\n }\n")

    def detached(self, inner):
        inside = self.rng.random() < 0.5
        fulfil = f"work({self.rng.randint(0, 20)}); omp_fulfill_event(event);"
        return self.alone(f"omp_event_handle_t event; \n#pragma omp task detach(event)\n{{ {self.leaf()} {fulfil if inside else ''} }}\n "
                          f"{'' if inside else fulfil} {self.leaf()} \n#pragma omp taskwait\n")

    def task_reduction(self, inner):
        tasks = "".join(f"\n#pragma omp task in_reduction(+: sum)\n{{ {self.leaf()} sum += {n}; }}\n" for n in range(self.rng.randint(1, 4)))
        region = self.alone(f"\n#pragma omp single\n\n#pragma omp taskgroup task_reduction(+: sum)\n{{ {tasks} }}")
        return f"{{ long sum = 0; {region} add(sum); }}"

    def taskwait_depend(self, inner):
        tasks = "".join(f"\n#pragma omp task depend({self.rng.choice(['in', 'out'])}: at[{self.rng.randint(0, 1)}])\n{self.leaf()}\n"
                        for _ in range(self.rng.randint(1, 4)))
        depend = " depend(in: at[0])" * self.taskwait_depends
        return f"{{ int at[2]; (void)at; {tasks} \n#pragma omp taskwait{depend}\n {self.leaf()} \n#pragma omp taskwait\n }}"

    def barrier(self, inner):
        if "scope" in self.newer and self.number % 2 == 0:
            return f"\n#pragma omp scope\n{{ {self.value()} }}\n"
        return "\n#pragma omp barrier\n"

    def loop(self, inner):
        schedule = self.rng.choice(["static", "static, 1", "dynamic", "guided", "runtime"])
        nowait = self.rng.choice(["", " nowait"])
        return (f"\n#pragma omp for schedule({schedule}){nowait}\nfor (int i = 0; i < {self.rng.randint(0, 9)}; i++) "
                f"{self.block(**inner)}\n")

    def ordered(self, inner):
        return (f"\n#pragma omp for ordered schedule({self.rng.choice(['static, 1', 'dynamic'])})\n"
                f"for (int i = 0; i < {self.rng.randint(1, 6)}; i++) {{ {self.leaf()}\n#pragma omp ordered\n{self.leaf()} }}\n")

    def sections(self, inner):
        parts = "".join(f"\n#pragma omp section\n{self.block(**inner)}" for _ in range(self.rng.randint(1, 3)))
        return f"\n#pragma omp sections\n{{ {parts} }}\n"

    def single(self, inner):
        return f"\n#pragma omp single{self.rng.choice(['', ' nowait'])}\n{self.block(**inner)}\n"

    def master(self, inner):
        name = "masked" if "masked" in self.newer and self.number % 2 == 0 else "master"
        return f"\n#pragma omp {name}\n{self.block(**inner)}\n"

    def reduction(self, inner):
        return "\n#pragma omp for reduction(+:shared_sum)\nfor (int i = 0; i < 8; i++) shared_sum += i;\n"

    def critical(self, inner):
        return f"\n#pragma omp critical(c{inner['depth']})\n{self.block(held=True, **inner)}\n"

    def lock(self, inner):
        lock = f"locks[{inner['depth']}]"
        return f"{{ omp_set_lock(&{lock}); {self.block(held=True, **inner)} omp_unset_lock(&{lock}); }}"

    def nest_lock(self, inner):
        lock = f"nest[{inner['depth']}]"
        return (f"{{ omp_set_nest_lock(&{lock}); omp_set_nest_lock(&{lock}); {self.leaf()} omp_unset_nest_lock(&{lock}); "
                f"omp_unset_nest_lock(&{lock}); }}")

    def test_lock(self, inner):
        lock = f"locks[{inner['depth']}]"
        return f"{{ while (!omp_test_lock(&{lock})) sched_yield(); {self.leaf()} omp_unset_lock(&{lock}); }}"

    def atomic(self, inner):
        if self.number % 3 == 0:
            return f"{{ \n#pragma omp flush{('', ' acq_rel', '(shared_count)')[self.number // 3 % 3]}\n }}"
        return "\n#pragma omp atomic\nshared_count++;\n"

    def task(self, inner):
        clause = self.rng.choice(["", "", " untied", " if(0)", " final(1)", " mergeable", " priority(2)"])
        block = self.block(**inner)
        if clause == " untied" and not self.untied_groups and ("omp taskgroup" in block or "omp taskloop" in block):
            clause = ""
        return f"\n#pragma omp task{clause}\n{block}\n"

    def dependences(self):
        kinds = ["in", "out", "inout", "mutexinoutset"]
        return f"depend({self.rng.choice(kinds)}: at[{self.rng.randint(0, 2)}]) depend({self.rng.choice(kinds)}: at[{self.rng.randint(3, 5)}])"

    def tasks_in_order(self, inner):
        one = "".join(f"\n#pragma omp task {self.dependences()}\n{self.leaf()}\n" for _ in range(self.rng.randint(2, 6)))
        return f"{{ int at[6]; (void)at; {one}\n#pragma omp taskwait\n }}"

    def taskwait(self, inner):
        return "\n#pragma omp taskwait\n"

    def taskgroup(self, inner):
        return f"\n#pragma omp taskgroup\n{self.block(**inner)}\n"

    def taskloop(self, inner):
        return f"\n#pragma omp taskloop grainsize({self.rng.randint(1, 3)})\nfor (int i = 0; i < {self.rng.randint(0, 6)}; i++) {self.leaf()}\n"

    def taskyield(self, inner):
        return "\n#pragma omp taskyield\n"

    def body(self):
        outermost = {"level": 0, "depth": 0}
        return " ".join(self.statement(outside=True) + self.parallel(outermost) for _ in range(3))

    def text(self):
        first = self.body()
        self.left = 40
        second = self.body() if self.rng.random() < 0.4 else ""
        last = self.rng.choice([self.cancelled_region, self.cancelled_loop, self.cancelled_tasks] + [self.teams] * self.all_constructs)({})
        begin, end = ("", "")
        levels = f"omp_set_max_active_levels({self.levels});" * (self.levels > 1)
        if second and self.one_after_the_other:
            begin = "beside(NULL);"
        elif second:
            begin, end = "pthread_t other; pthread_create(&other, NULL, beside, NULL);", "pthread_join(other, NULL);"
        return f"""#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
static long total, shared_count, shared_sum;
static omp_lock_t locks[16];
static omp_nest_lock_t nest[16];
static void add(long n) {{ __atomic_fetch_add(&total, n, __ATOMIC_RELAXED); }}
{self.WORK}
static void *beside(void *nothing) {{
    {second}
    return nothing;
}}
int main(void) {{
    for (int i = 0; i < 16; i++) {{ omp_init_lock(&locks[i]); omp_init_nest_lock(&nest[i]); }}
    {levels}
    {begin}
    {first}
    {end}
    {last}
    printf("%ld %ld\\n", total, shared_count);
    return (int)(total & 63);
}}
"""
