"""One thing, one name: a struct, union or enum called lc_something is defined once in src, and no function is called the same; no two files of
the repository have one name, but those that a tool looks for under it. Sources and the headers of the same name belong together. A function that no other file uses is static.

names.py SOURCE_DIR"""
import pathlib
import re
import subprocess
import sys
from collections import defaultdict

import circles
from verdict import verdict

OFTEN = {"CMakeLists.txt", "README.md", "__init__.py", ".clang-tidy", ".gitignore"}
# Named by pasting tokens together: in the tables of calls (gen_calls.py, gen_gomp.py), and by lc_hook_ (hot.h).
PASTED = re.compile(r"lc_(coll|wrap|clocks|trace|gomp_entry)_")


def used_at_home_only(source):
    """(file, function) of extern functions that no other file of src, generator or test mentions."""
    top = source / "src"
    codes = {path: circles.code_of(path.read_text(encoding="utf-8")) for path in sorted(top.rglob("*.[chS]"))}
    users = {path: circles.uses(code) for path, code in codes.items()}
    others = [path for path in (*top.rglob("*.py"), *(source / "tests").rglob("*.[ch]"))]
    mentioned = set(re.findall(r"\blc_\w+", "".join(path.read_text(encoding="utf-8") for path in others)))
    return [(path, name) for path in codes if path.suffix == ".c" for name in sorted(circles.definitions(path.name, codes[path]))
            if not PASTED.match(name) and name not in mentioned and not any(name in used for other, used in users.items() if other != path)]


def tracked(source):
    """The files of the repository; of a copy without git, those of src, include and tests."""
    listed = subprocess.run(["git", "-C", source, "ls-files", "-z"], capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        paths = [source / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [path for folder in ("src", "include", "tests") for path in (source / folder).rglob("*")]
    return sorted(path for path in paths if path.is_file() and "__pycache__" not in path.parts)


def main():
    top = pathlib.Path(sys.argv[1]) / "src"
    files, types, functions = defaultdict(list), defaultdict(list), {}
    for path in tracked(top.parent):
        if path.name not in OFTEN:
            files[path.name].append(path)
        if path.suffix in (".c", ".h") and top in path.parents:
            code = re.sub(r"/\*.*?\*/", " ", path.read_text(encoding="utf-8"), flags=re.S)
            for kind, name in re.findall(r"\b(struct|union|enum)\s+(lc_\w+)\s*\{", code):
                types[name].append(f"{kind} in {path.relative_to(top)}")
            functions.update(dict.fromkeys(circles.definitions(path.name, circles.code_of(path.read_text(encoding="utf-8"))), path))
    wrong = [f"{len(paths)} files are called {name}: {', '.join(str(p.relative_to(top.parent).parent) for p in paths)}"
             for name, paths in files.items() if len(paths) > 1]
    folders = defaultdict(set)
    for name, paths in files.items():
        if name.endswith((".c", ".h")):
            folders[name[:-2]] |= {p.parent for p in paths if top in p.parents}
    wrong += [f"{stem}.c and {stem}.h lie in different folders" for stem, where in folders.items() if len(where) > 1]
    wrong += [f"{name} is defined {len(places)} times: {', '.join(places)}" for name, places in types.items()
              if len(places) > 1]
    wrong += [f"{name} is a function in {functions[name].relative_to(top)}, and {places[0]}" for name, places in types.items()
              if name in functions]
    wrong += [f"{name} is used in {path.relative_to(top)} only: make it static" for path, name in used_at_home_only(top.parent)]
    return verdict(f"{len(files)} files, {len(types)} types, {len(functions)} functions", wrong)


if __name__ == "__main__":
    sys.exit(main())
