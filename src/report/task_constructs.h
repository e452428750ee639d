/* What the tasks of each OpenMP construct amount to: work, span (the longest chain of it), how many
 * ran at once, how long they were ready without running, created and run by another thread. Of
 * profiles; a construct is a call path. Used by json.c and text_tasks.c. */
#ifndef LC_REPORT_TASK_CONSTRUCTS_H
#define LC_REPORT_TASK_CONSTRUCTS_H

#include "report/view.h"

enum lc_task_figure {
    LC_TASK_WORK, /* seconds */
    LC_TASK_SPAN,
    LC_TASK_READY,
    LC_TASK_CREATED, /* counts */
    LC_TASK_STOLEN,
    LC_TASK_AT_ONCE,
    LC_TASK_FIGURES
};

struct lc_task_construct {
    uint32_t path;
    double figures[LC_TASK_FIGURES]; /* sums over processes */
};

/* Those with most work first; n is 0 where no task ran. The caller frees the list. LC_ERR_NOMEM, or
 * those of reading rows. */
enum lc_err lc_task_constructs(struct lc_view *view, struct lc_task_construct **list, size_t *n);

/* Average parallelism of its tasks, work / span; 0: it has no span. */
double lc_task_parallelism(const struct lc_task_construct *construct);

#endif
