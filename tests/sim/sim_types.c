/* Datatypes: a type is a list of blocks of bytes, in the order of its type map. */
#include "sim_mpi.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sim_table types = {.kind = 0x8c000000u, .lowest = 5};
static struct sim_type builtin[256], pairs[5]; /* by the low byte of the handle; by index */

static struct sim_type *basic(struct sim_type *t, MPI_Datatype handle, long size) {
    if (t->handle != handle) {
        struct sim_block *block = sim_new(sizeof *block);
        *block = (struct sim_block){0, size, size};
        *t = (struct sim_type){.handle = handle,
                               .size = size,
                               .ub = size,
                               .true_ub = size,
                               .n_blocks = size > 0,
                               .blocks = block,
                               .combiner = MPI_COMBINER_NAMED,
                               .committed = true,
                               .uses = 1};
    }
    return t;
}

static struct sim_type *pair(MPI_Datatype handle) {
    static const long first[] = {4, 8, 8, 2, 16}, second[] = {4, 8, 8, 4, 16};
    static const long extent[] = {8, 16, 16, 8, 32};
    int i = handle & 7;
    struct sim_type *t = &pairs[i];
    if (t->handle == handle)
        return t;
    struct sim_block *blocks = sim_new(2 * sizeof *blocks);
    blocks[0] = (struct sim_block){0, first[i], first[i]};
    blocks[1] = (struct sim_block){second[i], 4, 4};
    *t = (struct sim_type){.handle = handle,
                           .size = first[i] + 4,
                           .ub = extent[i],
                           .true_ub = second[i] + 4,
                           .n_blocks = 2,
                           .blocks = blocks,
                           .combiner = MPI_COMBINER_NAMED,
                           .committed = true,
                           .uses = 1};
    return t;
}

struct sim_type *sim_type(MPI_Datatype handle) {
    unsigned h = (unsigned)handle;
    if (handle == MPI_DATATYPE_NULL)
        return NULL;
    if (h >> 16 == 0x4c00)
        return basic(&builtin[h & 0xff], handle, (long)(h >> 8 & 0xff));
    if (h >= 0x8c000000u && h < 0x8c000005u)
        return pair(handle);
    return sim_object(&types, handle);
}

void sim_type_use(struct sim_type *t, int n) {
    t->uses += n;
    if (t->uses > 0 || t->combiner == MPI_COMBINER_NAMED)
        return;
    for (int i = 0; i < t->n_types; i++)
        sim_type_use(sim_type(t->types[i]), -1);
    sim_drop(&types, t->handle);
    free(t->blocks);
    free(t->ints);
    free(t->aints);
    free(t->types);
    free(t);
}

/* One element lies behind the other, without gaps. */
static bool is_dense(const struct sim_type *t) {
    return t->n_blocks == 1 && t->blocks[0].at == 0 && t->blocks[0].bytes == t->ub - t->lb;
}

char *sim_pack(const void *data, long count, const struct sim_type *t, size_t *bytes) {
    char *packed = sim_new((size_t)(count * t->size) + 1), *to = packed;
    if (is_dense(t) && count > 0) {
        *bytes = (size_t)(count * t->size);
        return memcpy(packed, data, *bytes);
    }
    for (long i = 0; i < count; i++)
        for (int b = 0; b < t->n_blocks; b++) {
            memcpy(to, (const char *)data + i * (t->ub - t->lb) + t->blocks[b].at,
                   (size_t)t->blocks[b].bytes);
            to += t->blocks[b].bytes;
        }
    *bytes = (size_t)(to - packed);
    return packed;
}

void sim_unpack(const char *packed, size_t bytes, void *data, long count,
                const struct sim_type *t) {
    if (is_dense(t) && bytes > 0) {
        size_t room = (size_t)(count * t->size);
        memcpy(data, packed, bytes < room ? bytes : room);
        return;
    }
    for (long i = 0; i < count && bytes > 0; i++)
        for (int b = 0; b < t->n_blocks && bytes > 0; b++) {
            size_t n = (size_t)t->blocks[b].bytes < bytes ? (size_t)t->blocks[b].bytes : bytes;
            memcpy((char *)data + i * (t->ub - t->lb) + t->blocks[b].at, packed, n);
            packed += n;
            bytes -= n;
        }
}

