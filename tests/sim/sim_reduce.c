/* Reductions: the predefined operations (gen_reduce.py), and the program's own. */
#include "sim_mpi.h"

#include <stdlib.h>
#include <string.h>

struct op {
    MPI_User_function *function;
    int commutes, uses;
};
static struct sim_table ops = {.kind = 0x98000000u};

#define CASE(op, type) ((uint64_t)(unsigned)(op) << 32 | (unsigned)(type))
#define APPLY(kind, expression)                                                                    \
    for (int i = 0; i < count; i++) {                                                              \
        kind a = ((const kind *)in)[i], b = ((kind *)inout)[i];                                    \
        ((kind *)inout)[i] = (kind)(expression);                                                   \
    }                                                                                              \
    return true;
#define LOCATE(value, place, sign)                                                                 \
    {                                                                                              \
        struct pair {                                                                              \
            value v;                                                                               \
            place i;                                                                               \
        };                                                                                         \
        const struct pair *from = in;                                                              \
        struct pair *to = inout;                                                                   \
        for (int i = 0; i < count; i++)                                                            \
            if (from[i].v sign to[i].v || (from[i].v == to[i].v && from[i].i < to[i].i))           \
                to[i] = from[i];                                                                   \
        return true;                                                                               \
    }

static bool predefined(const void *in, void *inout, int count, MPI_Datatype type, MPI_Op op) {
    switch (CASE(op, type)) {
#include "reduce.inc"
    default:
        return false;
    }
}

bool sim_reduce(const void *in, void *inout, int count, MPI_Datatype type, MPI_Op op) {
    struct op *own = sim_object(&ops, op);
    if (own != NULL) {
        own->function((void *)in, inout, &count, &type);
        return true;
    }
    if (op == MPI_REPLACE) {
        sim_copy_typed(in, inout, count, sim_type(type));
        return true;
    }
    return op == MPI_NO_OP || predefined(in, inout, count, type, op);
}

bool sim_op_is(MPI_Op op) {
    return (op >= MPI_MAX && op <= MPI_NO_OP) || sim_object(&ops, op) != NULL;
}

bool sim_op_fits(MPI_Op op, MPI_Datatype type) {
    return sim_object(&ops, op) != NULL || op == MPI_REPLACE || op == MPI_NO_OP ||
           predefined(NULL, NULL, 0, type, op);
}

BOTH(MPI_Op_create)(MPI_User_function *function, int commutes, MPI_Op *op) {
    struct op *new = sim_new(sizeof *new);
    *new = (struct op){function, commutes, 1};
    *op = sim_handle(&ops, new);
    return MPI_SUCCESS;
}

BOTH(MPI_Op_free)(MPI_Op *op) {
    struct op *own = sim_object(&ops, *op);
    if (own == NULL)
        return sim_error(NULL, MPI_ERR_OP);
    sim_drop(&ops, *op);
    free(own);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

BOTH(MPI_Op_commutative)(MPI_Op op, int *commutes) {
    const struct op *own = sim_object(&ops, op);
    if (!sim_op_is(op))
        return sim_error(NULL, MPI_ERR_OP);
    *commutes = own != NULL ? own->commutes : op != MPI_REPLACE && op != MPI_NO_OP;
    return MPI_SUCCESS;
}

BOTH(MPI_Reduce_local)
(const void *in, void *inout, int count, MPI_Datatype type, MPI_Op op) {
    if (count < 0)
        return sim_error(NULL, MPI_ERR_COUNT);
    if (sim_type(type) == NULL)
        return sim_error(NULL, MPI_ERR_TYPE);
    if (!sim_op_is(op) || !sim_op_fits(op, type))
        return sim_error(NULL, MPI_ERR_OP);
    sim_reduce(in, inout, count, type, op);
    return MPI_SUCCESS;
}
