#include "measure/callpath/python_stack.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/hash.h"
#include "measure/callpath/python_layout.h"
#include "measure/unwind/modules.h"
#include "measure/core/state_write.h"
#include "measure/unwind/walk.h"

enum {
    DEPTH_MOST = 256,      /* innermost Python frames that tell contexts apart */
    CONTEXTS_MOST = 16384, /* of a thread; then all are forgotten: their numbers never return */
    TABLE_FIRST = 256,
    NAME_BYTES = 512,
    TYPE_BASIC_SIZE = 32, /* of PyTypeObject: tp_basicsize */
    NOTE_BYTES = 80,      /* of a frame, that notes read */
    CODE_BYTES = 144,     /* of a code object, that tell which function it is */
    OBJECT_TYPE = 8,      /* of any object: its type */
    TEXT_BYTES = 40,      /* of a text: what its length and its form are */
    KNOWN = 64            /* functions that notes were about, by a hash of their code */
};

/* A Python frame: where it is, what it runs. */
struct python_frame {
    uint64_t address, code, instruction;
    uint64_t same; /* differs where another function's code has come to lie at `code` */
    uint64_t kind; /* enum lc_python_kind */
};

struct context {
    uint64_t hash;
    uint32_t id, ctx, n;
    struct python_frame frames[];
};

struct known_code {
    uint64_t code, same;
    uint32_t region;
};

struct lc_python {
    struct known_code known[KNOWN];
    struct context **table; /* open addressing */
    uint32_t mask, n_contexts;
    struct context *last; /* context of the last look, NULL: it is not kept */
    uint32_t n_now;       /* frames of the last look that was not at those of `last` */
    struct python_frame now[DEPTH_MOST];
};

/* --- the interpreter */

static struct {
    bool known;
    char unknown[16];
    void *(*thread_state)(void); /* PyGILState_GetThisThreadState: needs no lock */
    uint64_t evaluate;           /* the C function that runs frames */
    uint64_t code_type;
    bool notable; /* what a note needs lies where it is read */
    struct lc_python_layout layout;
} python;

static void find_python(void) {
    const char *(*version)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "Py_GetVersion");
    if (version == NULL)
        return;
    const char *text = version();
    const char *code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
    python.thread_state = (void *(*)(void))dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    python.evaluate = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
    python.code_type = (uint64_t)(uintptr_t)code_type;
    size_t code_bytes = 0;
    if (code_type != NULL)
        memcpy(&code_bytes, code_type + TYPE_BASIC_SIZE, sizeof code_bytes);
    python.known =
        code_type != NULL && python.thread_state != NULL && python.evaluate != 0 &&
        lc_python_layout_of(text, code_bytes, dlsym(RTLD_DEFAULT, "_PyRuntime"), &python.layout);
    const struct lc_python_layout *l = &python.layout;
    python.notable = python.known && l->previous + 8 <= NOTE_BYTES && l->code + 8 <= NOTE_BYTES &&
                     l->instruction + 8 <= NOTE_BYTES && l->flag < NOTE_BYTES &&
                     l->file + 8 <= CODE_BYTES && l->name + 8 <= CODE_BYTES &&
                     l->first_line + 4 <= CODE_BYTES;
    if (!python.known) {
        size_t length = strcspn(text, " ");
        length = length < sizeof python.unknown ? length : sizeof python.unknown - 1;
        memcpy(python.unknown, text, length);
        python.unknown[length] = '\0';
    }
}

const char *lc_python_unread(void) {
    return python.unknown;
}

void lc_python_thread_init(struct lc_thread *t) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_python);
    if (!python.known || lc_core.callpath != LC_CALLPATH_UNWIND)
        return;
    struct lc_python *p = calloc(1, sizeof *p);
    if (p != NULL && (p->table = calloc(TABLE_FIRST, sizeof *p->table)) == NULL) {
        free(p);
        p = NULL;
    }
    if (p != NULL)
        p->mask = TABLE_FIRST - 1;
    t->python = p;
}

