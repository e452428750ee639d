/* Start and end, errors, attributes, info, and what a program asks about its environment. */
#include "sim_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../virtual/time_rules.h"

int *const MPI_UNWEIGHTED = (int *)(char[1]){0};
int *const MPI_WEIGHTS_EMPTY = (int *)(char[1]){0};

static enum { BEFORE, INSIDE, AFTER } phase;
static int provided_level;
static pid_t main_thread;

/* ---- start and end ---- */

void sim_environment_start(void) {
    if (sim == NULL || sim_self() == NULL)
        sim_fail("a program of the simulated MPI has to be started by sim-mpirun");
    if (main_thread != 0)
        return;
    main_thread = gettid();
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* others reach its windows */
    sim_comms_start();
}

static int begin(const char *name) {
    sim_environment_start();
    ENTER(name);
    struct sim_comm *world = sim_comm(MPI_COMM_WORLD);
    struct sim_meeting *m = sim_all_meet(world, "MPI_Init", NULL, 0, NULL);
    sim_leave(m, world->group->rank);
    if (sim_self()->clock < VT_AFTER_INIT_NS)
        sim_yield(VT_AFTER_INIT_NS);
    phase = INSIDE;
    return MPI_SUCCESS;
}

BOTH(MPI_Init)(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    provided_level = MPI_THREAD_SINGLE;
    return begin("MPI_Init");
}

BOTH(MPI_Init_thread)(int *argc, char ***argv, int wanted, int *provided) {
    (void)argc;
    (void)argv;
    *provided = provided_level = wanted;
    return begin("MPI_Init_thread");
}

BOTH(MPI_Finalize)(void) {
    ENTER("MPI_Finalize");
    struct sim_comm *self = sim_comm(MPI_COMM_SELF), *world = sim_comm(MPI_COMM_WORLD);
    TRY(sim_attributes_free(MPI_COMM_SELF, &self->attributes));
    struct sim_meeting *m = sim_all_meet(world, "MPI_Finalize", NULL, 0, NULL);
    sim_leave(m, world->group->rank);
    phase = AFTER;
    return MPI_SUCCESS;
}

BOTH(MPI_Initialized)(int *flag) {
    *flag = phase != BEFORE;
    return MPI_SUCCESS;
}

BOTH(MPI_Finalized)(int *flag) {
    *flag = phase == AFTER;
    return MPI_SUCCESS;
}

BOTH(MPI_Query_thread)(int *provided) {
    *provided = provided_level;
    return MPI_SUCCESS;
}

BOTH(MPI_Is_thread_main)(int *flag) {
    *flag = gettid() == main_thread;
    return MPI_SUCCESS;
}

BOTH(MPI_Abort)(MPI_Comm comm, int code) {
    (void)comm;
    fprintf(stderr, "application called MPI_Abort(MPI_COMM_WORLD, %d) - process %d\n", code,
            sim_self()->rank);
    fflush(NULL);
    sim->aborted = 1 + (code & 0xff);
    sim_wait_for_end();
}

int sim_raise(int fault) {
    if (fault == SIM_ABORTS)
        PMPI_Abort(MPI_COMM_WORLD, 9);
    return sim_error(NULL, fault);
}

BOTH(MPI_Pcontrol)(const int level, ...) {
    (void)level;
    return MPI_SUCCESS;
}

double MPI_Wtime(void) __attribute__((alias("PMPI_Wtime")));
double PMPI_Wtime(void) {
    return 1e-9 * (double)sim_local_clock();
}

double MPI_Wtick(void) __attribute__((alias("PMPI_Wtick")));
double PMPI_Wtick(void) {
    return 1e-9;
}

