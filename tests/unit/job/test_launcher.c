/* Which launcher started a process, as which rank of which job: over environments of real launchers
 * (launched_processes.tsv). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "job/launcher.h"

enum { MOST_PROCESSES = 200, MOST_FIELDS = 64 };

struct process {
    char *line;
    char *field[MOST_FIELDS]; /* case, job, node, NAME=VALUE.., >words.. */
    int n_fields;
    struct lc_launch launch;
};

static struct process processes[MOST_PROCESSES];
static int n_processes;

static const char *variable(const void *context, const char *name) {
    const struct process *p = context;
    size_t length = strlen(name);
    for (int i = 3; i < p->n_fields; i++)
        if (strncmp(p->field[i], name, length) == 0 && p->field[i][length] == '=')
            return p->field[i] + length + 1;
    return NULL;
}

static size_t ancestor(const void *context, int n, char *words, size_t size) {
    const struct process *p = context;
    char marks[8] = ">>>>>>>";
    marks[n + 1 < 7 ? n + 1 : 7] = '\0';
    for (int i = 3; i < p->n_fields; i++) {
        const char *field = p->field[i];
        if (strspn(field, ">") != (size_t)n + 1 || strncmp(field, marks, strlen(marks)) != 0)
            continue;
        snprintf(words, size, "%s", field + n + 1);
        size_t length = strlen(words) + 1;
        for (char *at = words; *at != '\0'; at++)
            if (*at == ' ')
                *at = '\0';
        return length - 1;
    }
    return 0;
}

static int read_processes(void **state) {
    (void)state;
    FILE *file = fopen(LC_TEST_DIR "/launched_processes.tsv", "r");
    char line[8192];
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#')
            continue;
        assert_true(n_processes < MOST_PROCESSES);
        struct process *p = &processes[n_processes++];
        line[strcspn(line, "\n")] = '\0';
        p->line = strdup(line);
        char *rest = p->line;
        while (rest != NULL && p->n_fields < MOST_FIELDS)
            p->field[p->n_fields++] = strsep(&rest, "\t");
        const struct lc_launch_source source = {variable, ancestor, p};
        lc_launch_detect_from(&p->launch, &source);
    }
    fclose(file);
    return n_processes > 100 ? 0 : -1;
}

static int forget_processes(void **state) {
    (void)state;
    for (int i = 0; i < n_processes; i++)
        free(processes[i].line);
    return 0;
}

static bool same_case(const struct process *a, const struct process *b) {
    return strcmp(a->field[0], b->field[0]) == 0;
}

static bool same_job(const struct process *a, const struct process *b) {
    return same_case(a, b) && strcmp(a->field[1], b->field[1]) == 0;
}

/* The processes of a job, and only they, have its identity. */
static void one_identity_per_job(void **state) {
    (void)state;
    for (int i = 0; i < n_processes; i++)
        for (int k = 0; k < n_processes; k++) {
            const struct process *a = &processes[i], *b = &processes[k];
            if (same_case(a, b) && (a->launch.job == b->launch.job) != same_job(a, b))
                fail_msg("%s %s on %s and %s on %s", a->field[0], a->field[1], a->field[2],
                         b->field[1], b->field[2]);
        }
}

/* Ranks 0 to size - 1, once each; as many on a node as are there. */
static void ranks_and_sizes(void **state) {
    (void)state;
    for (int i = 0; i < n_processes; i++) {
        const struct process *a = &processes[i];
        int size = 0, local = 0, same = 0;
        for (int k = 0; k < n_processes; k++) {
            const struct process *b = &processes[k];
            if (!same_job(a, b))
                continue;
            size++;
            local += strcmp(a->field[2], b->field[2]) == 0;
            same += a->launch.rank == b->launch.rank;
        }
        if (a->launch.size != size || a->launch.local_size != local || same != 1 ||
            a->launch.rank >= size)
            fail_msg("%s %s on %s: rank %d of %d, %d here", a->field[0], a->field[1], a->field[2],
                     a->launch.rank, a->launch.size, a->launch.local_size);
    }
}

static const struct process *first_of(const char *name) {
    for (int i = 0; i < n_processes; i++)
        if (strcmp(processes[i].field[0], name) == 0)
            return &processes[i];
    fail_msg("%s: no such case", name);
    return NULL;
}

