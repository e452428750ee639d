/* latecomer top: what a running measurement shows, once a second. Each look is a snapshot as of
 * `latecomer dump`, made by the parents of the ranks: it costs the ranks nothing. */
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/timer.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "report/live.h"
#include "report/locate.h"
#include "run/control.h"
#include "run/experiment.h"

enum { KEY_ONCE = 256, KEY_JSON };
enum { PERIOD_MS = 1000, COST = 20 }; /* looks take at most 1 / COST of the time */
enum { DEFAULT_LINES = 24, LONGEST_DIR = 4096 };

struct settings {
    const char *dir;
    bool once, json;
};

static const struct argp_option options[] = {
    {"once", KEY_ONCE, NULL, 0, "One sample of one second, then exit", 0},
    {"json", KEY_JSON, NULL, 0, "One JSON object per sample", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    struct settings *settings = state->input;
    if (key == KEY_ONCE)
        settings->once = true;
    else if (key == KEY_JSON)
        settings->json = true;
    else if (key == ARGP_KEY_ARG)
        lc_cli_operand(&settings->dir, arg, "top", "experiment directory");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp argp = {
    options,
    parse,
    "[DIR]",
    "Shows the state of a running measurement once a second (less often where a sample takes more "
    "than 50 ms): time in MPI and waiting of the ranks, who is late now and where. DIR: the "
    "running experiment; default: the newest one here. q quits.",
    NULL,
    NULL,
    NULL};

/* ---- the run */

/* The newest directory here in which a run goes on. */
static bool find_running(char newest[LONGEST_DIR]) {
    DIR *here = opendir(".");
    struct timespec time = {0};
    newest[0] = '\0';
    for (struct dirent *entry; here != NULL && (entry = readdir(here)) != NULL;) {
        struct timespec began;
        if (entry->d_name[0] == '.' || !lc_experiment_is_open(entry->d_name, &began))
            continue;
        if (newest[0] != '\0' && (began.tv_sec < time.tv_sec ||
                                  (began.tv_sec == time.tv_sec && began.tv_nsec <= time.tv_nsec)))
            continue;
        time = began;
        snprintf(newest, LONGEST_DIR, "%s", entry->d_name);
    }
    if (here != NULL)
        closedir(here);
    return newest[0] != '\0';
}

static enum lc_err look(const char *dir, struct lc_live *live) {
    struct lc_snapshot snapshot;
    struct lc_view *view = NULL;
    *live = (struct lc_live){0};
    LC_TRY(lc_control_ask(dir, &snapshot));
    enum lc_err err = lc_locate_view(dir, false, &view);
    if (err == LC_OK)
        err = lc_live_read(live, view);
    return err;
}

/* ---- the terminal */

static struct termios as_found;
static volatile sig_atomic_t stop;

static void on_signal(int number) {
    (void)number;
    stop = 1;
}

/* Keys come one by one, and unseen; false: no terminal. */
static bool take_keys(void) {
    if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &as_found) != 0)
        return false;
    struct termios keys = as_found;
    keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    return tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
}

static size_t terminal_lines(void) {
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row
                                                                           : DEFAULT_LINES;
}

/* Until the time is over; false: q was pressed, or a signal came. */
static bool wait_ms(uint64_t milliseconds, bool keys) {
    uint64_t end = lc_monotonic_raw_ns() + milliseconds * 1000000u;
    for (uint64_t now; !stop && (now = lc_monotonic_raw_ns()) < end;) {
        struct pollfd key = {.fd = keys ? STDIN_FILENO : -1, .events = POLLIN};
        char pressed;
        if (poll(&key, 1, (int)((end - now) / 1000000u) + 1) != 1)
            continue;
        if (read(STDIN_FILENO, &pressed, 1) != 1)
            keys = false;
        else if (pressed == 'q' || pressed == 'Q')
            return false;
    }
    return !stop;
}

static enum lc_err print(const struct settings *settings, const struct lc_live *now,
                         const struct lc_live *since) {
    if (settings->json)
        return lc_live_json(now, since, stdout);
    bool screen = !settings->once && isatty(STDOUT_FILENO);
    if (screen)
        fputs("\033[H\033[J", stdout);
    printf("%s\n", settings->dir);
    lc_live_print(now, since, terminal_lines() - 1, stdout);
    if (fflush(stdout) != 0)
        return lc_fail_errno(LC_ERR_IO, "standard output: cannot be written");
    return LC_OK;
}

/* The first look only says from where differences are counted. */
static enum lc_err watch(const struct settings *settings, bool keys) {
    struct lc_live before, now, since;
    enum lc_err err = look(settings->dir, &before);
    uint64_t pause = PERIOD_MS;
    for (bool printed = false; err == LC_OK && !(printed && settings->once); printed = true) {
        if (!wait_ms(pause, keys))
            break;
        uint64_t begin = lc_monotonic_raw_ns();
        err = look(settings->dir, &now);
        uint64_t took = (lc_monotonic_raw_ns() - begin) / 1000000u;
        pause = took * COST > PERIOD_MS ? took * COST : PERIOD_MS;
        if (err != LC_OK) {
            lc_live_free(&now);
            if (!lc_control_is_running(settings->dir)) {
                lc_say("%s: the run has ended: see it with `latecomer show %s`", settings->dir,
                       settings->dir);
                err = printed || !settings->once ? LC_OK : err;
            }
            break;
        }
        err = lc_live_since(&since, &now, &before);
        if (err == LC_OK)
            err = print(settings, &now, &since);
        lc_live_free(&since);
        lc_live_free(&before);
        before = now;
    }
    lc_live_free(&before);
    return err;
}

int lc_cmd_top(int argc, char **argv) {
    struct settings settings = {0};
    char newest[LONGEST_DIR];
    int code = lc_cli_parse(&argp, 0, argc, argv, &settings);
    if (code != LC_EXIT_OK)
        return code;
    if (settings.dir == NULL) {
        if (!find_running(newest)) {
            lc_complain("no measurement is running here: give the directory of a running one");
            return LC_EXIT_ERROR;
        }
        settings.dir = newest;
    }
    const struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    bool keys = !settings.once && take_keys();
    enum lc_err err = watch(&settings, keys);
    if (keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &as_found);
    if (err != LC_OK)
        lc_complain("%s", lc_err_text());
    return err == LC_OK ? LC_EXIT_OK : LC_EXIT_ERROR;
}
