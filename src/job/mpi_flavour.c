#include "job/mpi_flavour.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"unknown", "Open MPI", "MPICH"};
static const char *const words[] = {NULL, "openmpi", "mpich"};

/* The first pattern that fits decides; more numbers may follow. */
static const struct {
    const char *pattern;
    enum lc_flavour flavour;
} files[] = {
    {LC_OPENMPI_SONAME, LC_FLAVOUR_IS_OPENMPI}, /* Open MPI 3 to 5 */
    {"libmpi.so.12", LC_FLAVOUR_IS_MPICH},      /* MPICH as released, Intel, MVAPICH, ParaStation */
    {"libmpich.so.12", LC_FLAVOUR_IS_MPICH},    /* Debian */
    {"libmpi_cray*.so.12", LC_FLAVOUR_IS_MPICH},
    {"libmpi_gnu*.so.12", LC_FLAVOUR_IS_MPICH}, /* the others are Cray's, one per compiler */
    {"libmpi_intel*.so.12", LC_FLAVOUR_IS_MPICH},
    {"libmpi_nvidia*.so.12", LC_FLAVOUR_IS_MPICH},
    {"libmpi_amd*.so.12", LC_FLAVOUR_IS_MPICH},
    {"libmpi_aocc*.so.12", LC_FLAVOUR_IS_MPICH},
    {"libmpich_cray*.so.3", LC_FLAVOUR_IS_MPICH},
    {"libmpich_gnu*.so.3", LC_FLAVOUR_IS_MPICH},
    {"libmpich_intel*.so.3", LC_FLAVOUR_IS_MPICH},
};

/* The first entry whose words stand in the text decides; its version is the first number after
 * them. */
static const struct {
    const char *words, *product;
    enum lc_flavour flavour;
} texts[] = {
    {"Open MPI", "Open MPI", LC_FLAVOUR_IS_OPENMPI},
    {"CRAY MPICH", "Cray MPICH", LC_FLAVOUR_IS_MPICH},
    {"MVAPICH2", "MVAPICH2", LC_FLAVOUR_IS_MPICH},
    {"MVAPICH", "MVAPICH", LC_FLAVOUR_IS_MPICH},
    {"Intel(R) MPI Library", "Intel MPI", LC_FLAVOUR_IS_MPICH},
    {"ParaStation MPI", "ParaStation MPI", LC_FLAVOUR_IS_MPICH},
    {"MPICH", "MPICH", LC_FLAVOUR_IS_MPICH},
};

enum { N_FILES = sizeof files / sizeof *files, N_TEXTS = sizeof texts / sizeof *texts };

const char *lc_flavour_name(enum lc_flavour flavour) {
    return names[flavour];
}

const char *lc_flavour_word(enum lc_flavour flavour) {
    return words[flavour];
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

enum lc_flavour lc_flavour_of_file(const char *path) {
    for (int i = 0; i < N_FILES; i++) {
        char longer[64];
        snprintf(longer, sizeof longer, "%s.*", files[i].pattern);
        if (fnmatch(files[i].pattern, base_name(path), 0) == 0 ||
            fnmatch(longer, base_name(path), 0) == 0)
            return files[i].flavour;
    }
    return LC_FLAVOUR_UNKNOWN;
}

/* The number after the words of texts[i] in the text; NULL if it has none, or not these words. */
static const char *find_product(const char *text, int i) {
    const char *at = strstr(text, texts[i].words);
    if (at == NULL)
        return NULL;
    at += strlen(texts[i].words);
    return at + strcspn(at, "0123456789");
}

enum lc_flavour lc_flavour_of_text(const char *library_version) {
    for (int i = 0; i < N_TEXTS; i++) {
        const char *version = find_product(library_version, i);
        if (version == NULL)
            continue;
        bool other_interface = texts[i].flavour == LC_FLAVOUR_IS_OPENMPI && atoi(version) < 3;
        return other_interface ? LC_FLAVOUR_UNKNOWN : texts[i].flavour;
    }
    return LC_FLAVOUR_UNKNOWN;
}

enum lc_flavour lc_flavour_decide(const char *path, const char *library_version,
                                  bool has_openmpi_symbol) {
    if (strncmp(base_name(path), "libmpi_abi.", 11) == 0) /* MPI 5's: handles of neither kind */
        return LC_FLAVOUR_UNKNOWN;
    enum lc_flavour by_text =
        library_version != NULL ? lc_flavour_of_text(library_version) : lc_flavour_of_file(path);
    /* What exports Open MPI's objects is nothing else, and the other way round. */
    return has_openmpi_symbol == (by_text == LC_FLAVOUR_IS_OPENMPI) ? by_text : LC_FLAVOUR_UNKNOWN;
}

void lc_mpi_product(const char *library_version, char *out, size_t bytes) {
    for (int i = 0; i < N_TEXTS; i++) {
        const char *version = find_product(library_version, i);
        if (version == NULL)
            continue;
        size_t length = 0;
        while (isalnum((unsigned char)version[length]) || version[length] == '.')
            length++;
        snprintf(out, bytes, "%s%s%.*s", texts[i].product, length > 0 ? " " : "", (int)length,
                 version);
        return;
    }
    snprintf(out, bytes, "%.*s", (int)strcspn(library_version, "\n"), library_version);
}
