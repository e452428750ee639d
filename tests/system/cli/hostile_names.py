#!/usr/bin/python3
"""Names that tables, terminals and JSON cannot take as they are, through profile, trace and analysis: columns stay, terminals see
escapes, JSON is valid, long names are cut in the middle. In virtual time where that can be had.
Usage: hostile_names.py LATECOMER FLAVOUR PROGRAM SCRATCH_DIR"""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs"))
from launch import virtual_time  # noqa: E402

LATECOMER, FLAVOUR, PROGRAM, SCRATCH = sys.argv[1:5]
LONG = "begin" + 4992 * "x" + "end"
# What a name is in JSON: bytes that XML and JSON cannot hold are \xNN.
NAMES = ["newline\ntab\t", r"\x1b]0;title\x07\x1b[31mred\x1b[0m", r"broken \xff\xc0\xaf\xed\xa0\x80 bytes \xe2\x82",
         "quote\" back\\slash\\n", "per%cent / slash", "euro \u20ac", LONG]
# What a terminal shows of it.
SHOWN = [r"newline\ntab\t", r"\x1b]0;title\x07\x1b[31mred\x1b[0m", r"broken \xff\xc0\xaf\xed\xa0\x80 bytes \xe2\x82",
         "quote\" back\\slash\\n", "per%cent / slash", "euro \u20ac", None]
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


def check(condition, what):
    if not condition:
        sys.exit("FAILED: " + what)


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, timeout=patience(240), stdin=subprocess.DEVNULL, **options)
    check(done.returncode == 0, f"{command}: {done.returncode}: {done.stderr.decode(errors='replace')[-2000:]}")
    text = done.stdout.decode("utf-8")  # fails where broken bytes come out
    messages = done.stderr.decode("utf-8")
    check(not CONTROL.search(messages), f"{command}: control characters in messages: {messages!r}")
    return text


def component(name):
    return name.replace("/", "%2F")


def paths_of(metric):
    return {path: values for path, values in metric["callpaths"].items()}


def check_text(text, what, wanted):
    found = CONTROL.search(text)
    check(not found, f"{what}: control characters: {text[max(0, found.start() - 80):found.start() + 80]!r}" if found else "")
    for name in wanted:
        check(name in text, f"{what}: lacks {name!r}:\n{text}")
    check("xxxx" * 40 not in text, f"{what}: a long name is not cut")
    check(re.search(r"begin?x+\.\.x+end", text), f"{what}: the long name is not cut in its middle:\n{text}")


def check_tables(directory):
    """The members of the profile: every row has as many cells as the first one, and is about names that the profile has."""
    cubex = os.path.join(directory, "profile.cubex")
    data = open(cubex, "rb").read()
    metrics = json.loads(run(LATECOMER, "show", "--json", directory))["metrics"]
    known = set(metrics["time"]["callpaths"]) | set(metrics["visits"]["callpaths"])
    unescape = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}
    for name in "blame.tsv", "critical_path.tsv", "size_classes.tsv":
        member = subprocess.run(["tar", "-xOf", cubex, name], capture_output=True, check=True).stdout.decode("utf-8")
        lines = member.rstrip("\n").split("\n")
        head = lines[0].split("\t")
        check(len(lines) > 3, f"{name} has {len(lines)} lines")
        for line in lines[1:]:
            cells = line.split("\t")
            check(len(cells) == len(head), f"{name}: {len(cells)} cells instead of {len(head)}: {line[:200]!r}")
            for title, cell in zip(head, cells):
                if "callpath" in title:
                    path = re.sub(r"\\([tnr\\])", lambda m: unescape[m.group(1)], cell)
                    check(path in known, f"{name}: {path!r} is no call path of the profile")
                elif title == "late_thread":
                    check(cell == "" or cell.isdigit(), f"{name}: late thread {cell!r}")
                elif title not in ("late_call_site_begin", "late_call_site_end", "call_site_begin", "call_site_end"):
                    float(cell)
    check(len(data) > 0, "profile")


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    directory = os.path.join(SCRATCH, "r")
    odd = os.fsencode("arg\x1b[2J") + b"\xff\n"
    virtual = virtual_time() if "LC_VIRTUAL_TIME" in os.environ else {}
    run(*mpirun(FLAVOUR, 2), LATECOMER, "run", "--trace", "-o", directory, "--", PROGRAM, odd, env={**os.environ, **virtual})
    run(LATECOMER, "analyze", directory)
    check_tables(directory)
    for analysis in [], ["--analysis"]:
        result = json.loads(run(LATECOMER, "show", "--json", *analysis, directory))
        if not analysis:
            check(result["meta"]["command"][1] == r"arg\x1b[2J\xff" + "\n", f"argument: {result['meta']['command'][1]!r}")
        late = result["metrics"]["mpi_latesender"]["callpaths"]
        for name in NAMES:
            values = [v for path, v in late.items() if f"/{component(name)}/MPI_Recv" in path]
            check(len(values) == 1 and values[0][0] > 0.005 and values[0][1] == 0, f"{analysis} {name[:60]!r}: waits {values} in {sorted(late)}")
            check(not virtual or abs(values[0][0] - 0.1) < 1e-5, f"{analysis} {name[:60]!r}: waits {values[0][0]} s, not 0.1")
        text = run(LATECOMER, "show", "--only", "all", *analysis, directory)
        check_text(text, f"show {analysis}", [name for name in SHOWN if name])
        check("rank tab" not in text, "columns of a table moved")
        text = run(LATECOMER, "show", "--metric", "mpi_latesender", *analysis, directory)
        check_text(text, f"show --metric {analysis}", [name for name in SHOWN if name])
    text = run(LATECOMER, "show", "--only", "all", directory)
    who = text.split("Who is late")[1].split("\n\n")[0]
    late = re.findall(r"rank (\S+)", who)
    check(late[:1] == ["1"] and set(late) <= {"0", "1"}, f"rank 1 is not the first that is late:\n{who}")  # rank 0: at the end, on a busy machine
    for member in "root_causes.json", "critical_path.json", "wait_statistics.json", "phases.json":
        listed = subprocess.run(["tar", "-tf", os.path.join(directory, "analysis.cubex")], capture_output=True, text=True, check=True).stdout
        if member in listed.split():
            data = subprocess.run(["tar", "-xOf", os.path.join(directory, "analysis.cubex"), member], capture_output=True, check=True).stdout
            whole = json.dumps(json.loads(data.decode("utf-8").rstrip("\0")), ensure_ascii=False)
            check(member in ("wait_statistics.json", "phases.json") or "newline\\ntab\\t" in whole, f"{member}: no name with a newline")
    check("root_causes.json" in listed and "critical_path.json" in listed, f"members of the analysis: {listed}")
    full = run(LATECOMER, "show", "--full", directory)
    check(LONG in full and not CONTROL.search(full), "--full: whole names, still nothing that terminals obey")
    print("hostile names: all as expected")


main()
