/* Names and lines of CPython's code objects, from memory as each version lays it out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "measure/callpath/python_layout.h"

static void put64(unsigned char *at, uint64_t value) {
    memcpy(at, &value, 8);
}

static void put32(unsigned char *at, uint32_t value) {
    memcpy(at, &value, 4);
}

/* 3.13's own offsets: as the numbers of 3.12 but for the way to the frames. */
static void publish(uint64_t words[80]) {
    memset(words, 0, 80 * sizeof *words);
    memcpy(words, "xdebugpy", 8);
    words[1] = 0x030d05f0;
    words[23] = 72;
    words[29] = 8;
    words[30] = 0;
    words[31] = 56;
    words[33] = 70;
    words[35] = 112;
    words[37] = 128;
    words[38] = 136;
    words[39] = 68;
    words[43] = 208;
    words[68] = 32;
    words[69] = 16;
    words[70] = 40;
}

static void versions(void **state) {
    (void)state;
    struct lc_python_layout l;
    uint64_t words[80];
    publish(words);
    assert_true(lc_python_layout_of("3.11.2 (main, Nov 30 2024) [GCC]", 184, NULL, &l));
    assert_true(lc_python_layout_of("3.12.3 (main)", 192, NULL, &l));
    assert_true(lc_python_layout_of("3.13.5 (main)", 1, words, &l));
    assert_true(l.direct && l.thread_frames == 72 && l.instructions == 208 && l.wide == 56);
    assert_false(lc_python_layout_of("3.11.2 (main)", 200, NULL, &l)); /* built otherwise */
    assert_false(lc_python_layout_of("3.10.9 (main)", 184, NULL, &l));
    assert_false(lc_python_layout_of("3.14.0 (main)", 208, words, &l));
    assert_false(lc_python_layout_of("2.7.18", 184, NULL, &l));
    assert_false(lc_python_layout_of("", 184, NULL, &l));
    assert_false(lc_python_layout_of("3.13.5 (main)", 1, NULL, &l));
    words[2] = 1; /* without the global lock */
    assert_false(lc_python_layout_of("3.13.5 (main)", 1, words, &l));
    publish(words);
    words[1] = 0x030e0000; /* of another version */
    assert_false(lc_python_layout_of("3.13.5 (main)", 1, words, &l));
    publish(words);
    words[0]++;
    assert_false(lc_python_layout_of("3.13.5 (main)", 1, words, &l));
}

/* bytes: of a character; 0: ASCII. */
static void make_text(const struct lc_python_layout *l, unsigned char *text,
                      const uint32_t *characters, size_t n, unsigned bytes) {
    unsigned width = bytes == 0 ? 1 : bytes;
    put64(text + 16, n);
    put32(text + 32, width << 2 | 1u << 5 | (bytes == 0 ? 1u << 6 : 0));
    for (size_t i = 0; i < n; i++)
        memcpy(text + (bytes == 0 ? l->ascii : l->wide) + i * width, &characters[i], width);
}

static void make_ascii(const struct lc_python_layout *l, unsigned char *text, const char *string) {
    uint32_t characters[600];
    size_t n = strlen(string);
    for (size_t i = 0; i < n; i++)
        characters[i] = (unsigned char)string[i];
    make_text(l, text, characters, n, 0);
}

struct made {
    unsigned char code[1024], file[1024], name[4096], lines[256];
};

static uint64_t address(const void *memory) {
    return (uint64_t)(uintptr_t)memory;
}

static void make(const struct lc_python_layout *l, struct made *m, const char *file,
                 uint32_t first) {
    memset(m, 0, sizeof *m);
    make_ascii(l, m->file, file);
    put64(m->code + l->file, address(m->file));
    put64(m->code + l->name, address(m->name));
    put64(m->code + l->line_table, address(m->lines));
    put32(m->code + l->first_line, first);
}

