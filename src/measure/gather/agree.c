#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "job/launcher.h"
#include "format/rank_record.h"
#include "measure/core/core.h"
#include "measure/gather/finalize.h"

/* Do all ranks of MPI_COMM_WORLD run under the tool, with the same options? MPI itself cannot
 * answer: a rank without the tool takes no part. So each rank leaves a record in one file of the
 * experiment's directory *before* it enters MPI_Init. MPI_Init ends only after all ranks have
 * entered it (both flavours synchronise there), so afterwards the record of every rank under the
 * tool is there, for everybody to see alike; a short time limit is left for file systems that are
 * slow to show it. A missing or different record: nobody is measured, nobody hangs.
 *
 * A communicator of our own takes address space inside MPI (MPICH's transport: 4 MiB for the first
 * message that is longer than a word), and MPI that finds none ends the program. So where there is
 * a limit, every rank says after MPI_Init whether there is room; if one has none, each rank is
 * measured alone, without communicator and clocks, and the parents save the result. */

enum { WAIT_MS = 3000, ROOM_MIB = 20 };

static int announced_rank = -1;
static struct lc_launch launch; /* what the launcher said, before MPI did */

static uint64_t hash_options(void) {
    static const char *const names[] = {"LATECOMER_CALLPATH", "LATECOMER_TRACE",
                                        "LATECOMER_TRANSPORT", "LATECOMER_WHAT_IF",
                                        "LATECOMER_CLOCKS"};
    uint64_t hash = LC_HASH_BEGIN;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = lc_option(names[i]);
        hash = lc_hash_word(lc_hash_text(hash, text != NULL ? text : ""), 0xff);
    }
    return lc_hash_text(hash, LC_VERSION);
}

static void node_name(char *out, size_t bytes) {
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, out, bytes - 1) : 0;
    if (fd >= 0)
        close(fd);
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    if (out[0] == '\0')
        gethostname(out, bytes - 1);
}

