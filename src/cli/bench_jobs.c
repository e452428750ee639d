#include "cli/bench_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"

static enum lc_err add_line(struct lc_bench_jobs *jobs, const char *file, size_t number,
                            const char *line) {
    static char command[] = "bench";
    LC_TRY(lc_grow(&jobs->all, &jobs->room, jobs->n + 1, sizeof jobs->all[0]));
    struct lc_bench_job *job = &jobs->all[jobs->n];
    *job = (struct lc_bench_job){.line = number, .word = {command}, .n = 1};
    LC_TRY(lc_strdup(&job->text, line));
    jobs->n++;
    job->text[strcspn(job->text, "#")] = '\0';
    char *rest = job->text;
    for (char *word; rest != NULL && (word = strsep(&rest, " \t\r\n")) != NULL;) {
        if (*word == '\0')
            continue;
        if (job->n == LC_JOB_WORDS_MOST)
            return lc_fail(LC_ERR_USAGE, "bench: %s: line %zu: more than %d words", file, number,
                           LC_JOB_WORDS_MOST - 1);
        job->word[job->n++] = word;
    }
    if (job->n == 1)
        free(jobs->all[--jobs->n].text);
    return LC_OK;
}

enum lc_err lc_bench_jobs_read(const char *file, struct lc_bench_jobs *jobs) {
    *jobs = (struct lc_bench_jobs){.all = NULL};
    FILE *in = fopen(file, "re");
    if (in == NULL)
        return lc_fail_errno(LC_ERR_IO, "bench: %s", file);
    char *line = NULL;
    size_t room = 0, number = 0;
    enum lc_err err = LC_OK;
    while (err == LC_OK && getline(&line, &room, in) >= 0)
        err = add_line(jobs, file, ++number, line);
    if (err == LC_OK && ferror(in))
        err = lc_fail_errno(LC_ERR_IO, "bench: %s", file);
    free(line);
    fclose(in);
    if (err == LC_OK && jobs->n == 0)
        err = lc_fail(LC_ERR_USAGE, "bench: %s: holds no job: each line gives OP and its options",
                      file);
    return err;
}

void lc_bench_jobs_free(struct lc_bench_jobs *jobs) {
    for (size_t i = 0; i < jobs->n; i++)
        free(jobs->all[i].text);
    free(jobs->all);
}
