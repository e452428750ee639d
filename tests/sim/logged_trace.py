"""What `analyze` must find in the trace of a run of sim_random: the run as the program logged it (truth.py), given to the oracle of the trace analysis
(system/analysis/oracle.py), which has the definitions of docs/definitions/wait-states.md. How long the tool is busy at the end of MPI_Init and
MPI_Finalize, which is no part of them, the log does not know: `times` of the analysis say how long these were."""
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "system" / "analysis"))
import oracle  # noqa: E402
import truth  # noqa: E402

FROM_ROOT, TO_ROOT = ("Bcast", "Scatter"), ("Reduce", "Gather")  # only the root sends, or receives


class LoggedTrace(oracle.Trace):
    """A location is a thread that calls MPI."""

    def __init__(self, run, times):  # without an archive, so without oracle.Trace's own
        self.times = times  # path -> rank -> seconds
        self.run, self.n, self.n_processes, self.resolution = run, len(run.calls), run.ranks, 10 ** 9
        self.visits = defaultdict(lambda: [0] * self.n)
        self.counts = {}
        self.of = {}  # call of the log -> call of the oracle
        self.calls = [[self._call(call, index) for index, call in enumerate(calls)] for calls in run.calls]
        self.root_path = [calls[0].path[:1] for calls in self.calls]
        self.first, self.last = [calls[0].en for calls in self.calls], [calls[-1].lv for calls in self.calls]
        self.segments = [list(self._segments(first, calls)) for first, calls in zip(self.first, self.calls)]
        self.t0, self.t1 = min(self.first), max(self.last)
        self.sends, self.receives, self.operations = [], [], []
        self.messages = {key: self._message(send) for key, send in run.sends.items()}
        self.members = {key: self._operation(meeting) for key, meeting in run.meetings.items()}
        for calls in run.calls:
            for call in calls:
                for word, *rest in call.lines:
                    self._line(call, word, rest)

    def _call(self, call, index):
        made = oracle.Call(call.place, call.path, call.function.lower(), True, call.begin, index)
        made.lv, made.before = call.end, call.before
        if call.function in truth.ENDS:
            made.lv = call.begin + round(1e9 * self.times[call.key].get(call.place, 0))
        self.of[call] = made
        for depth in range(1, len(call.path) + 1):
            self.visits[call.path[:depth]][call.place] += 1
        return made

    @staticmethod
    def _segments(ended, calls):
        for call in calls:
            if call.en > ended:
                yield ended, call.en, call.before
            if call.lv > call.en:
                yield call.en, call.lv, call.path
            ended = call.lv

    def _message(self, send):
        made = oracle.Message(self.of[send.call], send.size, None, send.call.rank, send.to, None)
        made.post_call = self.of[send.posted]
        self.sends.append(made)
        return made

    def _operation(self, meeting):
        members = {}
        for rank, (kind, root, call, me) in meeting.items():
            create = kind.startswith("Comm_")
            nonblocking = call.function == f"MPI_I{kind.lower()}"
            sent = kind not in FROM_ROOT or rank == root
            received = rank == root if kind in TO_ROOT else kind not in FROM_ROOT or rank != root
            of_root = meeting[root][2].place if root in meeting else None
            members[rank] = oracle.Member(call.place, me, "CREATE_HANDLE" if create else kind.upper(), of_root, int(sent), int(received), nonblocking,
                                          self.of[call], self.of[call], call.begin, call.end)  # of nonblocking ones the call that completes comes later
        operation = oracle.Operation(sorted(members.values(), key=lambda m: m.rank), len(members))
        for member in members.values():
            member.operation = operation
        self.operations.append(operation)
        return members

    def _line(self, call, word, rest):
        """What a call completes, in the order of its lines."""
        made, run = self.of[call], self.run
        if word == "S" and rest[4] == "-1":
            made.completions.append(("send", self.messages[call.rank, rest[0]]))
        elif word == "D":
            made.completions.append(("isend", self.messages[call.rank, run.requests[call.rank, rest[0]].number]))
        elif word == "R":
            message = self.messages[int(rest[1]), rest[2]]
            index = made.index * 1000 + len(made.completions)
            receive = oracle.Receive(message.post_call, message.post_call.index, made, index, message.key, message.bytes)
            receive.message = message
            message.recv_call, message.recv_index = made, index
            self.receives.append(receive)
            made.completions.append(("recv" if rest[0] == "-1" else "irecv", receive))
        elif word == "K":
            made.completions.append(("coll", self.members[rest[0], rest[3]][call.rank]))
        elif word == "E":
            member = self.members[run.requests[call.rank, rest[0]]][call.rank]
            member.wait_call, member.wait_start, member.end = made, made.en, made.lv
            made.completions.append(("nbc", member))


def analysis(run, times):
    return oracle.Analysis(LoggedTrace(run, times))


class WaitFirst(oracle.Analysis):
    """Delay costs by the model `wait-first` alone."""

    def _delay_costs(self, model):
        if model == "_waitfirst":
            super()._delay_costs(model)

    def _critical_path(self, *_):
        pass


def delay_costs(run, times):
    """(rank, call path) -> ns that waiting cost that began there, short-term and long-term, by the model `wait-first`."""
    costs = defaultdict(float)
    for name, rows in WaitFirst(LoggedTrace(run, times)).metrics.items():
        for path, row in rows.items() if name.startswith("delay_") else ():
            for rank, ns in enumerate(row):
                costs[rank, "/".join(path)] += float(ns)
    return costs
