/* Records of tasks: creation, begin, end; which one a location is in. */
#include "analyze/reader.h"
#include "base/hash.h"
#include "base/mem.h"

/* An explicit one; top bit 0. */
static uint64_t task_of(OTF2_CommRef team, uint32_t creator, uint32_t number) {
    return lc_hash_key(lc_hash_key((uint64_t)team << 32 | creator) ^ number) >> 1;
}

static OTF2_CallbackCode on_create(OTF2_LocationRef location, OTF2_TimeStamp time,
                                   uint64_t position, void *user, OTF2_AttributeList *attributes,
                                   OTF2_CommRef team, uint32_t creator, uint32_t number) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    struct lc_task_event event = {.time = lc_reader_time(reader, time),
                                  .task = task_of(team, creator, number),
                                  .other = reader->task,
                                  .cnode = reader->node,
                                  .what = LC_TASK_CREATED};
    reader->err = lc_reader_task_event(reader, &event);
    return lc_reader_end(reader);
}

/* Number 0: the implicit task. */
static OTF2_CallbackCode on_switch(OTF2_LocationRef location, OTF2_TimeStamp time,
                                   uint64_t position, void *user, OTF2_AttributeList *attributes,
                                   OTF2_CommRef team, uint32_t creator, uint32_t number) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    struct lc_task_event event = {
        .time = lc_reader_time(reader, time), .cnode = reader->node, .what = LC_TASK_BEGUN};
    reader->task = number == 0 ? lc_reader_implicit_task(reader) : task_of(team, creator, number);
    event.task = reader->task;
    if (number != 0)
        reader->err = lc_reader_task_event(reader, &event);
    return lc_reader_end(reader);
}

static OTF2_CallbackCode on_complete(OTF2_LocationRef location, OTF2_TimeStamp time,
                                     uint64_t position, void *user, OTF2_AttributeList *attributes,
                                     OTF2_CommRef team, uint32_t creator, uint32_t number) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    struct lc_task_event event = {.time = lc_reader_time(reader, time),
                                  .task = task_of(team, creator, number),
                                  .cnode = reader->left_task,
                                  .what = LC_TASK_ENDED};
    if (event.cnode == LC_NONE)
        event.cnode = reader->node;
    reader->err = lc_reader_task_event(reader, &event);
    return lc_reader_end(reader);
}

void lc_read_task_callbacks(OTF2_EvtReaderCallbacks *callbacks) {
    OTF2_EvtReaderCallbacks_SetThreadTaskCreateCallback(callbacks, on_create);
    OTF2_EvtReaderCallbacks_SetThreadTaskSwitchCallback(callbacks, on_switch);
    OTF2_EvtReaderCallbacks_SetThreadTaskCompleteCallback(callbacks, on_complete);
}