BOTH(MPI_Get_version)(int *version, int *subversion) {
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

BOTH(MPI_Get_library_version)(char *text, int *length) {
    strcpy(text, "MPICH Version:\t" MPICH_VERSION "\nMPICH, simulated for tests\n");
    *length = (int)strlen(text);
    return MPI_SUCCESS;
}

BOTH(MPI_Get_processor_name)(char *name, int *length) {
    *length = sprintf(name, "node%d", sim_node_of(sim_self()->rank));
    return MPI_SUCCESS;
}

BOTH(MPI_Alloc_mem)(MPI_Aint bytes, MPI_Info info, void *memory) {
    (void)info;
    *(void **)memory = sim_new((size_t)bytes + 1);
    return MPI_SUCCESS;
}

BOTH(MPI_Free_mem)(void *memory) {
    free(memory);
    return MPI_SUCCESS;
}

/* ---- errors: a code is a class ---- */

struct handler {
    MPI_Comm_errhandler_function *function;
};
static struct sim_table handlers = {.kind = 0x94000000u};
static char *own_texts[1024];
static int last_own = MPI_ERR_LASTCODE; /* classes and codes of the program's own */
static int own_class[1024];

int sim_error(const struct sim_comm *c, int class) {
    if (c == NULL)
        c = sim_comm(MPI_COMM_WORLD);
    struct handler *h = c != NULL ? sim_object(&handlers, c->errhandler) : NULL;
    if (c != NULL && c->errhandler == MPI_ERRORS_RETURN)
        return class;
    if (h != NULL) {
        MPI_Comm comm = c->handle;
        h->function(&comm, &class);
        return class;
    }
    fprintf(stderr, "Fatal error in %s: error class %d\n", sim_self()->where, class);
    PMPI_Abort(MPI_COMM_WORLD, class);
    return class;
}

BOTH(MPI_Comm_create_errhandler)(MPI_Comm_errhandler_function *function, MPI_Errhandler *handler) {
    struct handler *h = sim_new(sizeof *h);
    h->function = function;
    *handler = sim_handle(&handlers, h);
    return MPI_SUCCESS;
}

BOTH(MPI_Errhandler_create)(MPI_Handler_function *function, MPI_Errhandler *handler) {
    return PMPI_Comm_create_errhandler(function, handler);
}

/* The object stays: communicators may use it. */
BOTH(MPI_Errhandler_free)(MPI_Errhandler *handler) {
    *handler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

BOTH(MPI_Comm_set_errhandler)(MPI_Comm comm, MPI_Errhandler handler) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    c->errhandler = handler;
    return MPI_SUCCESS;
}

BOTH(MPI_Comm_get_errhandler)(MPI_Comm comm, MPI_Errhandler *handler) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    *handler = c->errhandler;
    return MPI_SUCCESS;
}

BOTH(MPI_Errhandler_set)(MPI_Comm comm, MPI_Errhandler handler) {
    return PMPI_Comm_set_errhandler(comm, handler);
}

BOTH(MPI_Errhandler_get)(MPI_Comm comm, MPI_Errhandler *handler) {
    return PMPI_Comm_get_errhandler(comm, handler);
}

BOTH(MPI_Comm_call_errhandler)(MPI_Comm comm, int code) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    sim_error(c, code);
    return MPI_SUCCESS;
}

BOTH(MPI_Error_class)(int code, int *class) {
    int i = code - MPI_ERR_LASTCODE;
    *class = i > 0 && code <= last_own && own_class[i] != 0 ? own_class[i] : code;
    return MPI_SUCCESS;
}

static int new_code(int class, int *code) {
    if (last_own - MPI_ERR_LASTCODE + 1 >= (int)(sizeof own_class / sizeof *own_class))
        return sim_error(NULL, MPI_ERR_OTHER);
    *code = ++last_own;
    own_class[last_own - MPI_ERR_LASTCODE] = class;
    return MPI_SUCCESS;
}

BOTH(MPI_Add_error_class)(int *class) {
    return new_code(0, class);
}

BOTH(MPI_Add_error_code)(int class, int *code) {
    return new_code(class, code);
}

BOTH(MPI_Add_error_string)(int code, const char *text) {
    if (code <= MPI_ERR_LASTCODE || code > last_own)
        return sim_error(NULL, MPI_ERR_ARG);
    own_texts[code - MPI_ERR_LASTCODE] = strdup(text);
    return MPI_SUCCESS;
}

BOTH(MPI_Error_string)(int code, char *text, int *length) {
    int i = code - MPI_ERR_LASTCODE;
    if (i > 0 && code <= last_own)
        *length = sprintf(text, "%.*s", MPI_MAX_ERROR_STRING - 1,
                          own_texts[i] != NULL ? own_texts[i] : "");
    else
        *length = sprintf(text, "error class %d", code);
    return MPI_SUCCESS;
}

