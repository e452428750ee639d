/* Who was late: the library's values `blame.<k>.wait` (waiting call path, seconds),
 * `blame.<k>.late` (the late rank and what it was in), `blame.<k>.from` and `.to` (the call sites
 * between which it was, ELF addresses in the module of that function), `blame.<k>.more` (seconds,
 * at most so many more) as the member blame.tsv of the result, largest first; what code costs
 * others, `cost.<k>.late` and so on, as costs.tsv. Of processes that run, or died, costs are
 * `waited.<rank>.<number>.direct` and `.passed`: seconds of the location, by rank and number
 * (LC_RAW_NODE_NUMBER) of the late code. Called by the conversion of a raw profile. */
#ifndef LC_RUN_BLAME_TABLE_H
#define LC_RUN_BLAME_TABLE_H

#include "model/cubex_write.h"
#include "format/raw.h"
#include "symbols/symbols.h"

struct lc_blame_table {
    const struct lc_raw *defs;
    const struct lc_raw_value *const *values;
    size_t n_values;
    const uint32_t *cnodes; /* per value: its call path in the model */
    const struct lc_model *model;
    struct lc_symbols *symbols;
};

/* critical_path.tsv: per call path on the critical path of useful work, the call sites
 * (`critical_path.from`, `.to`) between which most of it was spent. Errors: LC_ERR_NOMEM, and those
 * of lc_cubex_writer_misc. */
enum lc_err lc_path_table_write(const struct lc_blame_table *table, struct lc_cubex_writer *writer);

/* Writes nothing where there is no blame. Errors: LC_ERR_NOMEM, LC_ERR_IO, LC_ERR_RANGE. */
enum lc_err lc_blame_table_write(const struct lc_blame_table *table,
                                 struct lc_cubex_writer *writer);

/* gains.tsv: what the run would gain without a late rank, or with the work of all ranks even, in a
 * call path, by clocks that were carried in the run: values `gain.<k>.saved`, `.least`, `.most`,
 * `.excess` (k % 3: 0 late rank, 1 even, 2 no chain). Errors: those of lc_blame_table_write. */
enum lc_err lc_gain_table_write(const struct lc_blame_table *table, struct lc_cubex_writer *writer);

#endif