static void forget(struct lc_python *p) {
    for (uint32_t i = 0; i <= p->mask; i++) {
        free(p->table[i]);
        p->table[i] = NULL;
    }
    p->n_contexts = 0;
    p->last = NULL;
}

void lc_python_thread_free(struct lc_thread *t) {
    if (t->python == NULL)
        return;
    forget(t->python);
    free(t->python->table);
    free(t->python);
    t->python = NULL;
}

/* --- contexts */

static inline uint64_t word_at(uint64_t address) {
    return *(const uint64_t *)(uintptr_t)address;
}

#define NOT_SANITIZED __attribute__((no_sanitize("address", "thread")))

static inline NOT_SANITIZED struct python_frame frame_at(uint64_t frame) {
    const struct lc_python_layout *l = &python.layout;
    uint8_t flag = *(const uint8_t *)(uintptr_t)(frame + l->flag);
    if (!l->flag_is_entry && flag == 3)
        return (struct python_frame){.address = frame, .kind = LC_PYTHON_NO_FUNCTION};
    uint64_t code = word_at(frame + l->code);
    uint32_t line = *(const uint32_t *)(uintptr_t)(code + l->first_line);
    return (struct python_frame){
        .address = frame,
        .code = code,
        .instruction = word_at(frame + l->instruction),
        .same = word_at(code + l->name) ^ (uint64_t)line << 48,
        .kind = l->flag_is_entry && flag != 0 ? LC_PYTHON_OUTERMOST : 0,
    };
}

static inline NOT_SANITIZED uint64_t outer_of(uint64_t frame) {
    return word_at(frame + python.layout.previous);
}

/* Looks at the frames; their hash. */
static NOT_SANITIZED uint64_t look(struct lc_python *p, uint64_t frame) {
    uint64_t hash = LC_HASH_BEGIN;
    uint32_t n = 0;
    for (; frame != 0 && n < DEPTH_MOST; frame = outer_of(frame)) {
        struct python_frame *f = &p->now[n++];
        *f = frame_at(frame);
        hash = lc_hash_word(hash, f->instruction ^ frame << 20 ^ f->same);
    }
    p->n_now = n;
    return hash;
}

/* Programs go in circles: mostly the same again. */
static NOT_SANITIZED bool is_still(const struct context *c, uint64_t frame) {
    for (const struct python_frame *f = c->frames, *end = f + c->n; f < end; f++) {
        if (frame != f->address)
            return false;
        struct python_frame now = frame_at(frame);
        if (now.instruction != f->instruction || now.code != f->code || now.same != f->same ||
            now.kind != f->kind)
            return false;
        frame = outer_of(frame);
    }
    return frame == 0 || c->n == DEPTH_MOST;
}

static bool is_now(const struct lc_python *p, const struct context *c, uint64_t hash,
                   uint32_t ctx) {
    return c->hash == hash && c->ctx == ctx && c->n == p->n_now &&
           memcmp(c->frames, p->now, c->n * sizeof *c->frames) == 0;
}

static uint32_t slot_of(const struct lc_python *p, uint64_t hash) {
    return (uint32_t)(hash >> 32) & p->mask;
}

static void put(struct lc_python *p, struct context *c) {
    uint32_t at = slot_of(p, c->hash);
    while (p->table[at] != NULL)
        at = (at + 1) & p->mask;
    p->table[at] = c;
}

static void grow(struct lc_python *p) {
    uint32_t old_mask = p->mask;
    struct context **old = p->table, **bigger = calloc(2u * old_mask + 2, sizeof *bigger);
    if (bigger == NULL || p->n_contexts == CONTEXTS_MOST) {
        free(bigger);
        forget(p);
        return;
    }
    p->table = bigger;
    p->mask = 2 * old_mask + 1;
    for (uint32_t i = 0; i <= old_mask; i++)
        if (old[i] != NULL)
            put(p, old[i]);
    free(old);
}