void sim_copy_typed(const void *from, void *to, long count, const struct sim_type *t) {
    size_t bytes;
    char *packed = sim_pack(from, count, t, &bytes);
    sim_unpack(packed, bytes, to, count, t);
    free(packed);
}

/* ---- constructors ---- */

struct parts {
    int n;
    struct sim_block *blocks;
    long capacity;
};

static void add_block(struct parts *p, struct sim_block block) {
    if (block.bytes == 0)
        return;
    struct sim_block *last = p->n > 0 ? &p->blocks[p->n - 1] : NULL;
    if (last != NULL && last->at + last->bytes == block.at && last->unit == block.unit) {
        last->bytes += block.bytes;
        return;
    }
    if (p->n == p->capacity) {
        p->capacity = p->capacity > 0 ? 2 * p->capacity : 8;
        p->blocks = realloc(p->blocks, (size_t)p->capacity * sizeof *p->blocks);
        if (p->blocks == NULL)
            sim_fail("no memory for a datatype");
    }
    p->blocks[p->n++] = block;
}

/* `n` elements of a type at each of `count` places (bytes). */
struct place {
    long at, n;
    const struct sim_type *type;
};

static struct sim_type *make(int combiner, const struct place *places, long n_places) {
    struct sim_type *t = sim_new(sizeof *t);
    struct parts parts = {0};
    bool any = false;
    t->lb = t->true_lb = LONG_MAX;
    t->ub = t->true_ub = LONG_MIN;
    for (long i = 0; i < n_places; i++) {
        const struct sim_type *old = places[i].type;
        long extent = old->ub - old->lb;
        for (long j = 0; j < places[i].n; j++) {
            long at = places[i].at + j * extent;
            for (int b = 0; b < old->n_blocks; b++)
                add_block(&parts, (struct sim_block){at + old->blocks[b].at, old->blocks[b].bytes,
                                                     old->blocks[b].unit});
            t->size += old->size;
            any = true;
            t->lb = at + old->lb < t->lb ? at + old->lb : t->lb;
            t->ub = at + old->ub > t->ub ? at + old->ub : t->ub;
        }
    }
    if (!any)
        t->lb = t->ub = 0;
    for (int b = 0; b < parts.n; b++) {
        const struct sim_block *k = &parts.blocks[b];
        t->true_lb = k->at < t->true_lb ? k->at : t->true_lb;
        t->true_ub = k->at + k->bytes > t->true_ub ? k->at + k->bytes : t->true_ub;
    }
    if (parts.n == 0)
        t->true_lb = t->true_ub = 0;
    t->n_blocks = parts.n;
    t->blocks = parts.blocks;
    t->combiner = combiner;
    t->uses = 1;
    return t;
}

/* What MPI_Type_get_contents says; the types are used from now on. */
static int made(struct sim_type *t, const int *ints, int n_ints, const MPI_Aint *aints, int n_aints,
                const MPI_Datatype *old, int n_old, MPI_Datatype *handle) {
    t->n_ints = n_ints;
    t->n_aints = n_aints;
    t->n_types = n_old;
    t->ints = sim_new((size_t)n_ints * sizeof *ints + 1);
    t->aints = sim_new((size_t)n_aints * sizeof *aints + 1);
    t->types = sim_new((size_t)n_old * sizeof *old + 1);
    memcpy(t->ints, ints, (size_t)n_ints * sizeof *ints);
    if (n_aints > 0)
        memcpy(t->aints, aints, (size_t)n_aints * sizeof *aints);
    memcpy(t->types, old, (size_t)n_old * sizeof *old);
    for (int i = 0; i < n_old; i++)
        sim_type_use(sim_type(old[i]), 1);
    *handle = t->handle = sim_handle(&types, t);
    return MPI_SUCCESS;
}

#define TYPE(handle)                                                                               \
    ({                                                                                             \
        const struct sim_type *type_ = sim_type(handle);                                           \
        if (type_ == NULL)                                                                         \
            return sim_error(NULL, MPI_ERR_TYPE);                                                  \
        type_;                                                                                     \
    })
#define NOT_NEGATIVE(n)                                                                            \
    do {                                                                                           \
        if ((n) < 0)                                                                               \
            return sim_error(NULL, MPI_ERR_COUNT);                                                 \
    } while (0)

