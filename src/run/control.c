#include "run/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "run/run.h"

enum { REQUEST_MS = 1000, ANSWER_MS = 60000 };

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

enum lc_err lc_control_ask(const char *dir) {
    struct sockaddr_un address;
    int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0)
        return lc_fail_errno(LC_ERR_IO, "%s: cannot be opened", dir);
    enum lc_err err = LC_OK;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    name_socket(&address, dir_fd);
    char answer[1024] = "";
    if (fd < 0) {
        err = lc_fail_errno(LC_ERR_SYSTEM, "socket: cannot be made");
    } else if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        err = lc_fail(LC_ERR_NOT_FOUND,
                      "%s: no run is writing here (or not on this machine): give the directory of "
                      "a running one, on the node of its rank 0",
                      dir);
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
