#!/usr/bin/env python3
"""The timeline of `export --to perfetto`, decoded here and held against the archive as Debian's otf2 reads it, and against `analyze`.

perfetto.py LATECOMER GOLDEN SCRATCH

Slices nest, and are the regions of the archive at their times; wait slices add up to the wait states of the analysis; there is an arrow for
every receive that was completed, and from each segment of the critical path to the next. What is too large is shown in windows around the severest
waiting. Field numbers: protos/perfetto/trace of Perfetto's sources.
"""
import collections
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys

import otf2
from otf2.events import Enter, Leave, MpiIrecv, MpiRecv, ProgramBegin, ProgramEnd

LATECOMER, GOLDEN, SCRATCH = sys.argv[1:4]
ARCHIVES = ["late_sender", "late_sender_waitany", "delay_late_receiver_1", "early_scan", "hybrid_late_sender", "omp_barriers", "npb_cg_s"]
SLICE_BEGIN, SLICE_END = 1, 2
CLASSES = {"mpi_latesender": "latesender", "mpi_latereceiver": "latereceiver", "mpi_barrier_wait": "barrier", "mpi_wait_nxn": "n2n", "mpi_latebroadcast": "12n",
           "mpi_earlyreduce": "n21", "mpi_earlyscan": "scan", "mpi_mgmt_comm_wait": "mgmt", "mpi_finalize_wait": "finalize"}


def check(condition, text):
    if not condition:
        sys.exit(text)


