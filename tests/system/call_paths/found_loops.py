"""Loops that are found without annotation: how often, in which call path; slow iterations and warm-up by their numbers.

found_loops.py LATECOMER FLAVOUR PROGRAM always|timed
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "programs"))
import launch  # noqa: E402

LATECOMER, FLAVOUR, PROGRAM, WHEN = sys.argv[1:5]
N = 100
# kind: (functions one of which the loop must be in, least and most iterations); the first visit of a site may belong to the code before.
ALWAYS = {"flat": (("run", "sum"), N - 2, N), "nested": (("run",), N - 2, N), "output": (("run",), N - 2, N), "setup": (("run", "sum"), N - 2, N),
          "setups": (("steps", "sum"), N - 2, N), "edges": (("steps", "sum"), N - 2, N), "uneven": (("uneven",), N - 2, N), "commands_5": (("steps", "sum"), N - 2, N),
          "commands_13": (("steps", "sum"), N - 2, N)}
TIMED = {"neighbours": (("run", "exchange"), N - 2, N), "slow": (("run", "sum"), N - 2, N)}
# Each loop's function and number of ranks.
BY_FUNCTION = {"halves": [("even", 2), ("odd", 2)], "turns": [("turns", 4), ("turns", 4)]}
bad = 0


def check(good, what):
    global bad
    print(("" if good else "WRONG: ") + what)
    bad += not good


def main():
    with launch.Workspace(FLAVOUR, LATECOMER, virtual=WHEN == "timed") as space:
        for kind, wanted in ({**ALWAYS, "few": None, **BY_FUNCTION} if WHEN == "always" else TIMED).items():
            done = space.run([*space.launcher(4), *space.tool(directory=kind), PROGRAM, kind, str(N)])
            if done.status != 0:
                sys.exit(f"{kind}: exit {done.status} {done.err[-300:]}")
            pop = space.show(directory=kind)["pop"]
            loops = pop["iterations"]
            if wanted is None:
                check(loops == [], f"{kind}: nothing repeats 10 times: {loops}")
                continue
            if kind in BY_FUNCTION:
                found = sorted((loop["callpath"].split("/")[-1], loop["ranks"]) for loop in loops)
                check(found == wanted and all(N - 2 <= loop["count"] <= N for loop in loops), f"{kind}: each on its ranks: {found}")
                continue
            if kind == "edges":
                check(len(loops) == 2 and "steps" in loops[0]["callpath"].split("/"), f"{kind}: what covers most is first: {[loop['callpath'] for loop in loops]}")
            loops.sort(key=lambda loop: -loop["count"])
            first = loops[0] if loops else {"count": 0, "callpath": "", "found_by": "", "ranks": 0, "kept": 0}
            where, least, most = wanted
            check(least <= first["count"] <= most and first["callpath"].split("/")[-1] in where and first["ranks"] == 4,
                  f"{kind}: {first['count']} iterations in {first['callpath']} of {first['ranks']} ranks, {len(loops)} loops")
            if kind.startswith("commands"):
                check(len(loops) == 1, f"{kind}: reading of commands is no loop: {[(loop['count'], loop['callpath']) for loop in loops]}")
            if kind == "setup":
                check(any(loop["count"] in (10, 11) for loop in loops), f"{kind}: the loop of the set-up: {[loop['count'] for loop in loops]}")
            if kind == "setups":
                # A rank leaves out what took it least time, another one what took that: what one leaves out may be in the result by the others.
                left_out = pop.get("loops_left_out", {"loops": 0})["loops"]
                check(len(loops) == 8 and 20 - 8 <= left_out <= 21, f"{kind}: {len(loops)} loops of the 21, {pop.get('loops_left_out')} left out")
            if kind == "slow":
                check(first["warm_up"] in (2, 3, 4), f"{kind}: warm-up {first['warm_up']}")
                worst = first["outliers"][0]
                check(abs(worst["from"] - 49) <= 1 and abs(worst["to"] - 54) <= 1 and worst["rank"] == 3 and 3 < worst["times_median"] < 5, f"{kind}: {worst}")
                check("run" in worst.get("callpath", "").split("/"), f"{kind}: what took longer: {worst.get('callpath')}")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