BOTH(MPI_Type_contiguous)(int count, MPI_Datatype old, MPI_Datatype *new) {
    const struct sim_type *t = TYPE(old);
    NOT_NEGATIVE(count);
    struct place place = {0, count, t};
    return made(make(MPI_COMBINER_CONTIGUOUS, &place, 1), &count, 1, NULL, 0, &old, 1, new);
}

BOTH(MPI_Type_dup)(MPI_Datatype old, MPI_Datatype *new) {
    const struct sim_type *t = TYPE(old);
    struct place place = {0, 1, t};
    struct sim_type *copy = make(MPI_COMBINER_DUP, &place, 1);
    copy->committed = t->committed;
    TRY(made(copy, NULL, 0, NULL, 0, &old, 1, new));
    return sim_attributes_copy(old, t->attributes, &copy->attributes);
}

static struct sim_type *strided(int combiner, int count, int length, long stride,
                                const struct sim_type *t) {
    struct place *places = sim_new((size_t)count * sizeof *places + 1);
    for (int i = 0; i < count; i++)
        places[i] = (struct place){i * stride, length, t};
    struct sim_type *new = make(combiner, places, count);
    free(places);
    return new;
}

BOTH(MPI_Type_vector)(int count, int length, int stride, MPI_Datatype old, MPI_Datatype *new) {
    const struct sim_type *t = TYPE(old);
    NOT_NEGATIVE(count);
    NOT_NEGATIVE(length);
    return made(strided(MPI_COMBINER_VECTOR, count, length, stride * (t->ub - t->lb), t),
                (int[]){count, length, stride}, 3, NULL, 0, &old, 1, new);
}

BOTH(MPI_Type_create_hvector)
(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *new) {
    const struct sim_type *t = TYPE(old);
    NOT_NEGATIVE(count);
    NOT_NEGATIVE(length);
    return made(strided(MPI_COMBINER_HVECTOR, count, length, stride, t), (int[]){count, length}, 2,
                &stride, 1, &old, 1, new);
}

BOTH(MPI_Type_hvector)
(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *new) {
    return PMPI_Type_create_hvector(count, length, stride, old, new);
}

/* lengths NULL: all are `length`; aints NULL: places are elements. */
static int indexed(int combiner, int count, const int *lengths, int length, const int *elements,
                   const MPI_Aint *aints, MPI_Datatype old, MPI_Datatype *new) {
    const struct sim_type *t = TYPE(old);
    NOT_NEGATIVE(count);
    struct place *places = sim_new((size_t)count * sizeof *places + 1);
    int *ints = sim_new((size_t)(2 * count + 2) * sizeof *ints), n = 0;
    ints[n++] = count;
    for (int i = 0; i < count; i++) {
        long at = aints != NULL ? aints[i] : elements[i] * (t->ub - t->lb);
        places[i] = (struct place){at, lengths != NULL ? lengths[i] : length, t};
        if (lengths != NULL)
            ints[n++] = lengths[i];
    }
    if (lengths == NULL)
        ints[n++] = length;
    for (int i = 0; i < count && aints == NULL; i++)
        ints[n++] = elements[i];
    int result = made(make(combiner, places, count), ints, n, aints, aints != NULL ? count : 0,
                      &old, 1, new);
    free(places);
    free(ints);
    return result;
}

BOTH(MPI_Type_indexed)
(int count, const int *lengths, const int *at, MPI_Datatype old, MPI_Datatype *new) {
    return indexed(MPI_COMBINER_INDEXED, count, lengths, 0, at, NULL, old, new);
}

BOTH(MPI_Type_create_hindexed)
(int count, const int *lengths, const MPI_Aint *at, MPI_Datatype old, MPI_Datatype *new) {
    return indexed(MPI_COMBINER_HINDEXED, count, lengths, 0, NULL, at, old, new);
}

BOTH(MPI_Type_hindexed)
(int count, int *lengths, MPI_Aint *at, MPI_Datatype old, MPI_Datatype *new) {
    return indexed(MPI_COMBINER_HINDEXED, count, lengths, 0, NULL, at, old, new);
}

BOTH(MPI_Type_create_indexed_block)
(int count, int length, const int *at, MPI_Datatype old, MPI_Datatype *new) {
    return indexed(MPI_COMBINER_INDEXED_BLOCK, count, NULL, length, at, NULL, old, new);
}

