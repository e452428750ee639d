/* Rows of a thread's state that samples are booked in, found by their node, or, of the class
 * LC_RAW_CLASS_ADDRESS, by node and address. */
#ifndef LC_MEASURE_SAMPLES_SAMPLE_ROWS_H
#define LC_MEASURE_SAMPLES_SAMPLE_ROWS_H

#include <stdint.h>

struct lc_state_row;
struct lc_thread;

enum { LC_SAMPLE_ADDRESSES = 4096 }; /* of a thread; samples at others are not kept by address */

struct lc_sample_rows {         /* of one class */
    struct lc_state_row **rows; /* hash; NULL: none yet */
    uint32_t n, mask;
};

/* The row, made if it is not there; NULL: no memory. address: 0 of other classes. */
struct lc_state_row *lc_sample_row(struct lc_thread *t, struct lc_sample_rows *all, uint32_t class,
                                   uint32_t node, uint64_t address);

#endif
