/* A binomial tree over the ranks 0 .. size - 1 with root 0: what is merged on the way up needs at
 * most ceil(log2 size) messages per rank, size - 1 in all.
 *
 * Each rank walks its steps in order: first its children, the nearest first, then its parent. The
 * k-th child of a rank is rank + 2^k; the parent of a rank is the rank without its lowest bit. */
#ifndef LC_BASE_BINOMIAL_H
#define LC_BASE_BINOMIAL_H

enum lc_binomial_step {
    LC_BINOMIAL_CHILD,  /* receive from *peer */
    LC_BINOMIAL_PARENT, /* send to *peer: the last step of this rank on the way up */
    LC_BINOMIAL_DONE    /* the root has everything */
};

struct lc_binomial {
    int rank, size;
    int distance; /* of the next child or of the parent */
};

static inline struct lc_binomial lc_binomial_of(int rank, int size) {
    return (struct lc_binomial){rank, size, 1};
}

/* The next step of this rank on the way up; not to be called after LC_BINOMIAL_PARENT or
 * LC_BINOMIAL_DONE. */
static inline enum lc_binomial_step lc_binomial_next(struct lc_binomial *tree, int *peer) {
    for (; tree->distance < tree->size; tree->distance *= 2) {
        if (tree->rank & tree->distance) {
            *peer = tree->rank - tree->distance;
            return LC_BINOMIAL_PARENT;
        }
        if (tree->rank + tree->distance < tree->size) {
            *peer = tree->rank + tree->distance;
            tree->distance *= 2;
            return LC_BINOMIAL_CHILD;
        }
    }
    return LC_BINOMIAL_DONE;
}

/* The parent of a rank that is not 0: the same without its lowest bit. */
static inline int lc_binomial_parent(int rank) {
    return rank & (rank - 1);
}

#endif
