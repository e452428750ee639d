#include "run/rules.h"

#include <stddef.h>

bool lc_rule_is_call(const struct lc_raw_row *row) {
    return row->size_class < LC_RAW_CLASS_COUNTERS;
}

static bool is_messages(const struct lc_raw_row *row) {
    return row->size_class == LC_RAW_CLASS_MESSAGES;
}

double lc_rule_time_s(const struct lc_raw_row *row) {
    return is_messages(row) ? 0.0 : (double)row->sum_ns * 1e-9;
}

static double visits_of(const struct lc_mpi_function *f, const struct lc_raw_row *row) {
    (void)f;
    return is_messages(row) ? 0.0 : (double)row->count;
}

static double min_of(const struct lc_mpi_function *f, const struct lc_raw_row *row) {
    return f != NULL && lc_rule_is_call(row) ? (double)row->min_ns * 1e-9 : 0.0;
}

static double max_of(const struct lc_mpi_function *f, const struct lc_raw_row *row) {
    return f != NULL && lc_rule_is_call(row) ? (double)row->max_ns * 1e-9 : 0.0;
}

static enum lc_mpi_traffic traffic(const struct lc_mpi_function *f, const struct lc_raw_row *row) {
    if (f == NULL || !lc_rule_is_call(row) || (row->flags & LC_RAW_ROW_NULL))
        return LC_MPI_TRAFFIC_NONE;
    return f->traffic;
}

static bool sends(enum lc_mpi_traffic kind) {
    return kind == LC_MPI_TRAFFIC_SEND;
}

static bool receives(enum lc_mpi_traffic kind, const struct lc_raw_row *row) {
    return kind == LC_MPI_TRAFFIC_RECV ||
           (kind == LC_MPI_TRAFFIC_COMPLETE && (row->flags & LC_RAW_ROW_RECV));
}

static double syncs_send(const struct lc_mpi_function *f, const struct lc_raw_row *row) {
    if (is_messages(row))
        return (double)row->max_ns;
    return sends(traffic(f, row)) ? (double)row->synced : 0.0;
}

static double comms_send(const struct lc_mpi_function *f, const struct lc_raw_row *row) {
    if (is_messages(row))
        return (double)row->min_ns;
    return sends(traffic(f, row)) ? (double)(row->count - row->synced) : 0.0;
}

static double syncs_recv(const struct lc_mpi_function *f, const struct lc_raw_row *row) {
    if (is_messages(row))
        return (double)row->sum_ns;
    return receives(traffic(f, row), row) ? (double)row->synced : 0.0;
}

static double comms_recv(const struct lc_mpi_function *f, const struct lc_raw_row *row) {
    if (is_messages(row))
        return (double)row->count;
    return receives(traffic(f, row), row) ? (double)(row->count - row->synced) : 0.0;
}

static double syncs_coll(const struct lc_mpi_function *f, const struct lc_raw_row *row) {
    return traffic(f, row) == LC_MPI_TRAFFIC_COLLECTIVE ? (double)row->synced : 0.0;
}

/* Calls of a collective by what they moved: out, in or both. */
static double collective(const struct lc_mpi_function *f, const struct lc_raw_row *row, bool out,
                         bool in) {
    if (traffic(f, row) != LC_MPI_TRAFFIC_COLLECTIVE || (row->bytes_sent != 0) != out ||
        (row->bytes_rcvd != 0) != in)
        return 0.0;
    return (double)(row->count - row->synced);
}

static double comms_cxch(const struct lc_mpi_function *f, const struct lc_raw_row *row) {
    return collective(f, row, true, true);
}

static double comms_csrc(const struct lc_mpi_function *f, const struct lc_raw_row *row) {
    return collective(f, row, true, false);
}

static double comms_cdst(const struct lc_mpi_function *f, const struct lc_raw_row *row) {
    return collective(f, row, false, true);
}

enum bytes_kind { BYTES_MESSAGES, BYTES_COLLECTIVE, BYTES_RMA };

static bool moves(const struct lc_mpi_function *f, const struct lc_raw_row *row,
                  enum bytes_kind kind) {
    if (f == NULL || !lc_rule_is_call(row))
        return false;
    switch (f->traffic) {
    case LC_MPI_TRAFFIC_COLLECTIVE:
    case LC_MPI_TRAFFIC_OTHER_COLLECTIVE:
        return kind == BYTES_COLLECTIVE;
    case LC_MPI_TRAFFIC_RMA:
        return kind == BYTES_RMA;
    default:
        return kind == BYTES_MESSAGES;
    }
}

static double bytes_sent(const struct lc_mpi_function *f, const struct lc_raw_row *row) {
    return moves(f, row, BYTES_MESSAGES) ? (double)row->bytes_sent : 0.0;
}

static double bytes_rcvd(const struct lc_mpi_function *f, const struct lc_raw_row *row) {
    return moves(f, row, BYTES_MESSAGES) ? (double)row->bytes_rcvd : 0.0;
}

static double bytes_cout(const struct lc_mpi_function *f, const struct lc_raw_row *row) {
    return moves(f, row, BYTES_COLLECTIVE) ? (double)row->bytes_sent : 0.0;
}

static double bytes_cin(const struct lc_mpi_function *f, const struct lc_raw_row *row) {
    return moves(f, row, BYTES_COLLECTIVE) ? (double)row->bytes_rcvd : 0.0;
}

static double bytes_put(const struct lc_mpi_function *f, const struct lc_raw_row *row) {
    return moves(f, row, BYTES_RMA) ? (double)row->bytes_sent : 0.0;
}

static double bytes_get(const struct lc_mpi_function *f, const struct lc_raw_row *row) {
    return moves(f, row, BYTES_RMA) ? (double)row->bytes_rcvd : 0.0;
}

const struct lc_metric_rule lc_rules[] = {
    {"visits", LC_RULE_SUM, visits_of},      {"min_time", LC_RULE_MINIMUM, min_of},
    {"max_time", LC_RULE_MAXIMUM, max_of},   {"syncs_send", LC_RULE_SUM, syncs_send},
    {"comms_send", LC_RULE_SUM, comms_send}, {"syncs_recv", LC_RULE_SUM, syncs_recv},
    {"comms_recv", LC_RULE_SUM, comms_recv}, {"syncs_coll", LC_RULE_SUM, syncs_coll},
    {"comms_cxch", LC_RULE_SUM, comms_cxch}, {"comms_csrc", LC_RULE_SUM, comms_csrc},
    {"comms_cdst", LC_RULE_SUM, comms_cdst}, {"bytes_sent", LC_RULE_SUM, bytes_sent},
    {"bytes_rcvd", LC_RULE_SUM, bytes_rcvd}, {"bytes_cout", LC_RULE_SUM, bytes_cout},
    {"bytes_cin", LC_RULE_SUM, bytes_cin},   {"bytes_put", LC_RULE_SUM, bytes_put},
    {"bytes_get", LC_RULE_SUM, bytes_get},   {NULL, LC_RULE_SUM, NULL},
};
