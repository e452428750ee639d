/* The simulated MPI library: libmpich.so.12 by name, with the handles, constants and structures of
 * MPICH's mpi.h. Objects live in the process that made them, found by their handle; what ranks
 * share is in the segment of sim.h. Every function exists as PMPI_X and MPI_X; one that is in the
 * header but not here ends the program with its name (gen_missing.py). */
#ifndef SIM_MPI_H
#define SIM_MPI_H

#include <mpi.h>

#include "sim.h"

/* The head of a function of both names: MPI_X is PMPI_X. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define BOTH(name)                                                                                 \
    __typeof__(P##name) name __attribute__((alias("P" #name)));                                    \
    int P##name
/* NOLINTEND(bugprone-macro-parentheses) */

#define TRY(call)                                                                                  \
    do {                                                                                           \
        int error_ = (call);                                                                       \
        if (error_ != MPI_SUCCESS)                                                                 \
            return error_;                                                                         \
    } while (0)

/* A call begins; it may have to fail (sim.h: faults). */
#define ENTER(name)                                                                                \
    do {                                                                                           \
        int fault_ = sim_enter(name);                                                              \
        if (fault_ != 0)                                                                           \
            return sim_raise(fault_);                                                              \
    } while (0)

int sim_raise(int fault); /* aborts, or calls the error handler */

void *sim_new(size_t bytes); /* of the process, zeroed; never NULL */

/* ---- handles ---- */
struct sim_table {
    unsigned kind; /* the first handle */
    void **objects;
    int n, lowest;
};
int sim_handle(struct sim_table *table, void *object);
void *sim_object(const struct sim_table *table, int handle); /* NULL: none */
void sim_drop(struct sim_table *table, int handle);

/* ---- datatypes ---- */
struct sim_block {
    long at, bytes, unit; /* unit: of the basic type, for MPI_Get_elements */
};

struct sim_type {
    MPI_Datatype handle;
    long size, lb, ub, true_lb, true_ub; /* bytes */
    int n_blocks;
    struct sim_block *blocks;
    int combiner, n_ints, n_aints, n_types;
    int *ints;
    MPI_Aint *aints;
    MPI_Datatype *types;
    bool committed;
    int uses; /* the handle, and types made of it */
    struct sim_attribute *attributes;
    char name[MPI_MAX_OBJECT_NAME];
};
struct sim_type *sim_type(MPI_Datatype type); /* NULL: no type */
void sim_type_use(struct sim_type *type, int n);
/* Packed, one after the other; the caller frees. */
char *sim_pack(const void *data, long count, const struct sim_type *type, size_t *bytes);
/* As much as there is and fits. */
void sim_unpack(const char *packed, size_t bytes, void *data, long count,
                const struct sim_type *type);
void sim_copy_typed(const void *from, void *to, long count, const struct sim_type *type);

/* ---- operations ---- */
/* inout = in op inout, of memory laid out as the type says; false: not defined for the type. */
bool sim_reduce(const void *in, void *inout, int count, MPI_Datatype type, MPI_Op op);
bool sim_op_is(MPI_Op op);
bool sim_op_fits(MPI_Op op, MPI_Datatype type);

/* ---- groups, communicators ---- */
struct sim_group {
    int size, rank; /* rank: MPI_UNDEFINED if not in it */
    int *world;     /* ranks of MPI_COMM_WORLD */
};
struct sim_group *sim_group_new(int size);
struct sim_group *sim_group(MPI_Group group);
/* The group, or the function ends with the class of the error. */
#define GROUP(handle)                                                                              \
    ({                                                                                             \
        struct sim_group *group_ = sim_group(handle);                                              \
        if (group_ == NULL)                                                                        \
            return sim_error(NULL, MPI_ERR_GROUP);                                                 \
        group_;                                                                                    \
    })
struct sim_group *sim_group_copy(const struct sim_group *group);
void sim_group_free(struct sim_group *group);
/* Fills in `rank`. */
struct sim_group *sim_group_find_own_rank(struct sim_group *group);
/* Rank in the group of a rank of MPI_COMM_WORLD; MPI_UNDEFINED: not in it. */
int sim_group_place(const struct sim_group *group, int world);
int sim_group_compare(const struct sim_group *a, const struct sim_group *b); /* MPI_IDENT, .. */
/* A handle of what becomes ours. */
int sim_group_handle(struct sim_group *group, MPI_Group *handle);

struct sim_topology;
struct sim_comm {
    MPI_Comm handle;
    uint64_t context, meetings;       /* meetings: how many so far */
    struct sim_group *group, *remote; /* remote: NULL unless it is an intercommunicator */
    bool low;                         /* the group that comes first in meetings */
    MPI_Errhandler errhandler;
    struct sim_attribute *attributes;
    struct sim_topology *topology;
    int uses;
    bool freed;
    char name[MPI_MAX_OBJECT_NAME];
};
struct sim_comm *sim_comm(MPI_Comm comm); /* NULL: none */
struct sim_comm *sim_comm_new(uint64_t context, struct sim_group *group, struct sim_group *remote);
/* Context of its messages: the program's, or our own. */
uint64_t sim_context(const struct sim_comm *comm, bool own);
const struct sim_group *sim_others(const struct sim_comm *comm); /* whom messages go to */
int sim_group_of(const struct sim_comm *comm, MPI_Group *group); /* a handle of its group */
void sim_comms_start(void);
/* A handle with the error handler of the parent, if there is one. */
MPI_Comm sim_comm_handle(struct sim_comm *comm, const struct sim_comm *parent);
/* One with the same groups. */
struct sim_comm *sim_comm_twin(const struct sim_comm *comm, uint64_t context);
/* Those of one colour, by key; `what`: the function that was called. */
int sim_comm_split(const char *what, MPI_Comm comm, int colour, int key, MPI_Comm *new);

