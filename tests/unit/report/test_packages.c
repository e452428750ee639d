/* Packages of files, from lists as dpkg has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/packages.h"

static unsigned n_opened;

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode) {
    n_opened++;
    return __real_fopen(path, mode);
}

static void write_list(const char *dir, const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void test_packages(void **state) {
    (void)state;
    char dir[] = "packages.XXXXXX", path[256], here[4096], list[8192], link[4400];
    assert_non_null(mkdtemp(dir));
    assert_non_null(realpath(dir, here));
    write_list(dir, "libfft3:amd64.list", "/.\n/usr/lib/libfft.so.3.1\n/usr/lib/libfft.so.3\n");
    write_list(dir, "tool.list", "/usr\n/usr/bin/tool\n/bin/small");
    write_list(dir, "tool.conffiles", "/etc/tool\n");
    /* a link that no package brought, to a file that one did */
    snprintf(list, sizeof list, "%s/tool.list\n", here);
    write_list(dir, "linked.list", list);
    snprintf(list, sizeof list, "%s/tool.list", here);
    snprintf(link, sizeof link, "%s/link", here);
    assert_int_equal(symlink(list, link), 0);
    const char *const files[] = {"/lib/libfft.so.3",   "/usr/bin/small", link,   list,
                                 "/usr/lib/libfft.so", "/etc/tool",      "tool", "/bin/small"};
    static const char *const wanted[] = {"libfft3", "tool", "linked", "linked", "", "", "", "tool"};
    enum { FILES = sizeof files / sizeof *files };
    char packages[FILES][LC_PACKAGE_NAME];
    n_opened = 0;
    assert_int_equal(lc_packages_of(dir, files, FILES, packages), LC_OK);
    for (size_t i = 0; i < FILES; i++)
        assert_string_equal(packages[i], wanted[i]);
    assert_int_equal(n_opened, 3); /* each list once, however many files are looked for */
    assert_int_equal(lc_packages_of("/no/such/place", files, FILES, packages), LC_OK);
    for (size_t i = 0; i < FILES; i++)
        assert_string_equal(packages[i], "");
    static const char *const names[] = {"libfft3:amd64.list", "tool.list", "tool.conffiles",
                                        "linked.list", "link"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    rmdir(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_packages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
