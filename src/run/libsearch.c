#include "run/libsearch.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"

/* One file of the closure. */
struct object {
    char *path, *soname;
    char *rpath; /* with $ORIGIN replaced; of the file and of those that needed it; "" if there is a
                    RUNPATH */
    char *runpath;
};

struct search {
    struct object *objects;
    size_t n_objects, cap_objects;
    void *cache; /* /etc/ld.so.cache, or NULL */
    size_t cache_bytes;
};

enum { MAX_OBJECTS = 4096 };

/* The format that ldconfig writes since glibc 2.2; offsets count from the header. */
static const char cache_magic[] = "glibc-ld.so.cache1.1";
struct cache_header {
    char magic[20];
    uint32_t n_libs, text_bytes;
    uint32_t unused[5];
};
struct cache_entry {
    int32_t flags;
    uint32_t key, value;
    uint32_t os_version;
    uint64_t hwcap;
};
#if defined(__x86_64__)
enum { CACHE_FLAGS = 0x0303 }; /* ELF of glibc, x86-64 */
#elif defined(__aarch64__)
enum { CACHE_FLAGS = 0x0a03 };
#else
enum { CACHE_FLAGS = 0 };
#endif

static void open_cache(struct search *search) {
    int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0 && status.st_size > (off_t)sizeof(struct cache_header)) {
        search->cache_bytes = (size_t)status.st_size;
        search->cache = mmap(NULL, search->cache_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        if (search->cache == MAP_FAILED)
            search->cache = NULL;
    }
    close(fd);
}

/* A NUL-terminated text at `offset` of the cache, or NULL. */
static const char *cache_text(const struct search *search, uint32_t offset) {
    const char *text = (const char *)search->cache + offset;
    if (offset >= search->cache_bytes || memchr(text, '\0', search->cache_bytes - offset) == NULL)
        return NULL;
    return text;
}

static const char *find_in_cache(const struct search *search, const char *soname) {
    if (search->cache == NULL)
        return NULL;
    const struct cache_header *header = search->cache;
    if (memcmp(header->magic, cache_magic, sizeof header->magic) != 0 ||
        header->n_libs > (search->cache_bytes - sizeof *header) / sizeof(struct cache_entry))
        return NULL;
    const struct cache_entry *entries = (const struct cache_entry *)(header + 1);
    for (uint32_t i = 0; i < header->n_libs; i++) {
        const char *key = cache_text(search, entries[i].key);
        if (key != NULL && strcmp(key, soname) == 0 &&
            (CACHE_FLAGS == 0 || entries[i].flags == CACHE_FLAGS))
            return cache_text(search, entries[i].value);
    }
    return NULL;
}

/* Appends `list` with $ORIGIN and $LIB replaced, and a ':'. */
static void add_paths(struct lc_strbuf *out, const char *list, const char *file) {
    char real[PATH_MAX];
    if (realpath(file, real) == NULL)
        snprintf(real, sizeof real, "%s", file);
    char *slash = strrchr(real, '/');
    if (slash != NULL)
        *slash = '\0';
    static const struct {
        const char *token;
        bool origin;
    } tokens[] = {{"$ORIGIN", true}, {"${ORIGIN}", true}, {"$LIB", false}, {"${LIB}", false}};
    for (const char *at = list; *at != '\0';) {
        size_t t = 0, n_tokens = sizeof tokens / sizeof tokens[0];
        while (t < n_tokens && strncmp(at, tokens[t].token, strlen(tokens[t].token)) != 0)
            t++;
        if (t == n_tokens) {
            lc_strbuf_putc(out, *at++);
        } else {
            lc_strbuf_puts(out, tokens[t].origin ? real : LC_SYSTEM_LIB);
            at += strlen(tokens[t].token);
        }
    }
    lc_strbuf_putc(out, ':');
}

static bool readable_elf(const char *path) {
    unsigned char head[5];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool good = read(fd, head, sizeof head) == (ssize_t)sizeof head &&
                memcmp(head, "\177ELF", 4) == 0 &&
                head[4] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32);
    close(fd);
    return good;
}

/* Looks through a list of folders separated by ':'. */
static bool find_in_list(const char *list, const char *soname, char *path) {
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ":;");
        if (length != 0) {
            snprintf(path, PATH_MAX, "%.*s/%s", (int)length, list, soname);
            if (readable_elf(path))
                return true;
        }
        list += length + (list[length] != '\0');
    }
    return false;
}

static bool find_library(const struct search *search, const struct object *by, const char *soname,
                         char *path) {
    if (strchr(soname, '/') != NULL) {
        snprintf(path, PATH_MAX, "%s", soname);
        return readable_elf(path);
    }
    if (find_in_list(by->rpath, soname, path) ||
        find_in_list(getenv("LD_LIBRARY_PATH"), soname, path) ||
        find_in_list(by->runpath, soname, path))
        return true;
    const char *cached = find_in_cache(search, soname);
    if (cached != NULL && readable_elf(cached)) {
        snprintf(path, PATH_MAX, "%s", cached);
        return true;
    }
    return find_in_list("/" LC_SYSTEM_LIB ":/usr/" LC_SYSTEM_LIB ":/lib64:/usr/lib64:/lib:/usr/lib",
                        soname, path);
}

