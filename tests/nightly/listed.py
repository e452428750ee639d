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


def properties(build):
    """Name -> property -> value."""
    shown = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], capture_output=True, text=True, check=True).stdout
    entries = json.loads(shown[shown.index("{"):])["tests"]  # behind ctest's own first line
    return {entry["name"]: {p["name"]: p["value"] for p in entry.get("properties", [])} for entry in entries}


def labels(properties):
    """Name -> set of labels, of what properties() gives."""
    return {name: set(found.get("LABELS", ())) for name, found in properties.items()}


QUERY = ".cmake/api/v1/query/codemodel-v2"  # CMake answers where this file is when it configures


def made_by(build, source):
    """Path -> target: programs and libraries of the build, and files made by commands, absolute."""
    found = {}
    index = json.loads(max((build / ".cmake/api/v1/reply").glob("index-*.json")).read_text(encoding="utf-8"))
    model = json.loads((build / ".cmake/api/v1/reply" / index["reply"]["codemodel-v2"]["jsonFile"]).read_text(encoding="utf-8"))
    for each in model["configurations"][0]["targets"]:
        target = json.loads((build / ".cmake/api/v1/reply" / each["jsonFile"]).read_text(encoding="utf-8"))
        for file in target.get("artifacts", ()):
            found[build / file["path"]] = target["name"]
        for file in target.get("sources", ()) if target["type"] == "UTILITY" else ():
            if file.get("isGenerated"):
                found.setdefault(source / file["path"].removesuffix(".rule"), target["name"])
    return found
