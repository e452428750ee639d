/* Messages of the clocks' own between ranks. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/timer.h"
#include "measure/clocks/backlog.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/records.h"
#include "measure/core/core.h"

enum {
    LC_PACKET_TAG = 0x4c32,
    LC_PACKET_WORDS = 501, /* Open MPI sends up to 4 KiB at once */
    LC_PACKETS_MAX = 4096, /* on their way */
    LC_PACKETS_IN = 8,     /* receives posted in advance */
    LC_HELD_US = 2000,
    LC_ROW = 16,     /* parts of a row in a packet */
    LC_ROW_US = 100, /* from one call of a row to the next */
    LC_NO_ROW = LC_FN_COUNT
};
#define LC_PACKET_MARK (0x4c617465ull << 32)

struct packet {
    uint64_t words[LC_PACKET_WORDS];
    uint32_t n, to;
    uint32_t parts[LC_PART_KINDS], n_parts;
    bool held, row;  /* row: held for one */
    uint32_t n_held; /* parts that may wait */
    uint64_t since;  /* the first of them was added */
    MPI_Request request;
    struct packet *next;
};

static struct packet *flying, *flying_last, *spare;
static struct to {       /* by rank */
    struct packet *open; /* to be sent */
    bool listed;
    uint32_t row_fn; /* the last part that may be one of a row: function and begin of its call */
    uint64_t row_at;
} * peers;
static _Atomic uint32_t row = LC_NO_ROW; /* the function; changed as n_ready */
static uint32_t *ready;                  /* ranks that may have one */
static _Atomic uint32_t n_ready; /* changed with the lock, as the next two; any thread looks */
static uint32_t n_flying;
static struct packet *in; /* LC_PACKETS_IN, received in turns */
static _Atomic uint32_t turn;
static _Atomic uint64_t due = UINT64_MAX; /* lc_patience_ticks: a packet is to leave; 0: now */
static bool settling;
static void (*take_part)(uint32_t source, uint64_t *words, int n);

static uint32_t get(const _Atomic uint32_t *n) {
    return atomic_load_explicit(n, memory_order_relaxed);
}

static void set(_Atomic uint32_t *n, uint32_t to) {
    atomic_store_explicit(n, to, memory_order_relaxed);
}

static void set_due(uint64_t at) {
    atomic_store_explicit(&due, at, memory_order_relaxed);
}

static void post(struct packet *p) {
    __atomic_store_n(&p->words[0], 0, __ATOMIC_RELAXED);
    if (lc_real.Irecv(p->words, LC_PACKET_WORDS, MPI_UINT64_T, MPI_ANY_SOURCE, LC_PACKET_TAG,
                      lc_clk.comm, &p->request) != MPI_SUCCESS)
        p->request = MPI_REQUEST_NULL;
}

void lc_clk_packets_begin(void (*take)(uint32_t source, uint64_t *words, int n)) {
    take_part = take;
    peers = calloc(lc_clk.size, sizeof *peers);
    ready = calloc(lc_clk.size, sizeof *ready);
    in = calloc(LC_PACKETS_IN, sizeof *in);
    for (int i = 0; in != NULL && i < LC_PACKETS_IN; i++)
        post(&in[i]);
}