BOTH(MPI_Type_create_hindexed_block)
(int count, int length, const MPI_Aint *at, MPI_Datatype old, MPI_Datatype *new) {
    return indexed(MPI_COMBINER_HINDEXED_BLOCK, count, NULL, length, NULL, at, old, new);
}

BOTH(MPI_Type_create_struct)
(int count, const int *lengths, const MPI_Aint *at, const MPI_Datatype *old, MPI_Datatype *new) {
    NOT_NEGATIVE(count);
    struct place *places = sim_new((size_t)count * sizeof *places + 1);
    int *ints = sim_new((size_t)(count + 1) * sizeof *ints);
    ints[0] = count;
    for (int i = 0; i < count; i++) {
        places[i] = (struct place){at[i], lengths[i], sim_type(old[i])};
        ints[i + 1] = lengths[i];
        if (places[i].type == NULL) {
            free(places);
            free(ints);
            return sim_error(NULL, MPI_ERR_TYPE);
        }
    }
    struct sim_type *t = make(MPI_COMBINER_STRUCT, places, count);
    long align = 1; /* as C does */
    for (int b = 0; b < t->n_blocks; b++)
        align = t->blocks[b].unit > align && t->blocks[b].unit <= 16 ? t->blocks[b].unit : align;
    if (t->ub == t->true_ub && (t->ub - t->lb) % align != 0)
        t->ub += align - (t->ub - t->lb) % align;
    int result = made(t, ints, count + 1, at, count, old, count, new);
    free(places);
    free(ints);
    return result;
}

BOTH(MPI_Type_struct)
(int count, int *lengths, MPI_Aint *at, MPI_Datatype *old, MPI_Datatype *new) {
    return PMPI_Type_create_struct(count, lengths, at, old, new);
}

BOTH(MPI_Type_create_resized)
(MPI_Datatype old, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *new) {
    struct place place = {0, 1, TYPE(old)};
    struct sim_type *t = make(MPI_COMBINER_RESIZED, &place, 1);
    t->lb = lb;
    t->ub = lb + extent;
    return made(t, NULL, 0, (MPI_Aint[]){lb, extent}, 2, &old, 1, new);
}

BOTH(MPI_Type_create_subarray)
(int n, const int *sizes, const int *parts, const int *starts, int order, MPI_Datatype old,
 MPI_Datatype *new) {
    const struct sim_type *t = TYPE(old);
    long extent = t->ub - t->lb, total = 1, rows = 1;
    int *ints = sim_new((size_t)(3 * n + 2) * sizeof *ints);
    ints[0] = n;
    for (int d = 0; d < n; d++) {
        total *= sizes[d];
        rows *= parts[d];
        ints[1 + d] = sizes[d];
        ints[1 + n + d] = parts[d];
        ints[1 + 2 * n + d] = starts[d];
    }
    ints[1 + 3 * n] = order;
    struct place *places = sim_new((size_t)rows * sizeof *places + 1);
    for (long i = 0; i < rows; i++) { /* the i-th element, the fastest dimension first */
        long rest = i, at = 0, stride = 1;
        for (int k = 0; k < n; k++) {
            int d = order == MPI_ORDER_C ? n - 1 - k : k;
            at += (starts[d] + rest % parts[d]) * stride;
            rest /= parts[d];
            stride *= sizes[d];
        }
        places[i] = (struct place){at * extent, 1, t};
    }
    struct sim_type *made_type = make(MPI_COMBINER_SUBARRAY, places, rows);
    made_type->lb = 0;
    made_type->ub = total * extent;
    int result = made(made_type, ints, 3 * n + 2, NULL, 0, &old, 1, new);
    free(places);
    free(ints);
    return result;
}

BOTH(MPI_Type_commit)(MPI_Datatype *type) {
    struct sim_type *t = (struct sim_type *)TYPE(*type);
    t->committed = true;
    return MPI_SUCCESS;
}

BOTH(MPI_Type_free)(MPI_Datatype *type) {
    struct sim_type *t = (struct sim_type *)TYPE(*type);
    if (t->combiner == MPI_COMBINER_NAMED)
        return sim_error(NULL, MPI_ERR_TYPE);
    TRY(sim_attributes_free(*type, &t->attributes));
    *type = MPI_DATATYPE_NULL;
    sim_type_use(t, -1);
    return MPI_SUCCESS;
}

