"""The tool under a sanitizer beside a program that is not."""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "programs"))
import launch  # noqa: E402


def library_of(words):
    """Takes --sanitizer=LIBRARY (its run-time library), which may stand first, off the arguments of a test. None: it is not there."""
    return words.pop(1).split("=", 1)[1] if len(words) > 1 and words[1].startswith("--sanitizer=") else None


def before(library, threads_go_on=False):
    """Words before `latecomer run`; reports go to the current directory. threads_go_on: when the process ends, others of its threads work: of
    these the tool takes what is there then."""
    if library is None:
        return []
    common = f"log_path={os.getcwd()}/san exitcode=0"
    Path("suppressions").write_text("race:lc_job_end\n" if threads_go_on else "", encoding="ascii")
    return ["env", f"LD_PRELOAD={library}", f"TSAN_OPTIONS={common} suppressions={os.getcwd()}/suppressions", f"UBSAN_OPTIONS={common} print_stacktrace=1",
            f"ASAN_OPTIONS={common} detect_leaks=0 verify_asan_link_order=0"]


def report():
    """The first report about the tool; None: there is none."""
    found = launch.sanitizer_reports(Path())
    return found[0][:3000] if found else None
