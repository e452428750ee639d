"""Programs whose times are judged, on a machine with other work: what others do falls between the program's instants and the tool's."""
import os
import tempfile

ATTEMPTS = 5


def judge(patterns, attempt):
    """attempt(pattern) returns what was off in time, which alone is tried again; all else it fails for by itself. In a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for pattern in patterns:
            for _ in range(ATTEMPTS):
                off = attempt(pattern)
                if not off:
                    break
                print("\n".join(off))
            else:
                raise SystemExit(f"FAILED: {off[0]}")
