"""Function prototypes of an installed mpi.h, as the preprocessor sees them.

prototypes(cc, flags) -> {name: (return type, [parameter types])}, names without the leading MPI_ kept whole
("MPI_Send", "MPIX_Query_cuda_support"); PMPI_ twins are left out.
"""
import re
import subprocess

NAME = re.compile(r"([A-Za-z_][\w\s\*]*?[\s\*])(MPIX?_\w+)\s*\(")


def preprocess(cc, flags):
    source = "#include <mpi.h>\n#if defined(OPEN_MPI)\n#include <mpi-ext.h>\n#endif\n"
    command = [cc, "-E", "-P", "-x", "c", *flags, "-"]
    return subprocess.run(command, input=source, text=True, check=True, capture_output=True).stdout


def strip_attributes(text):
    """Removes __attribute__((...)) with any nesting."""
    out, pos = [], 0
    for match in re.finditer(r"__attribute__\s*\(", text):
        if match.start() < pos:
            continue
        out.append(text[pos : match.start()])
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        pos = end
    out.append(text[pos:])
    return "".join(out)


def split_parameters(text):
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += {"(": 1, ")": -1}.get(c, 0)
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [" ".join(p.split()) for p in parts]


def split_parameter(parameter):
    """(type, name): arrays are pointers; name may be missing."""
    if parameter in ("void", "..."):
        return parameter, ""
    suffix = ""
    pointer = re.match(r"^(.*?)\s*\(\*\s*(\w*)\)(\[\d+\])$", parameter)  # int (*ranges)[3]
    if pointer:
        return f"{pointer.group(1)} (*){pointer.group(3)}", pointer.group(2)
    while True:
        match = re.search(r"\[[^\]]*\]$", parameter)
        if not match:
            break
        parameter = parameter[: match.start()].rstrip()
        # int ranges[][3] is int (*)[3]
        suffix = match.group(0) + suffix if suffix or match.group(0) != "[]" else "[]"
    match = re.match(r"^(.*?[\s\*])(\w+)$", parameter)
    words = parameter.replace("*", " ").split()
    if match and len(words) > 1 and words[-1] not in ("int", "char", "const", "long"):
        kind, name = match.group(1).strip(), match.group(2)
        if kind == "const":
            kind, name = parameter, ""
    else:
        kind, name = parameter, ""
    if re.search(r"\[\d+\]", suffix):
        kind += " (*)" + re.search(r"\[\d+\]", suffix).group(0)
    elif suffix:
        kind += " *"
    kind = re.sub(r"\s*\*\s*", " *", kind)
    kind = kind.replace("* *", "**")
    return kind, name


def prototypes(cc, flags):
    text = strip_attributes(preprocess(cc, flags)).replace("extern ", "")
    found = {}
    for statement in text.split(";"):
        statement = " ".join(statement.split())
        statement = statement.rsplit("}", 1)[-1].strip()
        if statement.startswith("typedef") or "=" in statement:
            continue
        match = NAME.match(statement)
        if not match:
            continue
        depth, end = 1, match.end()
        while depth and end < len(statement):
            depth += {"(": 1, ")": -1}.get(statement[end], 0)
            end += 1
        returns = re.sub(r"\b(restrict|__restrict)\b", "", match.group(1)).strip()
        inside = re.sub(r"\b(restrict|__restrict)\b", "", statement[match.end() : end - 1])
        parameters = [split_parameter(p) for p in split_parameters(inside)]
        if parameters == [("void", "")]:
            parameters = []
        found[match.group(2)] = (returns, parameters)
    return found


def version_of(pkg):
    """(major, minor)"""
    out = subprocess.run(["pkg-config", "--modversion", pkg], text=True, check=True, capture_output=True)
    return tuple(int(n) for n in re.findall(r"\d+", out.stdout)[:2])


def flags_of(pkg):
    out = subprocess.run(["pkg-config", "--cflags", pkg], text=True, check=True, capture_output=True)
    return out.stdout.split()
