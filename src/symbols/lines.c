#include "symbols/lines.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static bool is_of(Dwarf_Line *row, const char *file, int line) {
    int number = 0;
    const char *name = dwarf_linesrc(row, NULL, NULL);
    const char *slash = name != NULL ? strrchr(name, '/') : NULL;
    return name != NULL && dwarf_lineno(row, &number) == 0 && number == line &&
           strcmp(slash != NULL ? slash + 1 : name, file) == 0;
}

/* Code that has no line (0) belongs to the one before it. */
static bool goes_on(Dwarf_Line *row) {
    bool ends = true;
    int number = -1;
    return dwarf_lineendsequence(row, &ends) == 0 && !ends && dwarf_lineno(row, &number) == 0 &&
           number == 0;
}

static void each_of(Dwarf_Die *unit, const char *file, int line,
                    void (*see)(void *context, uint64_t begin, uint64_t end), void *context) {
    Dwarf_Lines *rows = NULL;
    size_t n = 0;
    bool inside = false;
    Dwarf_Addr begin = 0, at = 0;
    if (dwarf_getsrclines(unit, &rows, &n) != 0)
        return;
    for (size_t i = 0; i < n; i++) {
        Dwarf_Line *row = dwarf_onesrcline(rows, i);
        bool ends = false;
        if (row == NULL || dwarf_lineaddr(row, &at) != 0 || (inside && goes_on(row)))
            continue;
        dwarf_lineendsequence(row, &ends);
        bool here = !ends && is_of(row, file, line);
        if (inside && !here && at > begin)
            see(context, begin, at);
        if (here && !inside)
            begin = at;
        inside = here;
    }
}

void lc_lines_each(const char *program, const char *file, int line,
                   void (*see)(void *context, uint64_t begin, uint64_t end), void *context) {
    int fd = open(program, O_RDONLY | O_CLOEXEC);
    Dwarf *debug = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
    Dwarf_CU *at = NULL, *next = NULL;
    Dwarf_Die unit;
    for (; debug != NULL && dwarf_get_units(debug, at, &next, NULL, NULL, &unit, NULL) == 0;
         at = next)
        each_of(&unit, file, line, see, context);
    if (debug != NULL)
        dwarf_end(debug);
    if (fd >= 0)
        close(fd);
}
