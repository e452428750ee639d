#include "cli/sweep_variants.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/rank_list.h"

enum { VALUES_MOST = 32, LC_RANKS_MOST = 65536 };

struct varied {
    char *memory; /* NAME\0A\0B\0 */
    const char *name, *value[VALUES_MOST];
    size_t n;
};

static enum lc_err split(const char *text, struct varied *v) {
    *v = (struct varied){.n = 0};
    LC_TRY(lc_strdup(&v->memory, text));
    char *rest = strchr(v->memory, '=');
    v->name = v->memory;
    if (rest == NULL || rest == v->memory)
        return lc_fail(LC_ERR_USAGE, "bench: --vary %.60s: give NAME=VALUE,VALUE,..", text);
    *rest++ = '\0';
    do {
        char *word = strsep(&rest, ",");
        if (*word == '\0' || v->n == VALUES_MOST)
            return lc_fail(LC_ERR_USAGE, "bench: --vary %.60s: %s", text,
                           *word == '\0' ? "a value is empty" : "more than 32 values");
        v->value[v->n++] = word;
    } while (rest != NULL);
    return LC_OK;
}

static const char *one_of(const char *value, const char *const *known) {
    for (; *known != NULL; known++)
        if (strcmp(value, *known) == 0)
            return *known;
    return NULL;
}

static enum lc_err add_variable(struct lc_variant *v, const char *prefix, const char *name,
                                const char *value) {
    struct lc_strbuf variable = {0};
    if (v->n_variables == LC_SWEEP_VARIED)
        return lc_fail(LC_ERR_USAGE, "bench: --vary: more than %d variables of the environment",
                       LC_SWEEP_VARIED);
    lc_strbuf_printf(&variable, "%s%s", prefix, name);
    v->variable[v->n_variables] = lc_strbuf_take(&variable);
    enum lc_err err = lc_strdup(&v->value[v->n_variables], value);
    if (v->variable[v->n_variables++] == NULL && err == LC_OK)
        err = lc_fail(LC_ERR_NOMEM, "bench: not enough memory");
    return err;
}

/* Where ranks are bound: each launcher has a variable of its own for it. */
static enum lc_err add_binding(struct lc_variant *v, const char *value) {
    LC_TRY(add_variable(v, "OMPI_MCA_", "hwloc_base_binding_policy", value));
    LC_TRY(add_variable(v, "PRTE_MCA_", "hwloc_default_binding_policy", value));
    return add_variable(v, "HYDRA_", "BINDING", value);
}

/* Which cores, sockets or NUMA nodes get the next rank, likewise. */
static enum lc_err add_mapping(struct lc_variant *v, const char *value) {
    LC_TRY(add_variable(v, "OMPI_MCA_", "rmaps_base_mapping_policy", value));
    LC_TRY(add_variable(v, "PRTE_MCA_", "rmaps_default_mapping_policy", value));
    return add_variable(v, "HYDRA_", "MAPPING", value);
}

/* What belongs to the command itself; *known false: it is a parameter of an MPI. */
static enum lc_err add_own(struct lc_variant *v, const char *name, const char *value, bool *known) {
    static const char *const syncs[] = {"roundtime", "window", "barrier", "none", NULL};
    static const char *const comms[] = {"world", "node", "reverse", NULL};
    static const char *const mpis[] = {"openmpi", "mpich", NULL};
    static const char *const binds[] = {"core", "socket", "none", NULL};
    static const char *const maps[] = {"core", "socket", "numa", NULL};
    bool right = true;
    *known = true;
    if (strcmp(name, "mpi") == 0) {
        right = one_of(value, mpis) != NULL;
        v->options.flavour = value[0] == 'm' ? LC_FLAVOUR_IS_MPICH : LC_FLAVOUR_IS_OPENMPI;
    } else if (strcmp(name, "n") == 0) {
        char *end;
        v->options.ranks = strtol(value, &end, 10);
        right = *end == '\0' && v->options.ranks > 0 && v->options.ranks <= 1000000;
    } else if (strcmp(name, "comm") == 0) {
        /* whether all ranks are in lists, a launch knows */
        bool lists = lc_rank_groups_count(value, LC_RANKS_MOST) > 0;
        v->options.comm = lists ? value : one_of(value, comms);
        right = v->options.comm != NULL;
    } else if (strcmp(name, "sync") == 0) {
        right = (v->options.sync = one_of(value, syncs)) != NULL;
    } else if (strcmp(name, "bind") == 0) {
        right = one_of(value, binds) != NULL;
        if (right)
            LC_TRY(add_binding(v, value));
    } else if (strcmp(name, "map") == 0) {
        right = one_of(value, maps) != NULL;
        if (right)
            LC_TRY(add_mapping(v, value));
    } else {
        *known = false;
    }
    return right ? LC_OK
                 : lc_fail(LC_ERR_USAGE, "bench: --vary %s=%.60s: unknown value", name, value);
}

static bool is_mpich_variable(const char *name) {
    return strncmp(name, "MPIR_CVAR_", 10) == 0 || strncmp(name, "MPICH_", 6) == 0;
}

