"""Records of an archive per location, in a form that two archives of the same program have in common.

sequences.py OURS GOLDEN   prints the differences; exit 1 if there are any beyond the known ones:
  ProgramBegin/End (ours has none), MpiRequestTest and samples (the golden archives were measured without them), create/destroy handle operations.
Definitions are compared where records refer to them: the golden archives define all MPI functions, and a topology of processes and threads.
"""
import sys

import otf2
from otf2 import events as e

KNOWN = (e.ProgramBegin, e.ProgramEnd, e.MpiRequestTest, e.CallingContextSample)


class Numbers:
    """Numbers that differ between archives (requests), by order of first appearance."""

    def __init__(self):
        self.seen = {}

    def __getitem__(self, key):
        return self.seen.setdefault(key, len(self.seen) + 1)


def comm_key(comm):
    """A communicator without its number: name, members."""
    group = getattr(comm, "group", None)
    members = tuple(m if isinstance(m, int) else m._ref for m in group.members) if group is not None else ()
    return (comm.name or "", members)


def describe(event, requests):
    kind = type(event).__name__
    if isinstance(event, (e.Enter, e.Leave)):
        return (kind, event.region.name)
    if isinstance(event, (e.MpiCollectiveEnd, e.NonBlockingCollectiveComplete)):
        out = (kind, str(event.collective_op), comm_key(event.communicator), event.root, event.size_sent, event.size_received)
        return out + ((requests[event.request_id],) if hasattr(event, "request_id") else ())
    if isinstance(event, (e.CommCreate, e.CommDestroy)):
        return (kind, comm_key(event.communicator))
    out = (kind,)
    for field in ("receiver", "sender", "msg_tag", "msg_length"):
        if hasattr(event, field):
            out += (getattr(event, field),)
    if hasattr(event, "communicator"):
        out += (comm_key(event.communicator),)
    if hasattr(event, "request_id"):
        out += (requests[event.request_id],)
    return out


def is_handle(event):
    return isinstance(event, e.MpiCollectiveEnd) and "HANDLE" in str(event.collective_op)


def read(path, handles):
    sequences, requests, begins = {}, {}, {}
    with otf2.reader.open(str(path)) as trace:
        for location, event in trace.events:
            key = location._ref
            if isinstance(event, KNOWN):
                continue
            sequence = sequences.setdefault(key, [])
            if is_handle(event) and not handles:
                del sequence[begins[key]]
                continue
            if isinstance(event, e.MpiCollectiveBegin):
                begins[key] = len(sequence)
            sequence.append(describe(event, requests.setdefault(key, Numbers())))
    return sequences


def definitions(path):
    """What the records refer to, field by field: kind and name -> fields. Files of functions without directory."""
    out = {}
    with otf2.reader.open(str(path)) as trace:
        used = {event.region._ref for _, event in trace.events if isinstance(event, e.Enter)}
        d = trace.definitions
        for r in d.regions:
            if r._ref in used:
                out["region", r.name] = (r.canonical_name, r.description, str(r.region_role), str(r.paradigm), str(r.region_flags),
                                         str(r.source_file).rpartition("/")[2], r.begin_line_number, r.end_line_number)
        for c in d.comms:
            if c.group.paradigm == otf2.Paradigm.MPI:
                out.setdefault(("communicator", *comm_key(c)), []).append(
                    (c.parent and c.parent.name, str(c.group.group_type), c.group.name, str(c.group.group_flags), str(c.flags)))
        for g in d.location_groups:
            node = g.system_tree_parent
            out["process", g._ref] = (g.name, str(g.location_group_type), node.class_name, node.parent.class_name, node.parent.name)
        for l in d.locations:
            out["location", l._ref] = (l.name, str(l.type), l.group._ref)
        for g in d.groups:
            if g.paradigm == otf2.Paradigm.MPI and g.group_type == otf2.GroupType.COMM_LOCATIONS:
                out["MPI locations"] = (g.name, [m._ref for m in g.members])
        for p in d.paradigm_properties:
            out["property", str(p.paradigm), str(p.property)] = str(p.value)
    return out


def definition_differences(ours, golden):
    return [f"{key}: {ours.get(key)} instead of {golden.get(key)}" for key in sorted(set(ours) | set(golden), key=str)
            if ours.get(key) != golden.get(key)]


def differences(ours, golden):
    found = []
    for location in sorted(set(ours) | set(golden)):
        a, b = ours.get(location, []), golden.get(location, [])
        for i in range(max(len(a), len(b))):
            left, right = a[i] if i < len(a) else None, b[i] if i < len(b) else None
            if left != right:
                found.append(f"location {location}, record {i}: {left} instead of {right}")
                if len(a) != len(b):
                    break
    return found


if __name__ == "__main__":
    with_handles = len(sys.argv) > 3 and sys.argv[3] == "handles"
    lines = differences(read(sys.argv[1], with_handles), read(sys.argv[2], with_handles))
    print("\n".join(lines[:40]))
    sys.exit(1 if lines else 0)
