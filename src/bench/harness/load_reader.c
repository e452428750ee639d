#include "bench/harness/load_reader.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "bench/system_load.h"

void lc_load_open(struct lc_load_reader *r) {
    r->schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    r->stat = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    CPU_ZERO(&r->cpus);
    (void)sched_getaffinity(0, sizeof r->cpus, &r->cpus);
}

void lc_load_close(struct lc_load_reader *r) {
    if (r->schedstat >= 0)
        close(r->schedstat);
    if (r->stat >= 0)
        close(r->stat);
}

static bool read_text(int fd, char *text, size_t size) {
    ssize_t n = fd >= 0 ? pread(fd, text, size - 1, 0) : -1;
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static bool read_schedstat(const struct lc_load_reader *r, int64_t *on_cpu, int64_t *delay) {
    char text[96];
    return read_text(r->schedstat, text, sizeof text) && lc_schedstat_parse(text, on_cpu, delay);
}

int64_t lc_load_delay(const struct lc_load_reader *r) {
    int64_t on_cpu, delay;
    return read_schedstat(r, &on_cpu, &delay) ? delay : -1;
}

void lc_load_read(const struct lc_load_reader *r, double now_ns, bool whole,
                  struct lc_part_load *load) {
    static char text[1 << 16];
    struct lc_cpu_ticks ticks;
    *load = (struct lc_part_load){now_ns, -1, -1, -1, -1, -1, sysconf(_SC_CLK_TCK)};
    if (!read_schedstat(r, &load->on_cpu_ns, &load->delay_ns))
        load->on_cpu_ns = load->delay_ns = -1;
    if (whole && read_text(r->stat, text, sizeof text) &&
        lc_cpu_ticks_parse(text, &r->cpus, &ticks)) {
        load->busy = ticks.busy;
        load->steal = ticks.steal;
        load->idle = ticks.idle;
    }
}
