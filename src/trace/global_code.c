/* Global definitions of code: regions, call paths, call sites. */
#include <stdio.h>
#include <string.h>

#include "format/omp_construct.h"
#include "trace/global_state.h"

static void write_function(struct lc_global *g, uint32_t i, const struct lc_union_region *r) {
    struct lc_trace_symbol symbol = {0};
    const struct lc_trace_names *names = g->options->names;
    bool is_main = r->flags & LC_RAW_NODE_MAIN;
    char unknown[96];
    if (names)
        names->function(names->context, r->module, r->build_id, r->offset, is_main, &symbol);
    if (!symbol.name) {
        const char *base = strrchr(r->module, '/');
        snprintf(unknown, sizeof(unknown), "%.60s+0x%llx", base ? base + 1 : r->module,
                 (unsigned long long)r->offset);
        symbol.name = is_main ? "main" : unknown;
    }
    const char *file = symbol.file ? symbol.file : r->module; /* as in a profile */
    WRITE(g, Region(g->w, i, lc_global_string(g, symbol.name),
                    lc_global_string(g, symbol.linkage_name ? symbol.linkage_name : symbol.name),
                    lc_global_string(g, ""), OTF2_REGION_ROLE_FUNCTION,
                    r->kind == LC_RAW_SAMPLED ? OTF2_PARADIGM_SAMPLING : OTF2_PARADIGM_COMPILER,
                    OTF2_REGION_FLAG_NONE,
                    *file ? lc_global_string(g, file) : OTF2_UNDEFINED_STRING, symbol.line, 0));
}

/* A construct of OpenMP, by the line of its call. */
static void write_construct(struct lc_global *g, uint32_t i, const char *name) {
    const struct lc_trace_names *names = g->options->names;
    struct lc_omp_place place;
    struct lc_trace_symbol symbol = {0};
    char path[4096], text[4200];
    snprintf(text, sizeof text, "%s", name);
    if (names && lc_omp_place_of(name, &place)) {
        snprintf(path, sizeof path, "%.*s", place.path_bytes, place.path);
        names->line(names->context, path, "", place.offset, &symbol);
        const char *slash = symbol.file ? strrchr(symbol.file, '/') : NULL;
        if (symbol.file && symbol.line)
            snprintf(text, sizeof text, "%.*s @%s:%u", place.construct, name,
                     slash ? slash + 1 : symbol.file, symbol.line);
    }
    const char *construct = name + strlen(LC_OMP_PREFIX);
    bool call = strncmp(construct, "omp_", 4) == 0; /* a function: without a line */
    char *end = call ? strchr(text, '@') : NULL;
    if (end != NULL)
        end[-1] = 0;
    uint32_t id = lc_global_string(g, call ? text + strlen(LC_OMP_PREFIX) : text);
    WRITE(g, Region(g->w, i, id, id, lc_global_string(g, ""), lc_trace_omp_role(construct),
                    OTF2_PARADIGM_OPENMP, OTF2_REGION_FLAG_NONE,
                    symbol.file ? lc_global_string(g, symbol.file) : OTF2_UNDEFINED_STRING,
                    symbol.line, 0));
}

