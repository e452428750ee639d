"""What `latecomer report` writes: the numbers of `show --json`, exact matrices and shares of a trace, a policy that is right, names that
cannot leave their place, messages and exit codes.
Usage: page_content.py LATECOMER MAKE_CUBEX GOLDEN_DIR SCRATCH_DIR"""
import json
import os
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from made import check, enter, make, output  # noqa: E402
from pages import Page  # noqa: E402

LATECOMER, MAKE, GOLDEN, SCRATCH = map(os.path.abspath, sys.argv[1:5])
HEAD = struct.Struct("<IIIIdd")


ACTIVITIES = {**dict.fromkeys(("MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Wait", "MPI_Waitall", "MPI_Sendrecv"), "mpi_p2p"),
              **dict.fromkeys(("MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall", "MPI_Scan"), "mpi_collective"),
              **dict.fromkeys(("MPI_Init", "MPI_Finalize", "MPI_Comm_split"), "mpi_other")}


def rows_of(page, role="profile"):
    """{(metric, path, kind): (sum, values)}; values as they come back."""
    data = page.block(f"0/{role}.rows")
    n, width, reduced = struct.unpack_from("<III", data)
    rows, at = {}, 12
    while at < len(data):
        metric, path, kind, largest, total, unit = HEAD.unpack_from(data, at)
        steps = struct.unpack_from(f"<{width}h", data, at + HEAD.size)
        rows[metric, path, kind] = total, [None if s == -32768 else s * unit for s in steps], largest
        at += HEAD.size + 2 * width
    check(at == len(data), "rows fill their block")
    return n, reduced, rows


def name_of(paths, at):
    parts = []
    while at >= 0:
        parts.insert(0, paths[at][1].replace("/", "%2F"))
        at = paths[at][0]
    return "/".join(parts)


def check_rows(cubex, page, role="profile"):
    """Every row of show --json is in the page, with its sum and its values to 1/32767 of the largest; no other is."""
    wanted = json.loads(output([LATECOMER, "show", "--json", cubex]))
    data = page.json(f"0/{role}.json")
    n, reduced, rows = rows_of(page, role)
    check(n == len(wanted["locations"]) and reduced == 0, "locations of the page")
    found = {(data["metrics"][m]["name"], name_of(data["paths"], p)): (total, values) for (m, p, _), (total, values, _) in rows.items()}
    expected = {(metric, path): values for metric, about in wanted["metrics"].items() for path, values in about["callpaths"].items()}
    check(set(found) == set(expected), f"rows of {cubex}: {set(found) ^ set(expected)}")
    for key, values in expected.items():
        total, got = found[key]
        largest = max(abs(v) for v in values)
        check(all(abs(a - b) <= largest / 32767 for a, b in zip(values, got)), f"values of {key}")
        if key[0] not in ("min_time", "max_time"):
            check(abs(total - sum(values)) <= 1e-9 * max(1.0, largest), f"sum of {key}")
    check(data["result"]["findings"] == wanted["findings"] and data["result"].get("pop") == wanted.get("pop"), "findings and factors")
    return len(expected)


def check_page(page):
    policy = page.policy()
    script, style = page.hashes()
    check(policy.startswith("default-src 'none'; ") and f"script-src {script};" in policy and f"style-src {style};" in policy, f"policy {policy}")
    check("unsafe" not in policy and " on" not in page.text.split("<script>")[0].split("</style>")[1], "nothing inline")
    check("http://" not in page.text.split("</style>")[1].split("<script")[0] and "<link" not in page.text and "src=" not in page.text.split("<script>")[0], "nothing is loaded")


