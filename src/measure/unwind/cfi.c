#include "base/lookup.h"
#include "measure/unwind/walk.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

/* Formats: Linux Standard Base, "Exception Frames"; DWARF 4, section 6.4 (call frame information).
 * Registers by their DWARF numbers. */
#if defined(__aarch64__)
enum { REG_FP = 29, REG_SP = 31, REG_RA = 30 };
#else
enum { REG_FP = 6, REG_SP = 7, REG_RA = 16 };
#endif

enum { /* encodings of pointers */
       PE_ABSOLUTE = 0x00,
       PE_UDATA4 = 0x03,
       PE_UDATA8 = 0x04,
       PE_SDATA4 = 0x0b,
       PE_SDATA8 = 0x0c,
       PE_PCREL = 0x10,
       PE_DATAREL = 0x30,
       PE_INDIRECT = 0x80,
       PE_OMIT = 0xff
};

enum { /* instructions; the first three carry their operand in the lower six bits */
       CFA_ADVANCE = 0x40,
       CFA_OFFSET = 0x80,
       CFA_RESTORE = 0xc0,
       CFA_NOP = 0x00,
       CFA_SET_LOC = 0x01,
       CFA_ADVANCE1 = 0x02,
       CFA_ADVANCE2 = 0x03,
       CFA_ADVANCE4 = 0x04,
       CFA_OFFSET_EXTENDED = 0x05,
       CFA_RESTORE_EXTENDED = 0x06,
       CFA_UNDEFINED = 0x07,
       CFA_SAME_VALUE = 0x08,
       CFA_REGISTER = 0x09,
       CFA_REMEMBER = 0x0a,
       CFA_RECALL = 0x0b,
       CFA_DEF_CFA = 0x0c,
       CFA_DEF_CFA_REGISTER = 0x0d,
       CFA_DEF_CFA_OFFSET = 0x0e,
       CFA_DEF_CFA_EXPRESSION = 0x0f,
       CFA_EXPRESSION = 0x10,
       CFA_OFFSET_EXTENDED_SF = 0x11,
       CFA_DEF_CFA_SF = 0x12,
       CFA_DEF_CFA_OFFSET_SF = 0x13,
       CFA_AARCH64_NEGATE_RA_STATE = 0x2d,
       CFA_GNU_ARGS_SIZE = 0x2e
};

enum { OP_DEREF = 0x06, OP_BREG_FP = 0x70 + REG_FP };

/* A part of a table. Reading beyond its end gives zeros and clears `ok`. */
struct bytes {
    const unsigned char *at, *end;
    bool ok;
};

static uint64_t take(struct bytes *b, size_t n) {
    uint64_t value = 0;
    if ((size_t)(b->end - b->at) < n) {
        b->ok = false;
        b->at = b->end;
        return 0;
    }
    memcpy(&value, b->at, n);
    b->at += n;
    return value;
}

/* LEB128: seven bits a byte, lowest first; of signed numbers the last byte has the sign. */
static uint64_t take_leb(struct bytes *b, bool is_signed) {
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = take(b, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
    } while ((byte & 0x80) && b->ok);
    if (is_signed && (byte & 0x40) && shift < 64)
        value |= ~0ull << shift;
    return value;
}

static uint64_t take_uleb(struct bytes *b) {
    return take_leb(b, false);
}

static int64_t take_sleb(struct bytes *b) {
    return (int64_t)take_leb(b, true);
}

static void skip(struct bytes *b, uint64_t n) {
    if (n > (uint64_t)(b->end - b->at)) {
        b->ok = false;
        n = (uint64_t)(b->end - b->at);
    }
    b->at += n;
}

/* The value without what it is relative to. */
static uint64_t take_value(struct bytes *b, unsigned encoding) {
    switch (encoding & 0x0f) {
    case PE_ABSOLUTE:
    case PE_UDATA8:
    case PE_SDATA8:
        return take(b, 8);
    case PE_UDATA4:
        return take(b, 4);
    case PE_SDATA4:
        return (uint64_t)(int64_t)(int32_t)take(b, 4);
    default:
        b->ok = false;
        return 0;
    }
}

static uint64_t take_pointer(struct bytes *b, unsigned encoding) {
    uint64_t place = (uint64_t)b->at, value = take_value(b, encoding);
    if ((encoding & 0xf0) == PE_PCREL)
        return place + value;
    if ((encoding & 0xf0) != PE_ABSOLUTE)
        b->ok = false;
    return value;
}

/* --- where the entry of an address is */

