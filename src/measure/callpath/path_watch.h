/* What rooms above want to hear of call paths; what starts the core sets it. */
#ifndef LC_MEASURE_CALLPATH_PATH_WATCH_H
#define LC_MEASURE_CALLPATH_PATH_WATCH_H

#include <stdint.h>
#include <stddef.h>

struct lc_entry;
struct lc_thread;

struct lc_path_watch { /* NULL: nobody wants to */
    /* A node of the call tree is in use. With lc_core.lock held. */
    void (*node)(uint32_t node);
    /* The entries of this thread are about to move. */
    void (*moving)(struct lc_thread *t);
    /* A call path was seen for the first time. */
    void (*made)(const struct lc_entry *entry);
};
extern struct lc_path_watch lc_path_watch;

#endif
