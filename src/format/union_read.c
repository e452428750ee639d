/* What the entries of a union mean, read back. */
#include "format/union.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes.h"

static enum lc_err open_entry(const struct lc_union *u, enum lc_union_type type, size_t number,
                              struct lc_byte_reader *key, struct lc_byte_reader *payload) {
    *key = *payload = (struct lc_byte_reader){0};
    if (number >= lc_union_count(u, type))
        return lc_fail(LC_ERR_RANGE,
                       "definitions of the trace: number out of range: this is a bug");
    const struct lc_union_entry *e = &u->entries[u->first[type] + number];
    *key = (struct lc_byte_reader){e->key, e->key_bytes, false};
    *payload = (struct lc_byte_reader){e->payload, e->payload_bytes, false};
    return LC_OK;
}

static enum lc_err check(const struct lc_byte_reader *a, const struct lc_byte_reader *b) {
    return a->bad || b->bad
               ? lc_fail(LC_ERR_FORMAT, "definitions of the trace: an entry is damaged: run again")
               : LC_OK;
}

/* The number of an entry that another one names by its key; LC_NONE: of none (no bytes). */
static uint32_t take_reference(const struct lc_union *u, enum lc_union_type type,
                               struct lc_byte_reader *from) {
    uint32_t bytes = lc_take_u32(from);
    const void *key = lc_take(from, bytes);
    return key && bytes ? lc_union_find(u, type, key, bytes) : LC_NONE;
}

enum lc_err lc_union_read_region(const struct lc_union *u, size_t number,
                                 struct lc_union_region *out) {
    struct lc_byte_reader key, payload;
    LC_TRY(open_entry(u, LC_UNION_REGION, number, &key, &payload));
    const char *kind = lc_take(&key, 1);
    out->kind = kind ? (uint32_t)(*kind - '0') : LC_NONE;
    out->name = lc_take_text(&key);
    out->module = lc_take_text(&key);
    out->build_id = lc_take_text(&key);
    char digits[17] = "";
    const void *hex = lc_take(&key, 16);
    if (hex)
        memcpy(digits, hex, 16);
    out->offset = strtoull(digits, NULL, 16);
    out->flags = payload.left ? lc_take_u32(&payload) : 0;
    return check(&key, &payload);
}

enum lc_err lc_union_read_comm(const struct lc_union *u, size_t number, struct lc_union_comm *out) {
    struct lc_byte_reader key, payload;
    LC_TRY(open_entry(u, LC_UNION_COMM, number, &key, &payload));
    out->flags = lc_take_u32(&payload);
    out->n_local = lc_take_u32(&payload);
    out->n_remote = lc_take_u32(&payload);
    out->world = lc_take(&payload, ((size_t)out->n_local + out->n_remote) * 4);
    out->parent = take_reference(u, LC_UNION_COMM, &payload);
    out->name = lc_take_text(&payload);
    out->n_dims = lc_take_u32(&payload);
    payload.bad |= out->n_dims > LC_GRID_DIMS;
    if (!payload.bad) {
        lc_take_copy(&payload, out->dims, out->n_dims * sizeof *out->dims);
        lc_take_copy(&payload, out->periodic, out->n_dims * sizeof *out->periodic);
    }
    return check(&key, &payload);
}

enum lc_err lc_union_read_win(const struct lc_union *u, size_t number, struct lc_union_win *out) {
    struct lc_byte_reader key, payload;
    LC_TRY(open_entry(u, LC_UNION_WIN, number, &key, &payload));
    out->comm = take_reference(u, LC_UNION_COMM, &payload);
    out->name = lc_take_text(&payload);
    return check(&key, &payload);
}

enum lc_err lc_union_group(const struct lc_union *u, size_t number, const int32_t **world,
                           uint32_t *n) {
    struct lc_byte_reader key, payload;
    LC_TRY(open_entry(u, LC_UNION_GROUP, number, &key, &payload));
    *n = (uint32_t)(key.left / 4);
    *world = lc_take(&key, (size_t)*n * 4);
    return check(&key, &payload);
}

enum lc_err lc_union_read_context(const struct lc_union *u, size_t number,
                                  struct lc_union_context *out) {
    struct lc_byte_reader key, payload;
    LC_TRY(open_entry(u, LC_UNION_CONTEXT, number, &key, &payload));
    out->parent = take_reference(u, LC_UNION_CONTEXT, &payload);
    out->region = take_reference(u, LC_UNION_REGION, &payload);
    out->call_site = lc_take_u64(&payload);
    out->module = lc_take_text(&payload);
    out->build_id = lc_take_text(&payload);
    return check(&key, &payload);
}

enum lc_err lc_union_read_handle(const struct lc_union *u, size_t number,
                                 struct lc_union_handle *out) {
    struct lc_byte_reader key, payload;
    LC_TRY(open_entry(u, LC_UNION_HANDLE, number, &key, &payload));
    out->comm = take_reference(u, LC_UNION_COMM, &payload);
    const char *name = lc_take_text(&payload);
    out->file = lc_union_find(u, LC_UNION_FILE, name, strlen(name) + 1);
    return check(&key, &payload);
}

enum lc_err lc_union_read_neighbours(const struct lc_union *u, size_t number,
                                     struct lc_union_neighbours *out) {
    struct lc_byte_reader key, payload;
    LC_TRY(open_entry(u, LC_UNION_NEIGHBOURS, number, &key, &payload));
    out->comm = take_reference(u, LC_UNION_COMM, &payload);
    out->rank = (int32_t)lc_take_u32(&payload);
    out->n = lc_take_u32(&payload);
    out->sources = lc_take(&payload, (size_t)out->n * 4);
    return check(&key, &payload);
}

enum lc_err lc_union_read_site(const struct lc_union *u, size_t number, struct lc_union_site *out) {
    struct lc_byte_reader key, payload;
    LC_TRY(open_entry(u, LC_UNION_SITE, number, &key, &payload));
    out->caller = take_reference(u, LC_UNION_REGION, &key);
    out->callee = take_reference(u, LC_UNION_REGION, &key);
    out->module = lc_take_text(&key);
    out->build_id = lc_take_text(&key);
    out->call_site = lc_take_u64(&key);
    return check(&key, &payload);
}

const char *lc_union_string(const struct lc_union *u, enum lc_union_type type, size_t number) {
    struct lc_byte_reader key, payload;
    if (open_entry(u, type, number, &key, &payload) != LC_OK)
        return "";
    return lc_take_text(&key);
}
