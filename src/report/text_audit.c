/* What was measured and what was not, and the health of the result: the rest of `meta` that bears
 * on trust. */
#include <string.h>

#include "base/plural.h"
#include "report/run_info.h"
#include "report/text_parts.h"

static void print_value(FILE *out, const json_t *value) {
    size_t i;
    json_t *item;
    const char *key;
    if (json_is_string(value)) {
        fputs(json_string_value(value), out);
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, item) {
            if (i == 8) {
                fprintf(out, ", .. (%zu in all)", json_array_size(value));
                break;
            }
            fputs(i > 0 ? ", " : "", out);
            print_value(out, item);
        }
    } else if (json_is_object(value)) {
        const char *separator = "";
        json_object_foreach((json_t *)value, key, item) {
            fprintf(out, "%s%s ", separator, key);
            print_value(out, item);
            separator = ", ";
        }
    } else if (json_is_real(value)) {
        fprintf(out, "%.4g", json_real_value(value));
    } else {
        json_dumpf(value, out, JSON_ENCODE_ANY);
    }
}

/* "calls_seen" is written "calls seen". */
static void print_key(FILE *out, const char *key) {
    int width = 0;
    for (; *key != '\0'; key++, width++)
        fputc(*key == '_' ? ' ' : *key, out);
    fprintf(out, "%*s ", width < 26 ? 26 - width : 1, "");
}

/* Nothing to tell: also a count of zero things, and an object of such. */
static bool is_empty(const json_t *value) {
    const char *key;
    json_t *member;
    if (!json_is_object(value))
        return value == NULL || json_is_null(value) || json_is_false(value) ||
               (json_is_number(value) && json_number_value(value) == 0.0) ||
               (json_is_array(value) && json_array_size(value) == 0) ||
               (json_is_string(value) && json_string_value(value)[0] == '\0');
    json_object_foreach((json_t *)value, key, member) if (!is_empty(member)) return false;
    return true;
}

/* What a count of the coverage audit means, where its name does not say it. */
static const char *meaning_of(const char *key) {
    static const struct {
        const char *key, *words;
    } meanings[] = {
        {"calls_lost", "not in the result, because there was no room for more call paths"},
        {"calls_in_callbacks",
         "made inside MPI callbacks: counted; their time belongs to the outer call"},
        {"bound_elsewhere", "these objects call MPI without going through the tool"},
        {"pcontrol_ignored", "MPI_Pcontrol with levels other than 0 and 1"},
        {"region_errors",
         "regions that ended without beginning, or were still open when an outer one ended"},
        {"switches", "times that measurement was started or stopped, all ranks together"},
        {"processes_spawned", "started by MPI_Comm_spawn and not measured"},
        {"openmp_calls", "made by a compiler newer than this tool: they reach libgomp unmeasured"},
        {"not_reported", "the OpenMP runtime tells nothing of these, or not always: their time "
                         "belongs to the code around them"},
        {"edges_lost", "between threads: the critical path may be longer"},
    };
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (strcmp(key, meanings[i].key) == 0)
            return meanings[i].words;
    return NULL;
}

static void print_object(const struct lc_text *text, const char *title, const json_t *object) {
    const char *key;
    json_t *value;
    if (!json_is_object(object) || is_empty(object))
        return;
    lc_text_heading(text, title, NULL);
    json_object_foreach((json_t *)object, key, value) {
        if (is_empty(value))
            continue;
        fputs("  ", text->out);
        print_key(text->out, key);
        print_value(text->out, value);
        const char *meaning = meaning_of(key);
        if (meaning != NULL)
            fprintf(text->out, "  (%s)", meaning);
        fputc('\n', text->out);
    }
}

