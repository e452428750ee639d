/* Names of code that is in this process: its own functions with their lines, those of the C library
 * by name alone; names from a separate file, and no client of the network where there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <unistd.h>

#include "symbols/symbols.h"

static struct lc_symbol name_of(struct lc_symbols *symbols, const void *code, const char *path) {
    Dl_info info;
    struct lc_symbol symbol;
    assert_true(dladdr(code, &info) != 0);
    assert_int_equal(
        lc_symbols_function(symbols, path != NULL ? path : info.dli_fname, "",
                            (uint64_t)((const char *)code - (const char *)info.dli_fbase), &symbol),
        LC_OK);
    assert_true(symbol.known);
    return symbol;
}

static void own_function(void **state) {
    (void)state;
    struct lc_symbols *symbols;
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    assert_int_equal(lc_symbols_new(&symbols), LC_OK);
    for (int again = 0; again < 2; again++) {
        struct lc_symbol symbol = name_of(symbols, (const void *)(uintptr_t)own_function, self);
        assert_string_equal(symbol.name, "own_function");
        assert_non_null(strstr(symbol.file, "test_names.c"));
        assert_true(symbol.line > 0);
        /* its debug information is not unpacked, where it is installed */
        symbol = name_of(symbols, dlsym(RTLD_DEFAULT, "getppid"), NULL);
        assert_string_equal(symbol.name, "getppid");
        assert_string_equal(symbol.file, "");
        assert_int_equal(symbol.line, -1);
    }
    assert_int_equal(lc_symbols_modules(symbols), 2);
    enum lc_module_state module;
    assert_string_equal(lc_symbols_module(symbols, 0, &module), self);
    assert_int_equal(module, LC_MODULE_FULL);
    lc_symbols_module(symbols, 1, &module);
    assert_true(module != LC_MODULE_GONE && module != LC_MODULE_CHANGED);
    lc_symbols_free(symbols);
}

/* The kernel's code in each process has one name, and nothing is missing. */
static void vdso(void **state) {
    (void)state;
    struct lc_symbols *symbols;
    struct lc_symbol symbol;
    enum lc_module_state module;
    assert_int_equal(lc_symbols_new(&symbols), LC_OK);
    assert_int_equal(lc_symbols_function(symbols, "linux-vdso.so.1", "", 0xaf0, &symbol), LC_OK);
    assert_true(symbol.known);
    assert_string_equal(symbol.name, "[vdso]");
    assert_string_equal(symbol.file, "");
    assert_int_equal(lc_symbols_modules(symbols), 1);
    lc_symbols_module(symbols, 0, &module);
    assert_int_equal(module, LC_MODULE_FULL);
    lc_symbols_free(symbols);
}

/* This program once more, stripped, with its debug information in another file. */
static void separate_file(void **state) {
    (void)state;
    char command[1024], program[256], other[256], where[] = "names.XXXXXX";
    Dl_info info;
    assert_non_null(mkdtemp(where));
    snprintf(program, sizeof program, "%s/program", where);
    snprintf(other, sizeof other, "%s/program.debug", where);
    snprintf(command, sizeof command,
             "objcopy --only-keep-debug /proc/%ld/exe %s/program.debug && cd %s && objcopy "
             "--strip-all --add-gnu-debuglink=program.debug /proc/%ld/exe program",
             (long)getpid(), where, where, (long)getpid());
    assert_int_equal(system(command), 0);
    assert_true(dladdr((const void *)(uintptr_t)separate_file, &info) != 0);
    uint64_t offset =
        (uint64_t)((const char *)(uintptr_t)separate_file - (const char *)info.dli_fbase);
    for (int there = 1; there >= 0; there--) {
        struct lc_symbols *symbols;
        struct lc_symbol symbol;
        assert_int_equal(lc_symbols_new(&symbols), LC_OK);
        assert_int_equal(lc_symbols_function(symbols, program, "", offset, &symbol), LC_OK);
        assert_int_equal(symbol.known, there);
        uint64_t begin = 0; /* is known without symbols, too */
        assert_true(lc_symbols_begin(symbols, program, "", offset + 9, &begin));
        assert_int_equal(begin, offset);
        assert_false(lc_symbols_begin(symbols, program, "", 0, &begin));
        if (there)
            assert_string_equal(symbol.name, "separate_file");
        lc_symbols_free(symbols);
        unlink(other);
    }
    assert_null(dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_NOLOAD));
    unlink(program);
    rmdir(where);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(separate_file),
                                       cmocka_unit_test(own_function), cmocka_unit_test(vdso)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
