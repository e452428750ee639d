/* Records that say nothing about waiting: they only count as events of their location, whose life
 * begins with its first record and ends with its last. */
#include "analyze/reader.h"

/* NOLINTBEGIN(bugprone-macro-parentheses,misc-unused-parameters): lists of parameters */
#define SAME                                                                                       \
    OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *user,                 \
        OTF2_AttributeList *attributes

#define RECORDS(X)                                                                                 \
    X(BufferFlush, (SAME, OTF2_TimeStamp a))                                                       \
    X(MeasurementOnOff, (SAME, OTF2_MeasurementMode a))                                            \
    X(Metric, (SAME, OTF2_MetricRef a, uint8_t b, const OTF2_Type *c, const OTF2_MetricValue *d))  \
    X(ParameterInt, (SAME, OTF2_ParameterRef a, int64_t b))                                        \
    X(ParameterUnsignedInt, (SAME, OTF2_ParameterRef a, uint64_t b))                               \
    X(ParameterString, (SAME, OTF2_ParameterRef a, OTF2_StringRef b))                              \
    X(CommCreate, (SAME, OTF2_CommRef a))                                                          \
    X(CommDestroy, (SAME, OTF2_CommRef a))                                                         \
    X(ThreadBegin, (SAME, OTF2_CommRef a, uint64_t b))                                             \
    X(ThreadCreate, (SAME, OTF2_CommRef a, uint64_t b))                                            \
    X(ThreadWait, (SAME, OTF2_CommRef a, uint64_t b))                                              \
    X(ThreadEnd, (SAME, OTF2_CommRef a, uint64_t b))                                               \
    X(CallingContextLeave, (SAME, OTF2_CallingContextRef a))                                       \
    X(OmpFork, (SAME, uint32_t a))                                                                 \
    X(OmpJoin, (SAME))                                                                             \
    X(OmpAcquireLock, (SAME, uint32_t a, uint32_t b))                                              \
    X(OmpReleaseLock, (SAME, uint32_t a, uint32_t b))                                              \
    X(OmpTaskCreate, (SAME, uint64_t a))                                                           \
    X(OmpTaskSwitch, (SAME, uint64_t a))                                                           \
    X(OmpTaskComplete, (SAME, uint64_t a))                                                         \
    X(RmaWinCreate, (SAME, OTF2_RmaWinRef a))                                                      \
    X(RmaWinDestroy, (SAME, OTF2_RmaWinRef a))                                                     \
    X(RmaSync, (SAME, OTF2_RmaWinRef a, uint32_t b, OTF2_RmaSyncType c))                           \
    X(RmaWaitChange, (SAME, OTF2_RmaWinRef a))                                                     \
    X(RmaRequestLock, (SAME, OTF2_RmaWinRef a, uint32_t b, uint64_t c, OTF2_LockType d))           \
    X(RmaTryLock, (SAME, OTF2_RmaWinRef a, uint32_t b, uint64_t c, OTF2_LockType d))               \
    X(RmaAtomic, (SAME, OTF2_RmaWinRef a, uint32_t b, OTF2_RmaAtomicType c, uint64_t d,            \
                  uint64_t e, uint64_t f))                                                         \
    X(RmaOpTest, (SAME, OTF2_RmaWinRef a, uint64_t b))                                             \
    X(RmaOpCompleteBlocking, (SAME, OTF2_RmaWinRef a, uint64_t b))                                 \
    X(IoSeek, (SAME, OTF2_IoHandleRef a, int64_t b, OTF2_IoSeekOption c, uint64_t d))              \
    X(IoDeleteFile, (SAME, OTF2_IoParadigmRef a, OTF2_IoFileRef b))                                \
    X(IoDuplicateHandle, (SAME, OTF2_IoHandleRef a, OTF2_IoHandleRef b, OTF2_IoStatusFlag c))      \
    X(IoChangeStatusFlags, (SAME, OTF2_IoHandleRef a, OTF2_IoStatusFlag b))                        \
    X(IoAcquireLock, (SAME, OTF2_IoHandleRef a, OTF2_LockType b))                                  \
    X(IoTryLock, (SAME, OTF2_IoHandleRef a, OTF2_LockType b))                                      \
    X(IoReleaseLock, (SAME, OTF2_IoHandleRef a, OTF2_LockType b))                                  \
    X(IoOperationTest, (SAME, OTF2_IoHandleRef a, uint64_t b))                                     \
    X(IoOperationIssued, (SAME, OTF2_IoHandleRef a, uint64_t b))                                   \
    X(IoOperationComplete, (SAME, OTF2_IoHandleRef a, uint64_t b, uint64_t c))                     \
    X(IoOperationCancelled, (SAME, OTF2_IoHandleRef a, uint64_t b))                                \
    X(MpiRequestTest, (SAME, uint64_t a))

#define DEFINE(name, parameters)                                                                   \
    static OTF2_CallbackCode on_##name parameters {                                                \
        (void)location, (void)position, (void)attributes;                                          \
        lc_reader_pass(user, time);                                                                \
        return OTF2_CALLBACK_SUCCESS;                                                              \
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter" /* of each record */
RECORDS(DEFINE)
#pragma GCC diagnostic pop

void lc_read_other_callbacks(OTF2_EvtReaderCallbacks *callbacks) {
#define REGISTER(name, parameters)                                                                 \
    OTF2_EvtReaderCallbacks_Set##name##Callback(callbacks, on_##name);
    RECORDS(REGISTER)
}
/* NOLINTEND(bugprone-macro-parentheses,misc-unused-parameters) */
