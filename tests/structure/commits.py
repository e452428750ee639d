"""Commits since the one that brought this check: `room: verb what`, at most 72 characters, and a body. Left out (status 77) where there is no
history, or only its end.

commits.py SOURCE_DIR"""
import re
import subprocess
import sys

from verdict import verdict

COLUMNS = 72
SUBJECT = re.compile(r"[a-z][\w.+-]*(, [a-z][\w.+-]*)*: \S")


def git(source, *words):
    done = subprocess.run(["git", "-C", source, *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def faults(subject, body):
    if len(subject) > COLUMNS:
        yield f"{len(subject)} characters"
    if not SUBJECT.match(subject):
        yield "not `room: verb what`"
    if not body.strip():
        yield "no body that says why"


def main():
    source = sys.argv[1]
    made_up = {("clocks: count late edges", "Why."): 0, ("clocks, trace: count late edges", "Why."): 0, ("Format", ""): 2,
               ("clocks: " + "x" * 65, "Why."): 1, ("wip", "Why."): 1, ("clocks: count late edges", "\n"): 1}
    wrong = [f"made-up commit {subject!r}: {n} faults wanted" for (subject, body), n in made_up.items() if len(list(faults(subject, body))) != n]
    first = git(source, "log", "--diff-filter=A", "--format=%H", "--", "tests/structure/commits.py").split("\n")[-1]
    if wrong or not first or git(source, "rev-parse", "--is-shallow-repository") != "false":
        return verdict("no history", wrong) or 77
    commits = git(source, "log", "--no-merges", "--format=%h%x00%s%x00%b%x01", f"{first}..HEAD").split("\x01")
    commits = [commit.strip("\n").split("\0") for commit in commits if commit.strip()]
    wrong += [f"{name} {subject!r}: {fault}" for name, subject, body in commits for fault in faults(subject, body)]
    return verdict(f"{len(commits)} commits", wrong)


if __name__ == "__main__":
    sys.exit(main())
