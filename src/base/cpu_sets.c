#include "base/cpu_sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lc_cpu_list(const cpu_set_t *set, char *out, size_t bytes) {
    size_t used = 0;
    out[0] = '\0';
    for (int from = 0; from < CPU_SETSIZE; from++) {
        if (!CPU_ISSET(from, set))
            continue;
        int to = from;
        while (to + 1 < CPU_SETSIZE && CPU_ISSET(to + 1, set))
            to++;
        char part[32];
        int n = to > from ? snprintf(part, sizeof part, "%s%d-%d", used > 0 ? "," : "", from, to)
                          : snprintf(part, sizeof part, "%s%d", used > 0 ? "," : "", from);
        if (used + (size_t)n + 4 >= bytes) {
            memcpy(out + used, "...", 4);
            return;
        }
        memcpy(out + used, part, (size_t)n + 1);
        used += (size_t)n;
        from = to;
    }
}

bool lc_cpu_list_read(const char *list, cpu_set_t *set) {
    CPU_ZERO(set);
    for (const char *word = list;;) {
        char *end;
        long from = strtol(word, &end, 10), to = from;
        bool whole = end != word;
        if (*end == '-') {
            const char *second = end + 1;
            to = strtol(second, &end, 10);
            whole = whole && end != second;
        }
        if (!whole || from < 0 || to < from || to >= CPU_SETSIZE)
            return false;
        for (long cpu = from; cpu <= to; cpu++)
            CPU_SET((size_t)cpu, set);
        if (*end != ',')
            return *end == '\0';
        word = end + 1;
    }
}

bool lc_cpu_sets_short(const cpu_set_t *sets, int n) {
    for (int i = 0; i < n; i++) {
        int confined = 0;
        for (int k = 0; k < n; k++) {
            cpu_set_t both;
            CPU_AND(&both, &sets[i], &sets[k]);
            confined += CPU_EQUAL(&both, &sets[k]) != 0;
        }
        if (confined > CPU_COUNT(&sets[i]))
            return true;
    }
    return false;
}
