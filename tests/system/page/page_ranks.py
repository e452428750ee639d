"""`mpirun -n N latecomer report` writes the page that one process writes: golden traces, one of 600 locations (rows of the timeline are groups),
with a window that was asked for; of a trace that cannot be read, or at which libotf2 crashes or hangs on one rank, too. Nothing is left beside
the page. Usage: page_ranks.py LATECOMER MAKE_TRACE FLAVOUR GOLDEN_DIR SCRATCH_DIR [CRASH_IN_READER.so]"""
import os
import shutil
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "cli"), os.path.join(HERE, "..", "..")]
from made import check, enter, output  # noqa: E402
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402
from pages import Page  # noqa: E402

LATECOMER, MAKE_TRACE = map(os.path.abspath, sys.argv[1:3])
FLAVOUR = sys.argv[3]
GOLDEN, SCRATCH = map(os.path.abspath, sys.argv[4:6])


def report(ranks, page, directory, **environment):
    words = [*(mpirun(FLAVOUR, ranks) if ranks > 1 else []), LATECOMER, "report", "--window=0:0.001", "-o", page, directory]
    done = subprocess.run(words, capture_output=True, text=True, timeout=patience(120), stdin=subprocess.DEVNULL, check=False, env={**os.environ, **environment})
    check(done.returncode == 0, f"{words}: {done.returncode}: {done.stderr}")
    check(done.stderr.count(f"latecomer: page: {page}") == 1, f"one rank says it: {done.stderr}")
    if environment:
        lines = [line for line in done.stderr.splitlines() if "libotf2" in line]
        check(len(lines) == 1, f"one line says what libotf2 did: {done.stderr}")
    return open(page, "rb").read()


def sums(table, n, data, row):
    """Per activity: shares of a row, summed over its bins, of 1."""
    begin = table["at"] + row * table["bins"] * n
    return [sum(data[begin + i:begin + table["bins"] * n:n]) / 255 / table["bins"] for i in range(n)]


def check_groups(head, data):
    """600 locations are 512 rows; each location has a row of its own, too, and a group is the mean of its members."""
    groups, single = head["pyramid"], head["single"]
    check(groups["rows"] == 512 and len(groups["row_of"]) == 600 and single["rows"] == 600, "600 locations are 512 rows")
    n, several = len(groups["activities"]), 0
    for row in range(512):
        members = [l for l in range(600) if groups["row_of"][l] == row]
        several += len(members) > 1
        each = [sums(single, n, data, l) for l in members]
        for i, share in enumerate(sums(groups, n, data, row)):
            mean = sum(s[i] for s in each) / len(members)
            check(abs(share - mean) < 0.004, f"row {row}, {groups['activities'][i]}: {share}, of its members {mean}")
    check(several > 40, f"{several} rows are groups")


def check_crashes(crash):
    for number in signal.SIGSEGV, signal.SIGABRT, 0:
        how = {"LD_PRELOAD": crash, "READER_CRASH": str(int(number)), "READER_OTHERS": "go on", "LATECOMER_READER_PATIENCE": "2"}
        alone = report(1, "page.html", "late_sender", **how)
        check(report(2, "page.html", "late_sender", **how) == alone, f"libotf2 fails ({number}): the page of 2 ranks is another one")
        about = Page("page.html").json("page.json")["results"][0]
        check(not about["timeline"] and about["why_no_timeline"] == "the trace could not be read", f"{number}: {about}")


def main():
    enter(SCRATCH)
    output([MAKE_TRACE, "-r", "600", "-e", "6e4", "-i", "2", "many"])
    for name in ("late_sender", "hybrid_late_sender", "omp_barriers"):
        shutil.copytree(f"{GOLDEN}/{name}", name)
    for name in ("late_sender", "hybrid_late_sender", "omp_barriers", "many"):
        output([LATECOMER, "-q", "analyze", "-n", "1", name])
    shutil.copytree("late_sender", "damaged")
    open("damaged/traces.def", "wb").write(b"no definitions")
    for name in ("late_sender", "hybrid_late_sender", "omp_barriers", "damaged", "many"):
        alone = report(1, "page.html", name)
        for ranks in (3, 2) if name == "many" else (2,):
            check(report(ranks, "page.html", name) == alone, f"{name}: the page of {ranks} ranks is another one")
        about = Page("page.html").json("page.json")["results"][0]
        check(about["timeline"] == (name != "damaged"), f"{name}: {about}")
        if name != "many":
            continue
        check_groups(*Page("page.html").timeline())
    if len(sys.argv) > 6:
        check_crashes(os.path.abspath(sys.argv[6]))
    left = [name for name in os.listdir(".") if name.startswith("page.html") and name != "page.html"]
    check(not left, f"left behind: {left}")
    print("pages of 2 and 3 ranks are those of 1")


main()
