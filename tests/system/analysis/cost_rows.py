"""What waiting costs, by cause (rank and call path of code): as the profile knows it on the fly, beside the delay costs (wait-first) of the analysis of the
same run."""
import tarfile
from collections import defaultdict


def tail(path):
    names = path.split("/")
    return "/".join(names[names.index("main"):] if "main" in names else names)


def table(result, member):
    with tarfile.open(f"{result}/profile.cubex") as tar:
        lines = tar.extractfile(member).read().decode().rstrip("\0").splitlines()
    assert all(lines), f"{member}: an empty line"
    head, *rows = [line.split("\t") for line in lines]
    return [dict(zip(head, row)) for row in rows]


def of_profile(result, analysis):
    """Calls that are only counted are not in the trace: what they take is their caller's there."""
    known = {tail(path) for path in analysis["metrics"]["visits"]["callpaths"]}
    costs = defaultdict(float)
    for row in table(result, "costs.tsv"):
        path = tail(row["late_callpath"])
        while path not in known and "/" in path:
            path = path.rsplit("/", 1)[0]
        costs[int(row["late_rank"]), path] += float(row["seconds"])
    return costs


def of_analysis(analysis):
    costs = defaultdict(float)
    for path, values in analysis["metrics"]["delay_waitfirst"]["callpaths"].items():
        for location, value in zip(analysis["locations"], values):
            costs[location["rank"], tail(path)] += value
    return costs


class Apart:
    """Both, and how far they are apart in parts of all waiting."""

    def __init__(self, result, profile, analysis):
        self.sums = profile["meta"]["waiting_costs"]
        self.have, self.want = of_profile(result, analysis), of_analysis(analysis)
        self.keys = sorted(set(self.have) | set(self.want), key=lambda key: -max(self.have[key], self.want[key]))
        self.waits = sum(self.want.values())
        self.unknown = self.sums["unknown_direct_s"] + self.sums["unknown_indirect_s"]
        self.worst = max(self.keys, key=lambda key: abs(self.have[key] - self.want[key]))

    def off(self, key):
        return abs(self.have[key] - self.want[key]) / self.waits

    def in_wrong_rows(self):
        return sum(map(self.off, self.keys)) / 2

    def text(self):
        rank, path = self.worst
        return (f"waits {self.sums['waits_s']:.4f} s, costs {self.sums['costs_s']:.4f} s ({self.sums['direct_s']:.4f} direct, {self.sums['indirect_s']:.4f} indirect, "
                f"{self.unknown:.4f} unknown); analysis {self.waits:.4f} s; {self.in_wrong_rows():.1%} of all waiting in wrong rows, most of it {self.off(self.worst):.1%}: "
                f"rank {rank} in {path}, {self.have[self.worst]:.4f} s, analysis {self.want[self.worst]:.4f} s")

    def rows(self, most=14):
        return "\n".join(f"    {key[0]:3} {self.have[key]:9.4f} {self.want[key]:9.4f}  {key[1]}" for key in self.keys[:most])