static void names_of_launchers(void **state) {
    (void)state;
    static const struct {
        const char *name;
        enum lc_launcher_kind kind;
        enum lc_launch_wire wire;
    } expected[] = {
        {"om4-1node", LC_LAUNCHER_OPENMPI, LC_WIRE_PMIX},
        {"om5-2nodes", LC_LAUNCHER_OPENMPI, LC_WIRE_PMIX},
        {"hydra40-2nodes", LC_LAUNCHER_HYDRA, LC_WIRE_PMI},
        {"hydra42-1node", LC_LAUNCHER_HYDRA, LC_WIRE_PMI},
        {"sbatch22-om4", LC_LAUNCHER_OPENMPI, LC_WIRE_PMIX},
        {"sbatch22-hydra40", LC_LAUNCHER_HYDRA, LC_WIRE_PMI},
        {"sbatch22-script", LC_LAUNCHER_NONE, LC_WIRE_NONE},
        {"srun22-none", LC_LAUNCHER_SLURM, LC_WIRE_NONE},
        {"srun22-pmi2", LC_LAUNCHER_SLURM, LC_WIRE_PMI},
        {"srun22-pmix", LC_LAUNCHER_SLURM, LC_WIRE_PMIX},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const struct process *p = first_of(expected[i].name);
        if (p->launch.kind != expected[i].kind || p->launch.wire != expected[i].wire)
            fail_msg("%s: kind %d, wire %d", expected[i].name, p->launch.kind, p->launch.wire);
    }
}

/* What they print for --version: Debian 12's and 13's, Intel's. */
static void kinds_of_starters(void **state) {
    (void)state;
    assert_int_equal(lc_start_kind_of_version("mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs to"),
                     LC_START_ORTE);
    assert_int_equal(lc_start_kind_of_version("mpirun (Open MPI) 4.0.3\n"), LC_START_ORTE);
    assert_int_equal(lc_start_kind_of_version("mpirun.openmpi (Open MPI) 5.0.7\n\nReport bugs"),
                     LC_START_PRTE);
    assert_int_equal(lc_start_kind_of_version("prterun (PRRTE) 3.0.9\n"), LC_START_PRTE);
    assert_int_equal(lc_start_kind_of_version("HYDRA build details:\n    Version:   4.0.2\n"),
                     LC_START_HYDRA);
    assert_int_equal(lc_start_kind_of_version("Intel(R) MPI Library for Linux* OS, Version 2021"),
                     LC_START_HYDRA);
    assert_int_equal(lc_start_kind_of_version("slurm 22.05.8"), LC_START_UNKNOWN);
}

static void words_of_starters(void **state) {
    (void)state;
    struct lc_starter starter = {.kind = LC_START_PRTE};
    const char *words[LC_START_WORDS];
    char number[24];
    for (starter.kind = LC_START_UNKNOWN; starter.kind <= LC_START_HYDRA; starter.kind++) {
        int n = lc_starter_words(&starter, 100000, true, words, number);
        bool quiet = false;
        assert_true(n >= 2 && n <= LC_START_WORDS);
        assert_string_equal(words[n - 2], "-n");
        assert_string_equal(words[n - 1], "100000");
        for (int i = 0; i < n; i++)
            quiet = quiet || strcmp(words[i], "-q") == 0;
        assert_int_equal(quiet, starter.kind == LC_START_ORTE);
    }
}

/* Started as a rank of Hydra by a shell that this process has started so. */
static void process_of_launcher(void **state) {
    char number[16], own[4096] = "";
    int status;
    (void)state;
    assert_true(readlink("/proc/self/exe", own, sizeof own - 1) > 0);
    snprintf(number, sizeof number, "%d", (int)getpid());
    pid_t shell = fork();
    if (shell == 0) {
        setenv("PMI_RANK", "0", 1);
        setenv("PMI_SIZE", "1", 1);
        setenv("MPI_LOCALNRANKS", "1", 1);
        unsetenv("PMI_JOBID");
        execl("/bin/sh", "sh", "-c", "\"$0\" started-by \"$1\"; exit $?", own, number, NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(shell, &status, 0), shell);
    assert_int_equal(status, 0);
}

static int was_started_by(int pid) {
    struct lc_launch launch;
    lc_launch_detect(&launch);
    return launch.kind != LC_LAUNCHER_HYDRA || launch.process != pid;
}

int main(int argc, char **argv) {
    if (argc > 2 && strcmp(argv[1], "started-by") == 0)
        return was_started_by(atoi(argv[2]));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_identity_per_job), cmocka_unit_test(ranks_and_sizes),
        cmocka_unit_test(names_of_launchers),   cmocka_unit_test(kinds_of_starters),
        cmocka_unit_test(words_of_starters),    cmocka_unit_test(process_of_launcher),
    };
    return cmocka_run_group_tests(tests, read_processes, forget_processes);
}
