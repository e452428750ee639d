#include "bench/parts_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

static enum lc_err load(const char *file, char **data, size_t *size) {
    FILE *in = fopen(file, "re");
    struct stat info;
    if (in == NULL)
        return lc_fail_errno(LC_ERR_IO, "bench: %s", file);
    enum lc_err err = LC_OK;
    if (fstat(fileno(in), &info) != 0 || !S_ISREG(info.st_mode))
        err = lc_fail(LC_ERR_IO, "bench: %s: is not a file", file);
    else
        err = lc_alloc(data, (size_t)info.st_size + 1, 1);
    if (err == LC_OK)
        *size = fread(*data, 1, (size_t)info.st_size, in);
    fclose(in);
    return err;
}

static enum lc_err add_job(struct lc_rank_part *p, const void *body, size_t bytes) {
    struct lc_part_job head;
    if (bytes != sizeof head)
        return lc_fail(LC_ERR_FORMAT, "bench: a part is damaged: a job of %zu bytes", bytes);
    memcpy(&head, body, sizeof head);
    if (head.n_counters > LC_PART_COUNTERS || head.n_read > head.n_counters)
        return lc_fail(LC_ERR_FORMAT, "bench: a part is damaged: %u counters", head.n_counters);
    head.operation[LC_PART_NAME - 1] = head.sync[sizeof head.sync - 1] = '\0';
    for (int i = 0; i < LC_PART_COUNTERS; i++) {
        head.counter[i][LC_PART_NAME - 1] = '\0';
        if (head.kind[i] >= LC_COUNTER_KINDS)
            return lc_fail(LC_ERR_FORMAT, "bench: a part is damaged: a counter of kind %u",
                           head.kind[i]);
    }
    LC_TRY(lc_grow(&p->jobs, &p->jobs_room, p->n_jobs + 1, sizeof p->jobs[0]));
    p->jobs[p->n_jobs++] = (struct lc_job_part){.head = head};
    return LC_OK;
}

static enum lc_err add_reps(struct lc_rank_part *p, const char *body, size_t bytes) {
    if (p->n_jobs == 0)
        return lc_fail(LC_ERR_FORMAT, "bench: a part is damaged: run times without a job");
    struct lc_job_part *job = &p->jobs[p->n_jobs - 1];
    size_t row = (LC_REP_COUNTERS + job->head.n_counters) * sizeof(int64_t), rows = bytes / row;
    if (bytes % row != 0)
        return lc_fail(LC_ERR_FORMAT, "bench: a part is damaged: run times of %zu bytes", bytes);
    LC_TRY(lc_reserve(&job->values, &job->room, (job->n + rows) * (row / sizeof(int64_t)),
                      sizeof job->values[0]));
    memcpy((char *)job->values + job->n * row, body, bytes);
    job->n += rows;
    return LC_OK;
}

static enum lc_err add_fact(struct lc_rank_part *p, const char *body, size_t bytes) {
    const char *words[3];
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        words[i] = body + at;
        at += strnlen(body + at, bytes - at) + 1;
        if (at > bytes)
            return lc_fail(LC_ERR_FORMAT, "bench: a part is damaged: a fact without an end");
    }
    LC_TRY(lc_grow(&p->facts, &p->facts_room, p->n_facts + 1, sizeof p->facts[0]));
    p->facts[p->n_facts++] = (struct lc_fact){words[0], words[1], words[2], p->n_jobs};
    return LC_OK;
}

/* By how much the global clock of the rank was behind before and after the job, and in proportion
 * between. */
static void correct(struct lc_job_part *job) {
    const struct lc_part_end *end = &job->end;
    double first = end->begun_residual_ns, span = end->ended_ns - end->begun_ns;
    double slope = (end->residual_ns - first) / span;
    if (!(span > 0) || !isfinite(slope) || (first == 0 && slope == 0))
        return;
    for (size_t i = 0; i < job->n; i++)
        for (size_t k = LC_REP_START; k <= LC_REP_END; k++) {
            int64_t *time = &job->values[i * (LC_REP_COUNTERS + job->head.n_counters) + k];
            *time += llround(first + slope * ((double)*time - end->begun_ns));
        }
}

