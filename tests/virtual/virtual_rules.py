"""The rules of virtual time (virtual.h), by a program without the tool: virtual_rules.py PROGRAM FLAVOUR. Also that a call without a rule ends the
program with its name."""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "system" / "programs"))
import launch  # noqa: E402


def main():
    program, flavour = os.path.abspath(sys.argv[1]), sys.argv[2]
    found = []
    with launch.Workspace(flavour, None, virtual=True) as work:
        done = work.run([*work.launcher(4), program])
        if done.status != 0 or "all rules hold" not in done.out:
            found.append(f"status {done.status}\n{done.out[-3000:]}{done.err[-1500:]}")
        done = work.run([*work.launcher(2), program, "unknown"])
        if done.status == 0 or "no rule for MPI_Comm_join" not in done.err:
            found.append(f"a call without a rule: status {done.status}\n{done.err[-1500:]}")
    print("\n".join(found) or "all rules hold")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
