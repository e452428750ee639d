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
    char dir[] = "packages.XXXXXX", package[32], path[256], here[4096], list[8192], link[4400];
    assert_non_null(mkdtemp(dir));
    assert_non_null(realpath(dir, here));
    write_list(dir, "libfft3:amd64.list", "/.\n/usr/lib/libfft.so.3.1\n/usr/lib/libfft.so.3\n");
    write_list(dir, "tool.list", "/usr\n/usr/bin/tool\n/bin/small");
    write_list(dir, "tool.conffiles", "/etc/tool\n");
    assert_true(lc_package_of(dir, "/lib/libfft.so.3", package, sizeof package));
    assert_string_equal(package, "libfft3");
    assert_true(lc_package_of(dir, "/usr/bin/small", package, sizeof package));
    assert_string_equal(package, "tool");
    assert_false(lc_package_of(dir, "/usr/lib/libfft.so", package, sizeof package));
    assert_false(lc_package_of(dir, "/etc/tool", package, sizeof package));
    assert_false(lc_package_of(dir, "tool", package, sizeof package));
    assert_false(lc_package_of("/no/such/place", "/usr/bin/tool", package, sizeof package));
    /* a link that no package brought, to a file that one did */
    snprintf(list, sizeof list, "%s/tool.list\n", here);
    write_list(dir, "linked.list", list);
    snprintf(list, sizeof list, "%s/tool.list", here);
    snprintf(link, sizeof link, "%s/link", here);
    assert_int_equal(symlink(list, link), 0);
    assert_true(lc_package_of(dir, link, package, sizeof package));
    assert_string_equal(package, "linked");
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