static void print_health(const struct lc_text *text) {
    const json_t *health = json_object_get(text->meta, "health");
    if (json_is_object(health)) {
        print_object(text, "Health", health);
        return;
    }
    if (!json_is_array(health) || json_array_size(health) == 0)
        return;
    lc_text_heading(text, "Health", NULL);
    size_t i;
    json_t *item;
    json_array_foreach(health, i, item) {
        fputs("  ", text->out);
        print_value(text->out, item);
        fputc('\n', text->out);
    }
}

static double number(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

static void print_label(const struct lc_text *text, const char *label) {
    fputs("  ", text->out);
    print_key(text->out, label);
}

static void print_overhead(const struct lc_text *text) {
    const json_t *overhead = json_object_get(text->meta, "overhead");
    char total[32], rare[32], sampling[32], openmp[32], idle[32];
    if (!json_is_object(overhead))
        return;
    double total_s = number(overhead, "total_s");
    print_label(text, "own overhead");
    fprintf(text->out, "%.0f ns a call", number(overhead, "call_ns"));
    if (number(overhead, "rare_s") > 0)
        fprintf(text->out, ", %s at new call paths and communicators",
                lc_text_seconds(number(overhead, "rare_s"), rare));
    if (number(overhead, "sampling_s") > 0)
        fprintf(text->out, ", %s for samples",
                lc_text_seconds(number(overhead, "sampling_s"), sampling));
    if (number(overhead, "openmp_s") > 0)
        fprintf(text->out, ", about %s at constructs of OpenMP",
                lc_text_seconds(number(overhead, "openmp_s"), openmp));
    fprintf(text->out,
            ": %s in all (%.2f %% of the time), without what samples add to switches in calls",
            lc_text_seconds(total_s, total), lc_text_share(total_s, text->sums->total_time));
    double idle_s = lc_run_idle_overhead(overhead, text->sums);
    if (idle_s > 0.01 * total_s)
        fprintf(text->out, "; %s of it while ranks polled, and lost nothing",
                lc_text_seconds(idle_s, idle));
    fputc('\n', text->out);
}

static void print_start_and_end(const struct lc_text *text) {
    const json_t *own = json_object_get(text->meta, "start_and_end");
    char start[32], finish[32], result[32];
    if (!json_is_object(own))
        return;
    print_label(text, "own start and end");
    fprintf(text->out, "%s at the start", lc_text_seconds(number(own, "start_s"), start));
    if (number(own, "finish_s") > 0)
        fprintf(text->out, ", %s %s", lc_text_seconds(number(own, "finish_s"), finish),
                lc_text_without_mpi(text) ? "at the end" : "in MPI_Finalize");
    if (json_object_get(own, "result_s") != NULL)
        fprintf(text->out, ", %s for the result, after the program",
                lc_text_seconds(number(own, "result_s"), result));
    fputc('\n', text->out);
}

/* What is not as it should be with the data that travels with messages, in words. */
static void print_pairing(const struct lc_text *text) {
    static const struct {
        const char *key, *one, *several;
    } counts[] = {
        {"absent", "message came without clock data", "messages came without clock data"},
        {"mispaired",
         "message was paired with the wrong clock data (by its size, or a send that did not leave)",
         "messages were paired with the wrong clock data (by their size, or sends that did not "
         "leave)"},
        {"unsure", "message for MPI_ANY_SOURCE was paired by its order alone",
         "messages for MPI_ANY_SOURCE were paired by their order alone"},
        {"lost", "message has no clock data, because memory was short",
         "messages have no clock data, because memory was short"},
        {"late", "record arrived after its message was received",
         "records arrived after their message was received"},
        {"order_violations", "message was received before it was sent, according to the clocks",
         "messages were received before they were sent, according to the clocks"},
        {"collectives_skipped", "collective lacks the clocks of others, which arrived too late",
         "collectives lack the clocks of others, which arrived too late"},
        {"vectors_overwritten", "call path of a chain was overwritten by a later one",
         "call paths of chains were overwritten by later ones"},
        {"communicator_unknown",
         "operation used a communicator whose creation the tool did not see: no edge",
         "operations used communicators whose creation the tool did not see: no edges"},
        {"posts_unknown", "send did not learn at once when its receive was posted",
         "sends did not learn at once when their receive was posted"},
        {"edges_late",
         "call learned too late what it had waited for: its clocks had already been passed on",
         "calls learned too late what they had waited for: their clocks had already been passed "
         "on"},
    };
    const json_t *found = json_object_get(text->meta, "piggyback");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (number(found, counts[i].key) > 0)
            fprintf(text->out, "      %.0f %s\n", number(found, counts[i].key),
                    number(found, counts[i].key) == 1 ? counts[i].one : counts[i].several);
}

/* Messages that were sent, and that the program did not receive: where nothing else explains why
 * they were not matched. */
static double never_received(const struct lc_text *text) {
    static const char *const reasons[] = {"absent", "mispaired", "lost", "communicator_unknown"};
    const json_t *found = json_object_get(text->meta, "piggyback");
    double rest = number(text->meta, "messages_total") - number(text->meta, "messages_matched");
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (number(found, reasons[i]) > 0)
            return 0.0;
    const json_t *coverage = json_object_get(text->meta, "coverage");
    bool whole = !json_is_false(json_object_get(text->meta, "complete")) &&
                 number(coverage, "calls_lost") == 0 && number(coverage, "switches") == 0;
    return whole ? rest : 0.0;
}

/* What was sent beside the program's messages. */
static void print_records(const struct lc_text *text) {
    const json_t *found = json_object_get(text->meta, "piggyback");
    double records = number(found, "records"), mirrors = number(found, "mirrors");
    if (records + mirrors == 0)
        return;
    print_label(text, "extra messages");
    fprintf(text->out, "%.0f record%s", records, lc_plural(records));
    if (records > 0)
        fprintf(text->out, " of %.0f bytes, %.0f of them replies to senders",
                number(found, "record_bytes") / records, number(found, "replies"));
    fprintf(text->out, "; %.0f shadow collective%s\n", mirrors, lc_plural(mirrors));
}

static void print_matching(const struct lc_text *text) {
    if (json_object_get(text->meta, "messages_total") != NULL) {
        print_label(text, "messages matched");
        fprintf(text->out, "%.0f of %.0f", number(text->meta, "messages_matched"),
                number(text->meta, "messages_total"));
        double rest = never_received(text);
        if (rest > 0)
            fprintf(text->out, ": the program did not receive the other%s", rest > 1 ? "s" : "");
        fputc('\n', text->out);
        print_pairing(text);
        print_records(text);
    }
    double error = number(text->meta, "clock_error_s");
    char seconds[32];
    if (error > 0.0) {
        print_label(text, "clocks of the nodes agree");
        fprintf(text->out, "within %s", lc_text_seconds(error, seconds));
        double wait = number(json_object_get(text->meta, "clock_sync"), "wait_error_s");
        if (wait > 0.0)
            fprintf(text->out, "; a single wait between nodes is accurate to %s",
                    lc_text_seconds(wait, seconds));
        fputc('\n', text->out);
    }
}

/* Messages and collectives that clocks have in the wrong order. */
static double violations(const struct lc_text *text) {
    const json_t *found = json_object_get(text->meta, "violations");
    return number(found, "messages") + number(found, "collectives") + number(found, "before");
}

static void print_violations(const struct lc_text *text) {
    const json_t *found = json_object_get(text->meta, "violations");
    char seconds[32];
    if (violations(text) == 0.0)
        return;
    print_label(text, "clocks");
    if (json_is_true(json_object_get(found, "corrected")))
        fprintf(text->out,
                "corrected: %.0f violations of message order before, %.0f after, moved "
                "by up to %s\n",
                number(found, "before"), number(found, "messages") + number(found, "collectives"),
                lc_text_seconds(number(found, "largest_shift_s"), seconds));
    else
        fprintf(text->out,
                "received before sent: %.0f message%s; released too late: %.0f collective wait%s; "
                "by up to %s\n",
                number(found, "messages"), lc_plural(number(found, "messages")),
                number(found, "collectives"), lc_plural(number(found, "collectives")),
                lc_text_seconds(number(found, "largest_s"), seconds));
}

/* Call paths that were forgotten for want of memory, and unwound again when they came back. */
static void print_recycling(const struct lc_text *text) {
    double again_s = number(json_object_get(text->meta, "callpath"), "made_again_s");
    double share = lc_text_share(again_s, text->sums->total_time);
    if (share > 1.0)
        fprintf(text->out,
                "      ! call paths did not fit into memory: unwinding them again took %.1f %% of "
                "the time; --callpath=caller avoids it\n",
                share);
}

static void print_measurement(const struct lc_text *text) {
    static const char *const others[] = {"callpath", "transport", "derived_metrics_skipped"};
    bool any = json_object_get(text->meta, "overhead") != NULL ||
               json_object_get(text->meta, "messages_total") != NULL || violations(text) > 0.0;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        any = any || !is_empty(json_object_get(text->meta, others[i]));
    if (!any)
        return;
    lc_text_heading(text, "Measurement", NULL);
    print_overhead(text);
    print_start_and_end(text);
    print_matching(text);
    print_violations(text);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const json_t *value = json_object_get(text->meta, others[i]);
        if (value == NULL || is_empty(value))
            continue;
        print_label(text, others[i]);
        print_value(text->out, value);
        fputc('\n', text->out);
    }
    print_recycling(text);
}

