/* What-if scenarios: `NAME=f[,NAME=f..]`, several joined by ';' (LATECOMER_WHAT_IF). Useful time in
 * call paths that contain the function or region NAME counts f times; `mpi=0` asks for the
 * prediction with a network that takes no time. Functions are found by their symbols in the modules
 * of the program; those of C++ by the name without parameters, with or without what it is nested in
 * (run, Verlet::run), which stands in the symbol as 6Verlet3run. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "measure/clocks/clocks.h"

enum { LC_WHATIF_TERMS = 32 };

struct lc_whatif_term {
    uint32_t scenario;
    float factor;
    char name[120];
    char code[160]; /* as in symbols of C++ */
};

static struct lc_whatif_term terms[LC_WHATIF_TERMS];
static uint32_t n_terms;
static uint32_t terms_seen; /* bits: some call path has this name */
static char texts[LC_WHATIF_MAX][160];
static bool no_mpi[LC_WHATIF_MAX];

struct lc_node_factors {
    bool known;
    uint32_t applied; /* terms: each counts once, however often its name is in the path */
    float factors[LC_WHATIF_MAX];
};
static struct lc_node_factors *nodes;
static size_t cap_nodes;

/* "a::b(int)" -> "1a1b" */
static void encode(const char *name, char *code, size_t room) {
    size_t used = 0;
    code[0] = '\0';
    for (const char *at = name; *at != '\0' && *at != '(' && *at != '<';) {
        size_t length = strcspn(at, ":(<");
        int put = snprintf(code + used, room - used, "%zu%.*s", length, (int)length, at);
        if (put < 0 || (size_t)put >= room - used) {
            code[0] = '\0';
            return;
        }
        used += (size_t)put;
        at += length;
        at += strspn(at, ":");
    }
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* The name of a C function, or the last parts of the name of a C++ function. */
static bool symbol_is(const char *symbol, const struct lc_whatif_term *t) {
    if (strcmp(symbol, t->name) == 0)
        return true;
    if (strncmp(symbol, "_Z", 2) != 0 || t->code[0] == '\0')
        return false;
    size_t length = strlen(t->code);
    for (const char *at = symbol + 2; (at = strstr(at, t->code)) != NULL; at++)
        if (!is_digit(at[-1]) && !is_digit(at[length]))
            return true;
    return false;
}

static void add_term(uint32_t scenario, const char *text, size_t length) {
    const char *equals = memchr(text, '=', length);
    size_t name = equals != NULL ? (size_t)(equals - text) : 0;
    if (name == 0 || name >= sizeof terms->name || n_terms == LC_WHATIF_TERMS)
        return;
    struct lc_whatif_term *t = &terms[n_terms];
    t->scenario = scenario;
    t->factor = strtof(equals + 1, NULL);
    memcpy(t->name, text, name);
    t->name[name] = '\0';
    encode(t->name, t->code, sizeof t->code);
    if (strcmp(t->name, "mpi") == 0)
        no_mpi[scenario] = true;
    else
        n_terms++;
}

void lc_clk_whatif_init(void) {
    const char *at = lc_option("LATECOMER_WHAT_IF");
    while (at != NULL && *at != '\0' && lc_clk.n_whatif < LC_WHATIF_MAX) {
        uint32_t s = lc_clk.n_whatif++;
        size_t length = strcspn(at, ";");
        size_t kept = length < sizeof texts[s] ? length : sizeof texts[s] - 1;
        memcpy(texts[s], at, kept);
        for (size_t done = 0; done < length;) {
            size_t part = strcspn(at + done, ",;");
            add_term(s, at + done, part);
            done += part + 1;
        }
        at += length;
        at += *at == ';';
    }
}

const char *lc_clk_whatif_text(uint32_t scenario) {
    return texts[scenario];
}

uint32_t lc_clk_whatif_seen(void) {
    return terms_seen;
}

void lc_clk_whatif_unknown(uint32_t scenario, uint32_t seen, struct lc_strbuf *out) {
    const char *before = "";
    lc_strbuf_puts(out, ", \"unknown\": [");
    for (uint32_t i = 0; i < n_terms; i++)
        if (terms[i].scenario == scenario && !(seen & 1u << i)) {
            lc_strbuf_puts(out, before);
            lc_clk_put_quoted(out, terms[i].name);
            before = ", ";
        }
    lc_strbuf_putc(out, ']');
}

bool lc_clk_whatif_no_mpi(uint32_t scenario) {
    return no_mpi[scenario];
}

/* ---- the name of a function: its symbol in the module */

static bool symbols_have(const char *map, size_t bytes, const Elf64_Shdr *table,
                         const Elf64_Shdr *text, const struct lc_whatif_term *term,
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
            symbol_is(names + symbols[i].st_name, term))
            return true;
    return false;
}

static bool elf_has(const char *map, size_t bytes, const struct lc_whatif_term *term,
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

static bool function_is(const char *module, const struct lc_whatif_term *term, uint64_t address) {
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

static bool node_is(const struct lc_state_node *node, const struct lc_whatif_term *term) {
    if (node->kind == LC_RAW_REGION)
        return strcmp(lc_state_name_of(node->ref), term->name) == 0;
    return node->kind == LC_RAW_FRAME &&
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
            f->factors[terms[i].scenario] *= terms[i].factor;
            f->applied |= 1u << i;
            terms_seen |= 1u << i;
        }
    f->known = true;
}

const float *lc_clk_whatif_of(uint32_t node) {
    static const float ones[LC_WHATIF_MAX] = {1, 1, 1, 1, 1, 1};
    if (lc_unlikely(node >= cap_nodes)) {
        if (node >= atomic_load_explicit(&lc_core.state->nodes.count, memory_order_acquire) ||
            lc_grow(&nodes, &cap_nodes, node + 1u, sizeof *nodes) != LC_OK)
            return ones;
    }
    if (lc_unlikely(!nodes[node].known))
        work_out(node);
    return nodes[node].factors;
}
