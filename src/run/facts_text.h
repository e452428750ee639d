/* The JSON of a result that is made of the facts in a raw profile (format/facts.h): the library's
 * part of "meta", and "pop". */
#ifndef LC_RUN_FACTS_TEXT_H
#define LC_RUN_FACTS_TEXT_H

#include "format/raw.h"

/* Sets `meta` and `pop` of the profile where its facts say something of them; else they stay. What
 * they were is freed. LC_ERR_FORMAT: the facts are damaged; LC_ERR_NOMEM. */
enum lc_err lc_facts_make_texts(struct lc_raw *raw);

#endif
