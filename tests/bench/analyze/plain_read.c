#include "plain_read.h"

#include <otf2/otf2.h>
#include <stdlib.h>

struct locations {
    uint64_t *ids;
    size_t n, capacity;
};

static OTF2_CallbackCode on_location(void *user, OTF2_LocationRef id, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t events,
                                     OTF2_LocationGroupRef group) {
    (void)name, (void)type, (void)events, (void)group;
    struct locations *l = user;
    if (l->n == l->capacity) {
        l->capacity = 2 * l->capacity + 64;
        uint64_t *ids = realloc(l->ids, l->capacity * sizeof *ids);
        if (!ids)
            return OTF2_CALLBACK_INTERRUPT;
        l->ids = ids;
    }
    l->ids[l->n++] = id;
    return OTF2_CALLBACK_SUCCESS;
}

/* A callback that counts the record; the arguments behind the attributes differ. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define COUNT(NAME, ...)                                                                           \
    static OTF2_CallbackCode NAME(OTF2_LocationRef location, OTF2_TimeStamp time,                  \
                                  uint64_t position, void *user,                                   \
                                  OTF2_AttributeList *attributes __VA_OPT__(, ) __VA_ARGS__) {     \
        ++*(uint64_t *)user;                                                                       \
        return OTF2_CALLBACK_SUCCESS;                                                              \
    }
COUNT(on_enter, OTF2_RegionRef region)
COUNT(on_leave, OTF2_RegionRef region)
COUNT(on_message, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
COUNT(on_nonblocking, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
      uint64_t request)
COUNT(on_request, uint64_t request)
COUNT(on_begin)
COUNT(on_end, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent,
      uint64_t received)

static OTF2_EvtReaderCallbacks *callbacks_new(void) {
    OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();
    if (!c)
        return NULL;
    OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_leave);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, on_message);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, on_message);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, on_nonblocking);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, on_nonblocking);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, on_request);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, on_request);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(c, on_begin);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, on_end);
    return c;
}

static void read_definitions(OTF2_Reader *reader, struct locations *locations) {
    OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
    uint64_t n;
    if (definitions && callbacks) {
        OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, on_location);
        OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, locations);
        OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &n);
    }
    if (callbacks)
        OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    if (definitions)
        OTF2_Reader_CloseGlobalDefReader(reader, definitions);
}

static void read_location(OTF2_Reader *reader, uint64_t id, OTF2_EvtReaderCallbacks *callbacks,
                          uint64_t *n_events) {
    uint64_t n;
    OTF2_DefReader *definitions = OTF2_Reader_GetDefReader(reader, id);
    if (definitions) {
        OTF2_Reader_ReadAllLocalDefinitions(reader, definitions, &n);
        OTF2_Reader_CloseDefReader(reader, definitions);
    }
    OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(reader, id);
    if (!events)
        return;
    OTF2_Reader_RegisterEvtCallbacks(reader, events, callbacks, n_events);
    OTF2_Reader_ReadAllLocalEvents(reader, events, &n);
    OTF2_Reader_CloseEvtReader(reader, events);
}

uint64_t plain_read(const char *archive, uint32_t rank, uint32_t size) {
    struct locations locations = {0};
    uint64_t n_events = 0;
    OTF2_Reader *reader = OTF2_Reader_Open(archive);
    OTF2_EvtReaderCallbacks *callbacks = callbacks_new();
    if (reader && callbacks) {
        OTF2_Reader_SetSerialCollectiveCallbacks(reader);
        read_definitions(reader, &locations);
        for (size_t i = rank; i < locations.n; i += size)
            OTF2_Reader_SelectLocation(reader, locations.ids[i]);
        OTF2_Reader_OpenDefFiles(reader);
        OTF2_Reader_OpenEvtFiles(reader);
        for (size_t i = rank; i < locations.n; i += size)
            read_location(reader, locations.ids[i], callbacks, &n_events);
    }
    if (callbacks)
        OTF2_EvtReaderCallbacks_Delete(callbacks);
    if (reader)
        OTF2_Reader_Close(reader);
    free(locations.ids);
    return n_events;
}
