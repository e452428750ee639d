#include "measure/clocks/record_format.h"

#include <stddef.h>
#include <string.h>

#include "measure/clocks/clocks.h"
#include "measure/clocks/global_time.h"
#include "piggyback/match.h"

void lc_clk_pack_stamp(const struct lc_stamp *stamp, uint64_t *words) {
    double enter = lc_clk_to_global(stamp->enter);
    memcpy(&words[0], &enter, sizeof enter);
    words[1] = lc_clk_ns_of(stamp->useful);
    words[2] = lc_clk_ns_of(stamp->outside_omp);
    words[3] = lc_clk_ns_of(stamp->phase_useful);
    words[4] = (uint64_t)stamp->interval << 32 | stamp->phase;
}

struct lc_stamp lc_clk_unpack_stamp(const uint64_t *words) {
    double enter;
    memcpy(&enter, &words[0], sizeof enter);
    return (struct lc_stamp){.enter = lc_clk_from_global(enter),
                             .useful = lc_clk_ticks_of(words[1]),
                             .outside_omp = lc_clk_ticks_of(words[2]),
                             .phase_useful = lc_clk_ticks_of(words[3]),
                             .interval = (uint32_t)(words[4] >> 32),
                             .phase = (uint32_t)words[4],
                             .node = (uint32_t)(words[5] >> 32)};
}

uint32_t lc_clk_unpack_reply(const uint64_t *words, struct lc_stamp *post) {
    *post = lc_clk_unpack_stamp(words);
    return (uint32_t)words[5];
}

uint64_t lc_clk_record_flags(const struct lc_ring_entry *entry) {
    const struct lc_stashed *item =
        (const struct lc_stashed *)((const char *)entry - offsetof(struct lc_stashed, entry));
    return item->n_extra > 1 ? item->extra[1] : 0;
}
