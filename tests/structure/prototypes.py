"""Every prototype in a header of src is described: a comment in its own line, above it, or above the group of lines that it stands in.

prototypes.py SOURCE_DIR"""
import pathlib
import re
import sys

from verdict import verdict


def undescribed(text):
    """Names of the functions that are declared without a comment."""
    lines, found = text.split("\n"), []
    for i, line in enumerate(lines):
        name = re.match(r"(?!typedef|static|extern|return|else)[A-Za-z_][\w\s*]*?\b(\w+)\([^{}]*[;,]?\s*(/\*.*)?$", line)
        if not name or not re.match(r"\w+\s+[\w*\s]*\w+\(", line):
            continue
        end = i
        while end + 1 < len(lines) and not re.search(r"[;{}]", lines[end]):
            end += 1
        if "{" in lines[end] or "/*" in "".join(lines[i:end + 1]):
            continue
        above = i - 1
        while above >= 0 and lines[above].strip() and "*/" not in lines[above]:
            above -= 1
        if above < 0 or not lines[above].strip():
            found.append(name.group(1))
    return found


def main():
    source = pathlib.Path(sys.argv[1])
    wrong, n = [], 0
    for header in sorted((source / "src").rglob("*.h")):
        n += 1
        wrong += [f"{header.relative_to(source)}: {name} has no description" for name in undescribed(header.read_text(encoding="utf-8"))]
    return verdict(f"{n} headers", wrong)


if __name__ == "__main__":
    sys.exit(main())