/* ---- attributes: of communicators and types ---- */

struct keyval {
    MPI_Comm_copy_attr_function *copy;
    MPI_Comm_delete_attr_function *delete;
    void *extra;
};
static struct sim_table keyvals = {.kind = 0xa4000000u};

int MPIR_Dup_fn(MPI_Comm comm, int key, void *extra, void *value, void *new, int *flag);
int MPIR_Dup_fn(MPI_Comm comm, int key, void *extra, void *value, void *new, int *flag) {
    (void)comm;
    (void)key;
    (void)extra;
    *(void **)new = value;
    *flag = 1;
    return MPI_SUCCESS;
}

BOTH(MPI_Comm_create_keyval)
(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, int *key, void *extra) {
    struct keyval *k = sim_new(sizeof *k);
    *k = (struct keyval){copy, delete, extra};
    *key = sim_handle(&keyvals, k);
    return MPI_SUCCESS;
}

/* Freed ones work on where they are in use. */
BOTH(MPI_Comm_free_keyval)(int *key) {
    *key = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

BOTH(MPI_Keyval_create)
(MPI_Copy_function *copy, MPI_Delete_function *delete, int *key, void *extra) {
    return PMPI_Comm_create_keyval(copy, delete, key, extra);
}

BOTH(MPI_Keyval_free)(int *key) {
    return PMPI_Comm_free_keyval(key);
}

BOTH(MPI_Type_create_keyval)
(MPI_Type_copy_attr_function *copy, MPI_Type_delete_attr_function *delete, int *key, void *extra) {
    return PMPI_Comm_create_keyval(copy, delete, key, extra);
}

BOTH(MPI_Type_free_keyval)(int *key) {
    return PMPI_Comm_free_keyval(key);
}

int sim_attributes_copy(int from, const struct sim_attribute *attributes,
                        struct sim_attribute **copies) {
    for (; attributes != NULL; attributes = attributes->next) {
        const struct keyval *k = sim_object(&keyvals, attributes->key);
        void *value = NULL;
        int flag = 0;
        if (k->copy == NULL)
            continue;
        TRY(k->copy(from, attributes->key, k->extra, attributes->value, &value, &flag));
        if (!flag)
            continue;
        struct sim_attribute *copy = sim_new(sizeof *copy);
        *copy = (struct sim_attribute){attributes->key, value, *copies};
        *copies = copy;
    }
    return MPI_SUCCESS;
}

static int delete_first(int handle, struct sim_attribute **at) {
    struct sim_attribute *a = *at;
    const struct keyval *k = sim_object(&keyvals, a->key);
    if (k->delete != NULL)
        TRY(k->delete (handle, a->key, a->value, k->extra));
    *at = a->next;
    free(a);
    return MPI_SUCCESS;
}

int sim_attributes_free(int handle, struct sim_attribute **attributes) {
    while (*attributes != NULL)
        TRY(delete_first(handle, attributes));
    return MPI_SUCCESS;
}

static struct sim_attribute **find_attribute(struct sim_attribute **attributes, int key) {
    while (*attributes != NULL && (*attributes)->key != key)
        attributes = &(*attributes)->next;
    return attributes;
}

int sim_attribute_set(int handle, struct sim_attribute **attributes, int key, void *value) {
    if (sim_object(&keyvals, key) == NULL)
        return sim_error(NULL, MPI_ERR_KEYVAL);
    struct sim_attribute **at = find_attribute(attributes, key);
    if (*at != NULL)
        TRY(delete_first(handle, at));
    struct sim_attribute *new = sim_new(sizeof *new);
    *new = (struct sim_attribute){key, value, *attributes};
    *attributes = new;
    return MPI_SUCCESS;
}

int sim_attribute_get(const struct sim_attribute *a, int key, void *value, int *flag) {
    while (a != NULL && a->key != key)
        a = a->next;
    *flag = a != NULL;
    if (a != NULL)
        *(void **)value = a->value;
    return MPI_SUCCESS;
}

int sim_attribute_delete(int handle, struct sim_attribute **attributes, int key) {
    struct sim_attribute **at = find_attribute(attributes, key);
    return *at == NULL ? sim_error(NULL, MPI_ERR_KEYVAL) : delete_first(handle, at);
}

BOTH(MPI_Comm_set_attr)(MPI_Comm comm, int key, void *value) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    return sim_attribute_set(comm, &c->attributes, key, value);
}

