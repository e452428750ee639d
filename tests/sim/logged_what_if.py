"""How long the run of a log (logged_trace.py) would have taken with other times: what `latecomer analyze --what-if` must say, by docs/root-causes.md (gains)
and docs/definitions/efficiency-factors.md (what-if clocks). Each stretch keeps its duration but for the factors; a call goes on when all have come that it
needs. Left out is what these pages say that a replay does not know: receives that keep a sender waiting now but did not, and what else of several that a
call completes with MPI_Waitsome came later."""
import math

import oracle

MUTUAL = {"barrier", "n2n", "mgmt"}  # operations in which all wait for all


def share_of(scenario):
    """Function of a call path: what part of its time goes. The factors of all functions in it count; mpi: what MPI calls take but to wait."""
    factors = dict(scenario)

    def share(path):
        if path[-1].startswith("MPI_"):
            return 1 - factors.get("mpi", 1)
        return 1 - math.prod(factors[name] for name in set(path) if name in factors)
    return share


def waited(state):
    return max(state.w, 0) if state is not None else 0


def needs(call):
    """The calls that have to begin before this one goes on, and until when it waited."""
    states = [state for _, state in oracle.candidates(call, True)]
    if call.name == "mpi_waitsome":  # returns with the first
        first = min(states, key=waited, default=None)
        states = [state for state in states if state is first or waited(first) == 0 == waited(state)]
    longest = max(states, key=waited, default=None)
    states = [state for state in states if state is not None and (state.kind != "lr" or state is longest and state.w > 0)]
    calls = [state.cause_call for state in states if state.kind not in MUTUAL or waited(state) > 0]
    for what, member in call.completions:
        operation = member.operation if what in ("coll", "nbc") else None
        if operation is None:
            continue
        if operation.kind in MUTUAL or operation.kind == "n21" and member.process == member.root:
            calls += [other.start_call for other in operation.members if other is not member]
    return calls, max([call.en, *(min(state.u, call.lv) for state in states)])


def length(analysis, scenario):
    """ns of the run, from the first event to the last, at least and at most: in which of its functions a further thread was behind its last call is not logged."""
    trace, share = analysis.t, share_of(scenario)
    begun, now, at = {}, [0] * trace.n, [0] * trace.n  # call -> new time; of each location: new time of its last call, number of the next
    all_of = {id(call): calls for calls in (analysis.init, analysis.finalize) for call in calls if call}

    def go_on(place):
        """One call more, if all that it needs have begun."""
        if at[place] == len(trace.calls[place]):
            return False
        call, previous = trace.calls[place][at[place]], trace.calls[place][at[place] - 1] if at[place] else None
        if id(call) not in begun:
            begun[id(call)] = now[place] + ((call.en - previous.lv) * (1 - share(call.before)) if previous else call.en - trace.t0)
        if id(call) in all_of:
            calls = [other for other in all_of[id(call)] if other]
            until = min(max(other.en for other in calls), call.lv)
        else:
            calls, until = needs(call)
        if any(id(other) not in begun for other in calls):
            return False
        now[place] = max([begun[id(call)], *(begun[id(other)] for other in calls)]) + (call.lv - until) * (1 - share(call.path))
        at[place] += 1
        return True

    while any([go_on(place) for place in range(trace.n)]):
        pass
    if any(at[place] < len(calls) for place, calls in enumerate(trace.calls)):
        raise ValueError("the log's calls wait for each other in a circle")
    kept = [[1 - share(calls[-1].path[:depth]) for depth in range(1, len(calls[-1].path))] for calls in trace.calls]
    after = [calls[-1].after for calls in trace.run.calls]
    return tuple(max(ns + more * part(of) for ns, more, of in zip(now, after, kept)) for part in (min, max))