static int open_records(void) {
    char path[4096];
    if (lc_core.dir == NULL ||
        snprintf(path, sizeof path, "%s/" LC_RANK_RECORDS, lc_core.dir) >= (int)sizeof path)
        return -1;
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

static bool announce(int rank, enum lc_rank_room room) {
    static uint64_t options;
    if (options == 0) /* before hooks or the program change the environment */
        options = hash_options();
    struct lc_rank_record r = {
        .magic = LC_RANK_RECORD_MAGIC, .options = options, .rank = rank, .fd = -1, .room = room};
    if (lc_core.parent != NULL)
        sscanf(lc_core.parent, "%d:%d", &r.pid, &r.fd);
    node_name(r.node, sizeof r.node);
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    snprintf(r.host, sizeof r.host, "%.31s", host);
    int fd = open_records();
    if (fd < 0)
        return false;
    bool ok = pwrite(fd, &r, sizeof r, (off_t)rank * (off_t)sizeof(struct lc_rank_record)) ==
              (ssize_t)sizeof r;
    close(fd);
    if (ok)
        announced_rank = rank;
    return ok;
}

static bool announce_first(int rank) {
    return announce(rank, lc_limits_room() == UINT64_MAX ? LC_ROOM_ENDLESS : LC_ROOM_ASKED);
}

void lc_agree_announce(void) {
    lc_launch_detect_place(&launch);
    if (launch.kind == LC_LAUNCHER_NONE)
        return;
    lc_core.rank = lc_core.state->rank = launch.rank;
    lc_core.size = lc_core.state->size = launch.size;
    if (lc_core.dir != NULL)
        announce_first(launch.rank);
}

/* Records of all ranks that are there now; their number. */
static int read_records(struct lc_rank_record *all, int size) {
    int fd = open_records(), present = 0;
    memset(all, 0, (size_t)size * sizeof *all);
    if (fd < 0)
        return 0;
    char *at = (char *)all;
    size_t left = (size_t)size * sizeof *all;
    off_t offset = 0;
    while (left > 0) {
        ssize_t n = pread(fd, at, left, offset);
        if (n <= 0)
            break;
        at += n;
        offset += n;
        left -= (size_t)n;
    }
    close(fd);
    for (int i = 0; i < size; i++) {
        if (all[i].magic != LC_RANK_RECORD_MAGIC || all[i].rank != i)
            all[i].magic = 0;
        present += all[i].magic != 0;
    }
    return present;
}

static void fill_peers(const struct lc_rank_record *all) {
    struct lc_state_table *table = &lc_core.state->peers;
    struct lc_state_peer *peers = (struct lc_state_peer *)(lc_core.base + table->offset);
    uint32_t n = 0;
    for (int i = 0; i < lc_core.size && n < table->capacity; i++)
        if (all[i].magic != 0 && strcmp(all[i].node, all[lc_core.rank].node) == 0)
            peers[n++] = (struct lc_state_peer){.rank = i, .pid = all[i].pid, .fd = all[i].fd};
    atomic_store_explicit(&table->count, n, memory_order_release);
}

void lc_agree_peers(void) {
    struct lc_rank_record *all =
        lc_core.size > 0 ? malloc((size_t)lc_core.size * sizeof *all) : NULL;
    if (all == NULL)
        return;
    read_records(all, lc_core.size);
    fill_peers(all);
    free(all);
}

static void give_up(const struct lc_rank_record *all, const char *why, bool silent) {
    bool first = !silent;
    for (int i = 0; i < lc_core.rank && all != NULL; i++)
        first = first && all[i].magic == 0;
    if (first)
        lc_say_once("not measured: %s", why);
    snprintf(lc_core.state->why, sizeof lc_core.state->why, "%s", why);
    atomic_store_explicit(&lc_core.state->measured, LC_STATE_UNMEASURED, memory_order_release);
    lc_mode_change(LC_MODE_LIVE | LC_MODE_ON, 0);
}

static bool any_says(const struct lc_rank_record *all, enum lc_rank_room room) {
    for (int i = 0; i < lc_core.size; i++)
        if (all[i].room == (uint32_t)room)
            return true;
    return false;
}

/* Is there room for a communicator on all ranks? A rank that does not say so in time counts as
 * one without; the ranks that waited for it in vain then say the same of themselves, so that it
 * sees what they decided. */
static bool room_everywhere(struct lc_rank_record *all) {
    if (!any_says(all, LC_ROOM_ASKED) && !any_says(all, LC_ROOM_NONE) &&
        !any_says(all, LC_ROOM_ENOUGH))
        return true;
    enum lc_rank_room own = lc_limits_room() >> 20 < ROOM_MIB ? LC_ROOM_NONE : LC_ROOM_ENOUGH;
    announce(lc_core.rank, own);
    read_records(all, lc_core.size);
    for (int waited = 0; any_says(all, LC_ROOM_ASKED) && waited < WAIT_MS; waited += 5) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        read_records(all, lc_core.size);
    }
    if (own == LC_ROOM_ENOUGH && any_says(all, LC_ROOM_ASKED))
        announce(lc_core.rank, LC_ROOM_NONE);
    return !any_says(all, LC_ROOM_ASKED) && !any_says(all, LC_ROOM_NONE);
}

/* Name of the file system of the experiment's directory if no other node can see it, else NULL. */
static const char *local_file_system(void) {
    static const struct {
        unsigned long magic;
        const char *name;
    } local[] = {{0x01021994, "tmpfs"}, {0x858458f6, "ramfs"}, {0xef53, "ext4"},
                 {0x58465342, "xfs"},   {0x9123683e, "btrfs"}, {0x794c7630, "overlay"}};
    struct statfs info;
    if (statfs(lc_core.dir, &info) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++)
        if ((unsigned long)info.f_type == local[i].magic)
            return local[i].name;
    return NULL;
}

/* Ranks are missing: is it that each node sees only its own? Then exactly those of this node are
 * there. Only the node of rank 0 says so. */
static void give_up_missing(const struct lc_rank_record *all, int present) {
    char why[sizeof lc_core.state->why];
    bool one_node = present == launch.local_size && launch.local_size < lc_core.size;
    for (int i = 0; i < lc_core.size; i++)
        one_node =
            one_node && (all[i].magic == 0 || strcmp(all[i].node, all[lc_core.rank].node) == 0);
    const char *local = local_file_system();
    if (!one_node) {
        snprintf(why, sizeof why, "%d of %d ranks run under the tool", present, lc_core.size);
    } else if (local != NULL) {
        snprintf(why, sizeof why,
                 "only the ranks of this node (%d of %d) see %.160s: it is on a local file system "
                 "(%s): give -o a directory that all nodes share",
                 present, lc_core.size, lc_core.dir, local);
    } else {
        snprintf(
            why, sizeof why,
            "only the ranks of this node (%d of %d) are seen in %.160s: do all nodes share it, "
            "and do all ranks run under the tool?",
            present, lc_core.size, lc_core.dir);
    }
    give_up(all, why, one_node && local != NULL && all[0].magic == 0);
}

