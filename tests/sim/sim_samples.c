/* The kernel's samples in virtual time: perf_event_open gives memory that sim_work and naps fill as
 * the kernel does, with registers and stack of who called them. Time on the processor is that of
 * sim_work; a sample falls into it whenever its period is over, to the nanosecond. */
#include "sim_samples.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 8, MOST_DATA = 1 << 20, MOST_STACK = 1 << 13, PAGE = 4096 };

struct event {
    struct perf_event_attr attr;
    int fd; /* until it is mapped */
    struct perf_event_mmap_page *control;
    uint64_t bytes;   /* of the memory after the first page */
    uint64_t left_ns; /* until the next sample */
};

static _Thread_local struct event events[EVENTS];
static _Thread_local int n_events;
static int n_open; /* of all threads, which run in turns */
static _Thread_local long n_switches;

/* $SIM_SAMPLES_MOST: that many of a process at a time. */
static bool is_refused(void) {
    const char *most = getenv("SIM_SAMPLES_MOST");
    return most != NULL && n_open >= atoi(most);
}

static int open_event(const struct perf_event_attr *attr) {
    if (n_events == EVENTS || is_refused()) {
        errno = EMFILE;
        return -1;
    }
    int fd = (int)NEXT(syscall)(SYS_memfd_create, "samples", 1ul);
    if (fd >= 0 && NEXT(syscall)(SYS_ftruncate, fd, (long)MOST_DATA + PAGE) == 0)
        events[n_events++] = (struct event){*attr, fd, NULL, 0, attr->sample_period};
    n_open++;
    return fd;
}