struct object {
    uint64_t ip;
    const unsigned char *index; /* .eh_frame_hdr */
    size_t index_bytes;
    struct bytes segment; /* the loaded segment that holds it, and .eh_frame */
};

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
    struct object *o = data;
    const ElfW(Phdr) *index = NULL;
    bool inside = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t from = info->dlpi_addr + p->p_vaddr;
        inside = inside || (p->p_type == PT_LOAD && o->ip >= from && o->ip < from + p->p_memsz);
        if (p->p_type == PT_GNU_EH_FRAME)
            index = p;
    }
    if (!inside)
        return 0;
    for (int i = 0; i < info->dlpi_phnum && index != NULL; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || index->p_vaddr < p->p_vaddr ||
            index->p_vaddr + index->p_memsz > p->p_vaddr + p->p_filesz)
            continue;
        const unsigned char *begin = (const unsigned char *)(info->dlpi_addr + p->p_vaddr);
        o->segment = (struct bytes){begin, begin + p->p_filesz, true};
        o->index = begin + (index->p_vaddr - p->p_vaddr);
        o->index_bytes = index->p_memsz;
    }
    return 1;
}

static bool begins_after(const struct object *o, const int32_t *row) {
    return (uint64_t)(o->index + row[0]) > o->ip;
}

/* The last entry of the index (sorted by begin) that begins at or before ip; NULL: none. */
static const unsigned char *find_entry(const struct object *o) {
    enum { ROW = 8 };
    struct bytes b = {o->index, o->index + o->index_bytes, true};
    unsigned version = (unsigned)take(&b, 1), frame_encoding = (unsigned)take(&b, 1);
    unsigned count_encoding = (unsigned)take(&b, 1), table_encoding = (unsigned)take(&b, 1);
    if (version != 1 || count_encoding == PE_OMIT || table_encoding != (PE_DATAREL | PE_SDATA4))
        return NULL;
    take_value(&b, frame_encoding);
    uint64_t n = take_value(&b, count_encoding);
    if (!b.ok || n > (uint64_t)(b.end - b.at) / ROW)
        return NULL;
    const unsigned char *rows = b.at;
    int32_t row[2];
    size_t after = LC_FIRST_WHERE(i, 0, n, begins_after(o, memcpy(row, rows + i * ROW, ROW)));
    if (after == 0)
        return NULL;
    memcpy(row, rows + (after - 1) * ROW, ROW);
    return o->index + row[1];
}

/* --- the entry */

struct common { /* of the entries of a translation unit */
    uint64_t code_align;
    int64_t data_align;
    unsigned pointer_encoding;
    bool augmented, signal;
    struct bytes program;
};

/* One entry, without its length; ok false: not there. */
static struct bytes entry_at(const struct object *o, const unsigned char *at) {
    struct bytes b = {at, o->segment.end, at >= o->segment.at && at < o->segment.end};
    if (!b.ok)
        return b;
    uint64_t length = take(&b, 4);
    if (length == 0 || length >= 0xfffffff0u || length > (uint64_t)(b.end - b.at))
        b.ok = false; /* no compiler emits the 64-bit format */
    else
        b.end = b.at + length;
    return b;
}

static bool read_common(const struct object *o, const unsigned char *at, struct common *c) {
    struct bytes b = entry_at(o, at);
    *c = (struct common){.pointer_encoding = PE_ABSOLUTE};
    if (!b.ok || take(&b, 4) != 0)
        return false;
    uint64_t version = take(&b, 1);
    const char *augmentation = (const char *)b.at;
    size_t n = strnlen(augmentation, (size_t)(b.end - b.at));
    skip(&b, n + 1);
    c->code_align = take_uleb(&b);
    c->data_align = take_sleb(&b);
    uint64_t ra = version == 1 ? take(&b, 1) : take_uleb(&b);
    if (!b.ok || (version != 1 && version != 3) || ra != REG_RA)
        return false;
    c->augmented = augmentation[0] == 'z';
    if (!c->augmented && augmentation[0] != '\0')
        return false;
    const unsigned char *program = b.at;
    if (c->augmented) {
        uint64_t bytes = take_uleb(&b);
        program = bytes <= (uint64_t)(b.end - b.at) ? b.at + bytes : b.end;
    }
    for (size_t i = 1; i < n; i++) {
        if (augmentation[i] == 'R')
            c->pointer_encoding = (unsigned)take(&b, 1);
        else if (augmentation[i] == 'L')
            skip(&b, 1);
        else if (augmentation[i] == 'P')
            take_value(&b, (unsigned)take(&b, 1));
        else if (augmentation[i] == 'S')
            c->signal = true;
        else if (augmentation[i] == 'B') /* of Arm: return addresses are signed with key B */
            continue;
        else
            return false;
    }
    c->program = (struct bytes){program, b.end, true};
    return b.ok;
}

