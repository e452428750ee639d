/* anchor.xml: the definitions of a .cubex. Read with expat in pieces (no entities, no document
 * type, bounded depth); written from a model. Cube's ids are the file's own; the model's are in
 * document order, so that cnodes are in pre-order whatever the file's ids are. */
#ifndef LC_MODEL_ANCHOR_H
#define LC_MODEL_ANCHOR_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "model/model.h"

/* What a model cannot hold: how the file numbers its members and columns. */
struct lc_anchor_ids {
    uint32_t *metric; /* per metric of the model: number in "<number>.data" */
    uint32_t *column; /* per location of the model: its column in rows */
    size_t cap_metric, cap_column;
    /* metrics defined by expressions: they are in the model as LC_METRIC_DERIVED */
    size_t n_derived;
};

struct lc_anchor_parser;

/* A parser that fills model and ids; lc_anchor_parser_free frees it. LC_ERR_NOMEM. */
enum lc_err lc_anchor_parser_new(struct lc_anchor_parser **parser, struct lc_model *model,
                                 struct lc_anchor_ids *ids);
/* The next piece of text; `last` after the end. Errors: LC_ERR_FORMAT: not well-formed, or not what
 * a .cubex holds; LC_ERR_RANGE: a piece of 2 GB and more, a parent that is not there;
 * LC_ERR_NOMEM. The parser is of no use then, the model is the caller's to free. */
enum lc_err lc_anchor_parse(struct lc_anchor_parser *parser, const char *text, size_t bytes,
                            bool last);
/* Frees the parser, neither model nor ids. NULL is allowed. */
void lc_anchor_parser_free(struct lc_anchor_parser *parser);

/* The whole text of anchor.xml; lc_strbuf_ok tells whether memory sufficed. */
void lc_anchor_write(struct lc_strbuf *xml, const struct lc_model *model);

#endif
