/* latecomer.h for Fortran: external subroutines latecomer_begin(name), latecomer_end(name),
 * latecomer_start(), latecomer_stop(). Linked into the program; without the tool each calls an
 * empty function. */
#include <latecomer.h>
#include <stddef.h>

/* In the preloaded library; the length is the hidden argument of a CHARACTER. */
void latecomer_begin_fortran(const char *name, size_t length) __attribute__((weak));
void latecomer_end_fortran(const char *name, size_t length) __attribute__((weak));

void latecomer_begin_(const char *name, size_t length) __attribute__((visibility("default")));
void latecomer_end_(const char *name, size_t length) __attribute__((visibility("default")));
void latecomer_start_(void) __attribute__((visibility("default")));
void latecomer_stop_(void) __attribute__((visibility("default")));

typedef void (*named)(const char *name, size_t length);

static void nothing(const char *name, size_t length) {
    (void)name;
    (void)length;
}

LATECOMER_PRIVATE_FIND(latecomer_begin_fortran, named, nothing)
LATECOMER_PRIVATE_FIND(latecomer_end_fortran, named, nothing)

void latecomer_begin_(const char *name, size_t length) {
    latecomer_private_find_latecomer_begin_fortran()(name, length);
}

void latecomer_end_(const char *name, size_t length) {
    latecomer_private_find_latecomer_end_fortran()(name, length);
}

void latecomer_start_(void) {
    latecomer_start();
}

void latecomer_stop_(void) {
    latecomer_stop();
}
