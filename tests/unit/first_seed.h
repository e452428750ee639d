/* Where a test begins to draw: with the seed that it always has, or as much further on as
 * LC_TEST_SEED says (tests/nightly/nightly.py, part seeds). */
#ifndef LC_TESTS_FIRST_SEED_H
#define LC_TESTS_FIRST_SEED_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t first_seed(uint64_t usual) {
    const char *further = getenv("LC_TEST_SEED");
    return further == NULL ? usual : usual + strtoull(further, NULL, 10);
}

#endif
