"""What the tests of made results share: an empty folder, the command, results whose content is given."""
import json
import os
import shutil
import subprocess
import sys


def check(condition, what):
    if not condition:
        sys.exit("FAILED: " + what)


def enter(scratch):
    """An empty folder, from now on the working directory."""
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    os.chdir(scratch)


def output(command, code=0, also=(), **environment):
    """Standard output of a command that ends with this code (or one of `also`); of one that fails, its errors."""
    done = subprocess.run(command, capture_output=True, env={**os.environ, **environment})
    check(done.returncode == code, f"{command[1:]}: exit {done.returncode}: {done.stdout.decode() if code else ''}{done.stderr.decode()}")
    return (done.stdout if code == 0 or code in also else done.stderr).decode("utf-8")


def make(maker, content, cubex, **members):
    """The result `cubex` with this content; members: texts of files inside it, name_tsv for name.tsv."""
    os.makedirs(os.path.dirname(cubex) or ".", exist_ok=True)
    with open("in.json", "w") as out:
        json.dump(content, out)
    for name, text in members.items():
        with open(name, "w") as out:
            out.write(text)
    subprocess.run([maker, "in.json", cubex] + [f"{n.replace('_tsv', '.tsv').replace('_json', '.json')}={n}" for n in members], check=True)