static void write_regions(struct lc_global *g) {
    for (uint32_t i = 0; i < lc_union_count(g->u, LC_UNION_REGION); i++) {
        struct lc_union_region r;
        if (lc_union_read_region(g->u, i, &r) != LC_OK) {
            g->code = OTF2_ERROR_INVALID_DATA;
            return;
        }
        if (r.kind == LC_RAW_FRAME || (r.kind == LC_RAW_SAMPLED && *r.module)) {
            write_function(g, i, &r);
            continue;
        }
        bool mpi = r.kind == LC_RAW_MPI, user = r.kind == LC_RAW_REGION;
        bool sampled = lc_raw_is_sampled(r.kind);
        bool script = r.kind == LC_RAW_SCRIPT || r.kind == LC_RAW_SAMPLED_SCRIPT;
        if (user && lc_omp_is_construct(r.name)) {
            write_construct(g, i, r.name);
            continue;
        }
        uint32_t name = lc_global_string(g, r.name);
        WRITE(g, Region(g->w, i, name, name, lc_global_string(g, ""),
                        mpi      ? lc_trace_role(r.name)
                        : user   ? OTF2_REGION_ROLE_CODE
                        : script ? OTF2_REGION_ROLE_FUNCTION
                                 : OTF2_REGION_ROLE_ARTIFICIAL,
                        mpi       ? OTF2_PARADIGM_MPI
                        : user    ? OTF2_PARADIGM_USER
                        : sampled ? OTF2_PARADIGM_SAMPLING
                        : script  ? OTF2_PARADIGM_COMPILER
                                  : OTF2_PARADIGM_MEASUREMENT_SYSTEM,
                        r.flags & LC_TRACE_PHASE ? OTF2_REGION_FLAG_PHASE : OTF2_REGION_FLAG_NONE,
                        mpi ? lc_global_string(g, "MPI") : OTF2_UNDEFINED_STRING, 0, 0));
    }
}

/* Where the region of each call path was called from, as far as it is known. */
static void write_contexts(struct lc_global *g) {
    const struct lc_trace_names *names = g->options->names;
    uint32_t n_places = 0;
    for (uint32_t i = 0; i < lc_union_count(g->u, LC_UNION_CONTEXT); i++) {
        struct lc_union_context c;
        if (lc_union_read_context(g->u, i, &c) != LC_OK)
            continue;
        uint32_t place = OTF2_UNDEFINED_SOURCE_CODE_LOCATION;
        struct lc_trace_symbol symbol = {0};
        if (names && c.call_site && *c.module)
            names->line(names->context, c.module, c.build_id, c.call_site, &symbol);
        if (symbol.file && symbol.line) {
            place = n_places++;
            WRITE(g,
                  SourceCodeLocation(g->w, place, lc_global_string(g, symbol.file), symbol.line));
        }
        WRITE(g, CallingContext(g->w, i, c.region, place,
                                c.parent == LC_NONE ? OTF2_UNDEFINED_CALLING_CONTEXT : c.parent));
    }
}

/* Where in which function others are called, as far as it is known. The format has put calling
 * contexts in their place, but those come with events of their own (--trace-callpath=context). */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void write_sites(struct lc_global *g) {
    const struct lc_trace_names *names = g->options->names;
    uint32_t n = 0;
    for (size_t i = 0; names && i < lc_union_count(g->u, LC_UNION_SITE); i++) {
        struct lc_union_site site;
        struct lc_trace_symbol symbol = {0};
        if (lc_union_read_site(g->u, i, &site) == LC_OK && *site.module)
            names->line(names->context, site.module, site.build_id, site.call_site, &symbol);
        if (symbol.file && symbol.line)
            WRITE(g, Callsite(g->w, n++, lc_global_string(g, symbol.file), symbol.line, site.callee,
                              site.caller));
    }
}

#pragma GCC diagnostic pop

/* What takes samples: clocks of the time on the processor, and the scheduler. */
static void write_generators(struct lc_global *g) {
    uint64_t period_ns = g->process->process.sample_period_ns;
    if (period_ns == 0 || lc_union_count(g->u, LC_UNION_CONTEXT) == 0)
        return;
    for (uint32_t i = LC_REC_CLOCK; i <= LC_REC_CLOCK_LAST; i++)
        WRITE(g, InterruptGenerator(g->w, i, lc_global_string(g, LC_SAMPLE_CLOCK),
                                    OTF2_INTERRUPT_GENERATOR_MODE_TIME, OTF2_BASE_DECIMAL, -9,
                                    period_ns << i));
    WRITE(g, InterruptGenerator(g->w, LC_REC_SCHEDULER, lc_global_string(g, LC_SAMPLE_SCHEDULER),
                                OTF2_INTERRUPT_GENERATOR_MODE_COUNT, OTF2_BASE_DECIMAL, 0, 1));
}

void lc_global_code(struct lc_global *g) {
    write_regions(g);
    write_contexts(g);
    write_generators(g);
    write_sites(g);
}
