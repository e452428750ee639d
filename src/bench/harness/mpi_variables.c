#include "bench/harness/mpi_variables.h"

#include <stdio.h>
#include <string.h>

enum { EXAMINED = 1024 };

struct variable {
    char name[LC_PART_NAME];
    MPI_Datatype type;
    bool runs; /* always: it needs no start */
};

/* Open MPI 4.1 crashes where variables of components are asked for that it has not chosen (psm2):
 * only its software counters. */
static bool is_safe(const char *name) {
#ifdef OPEN_MPI
    return strncmp(name, "runtime_spc_", 12) == 0;
#else
    (void)name;
    return true;
#endif
}

/* Whether number `index` is a scalar that only grows and belongs to no object. */
static bool examine(int index, struct variable *v) {
    char name[256] = "", description[8] = "";
    int name_size = sizeof name, description_size = sizeof description;
    int verbosity, class, binding, fixed, continuous, atomic;
    MPI_T_enum values;
    if (MPI_T_pvar_get_info(index, name, &name_size, &verbosity, &class, &v->type, &values,
                            description, &description_size, &binding, &fixed, &continuous,
                            &atomic) != MPI_SUCCESS)
        return false;
    snprintf(v->name, sizeof v->name, "%.*s", LC_PART_NAME - 1, name);
    v->runs = continuous != 0;
    bool grows = class == MPI_T_PVAR_CLASS_COUNTER || class == MPI_T_PVAR_CLASS_AGGREGATE ||
                 class == MPI_T_PVAR_CLASS_TIMER;
    bool known = v->type == MPI_INT || v->type == MPI_UNSIGNED || v->type == MPI_UNSIGNED_LONG ||
                 v->type == MPI_UNSIGNED_LONG_LONG ||
                 (v->type == MPI_DOUBLE && class == MPI_T_PVAR_CLASS_TIMER);
    return grows && known && is_safe(name) && binding == MPI_T_BIND_NO_OBJECT;
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
        memmove(v->name[kept++], v->name[i], LC_PART_NAME);
    }
    v->n = kept;
}

void lc_mpi_variables_open(struct lc_mpi_variables *v, MPI_Comm comm, struct lc_strbuf *missing) {
    int provided, examined = 0, grow = 0, index[LC_MPI_VARIABLES_MOST] = {0};
    *v = (struct lc_mpi_variables){.open = false};
    v->open = MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS;
    if (v->open && MPI_T_pvar_session_create(&v->session) == MPI_SUCCESS)
        MPI_T_pvar_get_num(&examined);
    examined = examined < EXAMINED ? examined : EXAMINED;
    for (int i = 0; i < examined; i++) {
        struct variable one;
        bool wanted = examine(i, &one);
        grow += wanted;
        if (wanted && v->n < LC_MPI_VARIABLES_MOST && add(v, i, &one))
            index[v->n - 1] = i;
    }
    agree(v, comm, index, examined); /* also where there are none: others may have some */
    if (v->n == 0)
        lc_strbuf_puts(missing, "no performance variables of MPI_T that only grow\n");
    else if (grow > LC_MPI_VARIABLES_MOST)
        lc_strbuf_printf(missing, "%d performance variables of MPI_T: the first %d are read\n",
                         grow, LC_MPI_VARIABLES_MOST);
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
            values[i] = (int64_t)(value.d * 1e9);
        else
            values[i] = v->type[i] == MPI_UNSIGNED_LONG ? (int64_t)value.ul : (int64_t)value.ull;
    }
}