/* ---- inquiries ---- */

BOTH(MPI_Type_size)(MPI_Datatype type, int *size) {
    long n = TYPE(type)->size;
    *size = n > INT_MAX ? MPI_UNDEFINED : (int)n;
    return MPI_SUCCESS;
}

BOTH(MPI_Type_size_x)(MPI_Datatype type, MPI_Count *size) {
    *size = TYPE(type)->size;
    return MPI_SUCCESS;
}

BOTH(MPI_Type_get_extent)(MPI_Datatype type, MPI_Aint *lb, MPI_Aint *extent) {
    const struct sim_type *t = TYPE(type);
    *lb = t->lb;
    *extent = t->ub - t->lb;
    return MPI_SUCCESS;
}

BOTH(MPI_Type_get_extent_x)(MPI_Datatype type, MPI_Count *lb, MPI_Count *extent) {
    MPI_Aint begin, bytes;
    int result = PMPI_Type_get_extent(type, &begin, &bytes);
    *lb = result == MPI_SUCCESS ? begin : 0;
    *extent = result == MPI_SUCCESS ? bytes : 0;
    return result;
}

BOTH(MPI_Type_get_true_extent)(MPI_Datatype type, MPI_Aint *lb, MPI_Aint *extent) {
    const struct sim_type *t = TYPE(type);
    *lb = t->true_lb;
    *extent = t->true_ub - t->true_lb;
    return MPI_SUCCESS;
}

BOTH(MPI_Type_get_true_extent_x)(MPI_Datatype type, MPI_Count *lb, MPI_Count *extent) {
    MPI_Aint begin, bytes;
    int result = PMPI_Type_get_true_extent(type, &begin, &bytes);
    *lb = result == MPI_SUCCESS ? begin : 0;
    *extent = result == MPI_SUCCESS ? bytes : 0;
    return result;
}

BOTH(MPI_Type_extent)(MPI_Datatype type, MPI_Aint *extent) {
    MPI_Aint lb;
    return PMPI_Type_get_extent(type, &lb, extent);
}

BOTH(MPI_Type_lb)(MPI_Datatype type, MPI_Aint *lb) {
    *lb = TYPE(type)->lb;
    return MPI_SUCCESS;
}

BOTH(MPI_Type_ub)(MPI_Datatype type, MPI_Aint *ub) {
    *ub = TYPE(type)->ub;
    return MPI_SUCCESS;
}

BOTH(MPI_Type_get_envelope)
(MPI_Datatype type, int *n_ints, int *n_aints, int *n_types, int *combiner) {
    const struct sim_type *t = TYPE(type);
    *n_ints = t->n_ints;
    *n_aints = t->n_aints;
    *n_types = t->n_types;
    *combiner = t->combiner;
    return MPI_SUCCESS;
}

BOTH(MPI_Type_get_contents)
(MPI_Datatype type, int most_ints, int most_aints, int most_types, int *ints, MPI_Aint *aints,
 MPI_Datatype *olds) {
    const struct sim_type *t = TYPE(type);
    if (t->combiner == MPI_COMBINER_NAMED || most_ints < t->n_ints || most_aints < t->n_aints ||
        most_types < t->n_types)
        return sim_error(NULL, MPI_ERR_TYPE);
    if (t->n_ints > 0)
        memcpy(ints, t->ints, (size_t)t->n_ints * sizeof *ints);
    if (t->n_aints > 0)
        memcpy(aints, t->aints, (size_t)t->n_aints * sizeof *aints);
    for (int i = 0; i < t->n_types; i++) {
        olds[i] = t->types[i];
        sim_type_use(sim_type(olds[i]), 1);
    }
    return MPI_SUCCESS;
}

BOTH(MPI_Type_set_name)(MPI_Datatype type, const char *name) {
    struct sim_type *t = (struct sim_type *)TYPE(type);
    snprintf(t->name, sizeof t->name, "%s", name);
    return MPI_SUCCESS;
}

