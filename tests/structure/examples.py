"""The changes that pages of docs/ walk through (```diff, all those of a page together) apply to the source as it is, and what they change compiles
with the commands of the build: the sources, and for each header one that includes it.

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
    return next((name for name in sorted(commands) if text in (copy / name).read_text(encoding="utf-8")), None)


def compile_errors(name, entry, build, copy):
    words = [word.replace(f"{build}/include", f"{copy}/include") for word in link_rules.compiler(entry)]
    done = subprocess.run([*words, "-fsyntax-only", str(copy / name)], capture_output=True, text=True, cwd=entry["directory"], check=False)
    return done.stderr.strip() or "no message" if done.returncode != 0 else None


def main():
    build, source = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    commands = {}
    for entry in json.load(open(build / "compile_commands.json", encoding="utf-8")):
        path = pathlib.Path(entry["file"])
        if source / "src" in path.parents:
            commands.setdefault(str(path.relative_to(source)), entry)
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
            sources = {file if file.endswith(".c") else user_of(file, commands, copy) for file in changed}
            for file in sorted(sources - {None}):
                compiled += 1
                errors = compile_errors(file, commands[file], build, copy)
                if errors:
                    wrong.append(f"{page.name}: {file} does not compile: {errors}")
    if pages < 2:
        wrong.append("fewer than two pages have an example")
    return verdict(f"{pages} pages, {compiled} sources compiled", wrong)


if __name__ == "__main__":
    sys.exit(main())
