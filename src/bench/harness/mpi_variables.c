#include "bench/harness/mpi_variables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { EXAMINED = 1024 };

struct variable {
    char name[LC_PART_NAME];
    MPI_Datatype type;
    enum lc_counter_kind kind;
    double scale;
    bool runs;    /* always: it needs no start */
    bool resets;  /* a watermark that is not read-only */
    bool first;   /* of more than can be read, these */
    bool foreign; /* of an object, or of a type that is no number */
};

#ifdef OPEN_MPI
/* Open MPI 4.1 crashes where variables of components are asked for that it has not chosen (psm2):
 * only its software counters. They have one class, MPI_T_PVAR_CLASS_SIZE, though most of them grow;
 * those of queues go up and down, and the largest of these begin anew when they are read. */
static bool is_safe(const char *name) {
    return strncmp(name, "runtime_spc_", 12) == 0;
}

static enum lc_counter_kind size_kind(const char *name) {
    return strstr(name, "_MAX_") != NULL                                        ? LC_COUNTER_HIGH
           : strstr(name, "_IN_QUEUE") != NULL || strstr(name, "_FILE") != NULL ? LC_COUNTER_LEVEL
                                                                                : LC_COUNTER_GROWTH;
}
#else
static bool is_safe(const char *name) {
    (void)name;
    return true;
}

static enum lc_counter_kind size_kind(const char *name) {
    (void)name;
    return LC_COUNTER_LEVEL;
}
#endif

/* False: no such class is known here (MPI_T_PVAR_CLASS_GENERIC says nothing of what it is). */
static bool kind_of(const char *name, int class, enum lc_counter_kind *kind) {
    switch (class) {
    case MPI_T_PVAR_CLASS_COUNTER:
    case MPI_T_PVAR_CLASS_AGGREGATE:
    case MPI_T_PVAR_CLASS_TIMER:
        *kind = LC_COUNTER_GROWTH;
        return true;
    case MPI_T_PVAR_CLASS_SIZE:
        *kind = size_kind(name);
        return true;
    case MPI_T_PVAR_CLASS_LEVEL:
    case MPI_T_PVAR_CLASS_PERCENTAGE:
        *kind = LC_COUNTER_LEVEL;
        return true;
    case MPI_T_PVAR_CLASS_HIGHWATERMARK:
    case MPI_T_PVAR_CLASS_LOWWATERMARK:
        *kind = class == MPI_T_PVAR_CLASS_LOWWATERMARK ? LC_COUNTER_LOW : LC_COUNTER_HIGH;
        return true;
    case MPI_T_PVAR_CLASS_STATE:
        *kind = LC_COUNTER_STATE;
        return true;
    default:
        return false;
    }
}

static bool is_wanted(const char *name, const char *wanted) {
    char words[1024], *rest = words;
    snprintf(words, sizeof words, "%s", wanted);
    for (char *word; rest != NULL && (word = strsep(&rest, ",")) != NULL;)
        if (*word != '\0' && strcasestr(name, word) != NULL)
            return true;
    return *wanted == '\0';
}

/* What tells of messages that came too early, or in another order, before what counts calls. */
static bool tells_more(const char *name) {
    static const char *const parts[] = {"unexpected", "sequence", "match", "queue", "bytes"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strcasestr(name, parts[i]) != NULL)
            return true;
    return false;
}

/* Whether number `index` can be one of ours. */
static bool examine(int index, const char *wanted, struct variable *v) {
    char name[256] = "", description[8] = "";
    int name_size = sizeof name, description_size = sizeof description;
    int verbosity, class, binding, fixed, continuous, atomic;
    MPI_T_enum values;
    *v = (struct variable){.scale = 1};
    if (MPI_T_pvar_get_info(index, name, &name_size, &verbosity, &class, &v->type, &values,
                            description, &description_size, &binding, &fixed, &continuous,
                            &atomic) != MPI_SUCCESS ||
        !kind_of(name, class, &v->kind) || !is_safe(name) || !is_wanted(name, wanted))
        return false;
    bool share = class == MPI_T_PVAR_CLASS_PERCENTAGE, time = class == MPI_T_PVAR_CLASS_TIMER;
    const char *unit = "";
    if (v->type == MPI_DOUBLE) { /* seconds of a timer, a share from 0 to 1, else a number */
        v->scale = time ? 1e9 : share ? 1e6 : 1;
        unit = time ? "_ns" : share ? "_ppm" : "";
    }
    snprintf(v->name, sizeof v->name, "%.*s%s", LC_PART_NAME - 6, name, unit);
    v->runs = continuous != 0;
    v->resets = fixed == 0 && (v->kind == LC_COUNTER_HIGH || v->kind == LC_COUNTER_LOW);
    v->first = tells_more(name);
    v->foreign = binding != MPI_T_BIND_NO_OBJECT ||
                 !(v->type == MPI_INT || v->type == MPI_UNSIGNED || v->type == MPI_UNSIGNED_LONG ||
                   v->type == MPI_UNSIGNED_LONG_LONG || v->type == MPI_DOUBLE);
    return true;
}

static bool add(struct lc_mpi_variables *v, int index, const struct variable *one) {
    MPI_T_pvar_handle handle;
    int count = 0;
    if (MPI_T_pvar_handle_alloc(v->session, index, NULL, &handle, &count) != MPI_SUCCESS)
        return false;
    if (count != 1 || (!one->runs && MPI_T_pvar_start(v->session, handle) != MPI_SUCCESS)) {
        MPI_T_pvar_handle_free(v->session, &handle);
        return false;
    }
    v->handle[v->n] = handle;
    v->type[v->n] = one->type;
    v->scale[v->n] = one->scale;
    v->kind[v->n] = (uint8_t)one->kind;
    v->resets[v->n] = one->resets;
    snprintf(v->name[v->n++], LC_PART_NAME, "%s", one->name);
    return true;
}

