/* What-if scenarios (LATECOMER_WHAT_IF, base/what_if_spec.h). Useful time in call paths that
 * contain the function or region NAME counts FACTOR times; `mpi=0` and `omp=0` ask for the
 * prediction with a network, or an OpenMP runtime, that takes no time; `tasks=infinite` for a clock
 * per task. Functions are found by their symbols in the modules of the program.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/what_if_spec.h"
#include "format/facts.h"
#include "format/omp_construct.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/what_if_factors.h"
#include "measure/core/core.h"
#include "measure/core/state_write.h"

_Static_assert((int)LC_WHATIF_MAX == (int)LC_WHAT_IF_SCENARIOS, "clocks for all scenarios");

static struct lc_what_if_term terms[LC_WHAT_IF_TERMS];
static uint32_t n_terms;
static uint32_t terms_seen; /* bits: some call path has this name */
static char texts[LC_WHATIF_MAX][LC_WHAT_IF_SCENARIO];
static bool no_mpi[LC_WHATIF_MAX], no_omp[LC_WHATIF_MAX];

struct lc_node_factors {
    bool known;
    uint32_t applied; /* terms: each counts once, however often its name is in the path */
    float factors[LC_WHATIF_MAX];
};
static struct lc_node_factors *nodes;
static size_t cap_nodes;

/* One scenario; `latecomer run` has refused what does not parse. */
static void add_terms(uint32_t scenario, const char *text) {
    struct lc_what_if_term term;
    unsigned one = 0;
    bool found = true;
    while (n_terms < LC_WHAT_IF_TERMS && lc_what_if_next(&text, &one, &term, &found) == LC_OK &&
           found) {
        term.scenario = scenario;
        switch (term.part) {
        case LC_WHAT_IF_MPI:
            no_mpi[scenario] = true;
            break;
        case LC_WHAT_IF_OMP:
            no_omp[scenario] = true;
            break;
        case LC_WHAT_IF_TASKS:
            lc_clk.whatif_tasks |= 1u << scenario;
            break;
        default:
            terms[n_terms++] = term;
        }
    }
}

void lc_clk_whatif_init(void) {
    const char *at = lc_option("LATECOMER_WHAT_IF");
    while (at != NULL && *at != '\0' && lc_clk.n_whatif < LC_WHATIF_MAX) {
        uint32_t s = lc_clk.n_whatif++;
        size_t length = strcspn(at, ";");
        size_t kept = length < sizeof texts[s] ? length : sizeof texts[s] - 1;
        memcpy(texts[s], at, kept);
        add_terms(s, texts[s]);
        at += length;
        at += *at == ';';
    }
}

static uint32_t tasks_at = LC_WHATIF_MAX;

void lc_clk_whatif_add_tasks(void) {
    if (lc_clk.n_whatif == LC_WHATIF_MAX)
        return;
    tasks_at = lc_clk.n_whatif++;
    lc_clk.whatif_tasks |= 1u << tasks_at;
}

uint32_t lc_clk_whatif_tasks_at(void) {
    return tasks_at;
}

uint32_t lc_clk_whatif_given(void) {
    return lc_min(lc_clk.n_whatif, tasks_at);
}

uint32_t lc_clk_whatif_seen(void) {
    return terms_seen;
}

void lc_clk_whatif_facts(uint32_t seen, struct lc_strbuf *facts) {
    for (uint32_t s = 0; s < lc_clk_whatif_given(); s++) {
        struct lc_fact_scenario fact = {.no_mpi = no_mpi[s], .no_omp = no_omp[s]};
        memcpy(fact.text, texts[s], sizeof fact.text);
        lc_facts_put(facts, LC_FACT_SCENARIO, &fact, sizeof fact);
    }
    for (uint32_t i = 0; i < n_terms; i++) {
        struct lc_fact_unknown fact = {.scenario = terms[i].scenario};
        memcpy(fact.name, terms[i].name, sizeof fact.name);
        if (!(seen & 1u << i))
            lc_facts_put(facts, LC_FACT_UNKNOWN, &fact, sizeof fact);
    }
}

/* ---- the name of a function: its symbol in the module */

static bool symbols_have(const char *map, size_t bytes, const Elf64_Shdr *table,
                         const Elf64_Shdr *text, const struct lc_what_if_term *term,
                         uint64_t address) {
    if (table->sh_offset > bytes || table->sh_size > bytes - table->sh_offset ||
        text->sh_offset > bytes || text->sh_size > bytes - text->sh_offset)
        return false;
    const Elf64_Sym *symbols = (const Elf64_Sym *)(map + table->sh_offset);
    const char *names = map + text->sh_offset;
    if (text->sh_size == 0 || names[text->sh_size - 1] != '\0')
        return false;
    for (size_t i = 0; i < table->sh_size / sizeof *symbols; i++)
        if (symbols[i].st_value == address && symbols[i].st_name < text->sh_size &&
            lc_what_if_means(term, names + symbols[i].st_name, names + symbols[i].st_name))
            return true;
    return false;
}

