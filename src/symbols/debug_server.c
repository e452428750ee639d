#include "symbols/debug_server.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/timer.h"

struct debuginfod_client; /* the client's own, opaque */

static struct {
    char *urls; /* NULL: nobody is asked */
    struct debuginfod_client *client;
    int (*find)(struct debuginfod_client *client, const unsigned char *build_id, int length,
                char **path);
    double left_s; /* of what all look-ups may take */
    uint64_t begin_ns;
    bool allowed, tried, gave_up;
} server;

static double passed_s(void) {
    return (double)(lc_patience_ns() - server.begin_ns) * 1e-9;
}

/* Called by the client about once per second; other than 0 ends the look-up. */
static int goes_on(struct debuginfod_client *client, long done, long all) {
    (void)client;
    (void)done;
    (void)all;
    return passed_s() > server.left_s;
}

void lc_debug_server_init(void) {
    const char *urls = getenv("DEBUGINFOD_URLS"), *most = getenv("DEBUGINFOD_MAXTIME");
    if (urls == NULL)
        return;
    if (urls[strspn(urls, " \t")] != '\0' && server.urls == NULL)
        server.urls = strdup(urls);
    server.left_s = most != NULL ? strtod(most, NULL) : 0;
    if (!(server.left_s > 0))
        server.left_s = LC_DEBUG_SERVER_S;
    unsetenv("DEBUGINFOD_URLS");
}

void lc_debug_server_allow(void) {
    server.allowed = true;
}

/* The client is loaded with the first file that has no debug information here. */
static void load_client(void) {
    server.tried = true;
    void *library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL)
        return;
    struct debuginfod_client *(*begin)(void);
    void (*set_progress)(struct debuginfod_client *,
                         int (*)(struct debuginfod_client *, long, long));
    *(void **)&begin = dlsym(library, "debuginfod_begin");
    *(void **)&set_progress = dlsym(library, "debuginfod_set_progressfn");
    *(void **)&server.find = dlsym(library, "debuginfod_find_debuginfo");
    if (begin == NULL || set_progress == NULL || server.find == NULL)
        return;
    server.client = begin();
    if (server.client != NULL)
        set_progress(server.client, goes_on);
}

int lc_debug_server_find(const unsigned char *build_id, int length, char **path) {
    *path = NULL;
    if (server.urls == NULL || !server.allowed || server.gave_up || length <= 0)
        return -1;
    setenv("DEBUGINFOD_URLS", server.urls, 1);
    setenv("DEBUGINFOD_TIMEOUT", "5", 0);     /* seconds without an answer; else 90 .. */
    setenv("DEBUGINFOD_RETRY_LIMIT", "0", 0); /* .. three times */
    if (!server.tried)
        load_client();
    server.begin_ns = lc_patience_ns();
    int fd = server.client != NULL ? server.find(server.client, build_id, length, path) : -ENOSYS;
    unsetenv("DEBUGINFOD_URLS");
    server.left_s -= passed_s();
    if (fd >= 0)
        return fd;
    server.gave_up = server.left_s <= 0 || (fd != -ENOENT && fd != -ENOSYS);
    return -1;
}

bool lc_debug_server_gave_up(void) {
    return server.gave_up;
}