static void names(void **state) {
    (void)state;
    static struct made m;
    struct lc_python_layout l;
    char name[512];
    for (int version = 11; version <= 12; version++) {
        assert_true(lc_python_layout_of(version == 11 ? "3.11.2" : "3.12.1",
                                        version == 11 ? 184 : 192, NULL, &l));
        make(&l, &m, "/home/me/solver.py", 41);
        make_ascii(&l, m.name, "Solver.step");
        assert_true(lc_python_name(&l, address(m.code), name, sizeof name));
        assert_string_equal(name, "solver.py:Solver.step:41");
        make(&l, &m, "/home/me/solver.py", 1);
        make_ascii(&l, m.name, "<module>");
        assert_true(lc_python_name(&l, address(m.code), name, sizeof name));
        assert_string_equal(name, "solver.py:<module>");
        make(&l, &m, "/lib/pkg/__init__.py", 3);
        make_ascii(&l, m.name, "f");
        assert_true(lc_python_name(&l, address(m.code), name, sizeof name));
        assert_string_equal(name, "pkg.__init__.py:f:3");
        make(&l, &m, "<frozen importlib._bootstrap>", 3);
        assert_false(lc_python_name(&l, address(m.code), name, sizeof name));
        make(&l, &m, "g.py", 3);
        make_text(&l, m.name, (const uint32_t[]){'g', 0xf6}, 2, 1);
        assert_true(lc_python_name(&l, address(m.code), name, sizeof name));
        assert_string_equal(name, "g.py:g\xc3\xb6:3");
        make_text(&l, m.name, (const uint32_t[]){'g', 0x4e2d}, 2, 2);
        assert_true(lc_python_name(&l, address(m.code), name, sizeof name));
        assert_string_equal(name, "g.py:g\xe4\xb8\xad:3");
        make_text(&l, m.name, (const uint32_t[]){0x1d4d0}, 1, 4);
        assert_true(lc_python_name(&l, address(m.code), name, sizeof name));
        assert_string_equal(name, "g.py:\xf0\x9d\x93\x90:3");
        char longer[500];
        memset(longer, 'x', sizeof longer);
        longer[499] = '\0';
        make_ascii(&l, m.name, longer);
        assert_true(lc_python_name(&l, address(m.code), name, sizeof name));
        assert_int_equal(strlen(name), strlen("g.py:") + 255 + strlen(":3"));
        char small[8];
        assert_true(lc_python_name(&l, address(m.code), small, sizeof small));
        assert_string_equal(small, "g.py:xx");
        put64(m.code + l.name, 0);
        assert_true(lc_python_name(&l, address(m.code), name, sizeof name));
        assert_string_equal(name, "g.py::3");
    }
}

/* Units 0-1: line 10; 2: 11; 3-5: none; 6: 9; 7: 9 + 100; 8: as before. */
static void lines(void **state) {
    (void)state;
    static struct made m;
    struct lc_python_layout l;
    assert_true(lc_python_layout_of("3.11.2", 184, NULL, &l));
    make(&l, &m, "a.py", 10);
    static const unsigned char table[] = {
        0x80 | 0 << 3 | 1,  0x12,                 /* short: two units of the same line */
        0x80 | 11 << 3 | 0, 4,        9,          /* one line further, columns */
        0x80 | 15 << 3 | 2,                       /* no place */
        0x80 | 13 << 3 | 0, 5,                    /* -2, no columns */
        0x80 | 14 << 3 | 0, 0x40 | 8, 3, 0, 1, 1, /* +100, end line, columns */
        0x80 | 10 << 3 | 0, 1,        1,
    };
    put64(m.lines + 16, sizeof table);
    memcpy(m.lines + 32, table, sizeof table);
    static const uint32_t wanted[] = {10, 10, 11, 0, 0, 0, 9, 109, 109, 0};
    for (uint64_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_int_equal(
            lc_python_line(&l, address(m.code), address(m.code) + l.instructions + 2 * i),
            wanted[i]);
    assert_int_equal(lc_python_line(&l, address(m.code), address(m.code)), 0);
    put64(m.lines + 16, 12); /* ends inside of a number */
    assert_int_equal(lc_python_line(&l, address(m.code), address(m.code) + l.instructions + 100),
                     0);
    put64(m.code + l.line_table, 0);
    assert_int_equal(lc_python_line(&l, address(m.code), address(m.code) + l.instructions), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(versions), cmocka_unit_test(names),
                                       cmocka_unit_test(lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
