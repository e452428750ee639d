"""How close estimates of waiting from minima are to what the trace of the same run says: what was published for that (Mao et al. 2014), for call
paths that wait for 0.5 % of the time of all ranks or more. Within 2 points of that time for MPI_Recv and MPI_Wait (4.1.1), 0.45 points and 10 % of
the waiting for Wait at NxN (4.1.2)."""
from collections import defaultdict
from typing import NamedTuple

CLAIMS = {"mpi_latesender": (("MPI_Recv", "MPI_Wait"), 0.02, None), "mpi_wait_nxn": (None, 0.0045, 0.1)}  # kind: calls, points of all time, share of the waiting
LEAST = 0.005


class Compared(NamedTuple):
    metric: str
    path: str
    estimated: float  # shares of the time of all ranks
    analysed: float

    @property
    def points(self):
        return abs(self.estimated - self.analysed)

    @property
    def share(self):
        return self.points / self.analysed if self.analysed > 0 else float("inf")

    def holds(self):
        _, points, share = CLAIMS[self.metric]
        return self.points <= points and (share is None or self.share <= share)

    def text(self):
        return f"{self.metric} {self.path}: estimated {self.estimated:.2%}, analysed {self.analysed:.2%}"


def per_path(result, metric):
    """Call paths of profile and analysis are equal from main on; above are the frames of the C library or the program."""
    found = defaultdict(float)
    for path, values in result["metrics"].get(metric, {"callpaths": {}})["callpaths"].items():
        names = path.split("/")
        found["/".join(names[names.index("main"):] if "main" in names else names)] += sum(values)
    return found


def compared(profile, analysis):
    """Every call path that the claims are about."""
    whole = profile["metrics"]["time"]["total"]
    for metric, (calls, _, _) in CLAIMS.items():
        exact, estimated = per_path(analysis, metric), per_path(profile, metric + "_estimated")
        for path in sorted(set(exact) | set(estimated)):
            call = path.split("/")[-1]
            if max(exact[path], estimated[path]) < LEAST * whole or (call not in calls if calls else call.startswith("MPI_Wait")):
                continue  # a wait for a nonblocking collective operation is none of the paper's call paths
            yield Compared(metric, path, estimated[path] / whole, exact[path] / whole)
