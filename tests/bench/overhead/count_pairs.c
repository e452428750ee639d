/* What counting a message to a rank costs (piggyback/pairs.h): a loop of lc_pairs_sent beside the
 * same loop without it, by the number of partners, which take turns. Prints "<partners> <ns>
 * <least> <most>": the median of 15 attempts, in processor time. Beyond 256 partners each turn is
 * the worst case, as most have no row. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "piggyback/pairs.h"

enum { ATTEMPTS = 15, MESSAGES = 4000000 };

static struct lc_pairs pairs;
static uint32_t ranks[4096];

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double loop(int counted) {
    double begin = cpu_ns();
    for (uint32_t i = 0; i < MESSAGES; i++) {
        uint32_t rank = ranks[i % 4096];
        __asm__ volatile("" : "+r"(rank)::"memory");
        if (counted)
            lc_pairs_sent(&pairs, rank, 8);
    }
    return (cpu_ns() - begin) / MESSAGES;
}

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int main(void) {
    static const uint32_t partners[] = {1, 6, 26, 256, 300, 1024};
    for (size_t k = 0; k < sizeof partners / sizeof *partners; k++) {
        double ns[ATTEMPTS];
        pairs = (struct lc_pairs){.n = 0};
        for (uint32_t i = 0; i < 4096; i++)
            ranks[i] = i % partners[k];
        loop(1);
        for (int i = 0; i < ATTEMPTS; i++)
            ns[i] = loop(1) - loop(0);
        qsort(ns, ATTEMPTS, sizeof *ns, compare);
        printf("%4u %5.1f %5.1f %5.1f\n", partners[k], ns[ATTEMPTS / 2], ns[0], ns[ATTEMPTS - 1]);
    }
    return 0;
}