static enum lc_err add_object(struct search *search, const char *path, const char *soname,
                              const char *inherited_rpath) {
    if (search->n_objects >= MAX_OBJECTS)
        return LC_OK;
    for (size_t i = 0; i < search->n_objects; i++)
        if (strcmp(search->objects[i].soname, soname) == 0)
            return LC_OK;
    LC_TRY(lc_grow(&search->objects, &search->cap_objects, search->n_objects + 1,
                   sizeof search->objects[0]));
    struct object *object = &search->objects[search->n_objects];
    *object = (struct object){.path = strdup(path),
                              .soname = strdup(soname),
                              .rpath = strdup(inherited_rpath),
                              .runpath = strdup("")};
    search->n_objects++;
    if (object->path == NULL || object->soname == NULL || object->rpath == NULL ||
        object->runpath == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot copy a path");
    return LC_OK;
}

/* The dynamic section of an object: calls `each` for every entry with its text. */
static enum lc_err each_dynamic_text(Elf *elf, struct search *search, size_t index, bool needed) {
    struct lc_strbuf rpath = {0}, runpath = {0};
    enum lc_err err = LC_OK;
    Elf_Scn *section = NULL;
    while (err == LC_OK && (section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_DYNAMIC ||
            header.sh_entsize == 0)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        GElf_Dyn entry;
        for (int i = 0; err == LC_OK && data != NULL && gelf_getdyn(data, i, &entry) != NULL; i++) {
            if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH)
                continue;
            const char *text = elf_strptr(elf, header.sh_link, (size_t)entry.d_un.d_val);
            char path[PATH_MAX];
            if (text == NULL)
                continue;
            if (!needed && entry.d_tag == DT_RPATH)
                add_paths(&rpath, text, search->objects[index].path);
            else if (!needed && entry.d_tag == DT_RUNPATH)
                add_paths(&runpath, text, search->objects[index].path);
            else if (needed && entry.d_tag == DT_NEEDED &&
                     find_library(search, &search->objects[index], text, path))
                err = add_object(search, path, text, search->objects[index].rpath);
        }
    }
    struct object *object = &search->objects[index];
    if (err == LC_OK && runpath.length != 0) { /* RUNPATH hides every RPATH */
        free(object->runpath);
        object->runpath = lc_strbuf_take(&runpath);
        object->rpath[0] = '\0';
    } else if (err == LC_OK && rpath.length != 0) {
        lc_strbuf_puts(&rpath, object->rpath);
        free(object->rpath);
        object->rpath = lc_strbuf_take(&rpath);
    }
    if (object->rpath == NULL || object->runpath == NULL)
        err = lc_fail(LC_ERR_NOMEM, "memory: cannot copy a path");
    lc_strbuf_free(&rpath);
    lc_strbuf_free(&runpath);
    return err;
}

static enum lc_err look_into(struct search *search, size_t index) {
    int fd = open(search->objects[index].path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return LC_OK;
    enum lc_err err = LC_OK;
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf != NULL && elf_kind(elf) == ELF_K_ELF) {
        err = each_dynamic_text(elf, search, index, false);
        if (err == LC_OK)
            err = each_dynamic_text(elf, search, index, true);
    }
    elf_end(elf);
    close(fd);
    return err;
}

enum lc_err lc_libsearch_walk(const char *program,
                              enum lc_err (*visit)(void *context, const char *path),
                              void *context) {
    struct search search = {0};
    elf_version(EV_CURRENT);
    open_cache(&search);
    enum lc_err err = add_object(&search, program, program, "");
    for (size_t i = 0; err == LC_OK && i < search.n_objects; i++) {
        err = look_into(&search, i);
        if (err == LC_OK && i > 0)
            err = visit(context, search.objects[i].path);
    }
    for (size_t i = 0; i < search.n_objects; i++) {
        free(search.objects[i].path);
        free(search.objects[i].soname);
        free(search.objects[i].rpath);
        free(search.objects[i].runpath);
    }
    free(search.objects);
    if (search.cache != NULL)
        munmap(search.cache, search.cache_bytes);
    return err;
}

enum lc_err lc_libsearch_find(const char *soname, char **path) {
    struct search search = {0};
    struct object nobody = {0};
    char found[PATH_MAX];
    *path = NULL;
    open_cache(&search);
    enum lc_err err =
        find_library(&search, &nobody, soname, found) ? lc_strdup(path, found) : LC_OK;
    if (search.cache != NULL)
        munmap(search.cache, search.cache_bytes);
    return err;
}
