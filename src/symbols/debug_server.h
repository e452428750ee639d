/* Debug information from the servers that DEBUGINFOD_URLS names, where that is set and elfutils'
 * client (libdebuginfod) is installed. All look-ups of a process together may take so many seconds:
 * LC_DEBUG_SERVER_S, or what DEBUGINFOD_MAXTIME says. After that, or when a server does not answer,
 * none is asked any more. */
#ifndef LC_SYMBOLS_DEBUG_SERVER_H
#define LC_SYMBOLS_DEBUG_SERVER_H

#include <stdbool.h>

enum { LC_DEBUG_SERVER_S = 10 };

/* Takes DEBUGINFOD_URLS out of the environment, where libdwfl would use it for all kinds of files
 * and without a bound. Once at the start; again is harmless. */
void lc_debug_server_init(void);

/* From now on there is time to ask: the run has ended well, or somebody asks for names by hand. */
void lc_debug_server_allow(void);

/* The file with the debug information of this build, open for reading; -1: there is none, or nobody
 * to ask. *path: its name, which the caller frees. */
int lc_debug_server_find(const unsigned char *build_id, int length, char **path);

/* Did a server not answer in time? */
bool lc_debug_server_gave_up(void);

#endif