BOTH(MPI_Attr_put)(MPI_Comm comm, int key, void *value) {
    return PMPI_Comm_set_attr(comm, key, value);
}

BOTH(MPI_Comm_get_attr)(MPI_Comm comm, int key, void *value, int *flag) {
    static int tag_bound = 0x3fffffff, host = MPI_PROC_NULL, io = MPI_ANY_SOURCE, global = 1, size,
               last;
    struct sim_comm *c;
    void *known = NULL;
    TRY(sim_check_comm(comm, &c));
    size = sim->model.ranks;
    last = last_own;
    switch (key) {
    case MPI_TAG_UB:
        known = &tag_bound;
        break;
    case MPI_HOST:
        known = &host;
        break;
    case MPI_IO:
        known = &io;
        break;
    case MPI_WTIME_IS_GLOBAL:
        known = &global;
        break;
    case MPI_UNIVERSE_SIZE:
        known = &size;
        break;
    case MPI_LASTUSEDCODE:
        known = &last;
        break;
    default:
        if (sim_object(&keyvals, key) == NULL && key != MPI_APPNUM)
            return sim_error(c, MPI_ERR_KEYVAL);
    }
    struct sim_attribute *a = *find_attribute(&c->attributes, key);
    *flag = known != NULL || a != NULL;
    if (*flag)
        *(void **)value = known != NULL ? known : a->value;
    return MPI_SUCCESS;
}

BOTH(MPI_Attr_get)(MPI_Comm comm, int key, void *value, int *flag) {
    return PMPI_Comm_get_attr(comm, key, value, flag);
}

BOTH(MPI_Comm_delete_attr)(MPI_Comm comm, int key) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    return sim_attribute_delete(comm, &c->attributes, key);
}

BOTH(MPI_Attr_delete)(MPI_Comm comm, int key) {
    return PMPI_Comm_delete_attr(comm, key);
}

BOTH(MPI_Type_set_attr)(MPI_Datatype type, int key, void *value) {
    struct sim_type *t = sim_type(type);
    return t == NULL ? sim_error(NULL, MPI_ERR_TYPE)
                     : sim_attribute_set(type, &t->attributes, key, value);
}

BOTH(MPI_Type_get_attr)(MPI_Datatype type, int key, void *value, int *flag) {
    struct sim_type *t = sim_type(type);
    if (t == NULL)
        return sim_error(NULL, MPI_ERR_TYPE);
    return sim_attribute_get(t->attributes, key, value, flag);
}

BOTH(MPI_Type_delete_attr)(MPI_Datatype type, int key) {
    struct sim_type *t = sim_type(type);
    if (t == NULL)
        return sim_error(NULL, MPI_ERR_TYPE);
    return sim_attribute_delete(type, &t->attributes, key);
}

/* ---- info ---- */

struct pair {
    char *key, *value;
    struct pair *next;
};
struct info {
    struct pair *first;
};
static struct sim_table infos = {.kind = 0x9c000000u, .lowest = 1};

#define INFO(handle)                                                                               \
    ({                                                                                             \
        struct info *info_ = sim_object(&infos, handle);                                           \
        if (info_ == NULL)                                                                         \
            return sim_error(NULL, MPI_ERR_INFO);                                                  \
        info_;                                                                                     \
    })

static struct pair **find_key(struct info *info, const char *key) {
    struct pair **p = &info->first;
    while (*p != NULL && strcmp((*p)->key, key) != 0)
        p = &(*p)->next;
    return p;
}

BOTH(MPI_Info_create)(MPI_Info *info) {
    *info = sim_handle(&infos, sim_new(sizeof(struct info)));
    return MPI_SUCCESS;
}