/* Members of a meeting of this communicator: the own group, or both. */
int sim_members(const struct sim_comm *comm);
int sim_member(const struct sim_comm *comm, int rank, bool remote);
struct sim_request *sim_comm_meet(struct sim_comm *comm, const char *what, const void *data,
                                  size_t bytes, const unsigned char *needs);
/* Waits for it, and leaves it to the caller, who leaves it. */
struct sim_meeting *sim_all_meet(struct sim_comm *comm, const char *what, const void *data,
                                 size_t bytes, const unsigned char *needs);
/* The same without data, and without taking time. */
struct sim_meeting *sim_all_meet_at_once(struct sim_comm *comm, const char *what);
void sim_wait_request(struct sim_request *request);
void sim_comm_leave(const struct sim_comm *comm, struct sim_meeting *meeting);

/* ---- topologies ---- */
struct sim_topology {
    int kind; /* MPI_CART, .. */
    int n_dims, *dims, *periods, *coords;
    int n_nodes, *index, *edges;
    int n_in, n_out, *in, *out, *in_weights, *out_weights;
    bool weighted;
};
void sim_topology_free(struct sim_topology *topology);
struct sim_topology *sim_topology_copy(const struct sim_topology *topology);
/* In- and out-neighbours, in the order of neighbourhood collectives; the caller frees. */
int sim_neighbours(const struct sim_comm *comm, bool out, int **ranks);

/* ---- attributes ---- */
struct sim_attribute {
    int key;
    void *value;
    struct sim_attribute *next;
};
int sim_attributes_copy(int from, const struct sim_attribute *attributes,
                        struct sim_attribute **copies);
int sim_attributes_free(int handle, struct sim_attribute **attributes);
int sim_attribute_set(int handle, struct sim_attribute **attributes, int key, void *value);
int sim_attribute_get(const struct sim_attribute *attributes, int key, void *value, int *flag);
int sim_attribute_delete(int handle, struct sim_attribute **attributes, int key);

/* ---- start ---- */
void sim_environment_start(void); /* before the first call of MPI_Init or a session */

/* ---- errors ---- */
/* Calls the handler of the communicator (NULL: that of MPI_COMM_WORLD); returns the class. */
int sim_error(const struct sim_comm *comm, int class);
int sim_check_comm(MPI_Comm comm, struct sim_comm **found);

/* ---- requests ---- */
enum sim_mode { SIM_STANDARD, SIM_SYNCHRONOUS, SIM_READY, SIM_BUFFERED };
enum sim_use { SIM_USE_SEND, SIM_USE_RECEIVE, SIM_USE_COLLECTIVE, SIM_USE_GENERAL, SIM_USE_NONE };

struct sim_collective;
struct sim_handle {
    enum sim_use use;
    struct sim_request *request; /* NULL: complete, or not active */
    struct sim_comm *comm;
    void *data;
    long count;
    MPI_Datatype type;
    int peer, tag;
    enum sim_mode mode;
    bool persistent, active, freed;
    int parts, ready;          /* of a partitioned send: how many there are, how many are ready */
    uint64_t stream;           /* of a partitioned message: its context */
    struct sim_handle *second; /* MPI_Isendrecv: the send */
    struct sim_collective *collective;
    MPI_Status status; /* of a general request */
    bool done;
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra;
    struct sim_handle *next_freed;
    bool posted, delivered; /* of a receive: among those whose data is to be delivered; it is */
    struct sim_handle *next_posted, *previous_posted;
};
MPI_Request sim_request_handle(struct sim_handle *handle);
struct sim_handle *sim_handle_of(MPI_Request request);
struct sim_handle *sim_handle_new(enum sim_use use);
void sim_handle_free(struct sim_handle *handle);
void sim_request_drop(
    MPI_Request request); /* the handle of what is gone, or the program's no more */
bool sim_is_complete(const struct sim_handle *handle);
int sim_start_one(struct sim_handle *handle);
int sim_start_send(struct sim_handle *handle); /* of a message in parts: all are ready */
/* What a complete one leaves; the class of its error, without calling a handler. */
int sim_finish(struct sim_handle *handle, MPI_Status *status);
int sim_report(const struct sim_comm *comm, int class); /* calls the handler if it is an error */
/* Takes what a complete receive got: its data, its status. */
int sim_take_receive(struct sim_handle *handle, MPI_Status *status);
void sim_empty_status(MPI_Status *status);
void sim_set_count(MPI_Status *status, long bytes);
long sim_get_count(const MPI_Status *status);

/* ---- collective operations ---- */
int sim_collective_start(struct sim_handle *handle);
int sim_collective_finish(struct sim_handle *handle);
void sim_collective_free(struct sim_collective *collective);

#endif
