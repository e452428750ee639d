/* What the kernel says of other work beside a thread: the texts of /proc. */
#ifndef LC_BENCH_SYSTEM_LOAD_H
#define LC_BENCH_SYSTEM_LOAD_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first line of a file, without its end; "" where there is none. */
void lc_first_line(const char *file, char *text, size_t size);

/* A thread's schedstat: ns on a CPU, and ns in which it could have run but waited for one.
 * False: it is no such text. */
bool lc_schedstat_parse(const char *text, int64_t *on_cpu_ns, int64_t *delay_ns);

struct lc_cpu_ticks { /* units of sysconf(_SC_CLK_TCK) */
    int64_t busy;     /* of any process or the kernel */
    int64_t steal;    /* the hypervisor ran something else */
    int64_t idle;
};

/* The beginning of /proc/stat, of the CPUs in a set together. False: not all of them are there. */
bool lc_cpu_ticks_parse(const char *text, const cpu_set_t *set, struct lc_cpu_ticks *ticks);

/* CPUs that a control group allows, from its cpu.max ("150000 100000": 1.5); 0: no limit, or no
 * such text. */
double lc_cpu_quota_parse(const char *text);

/* The least that a group and those above it allow; 0: no limit. `line`: of /proc/self/cgroup, of
 * version 2 ("0::/a/b"; of others: those of the root). root: /sys/fs/cgroup. */
double lc_cpu_quota_of(const char *root, const char *line);

#endif
