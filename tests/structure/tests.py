"""tests/README.md says of every test what it shows: every test stands in its table (without the MPI at the end), and every name in the
table is a test, as is what pages of docs/ say to run with ctest -R (--some: not in this build, which has only one MPI or is made for sanitizers).
Options of launchers stand in tests/mpirun.py, and those of several hosts in several_hosts.py. A test has one label of CLASSES, and what judges time is
not in the gate.

tests.py BUILD_DIR SOURCE_DIR [--some]"""
import fnmatch
import json
import pathlib
import re
import subprocess
import sys

from verdict import verdict

LAUNCHING = ("mpirun.py", "system/nodes/several_hosts.py", "structure/tests.py")
ELSEWHERE = {"left_out.*"}  # says that an MPI is not installed
SANITIZED = {"unit.measure.counters_tsan"}  # tests that only builds for sanitizers have
CLASSES = {"exact", "real", "figure"}


def main():
    build, source = sys.argv[1], pathlib.Path(sys.argv[2])
    shown = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, capture_output=True, text=True, check=True).stdout
    entries = json.loads(shown)["tests"]
    tests = {re.sub(r"\.(openmpi|mpich)$", "", test["name"]) for test in entries}
    rows = [line.split("|")[1] for line in (source / "tests/README.md").read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    table = {name for row in rows for name in re.findall(r"`([^`]+)`", row) if "." in name}
    wrong = [f"{test} is not in the table" for test in sorted(tests)
             if not any(fnmatch.fnmatchcase(test, name) for name in table | ELSEWHERE)]
    for test in entries:
        labels = next((set(p["value"]) for p in test["properties"] if p["name"] == "LABELS"), set())
        if len(labels & CLASSES) != 1:
            wrong.append(f"{test['name']}: labels {', '.join(sorted(labels)) or 'none'}: one of {', '.join(sorted(CLASSES))} is wanted")
        if "figure" in labels and "nightly" not in labels:
            wrong.append(f"{test['name']} judges time and is not nightly: the gate would run it")
    wrong += [f"tests/{path.relative_to(source / 'tests')} has options of a launcher: use mpirun.py" for path in sorted((source / "tests").rglob("*.py"))
              if re.search(r"--allow-run-as-root|--oversubscribe", path.read_text(encoding="utf-8")) and not str(path).endswith(LAUNCHING)]
    if "--some" not in sys.argv:
        for page in sorted((source / "docs").rglob("*.md")):
            for name in re.findall(r"ctest[^`]*? -R \"?([^`\" ]+)", page.read_text(encoding="utf-8")):
                if not any(re.search(name, test) for test in tests):
                    wrong.append(f"{page.relative_to(source)}: ctest -R {name} runs nothing")
        wrong += [f"{name}: there is no such test" for name in sorted(table - SANITIZED) if not fnmatch.filter(tests, name)]
    return verdict(f"{len(tests)} tests, {len(table)} names in the table", wrong)


if __name__ == "__main__":
    sys.exit(main())
