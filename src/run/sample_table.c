#include "run/sample_table.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/table_text.h"

struct line { /* of a cnode, with those inside */
    uint64_t samples;
    double seconds, variance;
    double weight; /* in the split that is being added up */
};

static double weight_of(const struct lc_sample_split *split, const struct lc_sample_part *parts) {
    double sum = 0;
    for (size_t i = 0; i < split->n_parts; i++)
        sum += parts[i].measured ? 0 : (double)parts[i].weight_ns;
    return sum;
}

/* Each part counts for its node and for the sampled ones around it. Time off the processor was
 * measured: it has no error. */
static void add_split(const struct lc_sample_split *split, const struct lc_sample_part *parts,
                      const struct lc_named_tree *tree, const struct lc_model *model,
                      struct line *lines) {
    double whole = weight_of(split, parts);
    for (size_t i = 0; i < split->n_parts; i++)
        for (uint32_t c = tree->cnode_of[parts[i].node]; c != LC_NONE && tree->sampled[c];
             c = model->cnodes[c].parent) {
            lines[c].samples += parts[i].samples;
            lines[c].seconds += (double)parts[i].ns * 1e-9;
            lines[c].weight += parts[i].measured ? 0 : (double)parts[i].weight_ns;
        }
    for (size_t i = 0; i < split->n_parts; i++)
        for (uint32_t c = tree->cnode_of[parts[i].node]; c != LC_NONE && tree->sampled[c];
             c = model->cnodes[c].parent) {
            double share = whole > 0 ? lines[c].weight / whole : 0;
            double error = lc_sampled_error((double)split->on_ns * 1e-9, share, split->effective);
            lines[c].variance += error * error;
            lines[c].weight = 0;
        }
}

static enum lc_err print(const struct line *lines, const struct lc_named_tree *tree,
                         const struct lc_model *model, struct lc_strbuf *text) {
    lc_strbuf_puts(text, "callpath\tsamples\tseconds\terror\n");
    for (uint32_t c = 0; c < tree->n_cnodes; c++) {
        if (!tree->sampled[c])
            continue;
        char *path = lc_model_callpath(model, c);
        if (path == NULL)
            return lc_fail(LC_ERR_NOMEM, "memory: cannot make a call path");
        lc_table_put(text, path);
        lc_strbuf_printf(text, "\t%llu\t%.9f\t%.9f\n", (unsigned long long)lines[c].samples,
                         lines[c].seconds, sqrt(lines[c].variance));
        free(path);
    }
    return lc_strbuf_ok(text) ? LC_OK : lc_fail(LC_ERR_NOMEM, "memory: cannot hold samples.tsv");
}

enum lc_err lc_sample_table_write(const struct lc_sampled *sampled,
                                  const struct lc_named_tree *tree, const struct lc_model *model,
                                  struct lc_cubex_writer *writer) {
    struct line *lines;
    struct lc_strbuf text = {0};
    if (sampled->n_splits == 0)
        return LC_OK;
    LC_TRY(lc_alloc(&lines, tree->n_cnodes + 1, sizeof lines[0]));
    for (size_t i = 0; i < sampled->n_splits; i++)
        if (sampled->splits[i].source != NULL)
            add_split(&sampled->splits[i], sampled->parts + sampled->splits[i].first, tree, model,
                      lines);
    enum lc_err err = print(lines, tree, model, &text);
    if (err == LC_OK)
        err = lc_cubex_writer_misc(writer, "samples.tsv", lc_strbuf_get(&text), text.length);
    lc_strbuf_free(&text);
    free(lines);
    return err;
}
