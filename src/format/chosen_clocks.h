/* Did the library carry what-if clocks that it chose itself, and if not, why
 * (docs/definitions/findings.md#what-if-clocks-chosen-in-the-run)? Results say it by a name. */
#ifndef LC_FORMAT_CHOSEN_CLOCKS_H
#define LC_FORMAT_CHOSEN_CLOCKS_H

#include <string.h>

enum lc_chosen_clocks {
    LC_CHOSEN_CARRIED,
    LC_CHOSEN_NONE_WANTED, /* nothing made others wait for long when ranks last compared */
    LC_CHOSEN_FEW_POINTS,
    LC_CHOSEN_NAMED,   /* the user has named scenarios */
    LC_CHOSEN_THREADS, /* of a rank */
    LC_CHOSEN_APART,   /* clocks do not travel between nodes */
    LC_CHOSEN_COSTLY,
    LC_CHOSEN_SWITCHED, /* measurement, on and off */
    LC_CHOSEN_LOST,     /* a rank did not know what the others had chosen */
    LC_CHOSEN_NO_ROOM,
    LC_CHOSEN_WHYS
};

/* Its name in results; NULL: there is no such reason. */
static inline const char *lc_chosen_clocks_name(unsigned why) {
    static const char *const names[LC_CHOSEN_WHYS] = {
        [LC_CHOSEN_CARRIED] = "carried",
        [LC_CHOSEN_NONE_WANTED] = "none wanted",
        [LC_CHOSEN_FEW_POINTS] = "few operations",
        [LC_CHOSEN_NAMED] = "scenarios named",
        [LC_CHOSEN_THREADS] = "threads",
        [LC_CHOSEN_APART] = "no clocks between nodes",
        [LC_CHOSEN_COSTLY] = "costly",
        [LC_CHOSEN_SWITCHED] = "switched",
        [LC_CHOSEN_LOST] = "lost",
        [LC_CHOSEN_NO_ROOM] = "no room",
    };
    return why < LC_CHOSEN_WHYS ? names[why] : NULL;
}

/* The reason of that name; LC_CHOSEN_WHYS: none has it. */
static inline enum lc_chosen_clocks lc_chosen_clocks_named(const char *name) {
    unsigned why = 0;
    while (why < LC_CHOSEN_WHYS && strcmp(lc_chosen_clocks_name(why), name) != 0)
        why++;
    return (enum lc_chosen_clocks)why;
}

#endif
