#include "run/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/timer.h"
#include "run/experiment.h"
#include "run/run.h"

enum {
    REQUEST_MS = 1000,
    ANSWER_MS = 60000,
    LOOKS_PER_S = 100, /* at the request, of all nodes together */
    WAIT_S = 5         /* longer than two looks take */
};

/* /proc/self/fd/N/.control: as short as it gets, whatever the directory is called. */
static void name_socket(struct sockaddr_un *address, int dir_fd) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/.control", dir_fd);
}

void lc_control_open(struct lc_run *run) {
    struct sockaddr_un address;
    run->control_fd = -1;
    if (run->launch.rank != 0)
        return;
    int dir_fd = open(run->dir.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (dir_fd >= 0 && fd >= 0) {
        name_socket(&address, dir_fd);
        if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 8) == 0) {
            run->control_fd = fd;
            fd = -1;
        }
    }
    if (fd >= 0)
        close(fd);
    if (dir_fd >= 0)
        close(dir_fd);
}

void lc_control_close(struct lc_run *run) {
    char path[4096 + 16];
    if (run->control_fd < 0)
        return;
    close(run->control_fd);
    run->control_fd = -1;
    snprintf(path, sizeof path, "%s/.control", run->dir.path);
    unlink(path);
}

void lc_control_serve(struct lc_run *run) {
    int fd = accept4(run->control_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    char request[16] = "";
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (poll(&ready, 1, REQUEST_MS) == 1 && read(fd, request, sizeof request - 1) > 0 &&
        strncmp(request, "dump", 4) == 0) {
        const char *answer = "ok";
        if (lc_run_dump(run) != LC_OK)
            answer = lc_err_text();
        send(fd, answer, strlen(answer), MSG_NOSIGNAL);
    }
    close(fd);
}

/* ---- the file of all nodes */

static enum lc_err open_request(const char *dir, int flags, int *fd) {
    char path[4096 + 16];
    snprintf(path, sizeof path, "%s/" LC_DUMP_REQUEST, dir);
    *fd = open(path, flags | O_CLOEXEC, 0666);
    return *fd >= 0 ? LC_OK : lc_fail_errno(LC_ERR_IO, "%s: cannot be opened", path);
}

static uint64_t period_ns(size_t nodes) {
    return nodes <= LOOKS_PER_S ? UINT64_C(1000000000)
                                : nodes * (UINT64_C(1000000000) / LOOKS_PER_S);
}

void lc_control_watch(struct lc_run *run) {
    if (run->peers.n_states == 0 || run->peers.own != 0)
        return;
    run->dump_period_ns = period_ns(lc_experiment_nodes(run->dir.path));
    run->dump_look_ns = lc_monotonic_raw_ns() + run->dump_period_ns;
}

uint64_t lc_control_due_ns(const struct lc_run *run) {
    return run->dump_look_ns;
}

/* Opened each time: file systems of several nodes tell then what another one has written. */
void lc_control_look(struct lc_run *run) {
    uint64_t number = 0;
    int fd;
    run->dump_look_ns = lc_monotonic_raw_ns() + run->dump_period_ns;
    if (open_request(run->dir.path, O_RDONLY, &fd) != LC_OK)
        return;
    bool there = read(fd, &number, sizeof number) == (ssize_t)sizeof number;
    close(fd);
    if (!there || number == run->dump_seen)
        return;
    run->dump_seen = number;
    if (lc_run_dump(run) == LC_ERR_IO)
        lc_complain("%s", lc_err_text());
}

/* ---- who asks */

struct parts {
    struct {
        ino_t inode;
        struct timespec written;
    } * items;
    size_t n_items, cap_items;
    size_t n_new; /* of a second look: those that the first did not see */
};

static bool is_known(const struct parts *parts, const struct stat *file) {
    for (size_t i = 0; i < parts->n_items; i++)
        if (parts->items[i].inode == file->st_ino &&
            parts->items[i].written.tv_sec == file->st_mtim.tv_sec &&
            parts->items[i].written.tv_nsec == file->st_mtim.tv_nsec)
            return true;
    return false;
}

static void remember(void *context, const struct stat *file) {
    struct parts *parts = context;
    if (lc_grow(&parts->items, &parts->cap_items, parts->n_items + 1, sizeof *parts->items) !=
        LC_OK)
        return;
    parts->items[parts->n_items].inode = file->st_ino;
    parts->items[parts->n_items++].written = file->st_mtim;
}

static void count_new(void *context, const struct stat *file) {
    struct parts *parts = context;
    parts->n_new += !is_known(parts, file);
}

static enum lc_err write_request(const char *dir) {
    uint64_t number = lc_realtime_ns();
    int fd;
    LC_TRY(open_request(dir, O_WRONLY | O_CREAT, &fd));
    enum lc_err err = LC_OK;
    if (pwrite(fd, &number, sizeof number, 0) != (ssize_t)sizeof number)
        err = lc_fail_errno(LC_ERR_IO, "%s/" LC_DUMP_REQUEST ": cannot be written", dir);
    close(fd);
    return err;
}

/* Until all nodes have written their part, or the time is over, or the run has ended. */
static void wait_for_parts(const char *dir, struct parts *parts, struct lc_snapshot *snapshot) {
    const struct timespec nap = {.tv_nsec = 20000000};
    uint64_t limit = 2 * period_ns(snapshot->nodes) + WAIT_S * UINT64_C(1000000000);
    uint64_t begin = lc_monotonic_raw_ns();
    snapshot->seconds = (int)(limit / 1000000000u);
    do {
        parts->n_new = 0;
        lc_experiment_parts(dir, count_new, parts);
        if (parts->n_new >= snapshot->nodes || !lc_experiment_is_open(dir, NULL))
            break;
        nanosleep(&nap, NULL);
    } while (lc_monotonic_raw_ns() - begin < limit);
    snapshot->answered = parts->n_new < snapshot->nodes ? parts->n_new : snapshot->nodes;
}

static enum lc_err ask_all(const char *dir, struct parts *before, struct lc_snapshot *snapshot) {
    LC_TRY(write_request(dir));
    wait_for_parts(dir, before, snapshot);
    if (!lc_experiment_is_open(dir, NULL)) { /* it has ended meanwhile, and its result is there */
        snapshot->answered = snapshot->nodes;
        return LC_OK;
    }
    if (snapshot->answered == 0)
        return lc_fail(LC_ERR_IO,
                       "%s: no node of the run has answered within %d s: it may be over: "
                       "`latecomer recover %s` makes a result from what it saved",
                       dir, snapshot->seconds, dir);
    return lc_experiment_finish(dir, NULL, true);
}

static enum lc_err nobody_listens(const char *dir) {
    if (lc_experiment_is_open(dir, NULL))
        return lc_fail(
            LC_ERR_NOT_FOUND,
            "%s: the run here does not answer: it is running on another machine (ask there), or "
            "has died (`latecomer recover %s` makes a result from what it saved)",
            dir, dir);
    if (lc_experiment_has_result(dir))
        return lc_fail(LC_ERR_NOT_FOUND,
                       "%s: the run here has ended: see it with `latecomer show %s`", dir, dir);
    return lc_fail(
        LC_ERR_NOT_FOUND,
        "%s: no run writes to this directory, and it holds no result: give that of a running one",
        dir);
}

/* LC_ERR_NOT_FOUND: nobody listens on this machine. */
static enum lc_err ask_rank_0(const char *dir) {
    struct sockaddr_un address;
    int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0)
        return lc_fail_errno(LC_ERR_IO, "%s: cannot be opened", dir);
    enum lc_err err = LC_OK;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    name_socket(&address, dir_fd);
    char answer[1024] = "";
    if (fd < 0) {
        err = lc_fail_errno(LC_ERR_SYSTEM, "socket: cannot be created");
    } else if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        err = nobody_listens(dir);
    } else {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (send(fd, "dump\n", 5, MSG_NOSIGNAL) != 5 || poll(&ready, 1, ANSWER_MS) != 1 ||
            read(fd, answer, sizeof answer - 1) <= 0)
            err = lc_fail(LC_ERR_IO, "%s: the run did not answer: it may just have ended", dir);
        else if (strcmp(answer, "ok") != 0)
            err = lc_fail(LC_ERR_IO, "%s", answer);
    }
    if (fd >= 0)
        close(fd);
    close(dir_fd);
    return err;
}

enum lc_err lc_control_ask(const char *dir, struct lc_snapshot *snapshot) {
    struct parts before = {0};
    lc_experiment_parts(dir, remember, &before);
    enum lc_err err = ask_rank_0(dir);
    bool elsewhere = err == LC_ERR_NOT_FOUND && lc_experiment_is_open(dir, NULL);
    *snapshot = (struct lc_snapshot){.nodes = lc_experiment_nodes(dir), .answered = 1};
    if (snapshot->nodes > 0 && (elsewhere || (err == LC_OK && snapshot->nodes > 1)))
        err = ask_all(dir, &before, snapshot);
    free(before.items);
    return err;
}

bool lc_control_is_running(const char *dir) {
    struct sockaddr_un address;
    int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool running = false;
    if (dir_fd >= 0 && fd >= 0) {
        name_socket(&address, dir_fd);
        running = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    }
    if (fd >= 0)
        close(fd);
    if (dir_fd >= 0)
        close(dir_fd);
    return running;
}
