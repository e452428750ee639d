"""The tests of a build that is configured, whether it is built or not."""
import json
import re
import subprocess


def commands(build):
    """Name -> command, from what CMake wrote for ctest: that tells no command of programs that are not built."""
    found = {}
    for path in sorted(build.rglob("CTestTestfile.cmake")):
        for name, words in re.findall(r"^add_test\(\[=\[(.*?)\]=\] (.*)\)$", path.read_text(encoding="utf-8"), re.M):
            found[name] = [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r'"((?:[^"\\]|\\.)*)"', words)]
    return found


def labels(build):
    """Name -> set of labels."""
    shown = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], capture_output=True, text=True, check=True).stdout
    entries = json.loads(shown[shown.index("{"):])["tests"]  # behind ctest's own first line
    return {entry["name"]: next((set(p["value"]) for p in entry.get("properties", []) if p["name"] == "LABELS"), set()) for entry in entries}
