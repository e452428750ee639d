"""Every prototype in a header of src is described by a comment of its own: directly above it, or in its own lines. A comment above a group of
prototypes describes the first one only. It stands alone: it does not begin with "The same". That of a function that returns enum lc_err says its
errors: LC_ERR_ names, "Errors: those of lc_.." with a function that is declared somewhere, too, or "Errors: none". LC_ERR_NOMEM is no exception: each comment names it.

prototypes.py SOURCE_DIR"""
import pathlib
import re
import sys

from verdict import verdict

# Begins at the first column: a return type, a name, an opening bracket.
HEAD = re.compile(r"(?!typedef|return|else|_Static_assert)[A-Za-z_][\w\s*]*?[\s*](?P<name>\w+)\(")


def description(lines, first, last):
    """The comment of the prototype in lines[first..last]: in these, and directly above, where it begins a line."""
    top = first
    if first and re.match(r" \*/$|(/\*| \*).*\*/$", lines[first - 1].rstrip()):
        top -= 1
        while top and not lines[top].startswith("/*"):
            top -= 1
    comments = re.findall(r"/\*.*?\*/", "\n".join(lines[top:last + 1]), flags=re.S)
    return re.sub(r"\s*\n \*\s?", " ", " ".join(comments))


def says_errors(described, names, functions):
    """Whether a description names errors that exist, or a function whose errors they are."""
    codes, others = re.findall(r"\bLC_ERR_[A-Z_]+", described), re.findall(r"(?:Errors|errors)[^.]*?\b(lc_\w+)", described)
    return bool(codes or others or "Errors: none" in described) and set(codes) <= names and set(others) <= functions


def prototypes(text):
    """(name, whether it returns enum lc_err, description) of the functions that are declared."""
    lines, i = text.split("\n"), 0
    while i < len(lines):
        head = HEAD.match(lines[i])
        if not head:
            i += 1
            continue
        end = i
        while end + 1 < len(lines) and not re.search(r"[;{}]", lines[end]):
            end += 1
        if ";" in lines[end] and "{" not in lines[end]:
            yield head.group("name"), lines[i].startswith("enum lc_err "), description(lines, i, end)
        i = end + 1


def main():
    source = pathlib.Path(sys.argv[1])
    declared = {header: list(prototypes(header.read_text(encoding="utf-8"))) for header in sorted((source / "src").rglob("*.h"))}
    names = set(re.findall(r"X\((LC_\w+)", (source / "src/base/err.h").read_text(encoding="utf-8")))
    functions = {name for found in declared.values() for name, _, _ in found}
    wrong, n_failing = [], 0
    for header, found in declared.items():
        where = header.relative_to(source)
        wrong += [f"{where}: {name}: its description needs that of another one: {described[:40]}.." for name, _, described in found
                  if re.match(r"/\* (Entry: )?[Tt]he same\b", described)]
        wrong += [f"{where}: {name} has no description of its own" for name, _, described in found if not described]
        failing = [(name, described) for name, fails, described in found if fails and described]
        n_failing += len(failing)
        wrong += [f"{where}: {name}: its description does not say which errors" for name, described in failing
                  if not says_errors(described, names, functions)]
    return verdict(f"{len(declared)} headers, {sum(map(len, declared.values()))} prototypes, {n_failing} return errors", wrong)


if __name__ == "__main__":
    sys.exit(main())
