#include "cli/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/strbuf.h"
#include "base/timer.h"
#include "cli/cmd.h"

static const char prefix[] = "latecomer: ";
enum { PREFIX_BYTES = sizeof prefix - 1, AFTER_END_MS = 100, LOOK_MS = 5 };
/* From an interruption on: until the launcher is asked to end, and until it is killed. */
#define LC_ASK_NS  3000000000u
#define LC_KILL_NS 12000000000u

struct relay {
    struct lc_strbuf line; /* begin of a line, not yet known to be ours */
    struct lc_strbuf held; /* lines that are not */
    bool ours;             /* the rest of the line passes */
    pid_t child;
    const volatile sig_atomic_t *interrupted; /* or NULL */
    uint64_t since_ns;                        /* first seen to be interrupted; 0: not yet */
    int sent;                                 /* the signal sent last; 0: none */
};

/* Lines end with \n, those of the progress bar with \r. */
static void relay_byte(struct relay *r, char c) {
    bool end = c == '\n' || c == '\r';
    if (r->ours) {
        fputc(c, stderr);
        r->ours = !end;
        return;
    }
    lc_strbuf_putc(&r->line, c);
    if (end && r->line.length == 1) {
        if (c == '\r')
            fputc(c, stderr);
        lc_strbuf_clear(&r->line);
    } else if (end) {
        lc_strbuf_puts(&r->held, lc_strbuf_get(&r->line));
        lc_strbuf_clear(&r->line);
    } else if (r->line.length == PREFIX_BYTES &&
               memcmp(lc_strbuf_get(&r->line), prefix, PREFIX_BYTES) == 0) {
        fputs(prefix, stderr);
        lc_strbuf_clear(&r->line);
        r->ours = true;
    }
}

static bool ended(const struct relay *r) {
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)r->child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
}

/* Launchers have their ranks in process groups of their own, where ^C does not come, and pass no
 * signal on that meets them before all ranks have started (Hydra). */
static void hurry(struct relay *r) {
    if (r->interrupted == NULL || !*r->interrupted)
        return;
    uint64_t now = lc_monotonic_raw_ns();
    r->since_ns = r->since_ns != 0 ? r->since_ns : now;
    uint64_t passed = now - r->since_ns;
    int wanted = passed > LC_KILL_NS ? SIGKILL : passed > LC_ASK_NS ? SIGTERM : 0;
    if (wanted != r->sent)
        (void)kill(r->child, wanted);
    r->sent = wanted;
}

/* Until the pipe is closed; what outlives the child (a launcher's helpers) is not waited for. */
static void relay_all(struct relay *r, int fd) {
    char bytes[4096];
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        bool last = ended(r);
        hurry(r);
        int ready = poll(&wait, 1, AFTER_END_MS);
        if (ready == 0 && last)
            break;
        if (ready <= 0)
            continue;
        ssize_t n = read(fd, bytes, sizeof bytes);
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
            break;
        for (ssize_t i = 0; i < n; i++)
            relay_byte(r, bytes[i]);
        fflush(stderr);
    }
    lc_strbuf_puts(&r->held, lc_strbuf_get(&r->line));
    for (; !ended(r); hurry(r))
        (void)poll(NULL, 0, LOOK_MS);
}

_Noreturn static void become(const char *command, char **words, const int *pipe_fds, bool hold) {
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* it must not outlive this command */
    dup2(pipe_fds[1], STDERR_FILENO);
    if (hold) /* Hydra tells there how ranks have ended */
        dup2(pipe_fds[1], STDOUT_FILENO);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    execvp(words[0], words);
    lc_complain("%s: %s: %s: install it or use -n 1", command, words[0], strerror(errno));
    _exit(LC_EXIT_ERROR);
}

int lc_relay_run(const char *command, char **words, int slot, struct lc_strbuf *held,
                 const volatile sig_atomic_t *interrupted) {
    int fd = memfd_create("latecomer-status", MFD_CLOEXEC), status = 0, pipe_fds[2];
    char path[80], left[1024] = {LC_EXIT_ERROR};
    struct relay relay = {.interrupted = interrupted};
    if (fd < 0 || pipe(pipe_fds) != 0) {
        lc_complain("%s: %s: %s", command, words[0], strerror(errno));
        return LC_EXIT_ERROR;
    }
    snprintf(path, sizeof path, "status=/proc/%d/fd/%d", (int)getpid(), fd);
    words[slot] = path;
    fflush(stderr);
    pid_t child = relay.child = fork();
    if (child == 0)
        become(command, words, pipe_fds, held != NULL);
    close(pipe_fds[1]);
    if (child > 0)
        relay_all(&relay, pipe_fds[0]);
    close(pipe_fds[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    bool reported = pread(fd, left, sizeof left - 1, 0) > 0;
    if (left[1] != '\0')
        lc_complain("%s", left + 1);
    if (!reported && held != NULL) {
        lc_strbuf_puts(held, lc_strbuf_get(&relay.held));
        if (WIFEXITED(status) && WEXITSTATUS(status) > 128)
            lc_strbuf_printf(held, "%s ended with status %d: signal %d\n", words[0],
                             WEXITSTATUS(status), WEXITSTATUS(status) - 128);
    } else if (!reported)
        fputs(lc_strbuf_get(&relay.held), stderr);
    if (!reported && held == NULL && WIFSIGNALED(status))
        lc_complain("%s: %s: ended by signal %d%s", command, words[0], WTERMSIG(status),
                    WTERMSIG(status) == SIGKILL ? ": out of memory?" : "");
    close(fd);
    lc_strbuf_free(&relay.line);
    lc_strbuf_free(&relay.held);
    words[slot] = NULL;
    return reported ? left[0] : LC_EXIT_ERROR;
}