/* --- its instructions */

enum saved { SAME, UNDEFINED, AT_CFA, AT_FP, ELSEWHERE };

struct place {
    enum saved how;
    int64_t offset;
};

struct row { /* what holds at one address; registers other than these do not matter */
    enum lc_cfa cfa;
    int64_t cfa_offset;
    struct place fp, ra;
};

struct machine {
    const struct common *common;
    struct row row, initial;
    struct row kept[8];
    unsigned n_kept;
    struct place ignored; /* of all other registers */
};

static struct place *place_of(struct machine *m, uint64_t reg) {
    return reg == REG_FP ? &m->row.fp : reg == REG_RA ? &m->row.ra : &m->ignored;
}

static void define_cfa(struct machine *m, uint64_t reg, int64_t offset) {
    m->row.cfa = reg == REG_SP ? LC_CFA_SP : reg == REG_FP ? LC_CFA_FP : LC_CFA_UNKNOWN;
    m->row.cfa_offset = offset;
}

/* breg(FP, offset), deref: how compilers find the frame of a function that realigns its stack. */
static void cfa_expression(struct machine *m, struct bytes e) {
    m->row.cfa = LC_CFA_UNKNOWN;
    if (take(&e, 1) != OP_BREG_FP)
        return;
    int64_t offset = take_sleb(&e);
    if (take(&e, 1) == OP_DEREF && e.ok && e.at == e.end) {
        m->row.cfa = LC_CFA_AT_FP;
        m->row.cfa_offset = offset;
    }
}

static void place_expression(struct machine *m, uint64_t reg, struct bytes e) {
    struct place *p = place_of(m, reg);
    p->how = ELSEWHERE;
    if (take(&e, 1) != OP_BREG_FP)
        return;
    p->offset = take_sleb(&e);
    if (e.ok && e.at == e.end)
        p->how = AT_FP;
}

static struct bytes take_block(struct bytes *b) {
    uint64_t n = take_uleb(b);
    struct bytes block = {b->at, b->at, b->ok};
    skip(b, n);
    block.end = b->at;
    return block;
}

static void restore(struct machine *m, uint64_t reg) {
    if (reg == REG_FP)
        m->row.fp = m->initial.fp;
    else if (reg == REG_RA)
        m->row.ra = m->initial.ra;
}

/* An instruction that changes the row; false: unknown. */
static bool change_row(struct machine *m, unsigned op, struct bytes *b) {
    int64_t align = m->common->data_align;
    uint64_t reg;
    switch (op) {
    case CFA_NOP:
    case CFA_AARCH64_NEGATE_RA_STATE: /* lc_address_of takes the signature off */
        return true;
    case CFA_GNU_ARGS_SIZE:
        take_uleb(b);
        return true;
    case CFA_OFFSET_EXTENDED:
        reg = take_uleb(b);
        *place_of(m, reg) = (struct place){AT_CFA, (int64_t)take_uleb(b) * align};
        return true;
    case CFA_OFFSET_EXTENDED_SF:
        reg = take_uleb(b);
        *place_of(m, reg) = (struct place){AT_CFA, take_sleb(b) * align};
        return true;
    case CFA_RESTORE_EXTENDED:
        restore(m, take_uleb(b));
        return true;
    case CFA_UNDEFINED:
        *place_of(m, take_uleb(b)) = (struct place){UNDEFINED, 0};
        return true;
    case CFA_SAME_VALUE:
        *place_of(m, take_uleb(b)) = (struct place){SAME, 0};
        return true;
    case CFA_REGISTER:
        *place_of(m, take_uleb(b)) = (struct place){ELSEWHERE, 0};
        take_uleb(b);
        return true;
    case CFA_REMEMBER:
        if (m->n_kept == sizeof m->kept / sizeof *m->kept)
            return false;
        m->kept[m->n_kept++] = m->row;
        return true;
    case CFA_RECALL:
        if (m->n_kept == 0)
            return false;
        m->row = m->kept[--m->n_kept];
        return true;
    case CFA_DEF_CFA:
        reg = take_uleb(b);
        define_cfa(m, reg, (int64_t)take_uleb(b));
        return true;
    case CFA_DEF_CFA_SF:
        reg = take_uleb(b);
        define_cfa(m, reg, take_sleb(b) * align);
        return true;
    case CFA_DEF_CFA_REGISTER:
        define_cfa(m, take_uleb(b), m->row.cfa_offset);
        return true;
    case CFA_DEF_CFA_OFFSET:
        m->row.cfa_offset = (int64_t)take_uleb(b);
        return true;
    case CFA_DEF_CFA_OFFSET_SF:
        m->row.cfa_offset = take_sleb(b) * align;
        return true;
    case CFA_DEF_CFA_EXPRESSION:
        cfa_expression(m, take_block(b));
        return true;
    case CFA_EXPRESSION:
        reg = take_uleb(b);
        place_expression(m, reg, take_block(b));
        return true;
    default: /* val_offset and val_expression among them: nobody's */
        return false;
    }
}

