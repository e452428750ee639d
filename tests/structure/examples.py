"""The changes that pages of docs/ walk through (```diff, all those of a page together) apply to the source as it is, and what they change compiles
with the commands of the build: the sources, for each header one that includes it, and what generators make of a table.

examples.py BUILD_DIR SOURCE_DIR"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import link_rules
from verdict import verdict

# What the build makes of the table of MPI functions: directory of the build, generator, its words, output. Compiled are the outputs that are sources.
TABLE = "src/format/mpi_functions.tsv"
GENERATED = [("src/format/generated", "src/format/mpi_functions.py", [], "format/mpi_function_table.inc")]
for flavour in ("openmpi", "mpich"):
    for what, output in (("real", "measure/mpi_real.h"), ("wrappers", "wrappers.c")):
        GENERATED.append((f"src/measure/generated/{flavour}", "src/measure/wrappers/gen_calls.py", [what, flavour[0]], output))


def copy_of(build, source, copy):
    """The sources, and the build's include directories with their links into the copy."""
    shutil.copytree(source / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for link in (path for path in (build / "include").rglob("*") if path.is_symlink()):
        place = copy / "include" / link.relative_to(build / "include")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(str(os.readlink(link)).replace(str(source), str(copy), 1))


def user_of(header, commands, copy):
    """A source that includes the header, or a header that does; None: there is none."""
    text = f'#include "{header.removeprefix("src/")}"'
    return next((name for name in sorted(commands) if (copy / name).exists() and text in (copy / name).read_text(encoding="utf-8")), None)


def generate(copy, build):
    """Outputs of the generators that stand in for those of the build."""
    for place, generator, words, output in GENERATED:
        if (build / place / output).exists():  # not of an MPI that is not there
            (copy / place / output).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([sys.executable, copy / generator, copy / TABLE, *words, copy / place / output], check=True)


def in_copy(word, build, copy):
    for place in ("include", *(place for place, _, _, output in GENERATED if (copy / place / output).exists())):
        word = re.sub(f"{re.escape(str(build / place))}(?=/|$)", str(copy / place), word)
    return word


def compile_errors(name, entry, build, copy):
    words = [in_copy(word, build, copy) for word in link_rules.compiler(entry)]
    done = subprocess.run([*words, "-fsyntax-only", str(copy / name)], capture_output=True, text=True, cwd=entry["directory"], check=False)
    return done.stderr.strip() or "no message" if done.returncode != 0 else None


def main():
    build, source = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    commands = {}
    for entry in json.load(open(build / "compile_commands.json", encoding="utf-8")):
        path = pathlib.Path(entry["file"])
        for root in (source, build):  # generated: by its place in the build
            if root / "src" in path.parents:
                commands.setdefault(str(path.relative_to(root)), entry)
    wrong, pages, compiled = [], 0, 0
    for page in sorted((source / "docs").glob("*.md")):
        diffs = re.findall(r"(?ms)^```diff\n(.*?)^```$", page.read_text(encoding="utf-8"))
        if not diffs:
            continue
        pages += 1
        with tempfile.TemporaryDirectory(prefix="lcexample-") as name:
            copy = pathlib.Path(name).resolve()
            copy_of(build, source, copy)
            done = subprocess.run(["patch", "-p1", "--no-backup-if-mismatch", "-F0"], input="".join(diffs), text=True, cwd=copy, capture_output=True, check=False)
            if done.returncode != 0:
                wrong.append(f"{page.name} does not apply: {done.stdout.strip()}")
                continue
            changed = re.findall(r"(?m)^\+\+\+ b/(\S+)", "".join(diffs))
            sources = {file if file.endswith(".c") else user_of(file, commands, copy) for file in changed if file != TABLE}
            if TABLE in changed:
                generate(copy, build)
                sources |= {"src/format/mpi_function.c", *(f"{place}/{output}" for place, _, _, output in GENERATED if (copy / place / output).suffix == ".c"
                                                           and (copy / place / output).exists())}
                added = re.findall(r"(?m)^\+(MPIX?_\w+)\t", "".join(diffs))
                texts = [(copy / place / output).read_text(encoding="ascii") for place, _, _, output in GENERATED if (copy / place / output).exists()]
                wrong += [f"{page.name}: {name} is not in all that is generated" for name in added if not all(name.removeprefix("MPI_") in text for text in texts)]
                wrong += [f"{page.name} adds no function"] * (not added)
            for file in sorted(sources - {None}):
                compiled += 1
                errors = compile_errors(file, commands[file], build, copy)
                if errors:
                    wrong.append(f"{page.name}: {file} does not compile: {errors}")
    if pages < 3:
        wrong.append("fewer than three pages have an example")
    return verdict(f"{pages} pages, {compiled} sources compiled", wrong)


if __name__ == "__main__":
    sys.exit(main())
