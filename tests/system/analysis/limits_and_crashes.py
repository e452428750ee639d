#!/usr/bin/env python3
"""What ends an analysis early: one line, exit code 1, no result.

limits_and_crashes.py LATECOMER MAKE_TRACE CRASH_IN_READER.so WRITE_TRACE
limits_and_crashes.py LATECOMER MAKE_TRACE CRASH_IN_READER.so forecast
- a trace larger than memory (ulimit -v): refused before reading, with the memory of all its events as documented;
- one whose events fit, but not the root causes of its many wait states: refused when these are known;
- libotf2 crashes (as it does on some damaged archives), or never comes back, alone and on several ranks.
forecast: only the figure, what was forecast against the memory that the analysis took at most.
"""
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402
from patience import patience  # noqa: E402

latecomer, make_trace, crash = sys.argv[1:4]
FORECAST, write_trace = sys.argv[4] == "forecast", sys.argv[4]
DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs/trace-analysis.md")
bad = []


def check(name, good, *facts):
    if not good:
        bad.append(name)
        print(name, *facts)


def analyze(out, trace, *options, limit=None, **environment):
    def before():
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return subprocess.run([latecomer, "analyze", *options, "-o", out, trace], capture_output=True, text=True, timeout=patience(120),
                          preexec_fn=before, env={**os.environ, **environment})


def on_terminal(out, trace, *options):
    """What a terminal gets as standard error."""
    terminal, end = pty.openpty()
    run = subprocess.Popen([latecomer, "analyze", *options, "-o", out, trace], stderr=end, stdout=subprocess.DEVNULL)
    os.close(end)
    text = b""
    try:
        while piece := os.read(terminal, 65536):
            text += piece
    except OSError:  # the other end is closed
        pass
    os.close(terminal)
    return run.wait(timeout=patience(60)), text.decode()


def is_error(done, out, text):
    lines = done.stderr.splitlines()
    return done.returncode == 1 and len(lines) == 1 and lines[0].startswith("latecomer: ") and text in lines[0] and \
        not os.path.exists(out)


def in_turn(n):
    """Two processes that wait for each other in turn: as many wait states as there can be."""
    lines = [[], []]
    for i in range(n):
        t, sender = 12 * i, i % 2
        lines[sender] += [f"{t + 10} enter 1", f"{t + 10} send {1 - sender} 0 3 8", f"{t + 11} leave 1"]
        lines[1 - sender] += [f"{t + 2} enter 2", f"{t + 12} recv {sender} 0 3 8", f"{t + 12} leave 2"]
    yield from ["process 1", "process 1", "region 2 1 main", "region 4 1 MPI_Send", "region 4 1 MPI_Recv", "comm 0 1"]
    for l in range(2):
        yield from (f"{l} {line}" for line in ["0 enter 0", *lines[l], f"{12 * n + 1} leave 0"])


def root_causes_too_large(trace, out, mapped_mib):
    """mapped_mib: of the process before it reads. Of what is left there is enough for the events, not for the root causes as well."""
    n = 80000
    subprocess.run([write_trace, trace], input="\n".join(in_turn(n)) + "\n", text=True, check=True, timeout=patience(120))
    done = analyze(out, trace, "-n", "1", limit=(mapped_mib + 5) << 20)
    check("events too large", is_error(done, out, "MiB (ulimit -v), "), done)
    events_mib = int(re.search(r"about (\d+) MiB", done.stderr).group(1))
    done = analyze(out, trace, "-n", "1", limit=(mapped_mib + events_mib + 2) << 20)
    check("root causes too large", is_error(done, out, "MiB for root causes (ulimit -v), "), done)
    needs = int(re.search(r"about (\d+) MiB", done.stderr).group(1))
    bytes_per_wait = int(re.search(r"(\d+) bytes per wait state", open(DOCUMENT, encoding="utf-8").read()).group(1))
    check("forecast of root causes", needs == (n * bytes_per_wait + (1 << 20) >> 20) + 1, needs)
    done = analyze(out, trace, "-n", "1")
    check("root causes, large enough", done.returncode == 0 and os.path.exists(out), done)
    os.unlink(out)


with tempfile.TemporaryDirectory() as tmp:
    trace, out = f"{tmp}/t", f"{tmp}/a.cubex"
    subprocess.run([make_trace, "-r", "4", "-e", "3e6", trace], check=True, timeout=patience(120), stdout=subprocess.DEVNULL)
    done = analyze(out, trace, "-n", "1", limit=60 << 20)
    check("too large", is_error(done, out, "the analysis needs about"), done)
    needs, left = map(int, re.search(r"needs about (\d+) MiB .* (\d+) MiB are left", done.stderr).groups())
    for n in "1", "2":
        done = analyze(out, trace, "-n", n)
        check(f"large enough, {n}", done.returncode == 0 and os.path.exists(out), done)
        events, peak = (int(re.search(pattern, done.stderr).group(1)) for pattern in (r"(\d+) events of", r"(\d+) MiB on rank 0"))
        if n == "1" and FORECAST:
            figure("peak", needs / peak, "times")
            sys.exit(bool(bad))
        bytes_per_event = int(re.search(r"(\d+) bytes per event", open(DOCUMENT, encoding="utf-8").read()).group(1))
        check(f"forecast, {n}", needs == (events * bytes_per_event >> 20) + 1, needs, events, bytes_per_event)
        os.unlink(out)
    root_causes_too_large(f"{tmp}/in_turn", out, 60 - left)
    for n in "1", "2":
        code, text = on_terminal(out, trace, "-n", n)
        bars = [int(p) for p in re.findall(r"\rlatecomer: reading \[[# ]{40}\] +(\d+) %", text)]
        check(f"progress, {n} ranks", code == 0 and len(bars) > 1 and bars == sorted(bars) and bars[-1] == 100 and
              f"\rlatecomer: {' ' * 61}\r" in text and "million per second" in text, bars, text[-600:])
        os.unlink(out)
        code, text = on_terminal(out, trace, "-q", "-n", n)
        check(f"no progress, {n} ranks", code == 0 and text == "", text)
        os.unlink(out)
    done = analyze(out, trace, "-q", "-n", "1")
    check("quiet", done.returncode == 0 and done.stderr == "", done)
    os.unlink(out)
    for n in "1", "3":
        for number in signal.SIGSEGV, signal.SIGABRT:
            done = analyze(out, trace, "-n", n, LD_PRELOAD=crash, READER_CRASH=str(int(number)))
            check(f"crash {number.name}, {n} ranks", is_error(done, out, f"ended by {number.name} while reading"), done)
        done = analyze(out, trace, "-n", n, LD_PRELOAD=crash, READER_CRASH="0", LATECOMER_READER_PATIENCE="2")
        check(f"no end, {n} ranks", is_error(done, out, "libotf2 has computed for 2 s without reading a record"), done)
print("differs: " + ", ".join(bad) if bad else "as expected")
sys.exit(bool(bad))
