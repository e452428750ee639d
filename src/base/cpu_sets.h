/* CPUs that processes may use. */
#ifndef LC_BASE_CPU_SETS_H
#define LC_BASE_CPU_SETS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* As "0-3,8"; "..." at the end where `bytes` do not suffice. */
void lc_cpu_list(const cpu_set_t *set, char *out, size_t bytes);
/* The set of such a list; false: it is none, is empty, or was cut off. */
bool lc_cpu_list_read(const char *list, cpu_set_t *set);

/* Must some of these n processes share a CPU though they run at the same time? True where those
 * that are confined to the CPUs of one of them are more than these. */
bool lc_cpu_sets_short(const cpu_set_t *sets, int n);

#endif