BOTH(MPI_Info_set)(MPI_Info info, const char *key, const char *value) {
    struct pair **p = find_key(INFO(info), key);
    if (*p == NULL) {
        *p = sim_new(sizeof **p);
        (*p)->key = strdup(key);
    }
    free((*p)->value);
    (*p)->value = strdup(value);
    return MPI_SUCCESS;
}

BOTH(MPI_Info_get)(MPI_Info info, const char *key, int most, char *value, int *flag) {
    const struct pair *p = *find_key(INFO(info), key);
    *flag = p != NULL;
    if (p != NULL)
        snprintf(value, (size_t)most + 1, "%s", p->value);
    return MPI_SUCCESS;
}

BOTH(MPI_Info_get_string)(MPI_Info info, const char *key, int *bytes, char *value, int *flag) {
    const struct pair *p = *find_key(INFO(info), key);
    *flag = p != NULL;
    if (p == NULL)
        return MPI_SUCCESS;
    if (*bytes > 0)
        snprintf(value, (size_t)*bytes, "%s", p->value);
    *bytes = (int)strlen(p->value) + 1;
    return MPI_SUCCESS;
}

BOTH(MPI_Info_get_valuelen)(MPI_Info info, const char *key, int *length, int *flag) {
    const struct pair *p = *find_key(INFO(info), key);
    *flag = p != NULL;
    if (p != NULL)
        *length = (int)strlen(p->value);
    return MPI_SUCCESS;
}

BOTH(MPI_Info_get_nkeys)(MPI_Info info, int *n) {
    *n = 0;
    for (const struct pair *p = INFO(info)->first; p != NULL; p = p->next)
        ++*n;
    return MPI_SUCCESS;
}

BOTH(MPI_Info_get_nthkey)(MPI_Info info, int n, char *key) {
    const struct pair *p = INFO(info)->first;
    while (p != NULL && n-- > 0)
        p = p->next;
    if (p == NULL)
        return sim_error(NULL, MPI_ERR_INFO_KEY);
    strcpy(key, p->key);
    return MPI_SUCCESS;
}

static void drop_pair(struct pair **at) {
    struct pair *p = *at;
    *at = p->next;
    free(p->key);
    free(p->value);
    free(p);
}

BOTH(MPI_Info_delete)(MPI_Info info, const char *key) {
    struct pair **p = find_key(INFO(info), key);
    if (*p == NULL)
        return sim_error(NULL, MPI_ERR_INFO_NOKEY);
    drop_pair(p);
    return MPI_SUCCESS;
}

BOTH(MPI_Info_dup)(MPI_Info info, MPI_Info *new) {
    const struct info *from = INFO(info);
    TRY(PMPI_Info_create(new));
    for (const struct pair *p = from->first; p != NULL; p = p->next)
        TRY(PMPI_Info_set(*new, p->key, p->value));
    return MPI_SUCCESS;
}

BOTH(MPI_Info_free)(MPI_Info *info) {
    struct info *i = INFO(*info);
    while (i->first != NULL)
        drop_pair(&i->first);
    free(i);
    sim_drop(&infos, *info);
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

BOTH(MPI_Comm_set_info)(MPI_Comm comm, MPI_Info info) {
    struct sim_comm *c;
    (void)info;
    return sim_check_comm(comm, &c);
}

BOTH(MPI_Comm_get_info)(MPI_Comm comm, MPI_Info *info) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    return PMPI_Info_create(info);
}

BOTH(MPI_Comm_get_parent)(MPI_Comm *parent) {
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

/* --- MPI_T: there are no variables */

BOTH(MPI_T_init_thread)(int wanted, int *provided) {
    *provided = wanted;
    return MPI_SUCCESS;
}

BOTH(MPI_T_finalize)(void) {
    return MPI_SUCCESS;
}

BOTH(MPI_T_cvar_get_num)(int *n) {
    *n = 0;
    return MPI_SUCCESS;
}

BOTH(MPI_T_pvar_get_num)(int *n) {
    *n = 0;
    return MPI_SUCCESS;
}

BOTH(MPI_T_pvar_session_create)(MPI_T_pvar_session *session) {
    *session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}

BOTH(MPI_T_pvar_session_free)(MPI_T_pvar_session *session) {
    *session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}
