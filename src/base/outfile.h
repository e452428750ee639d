/* Files that are written by name. A regular file appears whole or not at all: it is written beside
 * its place and then renamed. What is no regular file is never replaced: symbolic links are
 * followed, and a device, a FIFO or a descriptor (/dev/stdout) gets the bytes once there are all of
 * them. An existing file keeps its mode, a new one has that of the umask.
 * Invariant: between lc_outfile_open() and lc_outfile_commit() or lc_outfile_abandon() the bytes
 * lie in a file named `partial`, which may be written in any order, by descriptor, stream or name;
 * what the name stands for has not changed then.
 * Called by whatever writes a result: commands, the model, the library at MPI_Finalize.
 */
#ifndef LC_BASE_OUTFILE_H
#define LC_BASE_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"

struct lc_outfile {
    char *path;    /* as it was given, for messages */
    char *target;  /* the file to replace, all links followed; NULL: written through */
    char *partial; /* name while incomplete: beside the target, else a temporary file */
    int fd;        /* of it, for reading and writing */
    FILE *stream;  /* of the same; NULL until it is asked for */
    int through;   /* the opened device, FIFO or descriptor; -1: none */
    bool existed;  /* there is a regular file, of this owner and mode */
    uid_t owner;
    gid_t group;
    mode_t mode;
};

/* Begins to write `path`; waits for a reader if it is a FIFO, as any writer does. LC_ERR_IO: it
 * cannot be written (no such folder, a folder itself, a socket, not allowed); LC_ERR_NOMEM. */
enum lc_err lc_outfile_open(struct lc_outfile *file, const char *path);

/* A buffered stream to `fd`, which closes with the file; NULL: no memory, with errno. */
FILE *lc_outfile_stream(struct lc_outfile *file);

/* Ends: puts the file in place, or its bytes through, and frees `file`. LC_ERR_IO: something could
 * not be written, also earlier to the stream; what the name stood for is as it was, unless it was
 * written through. errno is kept, here and when opening fails. */
enum lc_err lc_outfile_commit(struct lc_outfile *file);

/* Ends without a result: removes what was written and frees `file`. */
void lc_outfile_abandon(struct lc_outfile *file);

/* Is `name` one that `of` has while it is written? It stays where the writer is killed. */
bool lc_outfile_is_unfinished(const char *name, const char *of);

/* Where files lie that belong nowhere else: TMPDIR, or /tmp. */
const char *lc_temporary_folder(void);

/* All of it at once. LC_ERR_IO, LC_ERR_NOMEM, as the above. */
enum lc_err lc_outfile_put(const char *path, const void *bytes, size_t n_bytes);

/* Makes a folder and those above it that are missing; links are followed, also those that lead
 * nowhere yet. LC_ERR_IO, LC_ERR_NOMEM. */
enum lc_err lc_make_folders(const char *path);

#endif