def check_trace(name):
    """Matrices and shares of a golden trace against its own records, as the page's analysis sees them."""
    shutil.copytree(f"{GOLDEN}/{name}", name)
    output([LATECOMER, "-q", "analyze", "-n", "1", name])
    output([LATECOMER, "-q", "report", "--window=0:0.001", "-o", f"{name}.html", name])
    page = Page(f"{name}.html")
    check_page(page)
    head, data = page.timeline()
    shown = json.loads(output([LATECOMER, "show", "--json", f"{name}/analysis.cubex"]))
    pairs = [struct.unpack_from("<5d", data, head["matrices"]["at"] + 40 * r) for r in range(head["matrices"]["rows"])]
    waits = [m for m in set(head["wait_metrics"]) if m and m in shown["metrics"]]
    total = sum(shown["metrics"][m]["total"] for m in waits)
    check(abs(sum(p[2] for p in pairs) - total) <= 1e-9 + 1e-6 * total, f"{name}: waiting {sum(p[2] for p in pairs)}, analysis {total}")
    bytes_sent = shown["metrics"]["bytes_sent"]["total"]
    check(sum(p[4] for p in pairs) == bytes_sent, f"{name}: bytes {sum(p[4] for p in pairs)}, analysis {bytes_sent}")
    pyramid = head["pyramid"]
    for (_, region), activity in zip(head["cnodes"], pyramid["activity_of"]):
        wanted = ACTIVITIES.get(head["regions"][region])
        check(wanted in (None, pyramid["activities"][activity]), f"{name}: {head['regions'][region]} is {pyramid['activities'][activity]}")
    n, waiting = len(pyramid["activities"]), pyramid["activities"].index("waiting")
    cells = data[pyramid["at"]:pyramid["at"] + pyramid["rows"] * pyramid["bins"] * n]
    seconds = [sum(cells[i::n]) / 255 * head["duration_s"] / pyramid["bins"] for i in range(n)]
    slack = 0.004 * head["duration_s"] * pyramid["rows"]
    check(abs(seconds[waiting] - total) <= slack, f"{name}: waiting of the timeline {seconds[waiting]}, analysis {total}")
    time = shown["metrics"]["time"]["total"]
    check(abs(sum(seconds) - time) <= slack, f"{name}: time of the timeline {sum(seconds)}, analysis {time}")
    check(head["windows"][0]["from_s"] == 0 and abs(head["windows"][0]["to_s"] - 0.001) < 1e-6 and "metric" not in head["windows"][0], "--window")
    for window in head["windows"]:
        slices = [struct.unpack_from("<5d", data, window["slices"]["at"] + 40 * r) for r in range(window["slices"]["rows"])]
        check(all(window["from_s"] - 1e-9 <= s[1] < s[2] <= window["to_s"] + 1e-9 for s in slices), f"{name}: slices within their window")
    check_rows(f"{name}/analysis.cubex", Page(f"{name}.html"), "profile" if not os.path.exists(f"{name}/profile.cubex") else "analysis")
    check_models(name, page)
    return head


def check_models(name, page):
    """Findings in both delay-cost models, as `show` has them."""
    first, second = (json.loads(output([LATECOMER, "show", "--json", f"--model={model}", f"{name}/analysis.cubex"])) for model in ("proportional", "wait-first"))
    check((first["delay_model"], second["delay_model"]) == ("proportional", "wait-first"), f"{name}: the JSON names the model")
    data = page.json("0/profile.json")
    check(data["result"]["findings"] == first["findings"] and data["findings_waitfirst"] == second["findings"], f"{name}: findings of both models")
    if name == "delay_late_sender_1":
        check(first["findings"] != second["findings"], f"{name}: findings of the models differ where waiting was passed on")


def check_mean():
    """Of several analyses the page has the mean that `compare` prints."""
    output([LATECOMER, "-q", "report", "-o", "mean.html", "late_sender", "delayed"])
    wanted = json.loads(output([LATECOMER, "compare", "--delay-models", "--json", "late_sender", "delayed"]))
    mean = Page("mean.html").json("delay_models.json")
    check(mean["analyses"] == 2 and mean == wanted, "mean of two analyses")
    check("delay_models.json" not in Page("two.html").packed, "no mean of results without both models")


