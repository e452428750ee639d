/* Windows of a trace: what `--trace` takes, and how many halves come before a window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "format/trace_choice.h"
#include "format/trace_defs.h"

static void choices(void **state) {
    static const struct {
        const char *text;
        bool good;
        enum lc_record_what what;
        uint64_t from, until;
    } rows[] = {
        {NULL, true, LC_RECORD_NOTHING, 0, 0},
        {"", true, LC_RECORD_NOTHING, 0, 0},
        {"0", true, LC_RECORD_NOTHING, 0, 0},
        {"off", true, LC_RECORD_NOTHING, 0, 0},
        {"1", true, LC_RECORD_EVERYTHING, 0, 0},
        {"on", true, LC_RECORD_EVERYTHING, 0, 0},
        {"solve", true, LC_RECORD_PHASE, 0, 0},
        {"iterations", true, LC_RECORD_PHASE, 0, 0}, /* a name like any other */
        {"iterations 10-10", true, LC_RECORD_ITERATIONS, 10, 10},
        {"iterations 12-345", true, LC_RECORD_ITERATIONS, 12, 345},
        {"iterations 9-12", false, LC_RECORD_ITERATIONS, 9, 12},
        {"iterations 20-19", false, LC_RECORD_ITERATIONS, 20, 19},
        {"iterations 20", false, LC_RECORD_ITERATIONS, 20, 0},
        {"iterations 20-", false, LC_RECORD_ITERATIONS, 20, 0},
        {"iterations 20-30 ", false, LC_RECORD_ITERATIONS, 20, 30},
        {"iterations -20-30", false, LC_RECORD_ITERATIONS, 0, 0},
        {"iterations 20-99999999999999999999", false, LC_RECORD_ITERATIONS, 20, UINT64_MAX},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lc_trace_choice choice;
        bool good = lc_trace_choose(rows[i].text, &choice);
        if (good != rows[i].good || choice.what != rows[i].what)
            fail_msg("'%s': %d, %d", rows[i].text, good, choice.what);
        assert_int_equal(choice.from, rows[i].from);
        assert_int_equal(choice.until, rows[i].until);
        if (choice.what == LC_RECORD_PHASE)
            assert_string_equal(choice.phase, rows[i].text);
    }
}

static void put_begin(struct lc_strbuf *out) {
    const struct lc_def_process process = {.rank = 0, .size = 1};
    static const char texts[] = "host\0program\0arguments\0build";
    lc_trace_def_put(out, LC_DEF_PROCESS, &process, sizeof process, texts, sizeof texts);
}

static uint64_t before(const struct lc_trace_defs *defs, uint32_t tag, uint32_t half,
                       uint32_t window) {
    const struct lc_def_left_out channel = {.comm = 1, .peer = 2, .tag = tag, .half = half};
    return lc_trace_left_out_before(defs, &channel, window);
}

/* Tag 7: 3 sends before window 1, 2 between 1 and 2, of which one was cancelled, 4 between 3 and 4.
 * They come in any order and in parts. Twice the same stream says the same as once. */
static void counts(void **state) {
    const struct lc_def_left_out first[] = {{1, 2, 7, 0, 3, 4}, {1, 2, 7, 0, 0, 1}},
                                 second[] = {{1, 2, 7, 0, 1, 2}, {1, 2, 7, 1, 0, 50}},
                                 third[] = {{1, 2, 7, 0, 0, 2}, {1, 2, 7, 0, 1, -1}};
    struct lc_strbuf stream = {0};
    struct lc_trace_defs defs = {0};
    (void)state;
    put_begin(&stream);
    lc_trace_def_put(&stream, LC_DEF_WINDOWS, "solve", 6, NULL, 0);
    lc_trace_def_put(&stream, LC_DEF_LEFT_OUT, NULL, 0, first, sizeof first);
    lc_trace_def_put(&stream, LC_DEF_LEFT_OUT, NULL, 0, second, sizeof second);
    lc_trace_def_put(&stream, LC_DEF_LEFT_OUT, NULL, 0, third, sizeof third);
    assert_int_equal(lc_trace_defs_parse(&defs, stream.text, stream.length), LC_OK);
    assert_string_equal(defs.windows, "solve");
    for (int again = 0; again < 2; again++) {
        static const uint64_t wanted[] = {0, 3, 4, 4, 8, 8};
        for (uint32_t window = 0; window < sizeof wanted / sizeof *wanted; window++)
            assert_int_equal(before(&defs, 7, 0, window), wanted[window]);
        assert_int_equal(before(&defs, 7, 1, 1), 50);
        assert_int_equal(before(&defs, 8, 0, 9), 0);
        assert_int_equal(before(&defs, 6, 1, 9), 0);
        struct lc_strbuf more = {0}; /* a later part of the stream adds nothing here */
        put_begin(&more);
        assert_int_equal(lc_trace_defs_parse(&defs, more.text, more.length), LC_OK);
        lc_strbuf_free(&more);
    }
    lc_trace_defs_free(&defs);
    lc_strbuf_free(&stream);
}

/* Half an entry, a text without an end, sums below 0. */
static void damaged(void **state) {
    const struct lc_def_left_out negative = {1, 2, 7, 0, 0, INT32_MIN};
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct lc_strbuf stream = {0};
        struct lc_trace_defs defs = {0};
        put_begin(&stream);
        if (kind == 0)
            lc_trace_def_put(&stream, LC_DEF_LEFT_OUT, NULL, 0, &negative, sizeof negative - 1);
        else if (kind == 1)
            lc_trace_def_put(&stream, LC_DEF_WINDOWS, "solve", 5, NULL, 0);
        else
            lc_trace_def_put(&stream, LC_DEF_LEFT_OUT, NULL, 0, &negative, sizeof negative);
        assert_int_equal(lc_trace_defs_parse(&defs, stream.text, stream.length),
                         kind < 2 ? LC_ERR_FORMAT : LC_OK);
        assert_int_equal(before(&defs, 7, 0, 5), 0);
        lc_trace_defs_free(&defs);
        lc_strbuf_free(&stream);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(choices), cmocka_unit_test(counts),
                                       cmocka_unit_test(damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
