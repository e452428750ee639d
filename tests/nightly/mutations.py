#!/usr/bin/python3
"""Faults put in on purpose are noticed: each mutation of mutation_table.py is made in a copy of the tree, one at a time, and the tests that should
notice it are run; where none does, all exact tests of the gate, and then the real ones of the same subjects.

mutations.py [--named] [NAME ..]  these mutations, or all (--named: only the tests that the table names are run)
mutations.py --list               what there is
mutations.py --check [BUILD_DIR]  every text before stands exactly once in its file, and every test named is a test of this build (or of that
                                  for the sanitizer of threads, not looked at); builds nothing

The copy lies in build/mutations and is built there, incrementally, with ccache if it is there. A test counts only if it passes without a fault; one
that starts programs has to fail twice, since such tests may fail by themselves.
Exit status: 1 if a mutation is not noticed, does not compile, or its text is not found."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import listed
from mutation_table import MUTATIONS

SOURCE = Path(__file__).resolve().parents[2]
COPY = SOURCE / "build/mutations/tree"
TOOL = re.compile(r"latecomer-(cli|preload|fortran|core-alone|(core|analyze|bench)-(openmpi|mpich))")


def found(mutation, root):
    """How often the text before stands in the file; -1: there is no such file."""
    path = root / mutation.file
    return path.read_text(encoding="utf-8").count(mutation.before) if path.is_file() else -1


def named(pattern, tests):
    return [name for name in tests if name == pattern or (pattern.endswith(".*") and name.startswith(pattern[:-1]))]


def check(build):
    wrong = [f"{m.name}: its text stands {n} times in {m.file}, not once" for m in MUTATIONS if (n := found(m, SOURCE)) != 1]
    wrong += [f"{m.name}: twice in the table" for i, m in enumerate(MUTATIONS) if m.name in [other.name for other in MUTATIONS[:i]]]
    if build is not None:
        tests = listed.commands(build)
        wrong += [f"{m.name}: there is no test {test}" for m in MUTATIONS if m.build != "tsan" for test in m.tests if not named(test, tests)]
    for line in wrong:
        print(line)
    print(f"{len(MUTATIONS)} mutations, {len(wrong)} wrong")
    return bool(wrong)


class Copy:
    """A tree of its own, with builds of its own."""

    def __init__(self):
        self.tests, self.made, self.real = {}, {}, {}  # by build: words of each test (command, environment), targets by the files they make, subjects
        self.env = dict(os.environ, CCACHE_BASEDIR=str(COPY), CCACHE_NOHASHDIR="1")
        if shutil.which("ccache"):
            self.env.update(CMAKE_C_COMPILER_LAUNCHER="ccache", CMAKE_CXX_COMPILER_LAUNCHER="ccache")
        self.sync()

    def sync(self):
        """What is in the repository; files that are the same keep their time, and so what was built of them."""
        files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=SOURCE, capture_output=True, text=True,
                                check=True).stdout
        names = {name for name in files.split("\0") if name and (SOURCE / name).is_file()}
        for path in COPY.rglob("*") if COPY.is_dir() else []:
            name = str(path.relative_to(COPY))
            if path.is_file() and not name.startswith("build/") and "__pycache__" not in name and name not in names:
                path.unlink()
        for name in names:
            source, target = SOURCE / name, COPY / name
            if not target.is_file() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)

    def run(self, *words):
        return subprocess.run(words, cwd=COPY, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False)

    def configured(self, build):
        """Tests and targets of a build, which is configured if it was not."""
        if build in self.tests:
            return
        directory = COPY / "build" / build
        (directory / listed.QUERY).parent.mkdir(parents=True, exist_ok=True)
        (directory / listed.QUERY).touch()
        patience = max(1, int(os.environ.get("LC_PATIENCE", "3")) // 3)  # what a mutation hangs in has to end
        done = self.run("cmake", "--preset", build, f"-DLC_PATIENCE={patience}")
        if done.returncode != 0:
            raise SystemExit(f"cmake --preset {build}:\n{done.stdout[-3000:]}")
        properties = listed.properties(directory)
        self.tests[build] = {name: [*words, *(word for key in ("ENVIRONMENT", "ENVIRONMENT_MODIFICATION") for word in properties[name].get(key, ()))]
                             for name, words in listed.commands(directory).items()}
        self.made[build] = listed.made_by(directory, COPY)
        self.real[build] = {name.split(".")[0] for name, labels in listed.labels(properties).items() if "real" in labels and "nightly" not in labels}

    def targets_of(self, build, names):
        """What these tests run, or have in their environment: files of the build, and what lies in its folders."""
        directory, made, targets = COPY / "build" / build, self.made[build], set()
        tool = {target for target in made.values() if TOOL.fullmatch(target)}
        for name in names:
            for path in {Path(path) for word in self.tests[build][name] for path in re.findall(rf"{re.escape(str(directory))}[^\s:;,=]*", word)}:
                target = made.get(Path(re.sub(r"\.so\.[\d.]+$", ".so", str(path))))  # CMake tells no file with a version
                if target == "latecomer-cli" or path == directory:
                    targets |= tool
                if target:
                    targets.add(target)
                else:
                    targets |= {made[each] for each in made if each.parent == (directory / "bin" if path == directory else path)}
        return sorted(targets)

    def build(self, build, targets=("all",)):
        """None, or the end of what the compiler said."""
        words = ["cmake", "--build", "--preset", build, f"-j{os.cpu_count()}", "--target", *targets, "--", "--no-print-directory", "-s"]
        done = self.run(*words)
        return None if done.returncode == 0 else done.stdout[-2000:]

    def failed(self, build, *select):
        """Names of tests that fail, until the first that does, and its last line that says so (or last line)."""
        done = self.run("ctest", "--test-dir", f"build/{build}", "--no-tests=error", "--stop-on-failure", "--output-on-failure", *select)
        if "No tests were found" in done.stdout:
            raise SystemExit(f"build/{build} of the copy: no test is selected by {' '.join(select)}")
        names = re.findall(r"^\s+\d+ - (\S+) \((?!Skipped)", done.stdout, re.M)
        said = [line.strip() for line in done.stdout.partition("% tests passed")[0].splitlines() if line.strip()][:-1]
        return names, ([line for line in said if re.search(r"FAILED|[Ww]rong|[Ee]rror", line)] or said or [""])[-1][:200]

    def sees(self, build, name):
        """What the test says if it fails, or ""."""
        for _ in range(1 if name.startswith("unit.") else 2):
            names, said = self.failed(build, "-R", exactly([name]))
            if not names:
                return ""
        return said or "it fails"


def exactly(names):
    return f"^({'|'.join(map(re.escape, names))})$"


def sound_tests(copy, mutations):
    """Tests named by these mutations that pass without a fault."""
    wanted = {}
    for m in mutations:
        copy.configured(m.build)
        wanted.setdefault(m.build, set()).update(name for test in m.tests for name in named(test, copy.tests[m.build]))
    sound = {}
    for build, names in wanted.items():
        error = copy.build(build, copy.targets_of(build, names))
        if error is not None:
            raise SystemExit(f"build/{build} cannot be built without a fault:\n{error}")
        sound[build] = {name for name in names if not copy.sees(build, name)}
        for name in sorted(names - sound[build]):
            print(f"{name} ({build}) fails without a fault: it is not counted", flush=True)
    return sound


def who_notices(copy, m, sound, named_only):
    """(names of tests that notice it, what went wrong else)."""
    names = [name for test in m.tests for name in named(test, copy.tests[m.build]) if name in sound[m.build]]
    error = copy.build(m.build, copy.targets_of(m.build, names)) if names else None
    if error is not None:
        return [], f"does not compile:\n{error}"
    for name in names:
        said = copy.sees(m.build, name)
        if said:
            return [name], said
    if named_only:
        return [], "NOT NOTICED by the tests named" if names else "NO VERDICT: none of the tests named passes without a fault"
    error = copy.build(m.build)
    if error is not None:
        return [], f"does not compile:\n{error}"
    subjects = {test.split(".")[0] for test in m.tests} & copy.real[m.build]
    for select in (["-L", "exact", "-j4"], ["-L", "real", "-R", f"^({'|'.join(sorted(subjects))})\\."] if subjects else None):
        others = [name for name in copy.failed(m.build, "-LE", "nightly", "-E", "^structure\\.", *select)[0] if copy.sees(m.build, name)] if select else []
        if others:
            return others, f"not by {', '.join(m.tests)}"
    return [], "NOT NOTICED"


def try_one(copy, m, sound, named_only):
    path, begin = COPY / m.file, time.monotonic()
    if found(m, COPY) != 1:
        print(f"{m.name}: its text stands {found(m, COPY)} times in {m.file}, not once", flush=True)
        return False
    text = path.read_text(encoding="utf-8")
    try:
        path.write_text(text.replace(m.before, m.after), encoding="utf-8")
        names, remark = who_notices(copy, m, sound, named_only)
    finally:
        path.write_text(text, encoding="utf-8")
    others = [name for name in names if name not in sound[m.build]]  # of which it is not known that they pass without the fault
    if others and not copy.build(m.build) and (bad := [name for name in others if copy.sees(m.build, name)]):
        names, remark = [name for name in names if name not in bad], f"{remark}; {', '.join(bad)} fails without a fault, too"
    print(f"{m.name}: {', '.join(names)}{': ' if names and remark else ''}{remark} [{time.monotonic() - begin:.0f} s]", flush=True)
    return bool(names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--named", action="store_true")
    parser.add_argument("--check", nargs="?", const="", metavar="BUILD_DIR")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if args.check is not None:
        return check(Path(args.check) if args.check else None)
    unknown = set(args.names) - {m.name for m in MUTATIONS}
    if unknown:
        parser.error(f"no such mutation: {', '.join(sorted(unknown))}")
    chosen = [m for m in MUTATIONS if not args.names or m.name in args.names]
    if args.list:
        for m in chosen:
            print(f"{m.name:40} {m.file:36} {m.breaks} ({', '.join(m.tests)})")
        return 0
    copy = Copy()
    sound = sound_tests(copy, chosen)
    missed = [m.name for m in chosen if not try_one(copy, m, sound, args.named)]
    print(f"{len(chosen) - len(missed)} noticed, {len(missed)} not{': ' if missed else ''}{' '.join(missed)}")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
