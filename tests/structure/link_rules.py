"""The folders of src may include each other along the link rules of src/CMakeLists.txt only: an include that they forbid does not
compile. One source of each folder is preprocessed with the very command of the build, with an include of each other folder added.

link_rules.py BUILD_DIR SOURCE_DIR"""
import json
import pathlib
import re
import shlex
import subprocess
import sys

from verdict import verdict

ALLOWED = {
    "base": "",
    "format": "base",
    "symbols": "base",
    "piggyback": "base",
    "model": "base format",
    "measure": "base format piggyback",
    "trace": "base format symbols",
    "analyze": "base format model",
    "report": "base format model",
    "run": "base format model symbols trace",
    "bench": "base",
    "cli": "base format model symbols trace report run bench",
}


def commands(build, source):
    """Per folder of src the command of one of its C files, the one that knows most include directories."""
    found = {}
    for entry in json.load(open(f"{build}/compile_commands.json", encoding="utf-8")):
        path = pathlib.Path(entry["file"])
        if path.suffix == ".c" and source / "src" in path.parents:
            folder = path.relative_to(source / "src").parts[0]
            if not entry["directory"].endswith(f"/src/{folder}"):  # the same file in a target of another folder
                continue
            if folder not in found or entry["command"].count(" -I") > found[folder]["command"].count(" -I"):
                found[folder] = entry
    return found


def compiler(entry):
    """The words of a command without its source, its output and -c."""
    words = shlex.split(entry["command"])
    words = words[words.index(next(w for w in words if re.search(r"(cc|clang)[^/]*$", w) and "ccache" not in w)):]
    skip, kept = False, []
    for word in words:
        if skip or word in ("-c", "-o") or word == entry["file"]:
            skip = word == "-o"
            continue
        kept.append(word)
    return kept


def includes(entry, header):
    """Is the header found from a file of this command?"""
    done = subprocess.run([*compiler(entry), "-E", "-x", "c", "-o", "/dev/null", "-"], input=f'#include "{header}"\n', text=True,
                          capture_output=True, cwd=pathlib.Path(entry["file"]).parent, check=False)
    missing = re.search(r"fatal error: (\S+): No such file", done.stderr)
    if done.returncode != 0 and not missing:
        raise SystemExit(f"{entry['file']}: {done.stderr}")
    return not (missing and missing.group(1) == header)


def main():
    build, source = sys.argv[1], pathlib.Path(sys.argv[2])
    found = commands(build, source)
    wrong = [f"no command for a source of {folder}" for folder in ALLOWED if folder not in found]
    wrong += [f"src/{path.name} has no line in the table of this test" for path in (source / "src").iterdir()
              if path.is_dir() and path.name not in (*ALLOWED, "demo")]
    forbidden = 0
    for folder in found.keys() & ALLOWED.keys():
        for other in ALLOWED:
            header = next((source / "src" / other).rglob("*.h")).relative_to(source / "src")
            reached = includes(found[folder], str(header))
            allowed = other == folder or other in ALLOWED[folder].split()
            forbidden += not allowed
            if reached and not allowed:
                wrong.append(f"{folder} can include {header}")
            if other == folder and not reached:
                wrong.append(f"{folder} cannot include its own {header}")
    for path in [*(source / "src").rglob("*.[ch]")]:
        for line in path.read_text(encoding="utf-8").split("\n"):
            name = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if name and (".." in name.group(1) or "/" not in name.group(1)):
                wrong.append(f"{path}: include of {name.group(1)}: folder/file, from src")
    return verdict(f"{len(found)} folders, {forbidden} forbidden pairs", wrong)


if __name__ == "__main__":
    sys.exit(main())