static bool elf_has(const char *map, size_t bytes, const struct lc_what_if_term *term,
                    uint64_t address) {
    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)map;
    if (bytes < sizeof *elf || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
        elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_shoff > bytes ||
        elf->e_shnum * sizeof(Elf64_Shdr) > bytes - elf->e_shoff)
        return false;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(map + elf->e_shoff);
    for (uint32_t i = 0; i < elf->e_shnum; i++)
        if ((sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM) &&
            sections[i].sh_link < elf->e_shnum &&
            symbols_have(map, bytes, &sections[i], &sections[sections[i].sh_link], term, address))
            return true;
    return false;
}

static bool function_is(const char *module, const struct lc_what_if_term *term, uint64_t address) {
    struct stat file;
    int fd = open(module, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool found = false;
    if (fstat(fd, &file) == 0 && file.st_size > 0) {
        void *map = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            found = elf_has(map, (size_t)file.st_size, term, address);
            munmap(map, (size_t)file.st_size);
        }
    }
    close(fd);
    return found;
}

/* "Solver.step" or "solver.py:Solver.step:41". */
static bool script_is(const char *name, const char *wanted) {
    const char *function = strchr(name, ':');
    size_t length = strlen(wanted);
    return strcmp(name, wanted) == 0 ||
           (function != NULL && strncmp(function + 1, wanted, length) == 0 &&
            (function[1 + length] == ':' || function[1 + length] == '\0'));
}

/* Is there code of the line in this place of the program itself? line: "solve.c:12". */
static bool line_is(const char *line, const struct lc_omp_place *place) {
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self);
    size_t length = strlen(line);
    const char *at = lc_option("LATECOMER_WHAT_IF_PLACES");
    if (n != place->path_bytes || memcmp(self, place->path, (size_t)n) != 0)
        return false;
    while (at != NULL && (strncmp(at, line, length) != 0 || at[length] != '=')) {
        at = strchr(at, ';');
        at += at != NULL;
    }
    for (at = at != NULL ? at + length : NULL; at != NULL && (*at == '=' || *at == ',');) {
        char *end;
        uint64_t first = strtoull(at + 1, &end, 16);
        uint64_t last = *end == '-' ? strtoull(end + 1, &end, 16) : 0;
        if (place->offset >= first && place->offset < last)
            return true;
        at = end;
    }
    return false;
}

/* "!$omp task @solve.c:12", or all of a kind: "!$omp task". */
static bool construct_is(const char *name, const char *wanted) {
    struct lc_omp_place place;
    if (!lc_omp_place_of(name, &place) || strncmp(name, wanted, (size_t)place.construct) != 0)
        return false;
    wanted += place.construct;
    return *wanted == '\0' || (strncmp(wanted, " @", 2) == 0 && line_is(wanted + 2, &place));
}

static bool node_is(const struct lc_state_node *node, const struct lc_what_if_term *term) {
    if (node->kind == LC_RAW_SCRIPT || node->kind == LC_RAW_SAMPLED_SCRIPT)
        return script_is(lc_state_name_of(node->ref), term->name);
    if (node->kind == LC_RAW_REGION)
        return strcmp(lc_state_name_of(node->ref), term->name) == 0 ||
               construct_is(lc_state_name_of(node->ref), term->name);
    return lc_raw_is_code(node->kind) && node->ref != LC_NONE &&
           function_is(lc_state_path_of(node->ref), term, node->offset);
}

static LC_COLD void work_out(uint32_t node) {
    const struct lc_state_node *all = lc_state_nodes();
    struct lc_node_factors *f = &nodes[node];
    uint32_t parent = all[node].parent;
    for (uint32_t s = 0; s < LC_WHATIF_MAX; s++)
        f->factors[s] = 1;
    if (parent != LC_NONE && parent < node) {
        lc_clk_whatif_of(parent);
        *f = nodes[parent];
    }
    for (uint32_t i = 0; i < n_terms; i++)
        if (!(f->applied & 1u << i) && node_is(&all[node], &terms[i])) {
            f->factors[terms[i].scenario] *= (float)terms[i].factor;
            f->applied |= 1u << i;
            terms_seen |= 1u << i;
        }
    f->known = true;
}

const float *lc_clk_whatif_of(uint32_t node) {
    static const float ones[LC_WHATIF_MAX] = {1, 1, 1, 1, 1, 1};
    if (n_terms == 0)
        return ones;
    if (lc_unlikely(node >= cap_nodes)) {
        if (node >= atomic_load_explicit(&lc_core.state->nodes.count, memory_order_acquire) ||
            lc_grow(&nodes, &cap_nodes, node + 1u, sizeof *nodes) != LC_OK)
            return ones;
    }
    if (lc_unlikely(!nodes[node].known))
        work_out(node);
    return nodes[node].factors;
}