BOTH(MPI_Type_get_name)(MPI_Datatype type, char *name, int *length) {
    static const struct {
        MPI_Datatype type;
        const char *name;
    } names[] = {{MPI_INT, "MPI_INT"},   {MPI_DOUBLE, "MPI_DOUBLE"}, {MPI_CHAR, "MPI_CHAR"},
                 {MPI_BYTE, "MPI_BYTE"}, {MPI_LONG, "MPI_LONG"},     {MPI_FLOAT, "MPI_FLOAT"}};
    const char *text = TYPE(type)->name;
    for (size_t i = 0; i < sizeof names / sizeof *names && *text == '\0'; i++)
        if (names[i].type == type)
            text = names[i].name;
    strcpy(name, text);
    *length = (int)strlen(name);
    return MPI_SUCCESS;
}

BOTH(MPI_Get_address)(const void *at, MPI_Aint *address) {
    *address = (MPI_Aint)at;
    return MPI_SUCCESS;
}

BOTH(MPI_Address)(void *at, MPI_Aint *address) {
    *address = (MPI_Aint)at;
    return MPI_SUCCESS;
}

MPI_Aint MPI_Aint_add(MPI_Aint a, MPI_Aint b) __attribute__((alias("PMPI_Aint_add")));
MPI_Aint PMPI_Aint_add(MPI_Aint a, MPI_Aint b) {
    return a + b;
}

MPI_Aint MPI_Aint_diff(MPI_Aint a, MPI_Aint b) __attribute__((alias("PMPI_Aint_diff")));
MPI_Aint PMPI_Aint_diff(MPI_Aint a, MPI_Aint b) {
    return a - b;
}

BOTH(MPI_Pack_size)(int count, MPI_Datatype type, MPI_Comm comm, int *size) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    *size = (int)(count * TYPE(type)->size);
    return MPI_SUCCESS;
}

BOTH(MPI_Pack)
(const void *in, int count, MPI_Datatype type, void *out, int most, int *at, MPI_Comm comm) {
    struct sim_comm *c;
    size_t bytes;
    TRY(sim_check_comm(comm, &c));
    const struct sim_type *t = TYPE(type);
    if (count * t->size > most - *at)
        return sim_error(c, MPI_ERR_ARG);
    char *packed = sim_pack(in, count, t, &bytes);
    memcpy((char *)out + *at, packed, bytes);
    free(packed);
    *at += (int)bytes;
    return MPI_SUCCESS;
}

BOTH(MPI_Unpack)
(const void *in, int most, int *at, void *out, int count, MPI_Datatype type, MPI_Comm comm) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    const struct sim_type *t = TYPE(type);
    if (count * t->size > most - *at)
        return sim_error(c, MPI_ERR_ARG);
    sim_unpack((const char *)in + *at, (size_t)(count * t->size), out, count, t);
    *at += (int)(count * t->size);
    return MPI_SUCCESS;
}

/* External32 is big-endian; the sizes of basic types are those of this machine but for the longest
 * ones. */
static void turn(char *data, const struct sim_type *t, long count) {
    for (long i = 0; i < count; i++)
        for (int b = 0; b < t->n_blocks; b++)
            for (long at = 0; at < t->blocks[b].bytes; at += t->blocks[b].unit) {
                for (long k = 0; k < t->blocks[b].unit / 2; k++) {
                    char swap = data[k];
                    data[k] = data[t->blocks[b].unit - 1 - k];
                    data[t->blocks[b].unit - 1 - k] = swap;
                }
                data += t->blocks[b].unit;
            }
}

BOTH(MPI_Pack_external_size)(const char *form, int count, MPI_Datatype type, MPI_Aint *size) {
    (void)form;
    *size = count * TYPE(type)->size;
    return MPI_SUCCESS;
}

BOTH(MPI_Pack_external)
(const char *form, const void *in, int count, MPI_Datatype type, void *out, MPI_Aint most,
 MPI_Aint *at) {
    const struct sim_type *t = TYPE(type);
    size_t bytes;
    (void)form;
    if (count * t->size > most - *at)
        return sim_error(NULL, MPI_ERR_ARG);
    char *packed = sim_pack(in, count, t, &bytes);
    turn(packed, t, count);
    memcpy((char *)out + *at, packed, bytes);
    free(packed);
    *at += (MPI_Aint)bytes;
    return MPI_SUCCESS;
}

