#include "bench/system_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lc_first_line(const char *file, char *text, size_t size) {
    FILE *in = fopen(file, "re");
    text[0] = '\0';
    if (in == NULL)
        return;
    if (fgets(text, (int)size, in) == NULL)
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    fclose(in);
}

bool lc_schedstat_parse(const char *text, int64_t *on_cpu_ns, int64_t *delay_ns) {
    char *end, *last;
    *on_cpu_ns = strtoll(text, &end, 10);
    *delay_ns = strtoll(end, &last, 10);
    return end != text && last != end && *on_cpu_ns >= 0 && *delay_ns >= 0;
}

/* user nice system idle iowait irq softirq steal: guests are in user. */
enum { IDLE = 3, IOWAIT = 4, STEAL = 7, FIELDS = 8 };

static bool add_line(const char *numbers, struct lc_cpu_ticks *ticks) {
    for (int i = 0; i < FIELDS; i++) {
        char *end;
        int64_t value = strtoll(numbers, &end, 10);
        if (end == numbers || value < 0)
            return false;
        *(i == STEAL                 ? &ticks->steal
          : i == IDLE || i == IOWAIT ? &ticks->idle
                                     : &ticks->busy) += value;
        numbers = end;
    }
    return true;
}

bool lc_cpu_ticks_parse(const char *text, const cpu_set_t *set, struct lc_cpu_ticks *ticks) {
    int found = 0;
    *ticks = (struct lc_cpu_ticks){0};
    for (const char *line = text; line != NULL && strncmp(line, "cpu", 3) == 0;) {
        const char *next = strchr(line, '\n');
        char *end;
        long cpu = strtol(line + 3, &end, 10);
        /* a line that is cut off does not count */
        if (line[3] != ' ' && next != NULL && cpu >= 0 && cpu < CPU_SETSIZE &&
            CPU_ISSET((size_t)cpu, set)) {
            if (!add_line(end, ticks))
                return false;
            found++;
        }
        line = next != NULL ? next + 1 : NULL;
    }
    return found > 0 && found == CPU_COUNT(set);
}

double lc_cpu_quota_parse(const char *text) {
    char *end, *last;
    double quota = strtod(text, &end), period = strtod(end, &last);
    return end != text && last != end && quota > 0 && period > 0 ? quota / period : 0;
}

double lc_cpu_quota_of(const char *root, const char *line) {
    char group[512] = "", file[1024];
    double least = 0;
    if (strncmp(line, "0::/", 4) == 0)
        snprintf(group, sizeof group, "%s", line + 3);
    for (char *last = group; last != NULL;) {
        char text[64];
        snprintf(file, sizeof file, "%s%s/cpu.max", root, group);
        lc_first_line(file, text, sizeof text);
        double own = lc_cpu_quota_parse(text);
        least = own > 0 && (least == 0 || own < least) ? own : least;
        last = strrchr(group, '/');
        if (last != NULL)
            *last = '\0';
    }
    return least;
}
