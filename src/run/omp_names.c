#include "run/omp_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/omp_construct.h"

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Compilers give some code that they make for a construct no line (0): then that of the code before
 * it. */
static enum lc_err line_near(struct lc_symbols *symbols, const struct lc_raw_module *module,
                             uint64_t offset, const char **file, int64_t *line) {
    enum { NEAR = 64 };
    *line = 0;
    for (uint64_t back = 0; *line == 0 && back < NEAR && back <= offset; back++)
        LC_TRY(lc_symbols_line(symbols, module->path, module->build_id, offset - back, file, line));
    return LC_OK;
}

enum lc_err lc_omp_construct_name(const struct lc_raw *raw, struct lc_symbols *symbols,
                                  const char *name, char *text, size_t bytes) {
    struct lc_omp_place place;
    const char *file = "";
    int64_t line = -1;
    if (!lc_omp_place_of(name, &place)) {
        snprintf(text, bytes, "%s", name);
        return LC_OK;
    }
    for (size_t i = 0; i < raw->n_modules; i++)
        if (strlen(raw->modules[i].path) == (size_t)place.path_bytes &&
            strncmp(raw->modules[i].path, place.path, (size_t)place.path_bytes) == 0) {
            LC_TRY(line_near(symbols, &raw->modules[i], place.offset, &file, &line));
            break;
        }
    if (line > 0)
        snprintf(text, bytes, "%.*s @%s:%lld", place.construct, name, base_of(file),
                 (long long)line);
    else /* one place stays one name */
        snprintf(text, bytes, "%.*s @%s", place.construct, name, base_of(place.path));
    return LC_OK;
}

const char *lc_omp_role(const char *name) {
    static const struct {
        const char *begin, *role;
    } roles[] = {
        {"parallel", "parallel"},
        {"implicit barrier", "implicit barrier"},
        {"barrier", "barrier"},
        {"critical", "critical"},
        {"atomic", "atomic"},
        {"ordered", "ordered"},
        {"for", "loop"},
        {"sections", "sections"},
        {"single", "single"},
        {"master", "master"},
        {"workshare", "workshare"},
        {"taskwait", "task wait"},
        {"task", "task"},
        {"teams", "parallel"},
    };
    const char *construct = name + strlen(LC_OMP_PREFIX);
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strncmp(construct, roles[i].begin, strlen(roles[i].begin)) == 0)
            return roles[i].role;
    return "function";
}

const char *lc_omp_time_metric(const char *name) {
    static const struct {
        const char *begin, *metric;
    } metrics[] = {
        {"barrier", "omp_ebarrier"},  {"implicit barrier", "omp_ibarrier"},
        {"critical", "omp_critical"}, {"atomic", "omp_critical"},
        {"ordered", "omp_critical"},  {"omp_set_lock", "omp_lock_api"},
        {"taskwait", "omp_taskwait"}, {"taskgroup", "omp_taskwait"},
    };
    if (!lc_omp_is_construct(name))
        return NULL;
    const char *construct = name + strlen(LC_OMP_PREFIX);
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (strncmp(construct, metrics[i].begin, strlen(metrics[i].begin)) == 0)
            return metrics[i].metric;
    return NULL;
}
