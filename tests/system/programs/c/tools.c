/* The tools interface MPI_T: control and performance variables, categories, enumerations, events.
 * What this MPI does not have is said. */
#include "program.h"

enum { TEXT = 256 };

/* A buffer for any value of a variable of `count` elements. */
static void *room_for(int count) {
    return calloc((size_t)(count > 0 ? count : 1), 64);
}

static int enumerations(MPI_T_enum kind) {
    char name[TEXT];
    int n, length = TEXT, value;
    if (kind == MPI_T_ENUM_NULL || MPI_T_enum_get_info(kind, &n, name, &length) != MPI_SUCCESS)
        return 0;
    length = TEXT;
    if (n > 0)
        OK(MPI_T_enum_get_item(kind, 0, &value, name, &length));
    return 1;
}

static void control_variables(void) {
    int n, with_enum = 0, handled = 0, index;
    OK(MPI_T_cvar_get_num(&n));
    for (int i = 0; i < n; i++) {
        char name[TEXT], text[TEXT];
        int names = TEXT, texts = TEXT, verbosity, bind, scope, count = 0;
        MPI_Datatype type;
        MPI_T_enum kind = MPI_T_ENUM_NULL;
        MPI_T_cvar_handle handle;
        if (MPI_T_cvar_get_info(i, name, &names, &verbosity, &type, &kind, text, &texts, &bind,
                                &scope) != MPI_SUCCESS)
            continue;
        if (with_enum == 0)
            with_enum = enumerations(kind);
        if (handled == 2 || type != MPI_INT || bind != MPI_T_BIND_NO_OBJECT)
            continue;
        OK(MPI_T_cvar_get_index(name, &index));
        CHECK(index == i);
        OK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count));
        void *value = room_for(count);
        OK(MPI_T_cvar_read(handle, value));
        (void)MPI_T_cvar_write(handle, value); /* many can be set before MPI_Init only */
        OK(MPI_T_cvar_handle_free(&handle));
        free(value);
        handled++;
    }
    say("control variables %d, read %d, enumeration %d", n > 0, handled, with_enum);
}

static void performance_variables(void) {
    int n, handled = 0, index;
    MPI_T_pvar_session session;
    OK(MPI_T_pvar_get_num(&n));
    OK(MPI_T_pvar_session_create(&session));
    for (int i = 0; i < n && handled < 3; i++) {
        char name[TEXT], text[TEXT];
        int names = TEXT, texts = TEXT, verbosity, class, bind, readonly, continuous, atomic, count;
        MPI_Datatype type;
        MPI_T_enum kind;
        MPI_T_pvar_handle handle;
        if (MPI_T_pvar_get_info(i, name, &names, &verbosity, &class, &type, &kind, text, &texts,
                                &bind, &readonly, &continuous, &atomic) != MPI_SUCCESS ||
            strstr(name, "mtl_") !=
                NULL || /* of transports that are not in use: Open MPI crashes */
            bind != MPI_T_BIND_NO_OBJECT)
            continue;
        OK(MPI_T_pvar_get_index(name, class, &index));
        if (MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count) != MPI_SUCCESS)
            continue;
        void *value = room_for(count);
        if (!continuous) {
            OK(MPI_T_pvar_start(session, handle));
            OK(MPI_T_pvar_stop(session, handle));
        } else { /* these answer with an error */
            CHECK(MPI_T_pvar_start(session, handle) != MPI_SUCCESS);
            CHECK(MPI_T_pvar_stop(session, handle) != MPI_SUCCESS);
        }
        (void)MPI_T_pvar_read(session, handle, value);
        if (readonly) { /* the same */
            CHECK(MPI_T_pvar_reset(session, handle) != MPI_SUCCESS);
            CHECK(MPI_T_pvar_readreset(session, handle, value) != MPI_SUCCESS);
            CHECK(MPI_T_pvar_write(session, handle, value) != MPI_SUCCESS);
        }
        OK(MPI_T_pvar_handle_free(session, &handle));
        free(value);
        handled++;
    }
    OK(MPI_T_pvar_session_free(&session));
    say("performance variables %d, read %d", n > 0, handled);
}

static void categories(void) {
    int n, changed, looked = 0;
    OK(MPI_T_category_get_num(&n));
    OK(MPI_T_category_changed(&changed));
    for (int i = 0; i < n && i < 20; i++) {
        char name[TEXT], text[TEXT];
        int names = TEXT, texts = TEXT, cvars, pvars, children, index, list[16];
        OK(MPI_T_category_get_info(i, name, &names, text, &texts, &cvars, &pvars, &children));
        OK(MPI_T_category_get_index(name, &index));
        OK(MPI_T_category_get_cvars(i, 16, list));
        OK(MPI_T_category_get_pvars(i, 16, list));
        OK(MPI_T_category_get_categories(i, 16, list));
        looked++;
    }
    say("categories %d", looked > 0);
}

#if defined(MPICH)
/* No installed MPICH has event types: what needs one cannot be called. */
static void events(void) {
    int n = -1, index, sources = 0, list[4];
    MPI_Count now;
    MPI_T_event_registration registration;
    OK(MPI_T_event_get_num(&n));
    CHECK(MPI_T_event_get_index("no such event", &index) != MPI_SUCCESS);
    CHECK(MPI_T_event_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                               NULL) != MPI_SUCCESS);
    CHECK(MPI_T_event_handle_alloc(n, NULL, MPI_INFO_NULL, &registration) != MPI_SUCCESS);
    int categories = 0;
    OK(MPI_T_category_get_num(&categories));
    OK(MPI_T_category_get_num_events(0, &index));
    OK(MPI_T_category_get_events(0, 4, list));
    OK(MPI_T_source_get_num(&sources));
    CHECK(MPI_T_source_get_info(sources, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) !=
          MPI_SUCCESS);
    CHECK(MPI_T_source_get_timestamp(sources, &now) != MPI_SUCCESS);
    say("events %d sources %d categories %d", n, sources, categories > 0);
}
#else
static void events(void) {
}
#endif

int main(int argc, char **argv) {
    int provided;
#if defined(                                                                                       \
    MPICH) /* Open MPI 4.1 crashes if MPI_T is open across MPI_Finalize, in the bare run   \
                      too */
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
#endif
    start_program(&argc, &argv);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    control_variables();
    performance_variables();
    categories();
    events();
    OK(MPI_T_finalize());
    return end_program();
}
