/* Several layers with probes in one process: each has a table of its own, and reports it, also
 * where it is opened with RTLD_LOCAL. test_probe_layers FIRST SECOND THIRD */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* after those */
#include <cmocka.h>
#include <dlfcn.h>

#include "latecomer_probe.h"

enum { LAYERS = 3 };

static char **files;
static struct latecomer_probe_table *table[2 * LAYERS];
static int n;

void latecomer_probe_register(struct latecomer_probe_table *t) {
    table[n++] = t;
}

void latecomer_probe_unregister(struct latecomer_probe_table *t) {
    assert_true(n > 0 && table[n - 1] == t); /* this test closes the last first */
    n--;
}

static void test_apart(void **state) {
    static const char *const layers[LAYERS] = {"", "second", "third"};
    void *library[LAYERS];
    void (*work[LAYERS])(int);
    (void)state;
    for (int i = 0; i < LAYERS; i++) {
        library[i] = dlopen(files[i], RTLD_NOW | (i == LAYERS - 1 ? RTLD_LOCAL : RTLD_GLOBAL));
        assert_non_null(library[i]);
        work[i] = (void (*)(int))dlsym(library[i], "layer_work");
        assert_true(n == i + 1 && table[i]->n == i + 1);
        assert_string_equal(table[i]->layer, layers[i]);
        assert_int_equal(latecomer_probe_open(table[i], 1), 0);
        latecomer_probe_repetition(table[i], 0);
    }
    for (int i = 0; i < LAYERS; i++)
        work[i](10 * (i + 1));
    for (int i = 0; i < LAYERS; i++)
        for (int probe = 0; probe <= i; probe++)
            assert_int_equal(latecomer_probe_value(table[i], 0, probe),
                             probe == i ? 10 * (i + 1) : 0);
    for (int i = LAYERS - 1; i >= 0; i--) {
        free(table[i]->values[0]); /* what latecomer_probe_open took */
        assert_int_equal(dlclose(library[i]), 0);
        assert_int_equal(n, i);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_apart)};
    files = argv + 1;
    return argc != 1 + LAYERS || cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