static LC_COLD uint32_t new_context(struct lc_thread *t, uint64_t hash, uint32_t ctx) {
    struct lc_python *p = t->python;
    if (2 * p->n_contexts > p->mask)
        grow(p);
    uint32_t id = ++t->next_serial;
    struct context *c = malloc(sizeof *c + p->n_now * sizeof *c->frames);
    if (c == NULL)
        return id; /* looked at anew each time */
    *c = (struct context){.hash = hash, .id = id, .ctx = ctx, .n = p->n_now};
    memcpy(c->frames, p->now, p->n_now * sizeof *c->frames);
    put(p, c);
    p->n_contexts++;
    p->last = c;
    return id;
}

uint32_t lc_python_context(struct lc_thread *t) {
    struct lc_python *p = t->python;
    const void *state = python.thread_state();
    uint64_t frame = state != NULL ? lc_python_innermost(&python.layout, state) : 0;
    if (p->last != NULL && frame != 0 && p->last->ctx == t->ctx && is_still(p->last, frame))
        return p->last->id;
    p->last = NULL;
    p->n_now = 0;
    if (frame == 0)
        return t->ctx;
    uint64_t hash = lc_hash_key(look(p, frame) ^ t->ctx);
    struct context *c;
    for (uint32_t at = slot_of(p, hash); (c = p->table[at]) != NULL; at = (at + 1) & p->mask)
        if (is_now(p, c, hash, t->ctx))
            return (p->last = c)->id;
    return new_context(t, hash, t->ctx);
}

/* --- notes of what ran when a sample was taken */

/* Memory that may be gone. */
static bool copy_from(uint64_t address, void *to, size_t bytes) {
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};
    return syscall(SYS_process_vm_readv, getpid(), &here, 1ul, &there, 1ul, 0ul) == (long)bytes;
}

static uint64_t word_in(const unsigned char *bytes, uint16_t offset) {
    uint64_t word;
    memcpy(&word, bytes + offset, sizeof word);
    return word;
}

uint64_t lc_python_evaluate(void) {
    return python.known ? python.evaluate : 0;
}

/* Where the interpreter is about to go into a function, the innermost frame may be no frame yet. */
uint32_t lc_python_note(uint64_t *words, uint32_t most) {
    const struct lc_python_layout *l = &python.layout;
    const void *state =
        lc_self != NULL && lc_self->python != NULL && python.notable ? python.thread_state() : NULL;
    uint64_t frame = state != NULL ? lc_python_innermost(l, state) : 0;
    uint32_t n = 0;
    unsigned char bytes[NOTE_BYTES];
    for (; n < most && frame != 0 && copy_from(frame, bytes, sizeof bytes); n++) {
        uint8_t flag = bytes[l->flag];
        uint64_t kind = l->flag_is_entry ? (flag != 0 ? LC_PYTHON_OUTERMOST : 0)
                        : flag == 3      ? LC_PYTHON_NO_FUNCTION
                                         : 0;
        words[2 * n] = (word_in(bytes, l->code) & ~(uint64_t)LC_PYTHON_KINDS) | kind;
        words[2 * n + 1] = word_in(bytes, l->instruction);
        frame = word_in(bytes, l->previous);
    }
    return n;
}

/* Begin and end of a text can be read: it was freed neither. */
static bool is_text(uint64_t text) {
    enum { LENGTH = 16, LONGEST = 1 << 16 };
    unsigned char bytes[TEXT_BYTES];
    char last[4];
    if (text == 0 || !copy_from(text, bytes, sizeof bytes))
        return false;
    uint64_t length = word_in(bytes, LENGTH);
    return length <= LONGEST && copy_from(text + python.layout.wide + 4 * length, last, 4);
}

static uint32_t name_of(uint64_t code, const unsigned char *head) {
    const struct lc_python_layout *l = &python.layout;
    char name[NAME_BYTES];
    if (!is_text(word_in(head, l->file)) || !is_text(word_in(head, l->name)) ||
        !lc_python_name(l, code, name, sizeof name))
        return LC_NONE;
    return lc_region_by_name(name);
}