/* From the group, not by MPI_Comm_dup: that changes how Open MPI makes the communicators that the
 * program makes of MPI_COMM_WORLD later (MPI_Dist_graph_create with reordering hung). */
static bool copy_world(void) {
    enum { TAG = 0x6c63 }; /* among the constructors in progress; there is none in MPI_Init */
    MPI_Group all = MPI_GROUP_NULL;
    if (lc_real.Comm_group(MPI_COMM_WORLD, &all) != MPI_SUCCESS)
        return false;
    if (lc_real.Comm_create_group(MPI_COMM_WORLD, all, TAG, &lc_core.comm) != MPI_SUCCESS)
        lc_core.comm = MPI_COMM_NULL;
    lc_real.Group_free(&all);
    return lc_core.comm != MPI_COMM_NULL;
}

static void agree_on(struct lc_rank_record *all) {
    char why[128];
    int present = read_records(all, lc_core.size);
    for (int waited = 0; present < lc_core.size && waited < WAIT_MS; waited += 5) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        present = read_records(all, lc_core.size);
    }
    if (present < lc_core.size) {
        give_up_missing(all, present);
        return;
    }
    for (int i = 0; i < lc_core.size; i++)
        if (all[i].options != all[0].options) {
            snprintf(why, sizeof why, "rank %d runs with options that differ from those of rank 0",
                     i);
            give_up(all, why, false);
            return;
        }
    fill_peers(all);
    for (int i = 1; i < lc_core.size; i++)
        lc_core.several_nodes |= strcmp(all[i].node, all[0].node) != 0;
    if (!room_everywhere(all)) {
        if (lc_core.rank == 0)
            lc_say_once("little memory (ulimit -v): measured without logical clocks");
        return;
    }
    if (!copy_world())
        return;
    lc_real.Comm_set_errhandler(lc_core.comm, MPI_ERRORS_RETURN);
    lc_core.agreed = true;
}

/* MPI found no way to the others (srun without PMI, the mpirun of another MPI): as many programs as
 * the launcher has started, of one rank each, which all think they are rank 0. Each goes on in a
 * directory of its own, in which its parent follows. */
static void go_apart(void) {
    struct lc_state_header *h = lc_core.state;
    char path[4096];
    h->rank = 0;
    h->size = 1;
    if (launch.rank == 0) {
        lc_say_once(
            "MPI sees 1 rank, but the launcher (%s) has started %d: each is measured alone: %s",
            launch.launcher, launch.size, lc_launch_advice(&launch, (enum lc_flavour)h->flavour));
    }
    for (int i = 1; launch.rank != 0 && i < 1000; i++) {
        snprintf(h->apart, sizeof h->apart, i == 1 ? "-rank%d" : "-rank%d-%d", launch.rank, i);
        if (snprintf(path, sizeof path, "%s%s", lc_core.dir, h->apart) >= (int)sizeof path)
            break;
        if (mkdir(path, 0777) == 0) {
            lc_core.dir = strdup(path);
            break;
        }
        if (errno != EEXIST)
            break;
    }
    announced_rank = -1;
    atomic_store_explicit(&h->is_apart, 1, memory_order_release);
}

void lc_agree(void) {
    if (lc_core.dir == NULL)
        return; /* measured in memory only */
    if (lc_core.size == 1 && launch.size > 1)
        go_apart();
    if (announced_rank != lc_core.rank && !announce_first(lc_core.rank)) {
        give_up(NULL, errno != 0 ? strerror(errno) : "the experiment's directory cannot be written",
                false);
        return;
    }
    struct lc_rank_record *all = malloc((size_t)lc_core.size * sizeof *all);
    if (all == NULL) {
        give_up(NULL, "no memory", false);
        return;
    }
    agree_on(all);
    free(all);
}