/* What must hold for costs, path and indicators of an analysis. */
static void print_invariants(const struct lc_text *text) {
    const json_t *found = json_object_get(text->meta, "invariants");
    const json_t *broken = json_object_get(found, "broken"), *item;
    char a[32], b[32];
    size_t i;
    if (!json_is_object(found))
        return;
    lc_text_heading(text, "Invariants", NULL);
    print_label(text, "checks");
    fprintf(text->out, "%.0f, %zu failed\n", number(found, "checks"), json_array_size(broken));
    json_array_foreach(broken, i, item) fprintf(text->out, "    %s\n", json_string_value(item));
    print_label(text, "waiting");
    fprintf(text->out, "%s with a cause, %s without\n",
            lc_text_seconds(number(found, "waiting_with_cause_s"), a),
            lc_text_seconds(number(found, "waiting_without_cause_s"), b));
    print_label(text, "delay costs");
    fprintf(text->out, "%s, wait-first %s\n", lc_text_seconds(number(found, "delay_costs_s"), a),
            lc_text_seconds(number(found, "delay_costs_waitfirst_s"), b));
    print_label(text, "critical path");
    fprintf(text->out, "%s\n", lc_text_seconds(number(found, "critical_path_s"), a));
    print_label(text, "wait states");
    fprintf(text->out, "%.0f with a cause, %.0f of them because of other waiting\n",
            number(found, "wait_states_with_cause"), number(found, "indirect_wait_states"));
}

/* Calls of the OpenMP runtime that nobody measures, and what it does not tell. */
static void print_openmp(const struct lc_text *text) {
    static const char *const keys[][2] = {{"openmp_calls", "openmp_unknown_calls"},
                                          {"not_reported", "openmp_not_reported"},
                                          {"edges_lost", "openmp_edges_lost"}};
    json_t *unknown = json_object();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        json_object_set(unknown, keys[i][0], json_object_get(text->meta, keys[i][1]));
    print_object(text, "Coverage of OpenMP", unknown);
    json_decref(unknown);
}

void lc_text_audit(const struct lc_text *text) {
    print_object(text, "Coverage", json_object_get(text->meta, "coverage"));
    print_openmp(text);
    print_measurement(text);
    print_invariants(text);
    print_health(text);
}
