"""What must hold for the metrics of any trace with correct clocks (and, but for what `exact_clocks` guards, of any trace)."""

KINDS = {"ls": "mpi_latesender", "lr": "mpi_latereceiver", "barrier": "mpi_barrier_wait", "n2n": "mpi_wait_nxn",
         "12n": "mpi_latebroadcast", "n21": "mpi_earlyreduce", "scan": "mpi_earlyscan", "mgmt": "mpi_mgmt_comm_wait",
         "finalize": "mpi_finalize_wait"}
LONG_NAME = {"ls": "latesender", "lr": "latereceiver"}


def broken(result, wall_time, exact_clocks=True, relative=1e-9):
    """Lines that tell what does not hold in a result of the form {"ranks", "metrics", "mpi_only"}."""
    metrics, lines = result["metrics"], []
    total = lambda name: metrics[name]["total"]

    def same(what, a, b):
        if not abs(a - b) <= relative * max(abs(a), abs(b), wall_time):
            lines.append("%s: %.17g and %.17g" % (what, a, b))

    for kind, wait in KINDS.items():
        name = LONG_NAME.get(kind, kind)
        for model in ("", "_waitfirst"):
            short, long_ = total("delay_%s%s" % (name, model)), total("delay_%s_longterm%s" % (name, model))
            direct = total("mpi_wait_direct_%s%s" % (name, model))
            indirect = total("mpi_wait_indirect_%s%s" % (name, model))
            shares = total("mpi_wait_propagating_%s%s" % (kind, model)) + total(
                "mpi_wait_terminal_%s%s" % (kind, model))
            same("short-term = direct, %s%s" % (kind, model), short, direct)
            same("long-term = indirect, %s%s" % (kind, model), long_, indirect)
            same("all costs = waiting, %s%s" % (kind, model), short + long_, total(wait))
            same("propagating + terminal = waiting, %s%s" % (kind, model), shares, total(wait))
        if exact_clocks and total("delay_%s_waitfirst" % name) > total("delay_%s" % name) + relative * wall_time:
            lines.append("%s: wait-first books more short-term costs than proportional" % kind)
    for metrics_of, where in ((metrics, ""), (result["mpi_only"], "mpi_only ")):
        length = metrics_of["critical_path"]["total"]
        if not where and exact_clocks:
            same("length of the path = wall time", length, wall_time)
        parts = sum(metrics_of[name]["total"] for name in ("critical_path_activities", "non_critical_path_activities",
                                                           "critical_imbalance_impact"))
        if exact_clocks:
            same(where + "performance impact = ranks * length", parts, result["ranks"] * length)
        same(where + "intra + inter = impact", metrics_of["intra_partition_imbalance"]["total"]
             + metrics_of["inter_partition_imbalance"]["total"], metrics_of["critical_imbalance_impact"]["total"])
    for name, metric in list(metrics.items()) + list(result["mpi_only"].items()):
        for path, row in metric["callpaths"].items():
            if min(row) < -relative * wall_time or not all(v == v for v in row):
                lines.append("%s %s: negative or no number" % (name, path))
    return lines