/* One rank may have fewer than the others: those that all can read. */
static void agree(struct lc_mpi_variables *v, MPI_Comm comm, const int *index, int examined) {
    unsigned char can[EXAMINED] = {0};
    unsigned kept = 0;
    for (unsigned i = 0; i < v->n; i++)
        if (index[i] < examined)
            can[index[i]] = 1;
    MPI_Allreduce(MPI_IN_PLACE, can, EXAMINED, MPI_UNSIGNED_CHAR, MPI_MIN, comm);
    for (unsigned i = 0; i < v->n; i++) {
        if (index[i] >= examined || can[index[i]] == 0) {
            MPI_T_pvar_handle_free(v->session, &v->handle[i]);
            continue;
        }
        v->handle[kept] = v->handle[i];
        v->type[kept] = v->type[i];
        v->scale[kept] = v->scale[i];
        v->kind[kept] = v->kind[i];
        v->resets[kept] = v->resets[i];
        memmove(v->name[kept++], v->name[i], LC_PART_NAME);
    }
    v->n = kept;
}

/* Those that tell more (`first`), or the others, as long as there is room. */
static void add_all(struct lc_mpi_variables *v, int examined, const char *wanted, bool first,
                    int *index) {
    for (int i = 0; i < examined; i++) {
        struct variable one;
        if (v->n < LC_MPI_VARIABLES_MOST && examine(i, wanted, &one) && !one.foreign &&
            one.first == first && add(v, i, &one))
            index[v->n - 1] = i;
    }
}

static void tell_missing(const struct lc_mpi_variables *v, unsigned known, unsigned foreign,
                         const char *wanted, struct lc_strbuf *missing) {
    if (v->n == 0)
        lc_strbuf_printf(missing, "no performance variables of MPI_T%s%s\n",
                         *wanted != '\0' ? " with a name like " : " that all ranks can read",
                         wanted);
    else if (known > v->n)
        lc_strbuf_printf(missing,
                         "%u performance variables of MPI_T: %u are read: --mpi-variables NAME,.. "
                         "chooses\n",
                         known, v->n);
    if (foreign > 0)
        lc_strbuf_printf(missing,
                         "%u performance variables of MPI_T that belong to objects, or are no "
                         "numbers\n",
                         foreign);
#ifdef OPEN_MPI
    if (known == 0)
        lc_strbuf_puts(missing, "no software counters in this Open MPI: it was built without "
                                "(--enable-spc)\n");
    else if (getenv("OMPI_MCA_mpi_spc_attach") == NULL)
        lc_strbuf_puts(missing, "Open MPI's software counters stand still: --counters spc lets "
                                "it count\n");
#endif
}

void lc_mpi_variables_open(struct lc_mpi_variables *v, MPI_Comm comm, const char *wanted,
                           struct lc_strbuf *missing) {
    int provided, examined = 0, index[LC_MPI_VARIABLES_MOST] = {0};
    unsigned known = 0, foreign = 0;
    *v = (struct lc_mpi_variables){.open = false};
    v->open = MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS;
    if (v->open && MPI_T_pvar_session_create(&v->session) == MPI_SUCCESS)
        MPI_T_pvar_get_num(&examined);
    examined = examined < EXAMINED ? examined : EXAMINED;
    for (int i = 0; i < examined; i++) {
        struct variable one;
        bool is_one = examine(i, wanted, &one);
        known += is_one && !one.foreign;
        foreign += is_one && one.foreign;
    }
    add_all(v, examined, wanted, true, index);
    add_all(v, examined, wanted, false, index);
    agree(v, comm, index, examined); /* also where there are none: others may have some */
    tell_missing(v, known, foreign, wanted, missing);
}

void lc_mpi_variables_close(struct lc_mpi_variables *v) {
    if (!v->open)
        return;
    for (unsigned i = 0; i < v->n; i++)
        MPI_T_pvar_handle_free(v->session, &v->handle[i]);
    MPI_T_pvar_session_free(&v->session);
    MPI_T_finalize();
    v->open = false;
}

void lc_mpi_variables_reset(const struct lc_mpi_variables *v) {
    for (unsigned i = 0; i < v->n; i++)
        if (v->resets[i])
            (void)MPI_T_pvar_reset(v->session, v->handle[i]);
}

void lc_mpi_variables_read(const struct lc_mpi_variables *v, int64_t *values) {
    for (unsigned i = 0; i < v->n; i++) {
        union {
            int i;
            unsigned u;
            unsigned long ul;
            unsigned long long ull;
            double d;
        } value = {.ull = 0};
        if (MPI_T_pvar_read(v->session, v->handle[i], &value) != MPI_SUCCESS)
            values[i] = 0;
        else if (v->type[i] == MPI_INT)
            values[i] = value.i;
        else if (v->type[i] == MPI_UNSIGNED)
            values[i] = value.u;
        else if (v->type[i] == MPI_DOUBLE)
            values[i] = llround(value.d * v->scale[i]);
        else
            values[i] = v->type[i] == MPI_UNSIGNED_LONG ? (int64_t)value.ul : (int64_t)value.ull;
    }
}
