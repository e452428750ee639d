"""Circles of modules. A module is a source and its header (the same name without the ending), as a reader sees them. A reaches B if A includes
a file of B or calls a function that B defines (a function's name that is mentioned counts as called). Inside a room of src/measure modules may be
a circle, between rooms nothing may be; the other folders have none.

circles.py SOURCE_DIR [--show FOLDER]: --show: the circles of a folder and the calls and includes that close them"""
import pathlib
import re
import sys
from collections import defaultdict

from verdict import verdict



def code_of(text):
    """Without comments and strings."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', lambda m: '""' if m.group().startswith('"') else " ", text, flags=re.S)


def definitions(name, code):
    """Functions that a file defines for others: extern ones of sources, inline ones of headers; all are called lc_ something. clang-format
    puts the head of a definition at the first column."""
    found = set()
    for head in re.finditer(r"(?m)^(?=\w)(?!typedef|extern)([^;{}=#]*?)\{$", code):
        function = re.search(r"\b(lc_\w+)\s*\(", head.group(1))
        if function and (name.endswith(".h") or not re.match(r"static\b", head.group(1))):
            found.add(function.group(1))
    return found


def uses(code):
    """Functions that a file mentions: not names of types, and not where they are declared."""
    code = re.sub(r"(?m)^(?=\w)(?!static const|typedef)[\w\s*]+\b(lc_\w+)\([^;{]*;", " ", code)
    return set(re.findall(r"(?<!struct )(?<!enum )(?<!union )\b(lc_\w+)\b", code))


def graph_of(source):
    """file -> {file: what it uses of it}, names relative to src."""
    top = source / "src"
    codes = {str(path.relative_to(top)): code_of(path.read_text(encoding="utf-8")) for path in sorted(top.rglob("*.[chS]"))}
    texts = {name: (top / name).read_text(encoding="utf-8") for name in codes}
    home = defaultdict(set)
    for name, code in codes.items():
        for function in definitions(name, code):
            home[function].add(name)
    graph = {name: defaultdict(set) for name in codes}
    for name, code in codes.items():
        for included in re.findall(r'(?m)^\s*#\s*include\s+"([^"]+)"', texts[name]):
            if included in codes:
                graph[name][included].add("include")
        for word in uses(code):
            homes = home.get(word, set())  # the same name in two programs: that of its own folder
            for other in {h for h in homes if h.split("/")[0] == name.split("/")[0]} or homes:
                if other != name:
                    graph[name][other].add(word)
    return graph


def module_of(name):
    """Of a file: its path without the ending; a private header goes with the source that it belongs to."""
    return re.sub(r"(_private)?\.\w$", "", name)


def modules_of(graph):
    """module -> {module: what it uses of it}"""
    modules = {module_of(name): defaultdict(set) for name in graph}
    for name, others in graph.items():
        for other, words in others.items():
            if module_of(other) != module_of(name):
                modules[module_of(name)][module_of(other)] |= words
    return modules


def rooms_of(graph):
    """room of measure -> {room: {the modules' calls and includes}}"""
    rooms = defaultdict(lambda: defaultdict(set))
    for name, others in graph.items():
        for other, words in others.items():
            one, two = ("/".join(module.split("/")[:2]) for module in (name, other))
            if name.startswith("measure/") and other.startswith("measure/") and one != two:
                rooms[one][two] |= {f"{name} -> {other}: {', '.join(sorted(words))}"}
                rooms[two]  # which may reach none itself
    return {room: dict(others) for room, others in rooms.items()}


def circles(graph):
    """Strongly connected components of more than one module (Tarjan), largest first."""
    index, low, stack, on, found, count = {}, {}, [], set(), [], 0
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = count = count + 1
        stack.append(root)
        on.add(root)
        while work:
            node, rest = work[-1]
            for nxt in rest:
                if nxt not in index:
                    index[nxt] = low[nxt] = count = count + 1
                    stack.append(nxt)
                    on.add(nxt)
                    work.append((nxt, iter(graph[nxt])))
                    break
                if nxt in on:
                    low[node] = min(low[node], index[nxt])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members = []
                    while True:
                        members.append(stack.pop())
                        on.discard(members[-1])
                        if members[-1] == node:
                            break
                    if len(members) > 1:
                        found.append(sorted(members))
    return sorted(found, key=lambda c: (-len(c), c))


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    graph = modules_of(graph_of(source))
    found = circles(graph)
    if "--show" in sys.argv:
        folder = sys.argv[sys.argv.index("--show") + 1]
        for circle in found:
            if circle[0].startswith(folder):
                print(f"--- {len(circle)} modules")
                for name in circle:
                    for other in circle:
                        if other in graph[name]:
                            print(f"{name} -> {other}: {', '.join(sorted(graph[name][other]))}")
        return False
    wrong = []
    for circle in found:
        folders = {name.split("/")[0] for name in circle}
        if folders != {"measure"}:
            wrong.append(f"a circle of {len(circle)} modules: {' '.join(circle)}")
    rooms = rooms_of(graph)
    for circle in circles(rooms):
        wrong.append(f"a circle of {len(circle)} rooms: {' '.join(circle)}")
        wrong += [line for room in circle for other in circle for line in sorted(rooms[room].get(other, []))]
    return verdict(f"{len(graph)} modules, {len(found)} circles, the largest of {max((len(c) for c in found), default=0)}; {len(rooms)} rooms, none", wrong)


if __name__ == "__main__":
    sys.exit(main())