BOTH(MPI_Unpack_external)
(const char *form, const void *in, MPI_Aint most, MPI_Aint *at, void *out, int count,
 MPI_Datatype type) {
    const struct sim_type *t = TYPE(type);
    size_t bytes = (size_t)(count * t->size);
    (void)form;
    if ((long)bytes > most - *at)
        return sim_error(NULL, MPI_ERR_ARG);
    char *packed = memcpy(sim_new(bytes + 1), (const char *)in + *at, bytes);
    turn(packed, t, count);
    sim_unpack(packed, bytes, out, count, t);
    free(packed);
    *at += (MPI_Aint)bytes;
    return MPI_SUCCESS;
}

BOTH(MPI_Type_match_size)(int class, int bytes, MPI_Datatype *type) {
    static const struct {
        int class, bytes;
        MPI_Datatype type;
    } known[] = {
        {MPI_TYPECLASS_REAL, 4, MPI_REAL4},       {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
        {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1}, {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
        {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4}, {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
        {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8}, {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].class == class && known[i].bytes == bytes) {
            *type = known[i].type;
            return MPI_SUCCESS;
        }
    return sim_error(NULL, MPI_ERR_ARG);
}

/* ---- what a status says ---- */

void sim_set_count(MPI_Status *status, long bytes) {
    status->count_lo = (int)bytes;
    status->count_hi_and_cancelled =
        (status->count_hi_and_cancelled & 1) | (int)((unsigned long)bytes >> 32 << 1);
}

long sim_get_count(const MPI_Status *status) {
    return (long)((unsigned)status->count_lo |
                  (unsigned long)((unsigned)status->count_hi_and_cancelled >> 1) << 32);
}

void sim_empty_status(MPI_Status *status) {
    if (status == MPI_STATUS_IGNORE)
        return;
    status->count_lo = status->count_hi_and_cancelled = 0;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
}

BOTH(MPI_Get_count)(const MPI_Status *status, MPI_Datatype type, int *count) {
    const struct sim_type *t = TYPE(type);
    long bytes = sim_get_count(status);
    if (t->size == 0)
        *count = bytes == 0 ? 0 : MPI_UNDEFINED;
    else
        *count = bytes % t->size == 0 ? (int)(bytes / t->size) : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

BOTH(MPI_Get_elements_x)(const MPI_Status *status, MPI_Datatype type, MPI_Count *count) {
    const struct sim_type *t = TYPE(type);
    long bytes = sim_get_count(status), n = 0, per_type = 0;
    for (int b = 0; b < t->n_blocks; b++)
        per_type += t->blocks[b].bytes / t->blocks[b].unit;
    if (t->size > 0) {
        n = bytes / t->size * per_type;
        bytes %= t->size;
    }
    for (int b = 0; b < t->n_blocks && bytes > 0; b++) {
        long here = bytes < t->blocks[b].bytes ? bytes : t->blocks[b].bytes;
        if (here % t->blocks[b].unit != 0) {
            *count = MPI_UNDEFINED;
            return MPI_SUCCESS;
        }
        n += here / t->blocks[b].unit;
        bytes -= here;
    }
    *count = n;
    return MPI_SUCCESS;
}

BOTH(MPI_Get_elements)(const MPI_Status *status, MPI_Datatype type, int *count) {
    MPI_Count n;
    TRY(PMPI_Get_elements_x(status, type, &n));
    *count = (int)n;
    return MPI_SUCCESS;
}

BOTH(MPI_Status_set_elements_x)(MPI_Status *status, MPI_Datatype type, MPI_Count count) {
    const struct sim_type *t = TYPE(type);
    long bytes = 0, per_type = 0;
    for (int b = 0; b < t->n_blocks; b++)
        per_type += t->blocks[b].bytes / t->blocks[b].unit;
    if (per_type > 0) {
        bytes = count / per_type * t->size;
        count %= per_type;
    }
    for (int b = 0; b < t->n_blocks && count > 0; b++) {
        long units = t->blocks[b].bytes / t->blocks[b].unit;
        units = units < count ? units : count;
        bytes += units * t->blocks[b].unit;
        count -= units;
    }
    sim_set_count(status, bytes);
    return MPI_SUCCESS;
}

BOTH(MPI_Status_set_elements)(MPI_Status *status, MPI_Datatype type, int count) {
    return PMPI_Status_set_elements_x(status, type, count);
}
