/* Errors: functions that can fail return enum lc_err; the first failure also stores one line of
 * text, "<what>: <why>: <what to do>", for this thread. Nothing below main prints or exits.
 * Invariant: a function that returns other than LC_OK has set the text, and has freed what it took;
 * its results are not to be used then, but for what its comment says of them. The comment of each
 * prototype names its errors (tests/structure/prototypes.py).
 */
#ifndef LC_BASE_ERR_H
#define LC_BASE_ERR_H

#define LC_ERR_TABLE(X)                                                                            \
    X(LC_OK, "no error")                                                                           \
    X(LC_ERR_USAGE, "wrong usage")                                                                 \
    X(LC_ERR_IO, "input/output error")                                                             \
    X(LC_ERR_NOMEM, "not enough memory")                                                           \
    X(LC_ERR_FORMAT, "malformed input")                                                            \
    X(LC_ERR_RANGE, "value out of range")                                                          \
    X(LC_ERR_UNSUPPORTED, "not supported")                                                         \
    X(LC_ERR_NOT_FOUND, "not found")                                                               \
    X(LC_ERR_EXISTS, "exists already")                                                             \
    X(LC_ERR_SYSTEM, "system error")

enum lc_err {
#define LC_ERR_ENUM(name, text) name,
    LC_ERR_TABLE(LC_ERR_ENUM)
#undef LC_ERR_ENUM
};

/* Stores the line for this thread (at most 1023 bytes) and returns err, so that `return
 * lc_fail(...)` works. Errors: none of its own. */
enum lc_err lc_fail(enum lc_err err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Stores the line with ": " and the text of errno after it, and returns err. Errors: none of its
 * own. */
enum lc_err lc_fail_errno(enum lc_err err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The line stored last by this thread; never NULL. */
const char *lc_err_text(void);

/* Forwards a failure to the caller. */
#define LC_TRY(expr)                                                                               \
    do {                                                                                           \
        enum lc_err lc_try_err = (expr);                                                           \
        if (lc_try_err != LC_OK)                                                                   \
            return lc_try_err;                                                                     \
    } while (0)

#endif
