/* Sessions: a name that groups come from. Their communicators are those of any other group. */
#include "sim_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct session {
    MPI_Errhandler errhandler;
};
static struct sim_table sessions = {.kind = 0xb8000000u};
static const char *const names[] = {"mpi://WORLD", "mpi://SELF"};
enum { NAMES = sizeof names / sizeof *names };

#define SESSION(handle)                                                                            \
    ({                                                                                             \
        struct session *session_ = sim_object(&sessions, handle);                                  \
        if (session_ == NULL)                                                                      \
            return MPI_ERR_SESSION;                                                                \
        session_;                                                                                  \
    })

BOTH(MPI_Session_init)(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session) {
    (void)info;
    sim_environment_start();
    ENTER("MPI_Session_init");
    struct session *s = sim_new(sizeof *s);
    s->errhandler = errhandler;
    *session = sim_handle(&sessions, s);
    return MPI_SUCCESS;
}

BOTH(MPI_Session_finalize)(MPI_Session *session) {
    ENTER("MPI_Session_finalize");
    free(SESSION(*session));
    sim_drop(&sessions, *session);
    *session = MPI_SESSION_NULL;
    return MPI_SUCCESS;
}

BOTH(MPI_Session_get_num_psets)(MPI_Session session, MPI_Info info, int *n) {
    (void)info;
    (void)SESSION(session);
    *n = NAMES;
    return MPI_SUCCESS;
}

BOTH(MPI_Session_get_nth_pset)
(MPI_Session session, MPI_Info info, int i, int *length, char *name) {
    (void)info;
    (void)SESSION(session);
    if (i < 0 || i >= NAMES)
        return MPI_ERR_ARG;
    int with_end = (int)strlen(names[i]) + 1;
    if (*length > 0) {
        strncpy(name, names[i], (size_t)*length);
        name[*length - 1] = '\0';
    }
    *length = with_end;
    return MPI_SUCCESS;
}

BOTH(MPI_Session_get_info)(MPI_Session session, MPI_Info *info) {
    (void)SESSION(session);
    return PMPI_Info_create(info);
}

static int members(const char *name) {
    return strcmp(name, names[0]) == 0 ? sim->model.ranks : strcmp(name, names[1]) == 0 ? 1 : 0;
}

BOTH(MPI_Session_get_pset_info)(MPI_Session session, const char *name, MPI_Info *info) {
    (void)SESSION(session);
    char size[16];
    if (members(name) == 0)
        return MPI_ERR_ARG;
    snprintf(size, sizeof size, "%d", members(name));
    TRY(PMPI_Info_create(info));
    return PMPI_Info_set(*info, "mpi_size", size);
}

BOTH(MPI_Group_from_session_pset)(MPI_Session session, const char *name, MPI_Group *group) {
    (void)SESSION(session);
    int n = members(name);
    if (n == 0)
        return MPI_ERR_ARG;
    struct sim_group *made = sim_group_new(n);
    for (int i = 0; i < n; i++)
        made->world[i] = n > 1 ? i : sim_self()->rank;
    return sim_group_handle(sim_group_find_own_rank(made), group);
}

BOTH(MPI_Session_set_errhandler)(MPI_Session session, MPI_Errhandler errhandler) {
    SESSION(session)->errhandler = errhandler;
    return MPI_SUCCESS;
}

BOTH(MPI_Session_get_errhandler)(MPI_Session session, MPI_Errhandler *errhandler) {
    *errhandler = SESSION(session)->errhandler;
    return MPI_SUCCESS;
}