/* Runs the instructions up to the row of `ip`; false: one is unknown. */
static bool run(struct machine *m, struct bytes b, uint64_t at, uint64_t ip) {
    while (b.at < b.end && b.ok) {
        unsigned op = (unsigned)take(&b, 1), low = op & 0x3f;
        uint64_t advance = 0;
        if ((op & 0xc0) == CFA_ADVANCE)
            advance = low;
        else if ((op & 0xc0) == CFA_OFFSET)
            *place_of(m, low) =
                (struct place){AT_CFA, (int64_t)take_uleb(&b) * m->common->data_align};
        else if ((op & 0xc0) == CFA_RESTORE)
            restore(m, low);
        else if (op >= CFA_ADVANCE1 && op <= CFA_ADVANCE4)
            advance = take(&b, (size_t)1 << (op - CFA_ADVANCE1));
        else if (op == CFA_SET_LOC)
            advance = take_pointer(&b, m->common->pointer_encoding) - at;
        else if (!change_row(m, op, &b))
            return false;
        if (advance != 0 && op != CFA_SET_LOC)
            advance *= m->common->code_align;
        at += advance;
        if (at > ip)
            return true;
    }
    return b.ok;
}

static bool fits(int64_t offset) {
    return offset == (int32_t)offset;
}

static void make_rule(const struct row *row, struct lc_rule *rule) {
    if (row->ra.how == UNDEFINED) {
        rule->cfa = LC_CFA_NONE;
        return;
    }
    bool ra = row->ra.how == SAME || (row->ra.how == AT_CFA && row->ra.offset < 0);
    bool usual = ra && row->cfa != LC_CFA_UNKNOWN;
    bool fp = row->fp.how == SAME || row->fp.how == AT_CFA || row->fp.how == AT_FP;
    if (!usual || !fp || !fits(row->cfa_offset) || !fits(row->fp.offset) || !fits(row->ra.offset))
        return;
    rule->cfa = (uint8_t)row->cfa;
    rule->cfa_offset = (int32_t)row->cfa_offset;
    rule->ra_offset = row->ra.how == SAME ? 0 : (int32_t)row->ra.offset;
    rule->fp = row->fp.how == SAME     ? LC_SAVED_FP_SAME
               : row->fp.how == AT_CFA ? LC_SAVED_FP_AT_CFA
                                       : LC_SAVED_FP_AT_FP;
    rule->fp_offset = (int32_t)row->fp.offset;
}

void lc_cfi_rule(uint64_t ip, struct lc_rule *rule) {
    *rule = (struct lc_rule){.ip = ip, .cfa = LC_CFA_UNKNOWN};
#if defined(__x86_64__) || defined(__aarch64__)
    /* The row of the call: after it another one can begin, or another function. */
    struct object o = {.ip = ip - 1};
    struct common common;
    dl_iterate_phdr(visit, &o);
    const unsigned char *entry = o.index != NULL ? find_entry(&o) : NULL;
    if (entry == NULL)
        return;
    struct bytes b = entry_at(&o, entry);
    const unsigned char *place = b.at;
    uint64_t back = take(&b, 4);
    if (!b.ok || back > (uint64_t)(place - o.segment.at) || !read_common(&o, place - back, &common))
        return;
    uint64_t start = take_pointer(&b, common.pointer_encoding);
    uint64_t bytes = take_value(&b, common.pointer_encoding);
    if (common.augmented)
        skip(&b, take_uleb(&b));
    if (!b.ok || o.ip < start || o.ip - start >= bytes)
        return;
    rule->start = start;
    struct machine m = {.common = &common};
    if (common.signal || !run(&m, common.program, 0, UINT64_MAX))
        return;
    m.initial = m.row;
    if (run(&m, b, start, o.ip))
        make_rule(&m.row, rule);
#endif
}