def check_many(n_unknown):
    """300 locations: quantiles of each row, without and with children, and the location of the largest; the last ranks left nothing."""
    n = 300
    known = n - n_unknown
    own = [float(r % 7) * (r < known) for r in range(n)]
    child = [float(r * 37 % known) * (r < known) for r in range(n)]
    both = [a + b for a, b in zip(own, child)]
    content = {"meta": {"program": "many", "ranks": n, "wall_time_s": 1.0, "unknown_ranks": list(range(known, n))},
               "locations": [{"rank": r, "thread": 0} for r in range(n)],
               "metrics": {"visits": {"callpaths": {"main": own, "main/f": child}}, "time": {"callpaths": {"main": both, "main/f": child}}}}
    make(MAKE, content, "many.cubex")
    output([LATECOMER, "-q", "report", "-o", "many.html", "many.cubex"])
    page = Page("many.html")
    locations, reduced, rows = rows_of(page)
    data = page.json("0/profile.json")
    paths = {name_of(data["paths"], p): p for p in range(len(data["paths"]))}
    check(locations == n and reduced == 1, "reduced")
    for name in ("visits", "time"):
        metric = [m["name"] for m in data["metrics"]].index(name)
        for path, kind, values in (("main", 1, own), ("main", 2, both), ("main/f", 1, child), ("main/f", 2, child)):
            total, quantiles, largest = rows[metric, paths[path], kind]
            ordered = sorted(values[:known])
            check(total == sum(values) and values[largest] == max(values), f"{name} {path}: sum and largest")
            check(all(abs(q - ordered[(known - 1) * k // 16]) <= max(values) / 32767 for k, q in enumerate(quantiles)), f"{name} {path}: quantiles {quantiles}")
        sums = data["result"]["metrics"][name]["locations"]
        check(sums[:known] == both[:known] and sums[known:] == [None] * n_unknown and data["result"]["metrics"][name]["total"] == sum(both), f"{name}: sums of locations")


def check_threads():
    """Threads that come and go, and more that compute than there are cores: as `show` says them."""
    for alive, busy, note, crowded in ((2.5, [2] * 4, "10 threads, 2.5 at once on average", {"threads": 8, "cores": 6}), (10, [1] * 4, None, None)):
        content = {"meta": {"program": "threads", "ranks": 4, "wall_time_s": 1.0, "cores": [6], "busy_threads": busy, "oversubscribed": False},
                   "locations": [{"rank": r, "thread": 0} for r in range(4)],
                   "pop": {"dialect": "clocks", "elapsed_s": 1.0, "parallel_efficiency": 0.2, "threads": 10, "threads_at_once": alive},
                   "metrics": {"visits": {"callpaths": {"main": [1.0] * 4}}, "time": {"callpaths": {"main": [1.0] * 4}}}}
        make(MAKE, content, "threads.cubex")
        output([LATECOMER, "-q", "report", "-o", "threads.html", "threads.cubex"])
        data = Page("threads.html").json("0/profile.json")
        shown = " ".join(output([LATECOMER, "show", "threads.cubex"]).split())
        check(data.get("crowded") == crowded, f"crowded: {data.get('crowded')}")
        check((data.get("factors_note") or "").startswith(note or "") and (note is None) == ("factors_note" not in data), f"note of the factors: {data.get('factors_note')}")
        check(data.get("factors_note", "Efficiency") in shown and (note is not None or "at once" not in shown), shown)
        check(note is None or "While they lived, 80.0 % of their time was useful." in shown, shown)


def main():
    enter(SCRATCH)
    for name in ("scorep-profile", "scalasca-trace"):
        output([LATECOMER, "-q", "report", "-o", "page.html", f"{GOLDEN}/cubex/{name}.cubex"])
        page = Page("page.html")
        check_page(page)
        check(check_rows(f"{GOLDEN}/cubex/{name}.cubex", page) > 10, "rows were compared")
    hybrid = check_trace("hybrid_late_sender")
    check_trace("late_sender")
    check_trace("delay_broadcast_1")
    check_trace("omp_barriers")
    check_trace("delay_late_sender_1")
    check(any(thread > 0 for _, thread in hybrid["locations"]), "threads of the hybrid trace")

    check_many(0)
    check_many(20)
    check_threads()

    # Several results: a table and a comparison, or why there is none.
    output([LATECOMER, "-q", "report", "-o", "two.html", f"{GOLDEN}/cubex/scorep-profile.cubex", f"{GOLDEN}/cubex/scalasca-trace.cubex"])
    two = Page("two.html")
    check(len(two.json("page.json")["results"]) == 2 and ("runs" in two.json("scaling.json") or two.json("scaling.json")["why"]), "two results")

    shutil.copytree("late_sender", "delayed")
    check_mean()

    # Usage, errors, nothing left behind.
    for arguments, code in ((["--window=2:1"], 2), (["--window=x"], 2), (["--nonsense"], 2), (["absent"], 1), (["-o", "no/such/dir.html", f"{GOLDEN}/cubex/scorep-profile.cubex"], 1)):
        text = output([LATECOMER, "report", *arguments], code)
        check(text.startswith("latecomer: ") and text.count("\n") == 1, f"{arguments}: one line: {text!r}")
    open("broken.cubex", "wb").write(open(f"{GOLDEN}/cubex/scorep-profile.cubex", "rb").read()[:700])
    output([LATECOMER, "report", "-o", "broken.html", "broken.cubex"], 1)
    left = [name for name in os.listdir(".") if "partial" in name or name == "broken.html"]
    check(not left, f"left behind: {left}")

    # A trace that cannot be read: the page says so.
    shutil.copytree("late_sender", "damaged")
    for root, _, files in os.walk("damaged"):
        for name in files:
            if name.endswith(".def"):
                open(os.path.join(root, name), "wb").write(b"no definitions")
    done = subprocess.run([LATECOMER, "report", "-o", "damaged.html", "damaged"], capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"damaged trace: {done.stderr}")
    about = Page("damaged.html").json("page.json")["results"][0]
    check(not about["timeline"] and about["why_no_timeline"] != "", "why there is no timeline")
    print("content of pages: as in show --json, and as in the traces")


main()
