"""Everything that is cited exists: pages and anchors of docs/ named in sources, tests and docs; links between pages of docs/; source
files that pages and comments name; short names of publications in brackets.

citations.py SOURCE_DIR"""
import pathlib
import re
import sys

from verdict import verdict

NOT_OURS = {"mpi.h", "solve.c"}  # of the system, and an example in comments


def anchors(page):
    """Anchors of the headings of a page, as GitHub makes them."""
    found, fenced = set(), False
    for line in page.read_text(encoding="utf-8").split("\n"):
        fenced ^= line.startswith("```")
        heading = None if fenced else re.match(r"#+ +(.*)", line)
        if heading:
            text = re.sub(r"[^\w\- ]", "", heading.group(1).lower().strip())
            found.add(text.replace(" ", "-"))
    return found


def prose_of(text):
    """A page without its blocks of code."""
    return re.sub(r"(?m)^    .*$", "", re.sub(r"(?ms)^```.*?^```", "", text))


def sources(root):
    for top in ("src", "include", "tests", "docs", "cmake"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".c", ".h", ".py", ".md", ".txt", ".S", ".tsv") and path.is_file():
                yield path
    yield root / "README.md"
    yield root / "CONTRIBUTING.md"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = {page: anchors(page) for page in (root / "docs").rglob("*.md")}
    for page in (root / "README.md", root / "CONTRIBUTING.md", *(root / "tests").rglob("README.md")):
        pages[page] = anchors(page)
    files = {path.name for top in ("src", "include", "tests", "docs") for path in (root / top).rglob("*") if path.is_file()}
    publications = set(re.findall(r"^\| (\[[^]]+\]) \|", (root / "docs/references.md").read_text(encoding="utf-8"), re.M))
    wrong, cited = [], 0

    def check(path, page, anchor, text):
        nonlocal cited
        cited += 1
        if page not in pages:
            wrong.append(f"{path.relative_to(root)}: no page {text}")
        elif anchor and anchor not in pages[page]:
            wrong.append(f"{path.relative_to(root)}: no anchor {text}")

    for path in sources(root):
        text = path.read_text(encoding="utf-8", errors="replace")
        for name, anchor in re.findall(r"\b(docs/[\w/-]+\.md)(?:#([\w-]+))?", text):
            check(path, root / name, anchor, f"{name}#{anchor}")
        if path.suffix == ".md":
            prose = prose_of(text)
            for name, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([\w-]+))?\)", prose):
                target = (path.parent / name).resolve() if name else path
                if target.suffix == ".md":
                    check(path, target, anchor, f"{name}#{anchor}")
                elif not target.exists():
                    wrong.append(f"{path.relative_to(root)}: no file {name}")
            for short in re.findall(r"\[[A-Z][\w ö.ä]+? (?:19|20)\d\d\]", text.replace("\n", " ")):
                if short not in publications:
                    wrong.append(f"{path.relative_to(root)}: {short} is not in docs/references.md")
            for name in re.findall(r"(?<![\w/])((?:src|tests|include)/[\w/.-]+\.\w+)", text):
                if not (root / name).exists():
                    wrong.append(f"{path.relative_to(root)}: no file {name}")
        if path.suffix in (".c", ".h"):
            for comment in re.findall(r"/\*.*?\*/", text, re.S):
                for name in re.findall(r"(?<![\w/.<*-])((?:[a-z_]+/)*[a-z_0-9]+\.[ch])\b(?!\()", comment):
                    if name in NOT_OURS:
                        continue
                    if name.split("/")[-1] not in files:
                        wrong.append(f"{path.relative_to(root)}: names a file {name} that does not exist")
                    elif "/" in name and not any((root / top / name).exists() for top in (".", "src", "include", "src/measure")):
                        wrong.append(f"{path.relative_to(root)}: names a file {name} that does not exist")
                if re.search(r"\b(definitions of the wait states|spec:|slide \d)", comment):
                    wrong.append(f"{path.relative_to(root)}: cites no page: {' '.join(comment.split())[:80]}")
    return verdict(f"{cited} citations of {len(pages)} pages", wrong)


if __name__ == "__main__":
    sys.exit(main())