/* Takes back buffers of packets that have left, oldest first. */
static void collect(void) {
    while (flying != NULL) {
        int done = 0;
        if (lc_real.Test(&flying->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || !done)
            return;
        struct packet *p = flying;
        flying = p->next;
        if (flying == NULL)
            flying_last = NULL;
        p->next = spare;
        spare = p;
        n_flying--;
    }
}

static struct packet *take_packet(uint32_t to) {
    if (n_flying >= 8)
        collect();
    if (n_flying >= LC_PACKETS_MAX)
        return NULL;
    struct packet *p = spare;
    if (p != NULL)
        spare = p->next;
    else
        p = malloc(sizeof *p);
    if (p == NULL)
        return NULL;
    p->n = 1;
    p->to = to;
    p->n_parts = p->n_held = 0;
    p->held = p->row = false;
    memset(p->parts, 0, sizeof p->parts);
    return p;
}

static void send_packet(struct packet *p) {
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
        settling ? lc_real.Issend : lc_real.Isend;
    p->words[0] = LC_PACKET_MARK | p->n;
    if (send(p->words, (int)p->n, MPI_UINT64_T, (int)p->to, LC_PACKET_TAG, lc_clk.comm,
             &p->request) != MPI_SUCCESS) {
        p->next = spare;
        spare = p;
        return;
    }
    p->next = NULL;
    *(flying_last != NULL ? &flying_last->next : &flying) = p;
    flying_last = p;
    n_flying++;
    bool alone =
        p->parts[LC_PART_REPLY] > 0 && p->parts[LC_PART_RECORD] + p->parts[LC_PART_SHADOW] == 0;
    lc_clk.counts.packets++;
    lc_clk.counts.records += p->parts[LC_PART_RECORD] + alone;
    lc_clk.counts.replies += alone;
    lc_clk.counts.packed += alone ? p->parts[LC_PART_REPLY] - 1 : p->parts[LC_PART_REPLY];
}

bool lc_clk_packet_add(uint32_t to, enum lc_packet_part kind, const uint64_t *words, uint32_t n) {
    if (peers == NULL || ready == NULL || in == NULL || lc_core.finalized)
        return false;
    struct to *t = &peers[to];
    if (t->open != NULL && t->open->n + 1 + n > LC_PACKET_WORDS) {
        send_packet(t->open);
        t->open = NULL;
    }
    if (t->open == NULL)
        t->open = take_packet(to);
    struct packet *p = t->open;
    if (p == NULL)
        return false;
    set_due(0);
    if (!t->listed) {
        t->listed = true;
        ready[get(&n_ready)] = to;
        set(&n_ready, get(&n_ready) + 1);
    }
    p->words[p->n] = n;
    memcpy(p->words + p->n + 1, words, n * sizeof *words);
    p->n += n + 1;
    p->parts[kind]++;
    p->n_parts++;
    p->held = false;
    return true;
}

static void hold(uint32_t to, uint32_t most, bool for_row) {
    struct packet *p = peers[to].open;
    if (p->n_held++ == 0) {
        p->since = lc_patience_ticks();
        p->row = for_row;
    }
    p->held = p->n_held == p->n_parts && p->n_held < most && p->row == for_row;
    if (p->held && get(&n_ready) == 1)
        set_due(p->since + LC_HELD_US * lc_clk.slow_ticks);
}

void lc_clk_packet_hold(uint32_t to, uint32_t most) {
    hold(to, most, false);
}

void lc_clk_packet_row(uint32_t to) {
    struct to *t = &peers[to];
    const struct lc_call *call = lc_core.multiple ? NULL : lc_clk_backlog_in_time();
    if (call == NULL)
        return;
    bool again = t->row_fn == call->fn && call->begin - t->row_at < LC_ROW_US * lc_clk.slow_ticks;
    t->row_fn = call->fn;
    t->row_at = call->begin;
    if (!again)
        return;
    hold(to, LC_ROW, true);
    if (t->open->held)
        set(&row, call->fn);
}

bool lc_clk_packets_in_row(void) {
    return get(&row) != LC_NO_ROW;
}

bool lc_clk_packets_row_of(uint32_t fn) {
    return get(&row) == fn;
}

void lc_clk_packets_end_row(void) {
    set(&row, LC_NO_ROW);
    for (uint32_t i = 0; i < get(&n_ready); i++) {
        struct packet *p = peers[ready[i]].open;
        if (p == NULL || !p->held || !p->row)
            continue;
        p->held = false;
        set_due(0);
    }
}

void lc_clk_packet_release(uint32_t to) {
    if (peers != NULL && peers[to].open != NULL) {
        peers[to].open->held = false;
        set_due(0);
    }
}

static bool stays(const struct packet *p) {
    return p != NULL && p->held && !settling &&
           lc_patience_ticks() - p->since < LC_HELD_US * lc_clk.slow_ticks;
}

void lc_clk_packets_send(void) {
    uint32_t n = get(&n_ready), n_stay = 0;
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        struct to *t = &peers[ready[i]];
        struct packet *p = t->open;
        if (stays(p)) {
            ready[n_stay++] = ready[i];
            first = p->since < first ? p->since : first;
            continue;
        }
        t->open = NULL;
        t->listed = false;
        if (p != NULL)
            send_packet(p);
    }
    set(&n_ready, n_stay);
    set_due(n_stay > 0 ? first + LC_HELD_US * lc_clk.slow_ticks : UINT64_MAX);
}

static void take_parts(uint32_t source, uint64_t *words, uint32_t n) {
    for (uint32_t at = 1; at < n && words[at] < n - at; at += 1 + (uint32_t)words[at])
        take_part(source, words + at + 1, (int)words[at]);
}

/* Has MPI written here? A look at memory that is still MPI's: whether it is complete is asked of
 * MPI then. */
static bool shows(const struct packet *p) {
    return __atomic_load_n(&p->words[0], __ATOMIC_RELAXED) != 0;
}

bool lc_clk_packets_take(bool ask) {
    bool any = false;
    while (in != NULL) {
        struct packet *p = &in[get(&turn)];
        MPI_Status status;
        int done = 0;
        if ((!ask && !shows(p)) || p->request == MPI_REQUEST_NULL ||
            lc_real.Test(&p->request, &done, &status) != MPI_SUCCESS || !done)
            break;
        set(&turn, (get(&turn) + 1) % LC_PACKETS_IN);
        uint32_t n = (uint32_t)p->words[0];
        if (n <= LC_PACKET_WORDS && (p->words[0] >> 32) == LC_PACKET_MARK >> 32)
            take_parts((uint32_t)status.MPI_SOURCE, p->words, n);
        post(p);
        any = true;
    }
    return any;
}

bool lc_clk_packets_idle(uint64_t now) {
    return now < atomic_load_explicit(&due, memory_order_relaxed) &&
           (in == NULL || !shows(&in[get(&turn)]));
}

static void send_synchronously(void) {
    settling = true;
    if (peers != NULL)
        lc_clk_packets_send();
}

static bool all_received(void) {
    collect();
    return flying == NULL && get(&n_ready) == 0;
}

/* Receives packets until no rank has work left and none is in transit. */
void lc_clk_packets_quiesce(void (*work)(bool *left)) {
    MPI_Request barrier = MPI_REQUEST_NULL;
    bool waiting = false;
    for (int all_here = 0; !all_here;) {
        bool left = false;
        lc_clk_packets_take(true);
        work(&left);
        send_synchronously();
        if (!left && !waiting && all_received())
            waiting = lc_real.Ibarrier(lc_core.comm, &barrier) == MPI_SUCCESS;
        if (waiting)
            lc_real.Test(&barrier, &all_here, MPI_STATUS_IGNORE);
    }
    while (lc_clk_packets_take(true)) {
    }
    bool left;
    work(&left);
}

void lc_clk_packets_end(void) {
    for (int i = 0; in != NULL && i < LC_PACKETS_IN; i++)
        if (in[i].request != MPI_REQUEST_NULL) {
            lc_real.Cancel(&in[i].request);
            lc_real.Wait(&in[i].request, MPI_STATUS_IGNORE);
        }
    free(in);
    in = NULL;
}
