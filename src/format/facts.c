#include "format/facts.h"

#include <string.h>

struct head {
    uint32_t kind, unused;
    uint64_t bytes; /* of what follows, without padding */
};

size_t lc_facts_begin(struct lc_strbuf *facts, enum lc_fact_kind kind, const void *fact,
                      size_t bytes) {
    struct head head = {.kind = kind};
    size_t begin = facts->length;
    lc_strbuf_add(facts, (const char *)&head, sizeof head);
    lc_strbuf_add(facts, fact, bytes);
    return begin;
}

void lc_facts_end(struct lc_strbuf *facts, size_t begin) {
    static const char padding[8];
    struct head head;
    if (!lc_strbuf_ok(facts))
        return;
    memcpy(&head, facts->text + begin, sizeof head);
    head.bytes = facts->length - begin - sizeof head;
    memcpy(facts->text + begin, &head, sizeof head);
    lc_strbuf_add(facts, padding, -facts->length & 7);
}

void lc_facts_put(struct lc_strbuf *facts, enum lc_fact_kind kind, const void *fact, size_t bytes) {
    lc_facts_end(facts, lc_facts_begin(facts, kind, fact, bytes));
}

bool lc_facts_next(struct lc_byte_reader *reader, struct lc_fact_record *fact) {
    struct head head;
    if (reader->left == 0 || reader->bad || !lc_take_copy(reader, &head, sizeof head))
        return false;
    *fact = (struct lc_fact_record){.kind = head.kind, .bytes = (size_t)head.bytes};
    if (head.bytes > reader->left) {
        reader->bad = true;
        return false;
    }
    fact->data = lc_take(reader, fact->bytes);
    size_t padding = -fact->bytes & 7;
    lc_take(reader, padding < reader->left ? padding : reader->left);
    return true;
}

const void *lc_fact_of(const struct lc_fact_record *fact, size_t bytes, uint64_t n,
                       size_t element_bytes) {
    if (fact->bytes < bytes || (element_bytes > 0 && n > (fact->bytes - bytes) / element_bytes))
        return NULL;
    return fact->data;
}
