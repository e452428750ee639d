/* Counted nouns in messages: "1 message", "2 messages". */
#ifndef LC_BASE_PLURAL_H
#define LC_BASE_PLURAL_H

/* The ending of a regular noun after the number n: "" or "s". Whole numbers only; a constant. */
static inline const char *lc_plural(double n) {
    return n == 1.0 ? "" : "s";
}

#endif
