"""The lines of docs/exporting.md for pandas, R and DuckDB, run on an exported table whose answer is known.

csv_readers.py LATECOMER MAKE_CUBEX SCRATCH DOCUMENT   pandas and R: of Debian (python3-pandas, r-base-core); DuckDB: its command, else its library for
Node (npm). What cannot be had is said; 77: nothing can.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys

import made

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

os.environ["PATH"] = "/usr/bin:" + os.environ["PATH"]  # Debian's python3
LATECOMER, MAKE, SCRATCH, DOCUMENT = map(os.path.abspath, sys.argv[1:5])
# Names without blanks, so that each printed table can be read.
TIMES = {"main": [10.0] * 4, "main/even": [2.0] * 4, "main/late": [1.0, 1.0, 1.0, 5.0], "main/turns": [3.0, 1.0, 3.0, 1.0]}
WANTED = {path: max(row) - sum(row) / 4 for path, row in TIMES.items()}
NODE = """const duckdb = require("@duckdb/node-api");
(async () => {
  const connection = await (await duckdb.DuckDBInstance.create(":memory:")).connect();
  for (const row of (await connection.runAndReadAll(process.argv[2])).getRows()) console.log(...row);
})();
"""


def run(words, limit=120):
    done = subprocess.run(words, capture_output=True, text=True, timeout=patience(limit), check=False)
    made.check(done.returncode == 0, f"{words}: {done.stdout}{done.stderr}")
    return done.stdout


def has_pandas():
    return subprocess.run(["python3", "-c", "import pandas"], capture_output=True, check=False).returncode == 0


def by_pandas(line):
    return run(["sh", "-c", line]) if has_pandas() else None


def by_r(line):
    if not shutil.which("Rscript"):
        return None
    rows = [row.split() for row in run(["sh", "-c", line]).splitlines()]  # names above their numbers
    return "\n".join(f"{name} {value}" for names, values in zip(rows[::2], rows[1::2]) for name, value in zip(names, values))


def by_duckdb(line):
    if shutil.which("duckdb"):
        return run(["sh", "-c", line])
    if not shutil.which("npm"):
        return None
    with open("query.js", "w", encoding="utf-8") as script:
        script.write(NODE)
    done = subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "@duckdb/node-api"], capture_output=True, text=True,
                          timeout=patience(200), check=False)
    if done.returncode != 0:
        print(f"npm has no DuckDB here: {done.stderr.strip()[-200:]}")
        return None
    return run(["node", "query.js", shlex.split(line)[2]])


def numbers(text):
    """The value behind each call path of a printed table."""
    found = {}
    for line in text.splitlines():
        cells = re.split(r"[\s│|]+", line.strip(" │|"))
        if len(cells) == 2 and cells[0] in TIMES:
            found[cells[0]] = float(cells[1])
    return found


def main():
    made.enter(SCRATCH)
    made.make(MAKE, dict(meta=dict(program="made", ranks=4, wall_time_s=10.0), locations=[dict(rank=rank, thread=0) for rank in range(4)],
                         metrics={"time": {"callpaths": TIMES}}), "made/profile.cubex")
    run([LATECOMER, "export", "--to", "csv", "-o", "run.csv", "made"])
    with open(DOCUMENT, encoding="utf-8") as text:
        lines = re.findall(r"```sh\n(.*?)\n```", text.read(), re.S)
    made.check([line.split()[0] for line in lines] == ["python3", "Rscript", "duckdb"], f"{DOCUMENT}: {lines}")
    asked = []
    for line, ask in zip(lines, (by_pandas, by_r, by_duckdb)):
        answer = ask(line)
        if answer is None:
            print(f"{line.split()[0]}: not here, its line was not run")
            continue
        found = numbers(answer)
        made.check(found == WANTED, f"{line}:\n{answer}\n{found}, not {WANTED}")
        asked.append(line.split()[0])
    print(f"the same answer by {', '.join(asked)}" if asked else "skipped: neither pandas nor R nor DuckDB is here")
    return 0 if asked else 77


if __name__ == "__main__":
    sys.exit(main())