uint32_t lc_python_noted(struct lc_thread *t, uint64_t code) {
    const struct lc_python_layout *l = &python.layout;
    unsigned char head[CODE_BYTES];
    uint64_t kind = code & LC_PYTHON_KINDS;
    code &= ~(uint64_t)LC_PYTHON_KINDS;
    if (t->python == NULL || kind == LC_PYTHON_NO_FUNCTION || code == 0 ||
        !copy_from(code, head, sizeof head) || word_in(head, OBJECT_TYPE) != python.code_type)
        return LC_NONE;
    uint32_t line;
    memcpy(&line, head + l->first_line, sizeof line);
    uint64_t same = word_in(head, l->name) ^ (uint64_t)line << 48;
    struct known_code *known = &t->python->known[lc_hash_key(code) >> 32 & (KNOWN - 1)];
    if (known->code != code || known->same != same)
        *known = (struct known_code){code, same, name_of(code, head)};
    return known->region;
}

/* --- into the frames of C's stack */

static uint32_t frames_of(const struct lc_python *p, const struct python_frame **frames) {
    *frames = p->last != NULL ? p->last->frames : p->now;
    return p->last != NULL ? p->last->n : p->n_now;
}

/* The next function, from *i on; false: none is left of this C function's. */
static bool take_function(const struct lc_python *p, uint32_t *i, bool *done,
                          struct lc_frame *out) {
    const struct python_frame *frames;
    uint32_t n = frames_of(p, &frames);
    while (*i < n && !*done) {
        const struct python_frame *f = &frames[(*i)++];
        *done = f->kind != 0;
        char name[NAME_BYTES];
        if (f->kind == LC_PYTHON_NO_FUNCTION ||
            !lc_python_name(&python.layout, f->code, name, sizeof name))
            continue;
        uint32_t region = lc_region_by_name(name);
        if (region == LC_NONE)
            continue;
        out->script = region + 1;
        out->script_line = lc_python_line(&python.layout, f->code, f->instruction);
        out->script_slot = f->address;
        out->script_ip = f->instruction;
        return true;
    }
    return false;
}

/* The frames so far; what was left out since the last of them. */
struct merged {
    struct lc_frame *frames;
    int n, first;
    const struct lc_frame *left_out; /* the innermost one; NULL: nothing */
};

static void append(struct merged *m, const struct lc_frame *f) {
    if (m->left_out != NULL && m->n > m->first)
        m->frames[m->n - 1].outer = (struct lc_mark){m->left_out->ip_slot, m->left_out->ip};
    m->left_out = NULL;
    m->frames[m->n++] = *f;
}

/* What one C function runs. all: and whatever is left. */
static void append_functions(struct merged *m, const struct lc_python *p, uint32_t *i, bool all,
                             int most, const struct lc_frame *c_frame) {
    struct lc_frame f = *c_frame;
    bool done = false;
    while (m->n < most && take_function(p, i, &done, &f)) {
        append(m, &f);
        done = done && !all;
    }
}

int lc_python_insert(struct lc_thread *t, struct lc_frame *frames, int n, int low, int *high) {
    const struct lc_python *p = t->python;
    const struct python_frame *all;
    if (p == NULL || frames_of(p, &all) == 0 || *high < low)
        return n;
    pthread_mutex_lock(&lc_core.lock);
    const struct lc_module *module = lc_module_find(python.evaluate);
    uint64_t begin = module != NULL ? module->begin : 0, end = module != NULL ? module->end : 0;
    pthread_mutex_unlock(&lc_core.lock);
    int at = LC_FRAMES_MAX - (n - low), last = at + (*high - low);
    memmove(&frames[at], &frames[low], (size_t)(n - low) * sizeof *frames);
    struct merged m = {frames, low, low, NULL};
    uint32_t i = 0;
    for (; at <= last; at++) {
        struct lc_frame f = frames[at];
        bool own = f.ip >= begin && f.ip < end;
        if (own && at < last && m.left_out == NULL)
            m.left_out = &frames[at];
        if (f.start == python.evaluate || at == last)
            append_functions(&m, p, &i, at == last, at, &f);
        if ((!own || at == last) && m.n <= at)
            append(&m, &f);
    }
    *high = m.n - 1;
    memmove(&frames[m.n], &frames[at], (size_t)(LC_FRAMES_MAX - at) * sizeof *frames);
    return m.n + LC_FRAMES_MAX - at;
}
