"""What is known of a run whose second host is lost, and of one that is still running: ranks of which nothing is known are unknown, not
zero; with --dump-every all hosts save their part, and when `latecomer dump` asks for it. Run by hosts.py on 2 hosts.

usage: check_lost_node.py BUILD_DIR FLAVOUR PROGRAM
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

import several_hosts

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

BUILD, FLAVOUR, PROGRAM = (os.path.abspath(sys.argv[1]), *sys.argv[2:4])
LATECOMER = f"{BUILD}/bin/latecomer"


def begun(directory):
    return f"{os.getcwd()}/{directory.replace('/', '-')}-begun"


def wait_until_begun(directory):
    """All ranks have made rounds."""
    wait_for(lambda: len(glob.glob(f"{begun(directory)}.*")) == 4 and os.path.getsize(f"{directory}/.ranks") == 4 * 128)


def start(directory, *options, ms=5):
    words = several_hosts.launcher(FLAVOUR, 4) + [LATECOMER, "run", "-o", directory, *options, "--", PROGRAM, "100000", str(ms), "begun", begun(directory)]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)


def lose_node2(process):
    """Everything on it dies at once, launcher's daemon and all. Then the launcher is told to end."""
    several_hosts.on("node2", ["sh", "-c", "kill -9 -1"])
    time.sleep(1)
    process.terminate()
    try:
        _, err = process.communicate(timeout=patience(20))
    except subprocess.TimeoutExpired:
        process.kill()
        _, err = process.communicate()
    return err


