#include "analyze/reader.h"

#include "base/mem.h"

struct lc_loc_extra *lc_reader_extra(struct lc_reader *reader) {
    if (!reader->loc->extra)
        reader->err = lc_alloc(&reader->loc->extra, 1, sizeof *reader->loc->extra);
    return reader->loc->extra;
}

enum lc_err lc_reader_task_event(struct lc_reader *reader, const struct lc_task_event *event) {
    struct lc_loc_extra *extra = lc_reader_extra(reader);
    if (!extra)
        return reader->err;
    LC_TRY(lc_grow(&extra->task_events, &extra->cap_task_events, extra->n_task_events + 1,
                   sizeof *extra->task_events));
    extra->task_events[extra->n_task_events++] = *event;
    return LC_OK;
}