long syscall(long number, ...) {
    long a[6];
    va_list more;
    va_start(more, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(more, long);
    va_end(more);
    if (number == SYS_perf_event_open && sim_is_on())
        return open_event((const struct perf_event_attr *)a[0]);
    return NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

void sim_samples_mapped(int fd, void *memory, size_t bytes) {
    for (int i = 0; fd >= 0 && i < n_events; i++)
        if (events[i].fd == fd && events[i].control == NULL) {
            events[i].fd = -1;
            events[i].control = memory;
            events[i].bytes = bytes - PAGE;
        }
}

static void end_event(int i) {
    events[i] = events[--n_events];
    n_open--;
}

void sim_samples_unmapped(const void *memory) {
    for (int i = 0; i < n_events; i++)
        if (events[i].control == memory) {
            end_event(i);
            return;
        }
}

void sim_samples_closed(int fd) {
    for (int i = 0; i < n_events; i++)
        if (events[i].fd == fd) {
            end_event(i);
            return;
        }
}

/* Of events nothing but stopping and starting them, which costs what a switch does. */
int ioctl(int fd, unsigned long request, ...) {
    va_list more;
    va_start(more, request);
    void *argument = va_arg(more, void *);
    va_end(more);
    for (int i = 0; i < n_events; i++)
        if (events[i].fd == fd && fd >= 0) {
            if (request == PERF_EVENT_IOC_ENABLE)
                sim_work_of_kernel(sim->model.switch_ns);
            return 0;
        }
    return NEXT(ioctl)(fd, request, argument);
}

/* A thread of the simulation leaves the processor when it naps. */
int getrusage(__rusage_who_t who, struct rusage *usage) {
    int result = NEXT(getrusage)(who, usage);
    if (result == 0 && who == RUSAGE_THREAD && sim_is_on()) {
        usage->ru_nvcsw = n_switches;
        usage->ru_nivcsw = 0;
    }
    return result;
}

struct writer {
    struct event *event;
    uint64_t at;
};

static void put(struct writer *w, const void *data, size_t bytes) {
    char *begin = (char *)w->event->control + PAGE;
    for (size_t i = 0; i < bytes; i++)
        begin[w->at++ & (w->event->bytes - 1)] = ((const char *)data)[i];
}

static void put_word(struct writer *w, uint64_t word) {
    put(w, &word, sizeof word);
}

static bool begin(struct writer *w, struct event *event, uint32_t type, uint16_t misc,
                  uint64_t bytes) {
    struct perf_event_mmap_page *control = event->control;
    if (control == NULL || event->bytes - (control->data_head - control->data_tail) < bytes)
        return false;
    const struct perf_event_header header = {.type = type, .misc = misc, .size = (uint16_t)bytes};
    *w = (struct writer){event, control->data_head};
    put(w, &header, sizeof header);
    return true;
}

static void end(const struct writer *w) {
    __atomic_store_n(&w->event->control->data_head, w->at, __ATOMIC_RELEASE);
}

static void write_sample(struct event *event, const struct sim_place *place) {
    const struct perf_event_attr *attr = &event->attr;
    bool chain = attr->sample_type & PERF_SAMPLE_CALLCHAIN;
    uint64_t room = attr->sample_stack_user, stack[MOST_STACK / 8];
    struct writer w;
    if (room > MOST_STACK || !begin(&w, event, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER,
                                    16 + (chain ? 24 : 0) + (room > 0 ? 56 + room : 0)))
        return;
    put_word(&w, sim_samples_time());
    if (chain) {
        put_word(&w, 2);
        put_word(&w, (uint64_t)PERF_CONTEXT_USER);
        put_word(&w, place->ip);
    }
    if (room > 0) {
        uint64_t end_of_stack = (uint64_t)(uintptr_t)place->end, filled = end_of_stack - place->sp;
        if (filled > room)
            filled = room;
        memset(stack, 0, room);
        memcpy(stack, (const void *)(uintptr_t)place->sp, filled);
        put_word(&w, PERF_SAMPLE_REGS_ABI_64);
        put_word(&w, place->in_call ? (uint64_t)-ENOSYS : 0);
        put_word(&w, place->fp);
        put_word(&w, place->sp);
        put_word(&w, place->ip);
        put_word(&w, room);
        put(&w, stack, room);
        put_word(&w, filled);
    }
    end(&w);
}

/* The truth for tests, in the file $SIM_SAMPLES.RANK: time, period, address in the program. */
static void log_sample(const struct event *event, const struct sim_place *place) {
    static FILE *file;
    const char *name = getenv("SIM_SAMPLES");
    char path[4096];
    Dl_info info;
    if (name == NULL || dladdr((void *)(uintptr_t)place->ip, &info) == 0)
        return;
    snprintf(path, sizeof path, "%s.%d", name, sim_self()->rank);
    if (file == NULL)
        file = fopen(path, "w");
    if (file == NULL)
        return;
    fprintf(file, "%llu %llu %llx\n", (unsigned long long)sim_samples_time(),
            (unsigned long long)event->attr.sample_period,
            (unsigned long long)(place->ip - (uint64_t)(uintptr_t)info.dli_fbase));
    fflush(file);
}

static void write_switch(uint16_t misc) {
    struct writer w;
    for (int i = 0; i < n_events; i++)
        if (events[i].attr.context_switch && begin(&w, &events[i], PERF_RECORD_SWITCH, misc, 16)) {
            put_word(&w, sim_samples_time());
            end(&w);
        }
}

void sim_samples_out(const struct sim_place *place, bool preempted) {
    for (int i = 0; i < n_events; i++)
        if (events[i].attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES)
            write_sample(&events[i], place);
    write_switch(PERF_RECORD_MISC_SWITCH_OUT |
                 (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0));
}

void sim_samples_in(void) {
    n_switches++;
    sim_work_of_kernel((uint64_t)n_events * sim->model.switch_ns);
    write_switch(0);
}

uint64_t sim_samples_next(uint64_t ns) {
    for (int i = 0; i < n_events; i++)
        if (events[i].attr.config == PERF_COUNT_SW_TASK_CLOCK && events[i].left_ns < ns)
            ns = events[i].left_ns;
    return ns;
}

void sim_samples_worked(uint64_t ns, const struct sim_place *place) {
    for (int i = 0; i < n_events; i++) {
        struct event *event = &events[i];
        if (event->attr.config != PERF_COUNT_SW_TASK_CLOCK)
            continue;
        event->left_ns -= ns;
        if (event->left_ns == 0) {
            event->left_ns = event->attr.sample_period;
            write_sample(event, place);
            log_sample(event, place);
        }
    }
}
