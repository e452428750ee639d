"""The folders of src may include each other along the link rules of src/CMakeLists.txt only, and the rooms of src/measure those below them:
an include that is forbidden does not compile. One source of each folder and room is preprocessed with the very command of the build, with an
include of each other one added.

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
    "job": "base",
    "format": "base",
    "symbols": "base",
    "piggyback": "base",
    "model": "base format",
    "measure": "base job format piggyback",
    "trace": "base format symbols",
    "analyze": "base job format model",
    "report": "base format model",
    "run": "base job format model symbols trace",
    "bench": "base job",
    "cli": "base job format model symbols trace report run bench",
}
# The rooms of src/measure, from the top: each may include those after it.
ROOMS = "start alone wrappers gather gomp openmp hot samples clocks trace callpath unwind mpi core stub".split()


def home_of(path):
    """The folder of a file, by its path from src; in measure the room: measure/clocks."""
    return "/".join(path.parts[:2]) if path.parts[0] == "measure" else path.parts[0]


def commands(build, source):
    """Per folder of src, and room of measure, the command of one of its C files, the one that knows most include directories."""
    found = {}
    for entry in json.load(open(f"{build}/compile_commands.json", encoding="utf-8")):
        path = pathlib.Path(entry["file"])
        if path.suffix == ".c" and source / "src" in path.parents:
            home = path.relative_to(source / "src")
            folder = home.parts[0]
            output = pathlib.Path(entry["directory"], re.search(r" -o (\S+)", entry["command"])[1])
            if f"/src/{folder}/CMakeFiles/" not in str(output):  # the same file in a target of another folder
                continue
            for place in {folder, home_of(home)}:
                if place not in found or entry["command"].count(" -I") > found[place]["command"].count(" -I"):
                    found[place] = entry
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
    wrong += [f"src/measure/{path.name} is in no list of this test" for path in (source / "src/measure").iterdir()
              if path.suffix in (".c", ".h") or path.is_dir() and any(path.glob("*.[ch]")) and path.name not in ROOMS]
    wrong += [f"no command for a source of measure/{room}" for room in ROOMS if f"measure/{room}" not in found]
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
    above = 0
    for level, room in enumerate(ROOMS):
        for other in ROOMS[:level + 1]:
            header = next((source / "src/measure" / other).glob("*.h"), None)
            if header is None or f"measure/{room}" not in found:
                continue
            reached = includes(found[f"measure/{room}"], str(header.relative_to(source / "src")))
            above += other != room
            if reached != (other == room):
                wrong.append(f"measure/{room} {'can' if reached else 'cannot'} include {header.relative_to(source / 'src')}")
    for path in [*(source / "src").rglob("*.[ch]")]:
        for line in path.read_text(encoding="utf-8").split("\n"):
            name = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if name and (".." in name.group(1) or "/" not in name.group(1)):
                wrong.append(f"{path}: include of {name.group(1)}: folder/file, from src")
    return verdict(f"{len(ALLOWED)} folders, {forbidden} forbidden pairs; {len(ROOMS)} rooms, {above} pairs", wrong)


if __name__ == "__main__":
    sys.exit(main())