def run(*words):
    return subprocess.run([LATECOMER, *words], capture_output=True, text=True)


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """Number and value of each field of a message: int, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        else:
            check(key & 7 == 2, f"wire type {key & 7}")
            length, at = varint(data, at)
            check(at + length <= len(data), "a field is longer than its message")
            value, at = data[at:at + length], at + length
        yield key >> 3, value


def message(data):
    found = collections.defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


class Timeline:
    def __init__(self, file):
        self.names, self.tracks, self.events = {}, {}, collections.defaultdict(list)
        with open(file, "rb") as f:
            packets = [value for number, value in fields(f.read()) if number == 1]
        for number, data in enumerate(packets):
            packet = message(data)
            check(packet[10] == [1], "a packet of another sequence")
            check(packet[13] == [1 if number == 0 else 2], f"state of packet {number}: {packet[13]}")
            for interned in packet[12]:
                for name in message(interned)[2]:
                    name = message(name)
                    self.names[name[1][0]] = name[2][0].decode()
            for track in packet[60]:
                track = message(track)
                check(track[1][0] not in self.tracks, "two tracks of one uuid")
                self.tracks[track[1][0]] = track
            for event in packet[11]:
                event = message(event)
                self.events[event[11][0]].append((packet[8][0], event))

    def slices(self, track):
        """(ns, name or None for an end, event) in the order of time; checks the nesting."""
        depth, last, found = 0, 0, []
        for ns, event in self.events[track]:
            check(ns >= last, f"track {track} goes back from {last} to {ns} ns")
            last = ns
            depth += 1 if event[9] == [SLICE_BEGIN] else -1
            check(depth >= 0 and event[9][0] in (SLICE_BEGIN, SLICE_END), f"track {track}: an end without a begin")
            found.append((ns, self.names[event[10][0]] if event[9] == [SLICE_BEGIN] else None, event))
        check(depth == 0, f"track {track}: {depth} slices stay open")
        return found


def read_archive(trace):
    """Per location, in the order of rank and thread: (ticks, name or None) of Enter and Leave (also of the program); completed receives; ticks per second."""
    regions, receives = collections.defaultdict(list), 0
    with otf2.reader.open(trace) as archive:
        clock = archive.definitions.clock_properties
        for location, event in archive.events:
            if isinstance(event, Enter):
                regions[location].append((event.time, event.region.name))
            elif isinstance(event, ProgramBegin):
                regions[location].append((event.time, os.path.basename(event.program_name)))
            elif isinstance(event, (Leave, ProgramEnd)):
                regions[location].append((event.time, None))
            receives += isinstance(event, (MpiRecv, MpiIrecv))
        order = sorted(regions, key=lambda location: (int(location.group.name.split()[-1]) if location.group.name.split()[-1].isdigit() else 0, location._ref))
    return [regions[location] for location in order], receives, clock.timer_resolution


def check_path(name, timeline, path_s):
    """Segments follow each other without a gap, with an arrow from each to the next; together they are as long as the analysis says."""
    segments = []
    for track in sorted(uuid for uuid, track in timeline.tracks.items() if track[2] == [b"critical path"]):
        slices = timeline.slices(track)
        for begin, end in zip(slices[::2], slices[1::2]):
            check(begin[1] == "critical path" and end[1] is None, f"{name}: segments overlap")
            segments.append((begin[0], end[0], track, begin[2][48], begin[2][47]))
    segments.sort()
    check(segments and abs(sum(end - begin for begin, end, *_ in segments) / 1e9 - path_s) < 2e-9 * len(segments), f"{name}: critical path of {path_s} s: {segments[:5]}")
    for (_, end, track, _, leaves), (begin, _, other, comes, _) in zip(segments, segments[1:]):
        check(begin == end and track != other and leaves == comes and len(leaves) == 1, f"{name}: from {track} at {end} ns to {other} at {begin} ns by {leaves}, {comes}")
    check(not segments[0][3] and not segments[-1][4], f"{name}: arrows at the ends of the path")


def check_archive(name):
    trace = os.path.join(GOLDEN, name, "traces.otf2")
    out = os.path.join(SCRATCH, f"{name}.perfetto-trace")
    result = run("export", "--to", "perfetto", "-o", out, trace)
    check(result.returncode == 0, f"{name}: exit {result.returncode}: {result.stderr}")
    timeline = Timeline(out)
    threads = sorted(uuid for uuid, track in timeline.tracks.items() if track[4])
    waits = sorted(uuid for uuid, track in timeline.tracks.items() if track[2] == [b"waiting"])
    check([timeline.tracks[uuid][5][0] for uuid in waits] == threads, f"{name}: tracks of waiting: {waits}, threads: {threads}")
    check(all(timeline.tracks[uuid][5][0] in timeline.tracks for uuid in threads), f"{name}: a thread without a process")

    locations, receives, resolution = read_archive(trace)
    first = min(events[0][0] for events in locations if events)
    check(len([t for t in threads if timeline.events[t]]) == len(locations), f"{name}: {len(threads)} tracks, {len(locations)} locations")
    begins, ends = collections.Counter(), collections.Counter()
    compared = 0
    for track, events in zip([t for t in threads if timeline.events[t]], locations):
        slices = timeline.slices(track)
        for _, _, event in slices:
            begins.update(event[47])
            ends.update(event[48])
        if len(slices) != len(events):  # worker threads: the call path of the fork stands around their regions
            check("omp" in name or "hybrid" in name, f"{name}: {len(slices)} ends of slices, {len(events)} of regions")
            continue
        compared += 1
        for (ns, slice_name, _), (ticks, region) in zip(slices, events):
            check(slice_name == region and ns == (ticks - first) * 1000000000 // resolution,
                  f"{name}: {slice_name} at {ns} ns, in the archive {region} at {ticks - first} ticks")
    check(compared > 0, f"{name}: nothing compared")
    check(begins == ends and all(n == 1 for n in begins.values()), f"{name}: arrows begin {begins}, end {ends}")
    said = [int(line.split()[1]) for line in result.stderr.splitlines() if "messages were received before" in line]
    check(len(begins) + sum(said) == receives, f"{name}: {len(begins)} arrows, {said} backward, {receives} receives")

    analysis = os.path.join(SCRATCH, f"{name}.cubex")
    check(run("analyze", "-n", "1", "-o", analysis, trace).returncode == 0, f"{name}: analyze")
    metrics = json.loads(run("show", "--json", analysis).stdout)["metrics"]
    shown, direct = collections.Counter(), collections.Counter()
    for track in waits:
        slices = timeline.slices(track)
        for begin, end in zip(slices[::2], slices[1::2]):
            check(begin[1] and not end[1], f"{name}: wait slices overlap")
            notes = {message(note)[10][0].decode(): message(note) for note in begin[2][4]}
            number = {key: struct.unpack("<d", struct.pack("<Q", note[5][0]))[0] for key, note in notes.items() if note[5]}
            seconds = number["seconds"]
            check(0 < seconds < (end[0] - begin[0]) / 1e9 + 2e-9 + 1e-9 or "omp" in begin[1], f"{name}: {begin[1]}: {seconds} s in {end[0] - begin[0]} ns")
            shown[begin[1]] += seconds
            for model in "", "_waitfirst":
                part = number.get("direct_seconds" + model, seconds)
                check(("cause_rank" in notes) == ("direct_seconds" + model in number), f"{name}: {begin[1]}: parts {number}")
                check(abs(part + number.get("indirect_seconds" + model, 0.0) - seconds) <= 1e-9 * seconds, f"{name}: {begin[1]}: parts {number}")
                direct[begin[1], model] += part
    check(sum(shown.values()) > 0, f"{name}: no waiting")
    for metric, seconds in shown.items():
        exact = sum(sum(values) for values in metrics[metric]["callpaths"].values())
        check(abs(seconds - exact) <= 1e-6 * exact + 1e-9, f"{name}: {metric}: slices of {seconds} s, analysis {exact} s")
    check_path(name, timeline, sum(sum(values) for values in metrics["critical_path"]["callpaths"].values()))
    for (metric, model), seconds in direct.items():
        if metric in CLASSES:
            exact = metrics[f"mpi_wait_direct_{CLASSES[metric]}{model}"]["total"]
            check(abs(seconds - exact) <= 1e-6 * exact + 1e-9, f"{name}: {metric}{model}: {seconds} s direct, analysis {exact} s")
    return len(begins)


def intervals(timeline, tracks):
    """(track, name, begin, end) of all slices."""
    for track in tracks:
        stack = []
        for ns, name, _ in timeline.slices(track):
            if name is not None:
                stack.append((name, ns))
            else:
                begun, since = stack.pop()
                yield track, begun, since, ns


def check_windows():
    """The same slices, cut to the windows, of which one is around the longest wait of all."""
    name, size = "npb_cg_s", 300000
    trace, whole, out = os.path.join(GOLDEN, name, "traces.otf2"), os.path.join(SCRATCH, f"{name}.perfetto-trace"), os.path.join(SCRATCH, "windows")
    done = run("export", "--to", "perfetto", "--max-size", str(size), "-o", out, trace)
    said = re.search(rf"larger than {size} bytes: it holds ([0-9.e-]+) of ([0-9.e-]+) s, in (\d+) windows? around the severest waiting", done.stderr)
    check(done.returncode == 0 and said and size / 4 < os.path.getsize(out) <= size, f"windows: {done}, {os.path.getsize(out)} bytes")
    part, all_of_it = Timeline(out), Timeline(whole)
    threads = [uuid for uuid, track in all_of_it.tracks.items() if track[4]]
    shown = sorted((begin, end) for _, _, begin, end in intervals(part, threads))
    windows = []
    for begin, end in shown:  # outermost slices last as long as their window
        if not windows or begin >= windows[-1][1]:
            windows.append([begin, end])
        windows[-1][1] = max(windows[-1][1], end)
    check(len(windows) <= int(said[3]) and abs(sum(end - begin for begin, end in windows) / 1e9 - float(said[1])) < 0.01 * float(said[1]), f"{windows}: {said[0]}")
    cut = collections.Counter((track, region, max(begin, first), min(end, last)) for track, region, begin, end in intervals(all_of_it, threads)
                              for first, last in windows if begin < last and end > first)
    got = collections.Counter(one for one in intervals(part, threads) if one[2] < one[3])
    check(got == +collections.Counter({one: n for one, n in cut.items() if one[2] < one[3]}), f"{len(got)} slices in the windows, {len(cut)} wanted")
    waiting = [uuid for uuid, track in all_of_it.tracks.items() if track[2] == [b"waiting"]]
    longest = max(intervals(all_of_it, waiting), key=lambda one: one[3] - one[2])
    check(longest in set(intervals(part, waiting)), f"the longest wait is not there: {longest}")
    arrows = collections.Counter(arrow for track in threads for _, event in part.events[track] for arrow in event[47] + event[48])
    check(arrows and set(arrows.values()) == {2}, "arrows with one end")


def check_refusals():
    trace = os.path.join(GOLDEN, "late_sender", "traces.otf2")
    out = os.path.join(SCRATCH, "refused")
    small = run("export", "--to", "perfetto", "--max-size", "1k", "-o", out, trace)
    check(small.returncode == 1 and "no part of the timeline fits into 1024 bytes: raise --max-size" in small.stderr, f"1k: {small}")
    check(not glob.glob(out + "*"), "a file that is too large stays")
    no_file = run("export", "--to", "perfetto", trace)
    check(no_file.returncode == 2 and "give -o FILE" in no_file.stderr, f"no -o: {no_file}")
    empty = os.path.join(SCRATCH, "empty")
    os.makedirs(empty)
    no_trace = run("export", "--to", "perfetto", "-o", out, empty)
    check(no_trace.returncode == 1 and "no traces.otf2 in it" in no_trace.stderr and no_trace.stderr.count("\n") == 1, f"no trace: {no_trace}")
    with open(os.path.join(empty, "traces.otf2"), "wb") as file:
        file.write(open(trace, "rb").read()[:40])
    damaged = run("export", "--to", "perfetto", "-o", out, empty)
    check(damaged.returncode == 1 and damaged.stderr.startswith("latecomer: ") and not os.path.exists(out), f"damaged: {damaged}")


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    arrows = {name: check_archive(name) for name in ARCHIVES}
    check(arrows["late_sender"] > 0 and arrows["npb_cg_s"] > 1000, f"arrows: {arrows}")
    check_windows()
    check_refusals()
    print(f"timelines of {len(ARCHIVES)} archives are those of the archives, arrows: {arrows}")


main()