static enum lc_err end_job(struct lc_rank_part *p, const void *body, size_t bytes) {
    if (p->n_jobs == 0 || bytes != sizeof(struct lc_part_end))
        return lc_fail(LC_ERR_FORMAT, "bench: a part is damaged: an end without a job");
    struct lc_job_part *job = &p->jobs[p->n_jobs - 1];
    memcpy(&job->end, body, sizeof job->end);
    job->end.stopped[sizeof job->end.stopped - 1] = '\0';
    job->ended = true;
    correct(job);
    return LC_OK;
}

static enum lc_err add_load(struct lc_rank_part *p, const void *body, size_t bytes) {
    if (p->n_jobs == 0 || bytes != sizeof(struct lc_part_load))
        return lc_fail(LC_ERR_FORMAT, "bench: a part is damaged: a load of %zu bytes", bytes);
    struct lc_job_part *job = &p->jobs[p->n_jobs - 1];
    LC_TRY(lc_grow(&job->loads, &job->loads_room, job->n_loads + 1, sizeof job->loads[0]));
    LC_TRY(
        lc_grow(&job->load_reps, &job->load_reps_room, job->n_loads + 1, sizeof job->load_reps[0]));
    memcpy(&job->loads[job->n_loads], body, bytes);
    job->load_reps[job->n_loads++] = job->n;
    return LC_OK;
}

static enum lc_err add_sample(struct lc_rank_part *p, const void *body, size_t bytes) {
    struct lc_part_sample sample;
    if (p->n_jobs == 0 || bytes != sizeof sample)
        return lc_fail(LC_ERR_FORMAT, "bench: a part is damaged: a sample of %zu bytes", bytes);
    struct lc_job_part *job = &p->jobs[p->n_jobs - 1];
    memcpy(&sample, body, sizeof sample);
    if (sample.n < 0 || sample.n > LC_SAMPLE_FRAMES || sample.lost < 0 ||
        !(sample.weight_ns >= 0 && sample.weight_ns < 1e18))
        return lc_fail(LC_ERR_FORMAT, "bench: a part is damaged: a sample of %d frames", sample.n);
    LC_TRY(lc_grow(&job->samples, &job->samples_room, job->n_samples + 1, sizeof sample));
    job->samples[job->n_samples++] = sample;
    return LC_OK;
}

static enum lc_err take(struct lc_rank_part *p, uint32_t kind, char *body, size_t bytes) {
    switch (kind) {
    case LC_PART_FACT:
        return add_fact(p, body, bytes);
    case LC_PART_JOB:
        return add_job(p, body, bytes);
    case LC_PART_REPS:
        return add_reps(p, body, bytes);
    case LC_PART_LOAD:
        return add_load(p, body, bytes);
    case LC_PART_SAMPLE:
        return add_sample(p, body, bytes);
    case LC_PART_END:
        return end_job(p, body, bytes);
    default:
        return lc_fail(LC_ERR_FORMAT, "bench: a part is damaged: a record of kind %u", kind);
    }
}

enum lc_err lc_rank_part_read(const char *file, struct lc_rank_part *p) {
    size_t size = 0, at = 0;
    struct lc_part_head head;
    *p = (struct lc_rank_part){0};
    LC_TRY(load(file, &p->data, &size));
    bool first = true;
    while (size - at >= sizeof head) {
        memcpy(&head, p->data + at, sizeof head);
        if (head.bytes > size - at - sizeof head)
            break; /* cut off */
        char *body = p->data + at + sizeof head;
        if (first) {
            if (head.kind != LC_PART_HELLO || head.bytes != sizeof p->hello)
                break;
            memcpy(&p->hello, body, sizeof p->hello);
            p->hello.node[sizeof p->hello.node - 1] = '\0';
            p->hello.cpus[sizeof p->hello.cpus - 1] = '\0';
        } else {
            LC_TRY(take(p, head.kind, body, head.bytes));
        }
        first = false;
        at += sizeof head + head.bytes;
    }
    if (first || p->hello.magic != LC_PART_MAGIC)
        return lc_fail(LC_ERR_FORMAT, "bench: %s: is not a part of a result", file);
    return LC_OK;
}

void lc_rank_part_free(struct lc_rank_part *p) {
    for (size_t i = 0; i < p->n_jobs; i++) {
        free(p->jobs[i].values);
        free(p->jobs[i].loads);
        free(p->jobs[i].load_reps);
        free(p->jobs[i].samples);
    }
    free(p->jobs);
    free(p->facts);
    free(p->data);
    *p = (struct lc_rank_part){0};
}