def wait_for(what, seconds=30):
    end = time.monotonic() + patience(seconds)
    while not (found := what()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return found


def show(directory):
    done = several_hosts.run([LATECOMER, "show", "--json", directory])
    assert done.returncode == 0, done.stderr
    text = several_hosts.run([LATECOMER, "show", "--only", "all", directory])
    assert text.returncode == 0, text.stderr
    return json.loads(done.stdout), text.stdout


def ranks_of(found):
    calls = found["metrics"]["visits"]["callpaths"]
    return next((values for path, values in calls.items() if path.endswith("MPI_Allreduce")), [0])


def has_rounds_of_all(directory):
    return os.path.exists(f"{directory}/profile.cubex") and all(ranks_of(show(directory)[0]))


def result_of(directory, process):
    wait_for(lambda: os.path.exists(f"{directory}/profile.cubex"))
    assert process.poll() is not None


def check_lost():
    process = start("lost")
    wait_until_begun("lost")
    err = lose_node2(process)
    result_of("lost", process)
    found, text = show("lost")
    on_node2 = [l["rank"] for l in found["locations"] if l["node"] == "node2"]
    assert len(on_node2) == 2 and found["meta"]["unknown_ranks"] == on_node2, (found["locations"], found["meta"], err)
    assert [l.get("unknown", False) for l in found["locations"]] == [l["rank"] in on_node2 for l in found["locations"]]
    values = ranks_of(found)
    assert all((v is None) == (r in on_node2) for r, v in enumerate(values)) and sum(v is not None and v > 0 for v in values) == 2, values
    assert "2 of 4 ranks unknown (node2)" in text, text
    least = next(line for line in text.splitlines() if line.strip().startswith("time "))
    assert not any(f"rank {r}" in least for r in on_node2), least


def check_dumped():
    process = start("dumped", "--dump-every=0.3")
    wait_for(lambda: len(glob.glob("dumped/.partial.*.raw")) == 2 and has_rounds_of_all("dumped"))
    before = time.monotonic()
    time.sleep(1)
    found, text = show("dumped")
    assert "ranks unknown" not in text and "unknown_ranks" not in found["meta"] and min(ranks_of(found)) > 0, text
    assert found["meta"]["ending"] == "running", found["meta"]
    rounds = min(ranks_of(found))
    lose_node2(process)
    lived = time.monotonic() - before
    result_of("dumped", process)
    wait_for(lambda: show("dumped")[0]["meta"]["ending"] != "running")  # where the launcher has killed the parents, a guard still writes
    found, text = show("dumped")
    assert "ranks unknown" not in text and min(ranks_of(found)) >= rounds, (text, rounds, lived, found["locations"], ranks_of(found), found["meta"])


def dump(directory, host):
    done = several_hosts.on(host, [LATECOMER, "dump", os.path.abspath(directory)])
    assert done.returncode == 0, (host, done.stderr)
    found, text = show(directory)
    assert found["meta"]["ending"] == "running", found["meta"]
    return found, text, done.stderr


def check_top(directory, host):
    """All ranks, and for which one the others wait: rank 0, on node1, works twice as long."""
    def late_in_a_second():
        done = several_hosts.on(host, [LATECOMER, "top", "--once", "--json", os.path.abspath(directory)])
        assert done.returncode == 0, (host, done.stderr)
        seen = json.loads(done.stdout)
        assert [rank["rank"] for rank in seen["run"]["ranks"]] == [0, 1, 2, 3] and seen["unknown_threads"] == 0, seen
        return [one for one in seen["interval"]["late"] if one["rank"] == 0 and one["seconds"] > 0]

    late = wait_for(late_in_a_second)  # where a round, or its blame on the way between nodes, takes longer: in a later one
    assert late[0]["by"] == "waiting" and late[0]["callpath"].startswith("main") and "MPI_" not in late[0]["callpath"], (host, late)


def signal_parents(host, number):
    several_hosts.on(host, ["sh", "-c", f"for p in /proc/[0-9]*; do grep -qz ^run$ $p/cmdline 2>/dev/null && kill -{number} ${{p#/proc/}}; done"])


def check_asked():
    """`latecomer dump`, on whatever host, brings the ranks of all up to date; a host that does not answer is told of."""
    process = start("asked", ms=50)
    wait_until_begun("asked")
    check_top("asked", "node1")
    check_top("asked", "node2")
    last = 0

    def is_newer(host):
        found, text, said = dump("asked", host)
        assert "ranks unknown" not in text and "did not answer" not in said, (host, text, said)
        return min(ranks_of(found)) > last and max(ranks_of(found))

    for host in ("node1", "node2", "node1"):
        last = wait_for(lambda: is_newer(host))  # at once where the ranks made rounds meanwhile

    def is_newer_on_node1():
        found, _, said = dump("asked", "node1")
        assert "1 of 2 nodes did not answer" in said, said
        counts = dict(zip((l["node"] for l in found["locations"]), ranks_of(found)))
        assert 0 < counts["node2"] <= last, (last, counts)
        return counts["node1"] > last  # node1 makes rounds, sooner or later

    signal_parents("node2", "STOP")
    wait_for(is_newer_on_node1)
    signal_parents("node2", "CONT")
    process.terminate()
    process.communicate(timeout=patience(30))


def kill_those_of(directory):
    """All processes of this host that the run has started; how many there were."""
    killed = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                ours = directory.encode() in file.read()
            if ours:
                os.kill(int(pid), 9)
                killed += 1
        except OSError:
            pass
    return killed


def names_in(directory):
    return sorted(os.listdir(directory))


def check_parts_without_result():
    """A batch system that kills everything leaves the parts of the nodes; show and recover join them."""
    os.mkdir("parts")
    process = start("parts/run", "--dump-every=0.3")
    wait_for(lambda: len(glob.glob("parts/run/.partial.*.raw")) == 2 and has_rounds_of_all("parts/run"))
    several_hosts.on("node2", ["sh", "-c", "kill -9 -1"])
    wait_for(lambda: not kill_those_of("parts/run"))
    process.kill()
    process.communicate()
    parts = glob.glob("parts/run/.partial.*.raw")
    if len(parts) == 2:  # else a guard has joined them, and removed some before it was killed
        for name in ("profile.cubex", "meta.json"):
            if os.path.exists(f"parts/run/{name}"):
                os.unlink(f"parts/run/{name}")
    found, text = show("parts/run")
    assert min(ranks_of(found)) > 0 and "ranks unknown" not in text, text + str(os.listdir("parts/run")) + str(found["meta"])
    done = several_hosts.run([LATECOMER, "recover", "parts/run"])
    assert done.returncode == 0 and names_in("parts/run") == ["meta.json", "profile.cubex"], (done.stderr, os.listdir("parts/run"))
    assert min(ranks_of(show("parts/run")[0])) > 0


def check_part_beside_result():
    """Whoever has joined the parts is killed while it removes them: what it leaves must not replace the result."""
    os.mkdir("half")
    process = start("half/run", "--dump-every=0.3")
    wait_for(lambda: len(glob.glob("half/run/.partial.*.raw")) == 2 and has_rounds_of_all("half/run"))
    with open(glob.glob("half/run/.partial.*.raw")[0], "rb") as file:
        part = file.read()
    process.terminate()
    process.communicate(timeout=patience(30))
    wait_for(lambda: names_in("half/run") == ["meta.json", "profile.cubex"])
    before = show("half/run")[0]
    for name, content in ((".partial.0.raw", part), (".run.json", b"{}"), (".finished", b""), ("meta.json.7-0.partial", b"{")):
        with open(f"half/run/{name}", "wb") as file:
            file.write(content)
    assert show("half/run")[0] == before
    done = several_hosts.run([LATECOMER, "recover", "half/run"])
    assert done.returncode == 0 and names_in("half/run") == ["meta.json", "profile.cubex"], (done.stderr, os.listdir("half/run"))
    assert show("half/run")[0] == before


def main():
    with tempfile.TemporaryDirectory(prefix="lclost-") as folder:
        os.chdir(folder)
        for check in (check_asked, check_lost, check_dumped, check_parts_without_result, check_part_beside_result):
            check()
            print(f"{check.__name__}: ok", flush=True)
        os.chdir("/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
