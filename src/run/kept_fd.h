#ifndef LC_RUN_KEPT_FD_H
#define LC_RUN_KEPT_FD_H

enum { LC_KEPT_FD = 3 };
/* In a process that watches over the job: keeps no file, pipe or PMI connection of it open but
 * `fd`, which becomes LC_KEPT_FD. */
void lc_keep_only(int fd);

#endif
