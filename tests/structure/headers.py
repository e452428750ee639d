"""Every header of src and include compiles alone, with the very command of a source of its folder, or room of src/measure; lines of
comments have at most 100 columns.

headers.py BUILD_DIR SOURCE_DIR"""
import pathlib
import subprocess
import sys

import link_rules
from verdict import verdict

TABLES = {"measure/stub/stub_asm.h"}  # read by the assembler and by the generator, never by the C compiler


def main():
    build, source = sys.argv[1], pathlib.Path(sys.argv[2])
    found = link_rules.commands(build, source)
    wrong, n = [], 0
    headers = [*(source / "src").rglob("*.h"), *(source / "include").glob("*.h")]
    running = []

    def finish(header, process):
        _, errors = process.communicate()
        if process.returncode != 0:
            wrong.append(f"{header.relative_to(source)} does not compile alone: {errors.strip().splitlines()[0]}")

    for header in headers:
        folder = link_rules.home_of(header.relative_to(source / "src")) if source / "src" in header.parents else "base"
        if source / "src" in header.parents and str(header.relative_to(source / "src")) in TABLES:
            continue
        words = link_rules.compiler(found[folder])
        process = subprocess.Popen([*words, "-fsyntax-only", "-x", "c", "-Wno-unused-function", str(header)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, cwd=header.parent)
        running.append((header, process))
        n += 1
        if len(running) == 2:
            finish(*running.pop(0))
    for pair in running:
        finish(*pair)
    for path in [*(source / "src").rglob("*.[ch]"), *(source / "include").glob("*.h"), *(source / "tests").rglob("*.[ch]")]:
        inside = False
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            inside |= "/*" in line
            if inside and len(line) > 100 and not line.rstrip().endswith("\\"):
                wrong.append(f"{path.relative_to(source)}:{number}: a comment of {len(line)} columns")
            if "*/" in line:
                inside = False
    return verdict(f"{n} headers", wrong)


if __name__ == "__main__":
    sys.exit(main())
