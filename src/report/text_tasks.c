/* The tasks of each construct: what they would take on threads without limit, and how they ran. */
#include <stdlib.h>

#include "report/task_constructs.h"
#include "report/text_parts.h"

enum { MOST_CONSTRUCTS = 8 };

static void print_construct(const struct lc_text *text, const struct lc_task_construct *is,
                            const char *name) {
    char work[32], span[32], ready[32];
    double parallelism = lc_task_parallelism(is);
    fprintf(text->out, "  %-40s %9s ", name, lc_text_seconds(is->figures[LC_TASK_WORK], work));
    if (parallelism > 0)
        fprintf(text->out, "%9s %8.1f ", lc_text_seconds(is->figures[LC_TASK_SPAN], span),
                parallelism);
    else
        fprintf(text->out, "%9s %8s ", "", "");
    fprintf(text->out, "%8.0f %9s %9.0f %9.0f\n", is->figures[LC_TASK_AT_ONCE],
            lc_text_seconds(is->figures[LC_TASK_READY], ready), is->figures[LC_TASK_CREATED],
            is->figures[LC_TASK_STOLEN]);
}

enum lc_err lc_text_tasks(const struct lc_text *text) {
    struct lc_task_construct *list = NULL;
    size_t n = 0;
    LC_TRY(lc_task_constructs(text->view, &list, &n));
    uint32_t paths[MOST_CONSTRUCTS];
    size_t shown = n < MOST_CONSTRUCTS ? n : MOST_CONSTRUCTS;
    char **names = NULL;
    for (size_t i = 0; i < shown; i++)
        paths[i] = list[i].path;
    enum lc_err err = n > 0 ? lc_text_paths(text, paths, shown, 40, &names) : LC_OK;
    if (err == LC_OK && n > 0) {
        lc_text_heading(text, "Tasks",
                        "span: the longest chain of their work; parallelism: work / span, on "
                        "threads without limit; ready: not running though nothing was missing");
        fprintf(text->out, "  %-40s %9s %9s %8s %8s %9s %9s %9s\n", "", "WORK", "SPAN", "PARALLEL",
                "AT ONCE", "READY", "CREATED", "STOLEN");
        for (size_t i = 0; i < shown; i++)
            print_construct(text, &list[i], names[i]);
        if (n > shown)
            fprintf(text->out, "  (%zu more constructs: in show --json)\n", n - shown);
        lc_text_paths_free(names, shown);
    }
    free(list);
    return err;
}