static enum lc_err add_setting(struct lc_variant *v, const char *name, const char *value) {
    bool known;
    bool mpich = v->options.flavour == LC_FLAVOUR_IS_MPICH, parameter = !isupper(name[0]);
    LC_TRY(add_own(v, name, value, &known));
    if (!known && (parameter ? mpich : !mpich && is_mpich_variable(name)))
        return LC_OK; /* this MPI does not know it */
    if (!known)
        LC_TRY(add_variable(v, parameter ? "OMPI_MCA_" : "", name, value));
    if (!known && strncmp(name, "coll_tuned_", 11) == 0 && strstr(name, "_algorithm") != NULL)
        LC_TRY(add_variable(v, "OMPI_MCA_", "coll_tuned_use_dynamic_rules", "1"));
    struct lc_strbuf text = {0};
    lc_strbuf_printf(&text, "%s=%s", name, value);
    char *own = v->text[v->n] = lc_strbuf_take(&text);
    if (own == NULL)
        return lc_fail(LC_ERR_NOMEM, "bench: not enough memory");
    v->n++;
    if (strcmp(name, "comm") == 0)
        v->options.comm = strchr(own, '=') + 1; /* what is varied goes before the variants do */
    return LC_OK;
}

static void variant_free(struct lc_variant *v) {
    for (size_t i = 0; i < v->n; i++)
        free(v->text[i]);
    for (size_t i = 0; i < v->n_variables; i++) {
        free(v->variable[i]);
        free(v->value[i]);
    }
    free(v->name);
}

static enum lc_err set_name(struct lc_variant *v) {
    struct lc_strbuf name = {0};
    for (size_t i = 0; i < v->n; i++)
        lc_strbuf_printf(&name, "%s%s", i > 0 ? " " : "", v->text[i]);
    if (v->n == 0)
        lc_strbuf_puts(&name, "as it is");
    v->name = lc_strbuf_take(&name);
    return v->name != NULL ? LC_OK : lc_fail(LC_ERR_NOMEM, "bench: not enough memory");
}

/* Takes the variant, unless there is one like it. */
static enum lc_err add_variant(struct lc_variants *all, struct lc_variant *v) {
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->all[i].name, v->name) == 0) {
            variant_free(v);
            return LC_OK;
        }
    enum lc_err err =
        all->n < LC_SWEEP_MOST
            ? lc_grow(&all->all, &all->room, all->n + 1, sizeof all->all[0])
            : lc_fail(LC_ERR_USAGE, "bench: sweep: more than %d variants", LC_SWEEP_MOST);
    if (err == LC_OK)
        all->all[all->n++] = *v;
    else
        variant_free(v);
    return err;
}

/* The combination with this number; the MPI first, because it says which parameters count. */
static enum lc_err add_combination(struct lc_variants *all, const struct lc_bench_options *options,
                                   size_t n, const struct varied *varied, size_t number) {
    struct lc_variant v = {.options = *options};
    enum lc_err err = LC_OK;
    for (int turn = 0; turn < 2; turn++) {
        size_t rest = number;
        for (size_t i = 0; i < n && err == LC_OK; i++) {
            if ((strcmp(varied[i].name, "mpi") == 0) == (turn == 0))
                err = add_setting(&v, varied[i].name, varied[i].value[rest % varied[i].n]);
            rest /= varied[i].n;
        }
    }
    if (err == LC_OK)
        err = set_name(&v);
    if (err == LC_OK)
        return add_variant(all, &v);
    variant_free(&v);
    return err;
}

/* Parameters of one MPI, and no MPI named: that one. */
static enum lc_flavour guess_flavour(enum lc_flavour wanted, size_t n,
                                     const struct varied *varied) {
    for (size_t i = 0; i < n && wanted == LC_FLAVOUR_UNKNOWN; i++)
        if (is_mpich_variable(varied[i].name))
            wanted = LC_FLAVOUR_IS_MPICH;
        else if (islower(varied[i].name[0]) && strchr(varied[i].name, '_') != NULL)
            wanted = LC_FLAVOUR_IS_OPENMPI;
    return wanted;
}

enum lc_err lc_variants_new(struct lc_variants *variants, const struct lc_sweep_options *given) {
    struct lc_sweep_options options = *given;
    struct varied varied[LC_SWEEP_VARIED] = {0};
    const size_t n = options.n_vary;
    size_t combinations = 1;
    enum lc_err err = LC_OK;
    *variants = (struct lc_variants){0};
    for (size_t i = 0; i < n && err == LC_OK; i++) {
        err = split(options.vary[i], &varied[i]);
        combinations *= err == LC_OK ? varied[i].n : 1;
    }
    if (err == LC_OK && combinations > 4096)
        err = lc_fail(LC_ERR_USAGE, "bench: sweep: %zu combinations: more than 4096", combinations);
    if (err == LC_OK)
        options.each.flavour = guess_flavour(options.each.flavour, n, varied);
    for (size_t c = 0; c < combinations && err == LC_OK; c++)
        err = add_combination(variants, &options.each, n, varied, c);
    if (err == LC_OK && variants->n < 2)
        err = lc_fail(LC_ERR_USAGE, "bench: sweep: only one variant: give --vary NAME=A,B");
    for (size_t i = 0; i < n; i++)
        free(varied[i].memory);
    return err;
}

void lc_variants_free(struct lc_variants *variants) {
    for (size_t i = 0; i < variants->n; i++)
        variant_free(&variants->all[i]);
    free(variants->all);
    *variants = (struct lc_variants){0};
}

void lc_variant_enter(struct lc_variant *v) {
    for (size_t i = 0; i < v->n_variables; i++) {
        const char *before = getenv(v->variable[i]);
        v->before[i] = before != NULL ? strdup(before) : NULL;
        (void)setenv(v->variable[i], v->value[i], 1);
    }
}

void lc_variant_leave(struct lc_variant *v) {
    for (size_t i = v->n_variables; i-- > 0;) {
        if (v->before[i] != NULL)
            (void)setenv(v->variable[i], v->before[i], 1);
        else
            (void)unsetenv(v->variable[i]);
        free(v->before[i]);
        v->before[i] = NULL;
    }
}
