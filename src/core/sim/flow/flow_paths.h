/* How times came about, when explaining: the steps of all paths, kept once for all ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A time is explained by the path that won every maximum on its way. Paths have their beginnings in common,
 * so what each adds is a step behind another one, and a time has the number of its last step. Most steps lead
 * nowhere: only those that some time still needs are added up, all at once, when there are many or the run
 * ends (iwi_paths_settle()). The sums are then what numbers begin with.
 */
#ifndef IWI_FLOW_PATHS_H
#define IWI_FLOW_PATHS_H

#include <idlewave/log.h>
#include <idlewave/sim.h>

#include "core/sim/engine.h"

/* What a step adds: the low bits say where it is, the others its place there. */
enum iwi_path_kind { IWI_PATH_TERM, IWI_PATH_AMOUNT, IWI_PATH_HIT, IWI_PATH_WORK, IWI_PATH_KINDS };

/* A path, and what comes behind it. */
struct iwi_path_step {
    uint32_t before, what;
};

/* What messages of one size and level add. */
enum iwi_message_part {
    IWI_MESSAGE_SENT,         /* the CPU part of the send */
    IWI_MESSAGE_RECEIVED,     /* that of the receive */
    IWI_MESSAGE_ARRIVED,      /* the wire, and that */
    IWI_MESSAGE_GAP,          /* the gap from the start of its CPU part on */
    IWI_MESSAGE_ARRIVED_GAP,  /* the wire, and that */
    IWI_MESSAGE_HANDSHAKE,    /* of a rendezvous that waited for the receive */
    IWI_MESSAGE_NOTICED,      /* of one that waited for the sender */
    IWI_MESSAGE_LATE_RECEIVE, /* the receiver's readiness came across */
    IWI_MESSAGE_PARTS
};

enum { IWI_TERM_PARTS = 5 };

struct iwi_path_term {
    uint8_t count, hops;
    struct {
        uint8_t part, inner; /* as in struct iwi_cost */
    } at[IWI_TERM_PARTS];
    iw_time ps[IWI_TERM_PARTS];
};

struct iwi_path_amount {
    iw_time ps;
    iw_part part;
};

/* Work that noise has stretched, and the stream that it met before: which detours those were is found only if
 * the path is needed. */
enum { IWI_WORK_WORDS = 4 };
struct iwi_path_work {
    iw_time begin, d, next;
    int64_t words[IWI_WORK_WORDS];
    uint32_t rank;
};

/* The term of a cost that was used lately; costs are told by where they are. */
struct iwi_known_term {
    const struct iwi_cost *cost;
    uint32_t what;
    enum iwi_message_part part;
};

enum { IWI_KNOWN_TERMS = 128 };

struct iwi_paths {
    const iw_log *log;
    iw_split *settled; /* paths 0 ... settled_count - 1; path 0 is empty */
    iw_split *sums;    /* what these are next */
    size_t settled_count, settled_capacity, sum_capacity;
    struct iwi_path_step *steps; /* path settled_count + k ends with step k */
    size_t step_count, step_capacity;
    struct iwi_path_term *terms;
    size_t term_count, term_capacity;
    struct iwi_path_amount *amounts;
    size_t amount_count, amount_capacity;
    iw_hit *hits;
    size_t hit_count, hit_capacity;
    struct iwi_path_work *works;
    size_t work_count, work_capacity;
    uint8_t *uses; /* of each step, while paths are added up */
    size_t use_capacity;
    struct iwi_known_term known[IWI_KNOWN_TERMS];
    bool has_failed; /* no memory: paths are wrong from then on */
};

IW_NODISCARD iw_status iwi_paths_new(const iw_log *log, struct iwi_paths **paths_p);
void iwi_paths_free(struct iwi_paths *paths);

/* There is only path 0. */
void iwi_paths_restart(struct iwi_paths *paths);

/* Room for `count` steps more; false: there is none. */
bool iwi_paths_reserve(struct iwi_paths *paths, size_t count);

/* The path that goes on behind `before`. */
static inline uint32_t iwi_path_then(struct iwi_paths *paths, uint32_t before, uint32_t what)
{
    if (paths->step_count == paths->step_capacity && !iwi_paths_reserve(paths, 1)) {
        return before;
    }
    paths->steps[paths->step_count] = (struct iwi_path_step){before, what};
    return (uint32_t)(paths->settled_count + paths->step_count++);
}

/* A step of this term. */
uint32_t iwi_path_term(struct iwi_paths *paths, const struct iwi_path_term *term);

/* For terms: adds what is not 0. */
static inline void iwi_term_add(struct iwi_path_term *term, iw_part part, uint32_t inner, iw_time ps)
{
    if (ps != 0) {
        term->at[term->count].part = (uint8_t)part;
        term->at[term->count].inner = (uint8_t)inner;
        term->ps[term->count++] = ps;
    }
}

static inline void iwi_term_add_wire(struct iwi_path_term *term, const struct iwi_cost *cost)
{
    iwi_term_add(term, IW_PART_LATENCY, cost->inner, cost->wire - cost->bytes_part);
    iwi_term_add(term, IW_PART_BYTES, cost->inner, cost->bytes_part);
    term->hops++;
}

static inline struct iwi_known_term *iwi_known_term_of(struct iwi_paths *paths, const struct iwi_cost *cost,
                                                       enum iwi_message_part part)
{
    return &paths->known[((uintptr_t)cost / sizeof *cost * IWI_MESSAGE_PARTS + part) % IWI_KNOWN_TERMS];
}

/* A step of a message. `handshake` is looked at where the part is one. */
uint32_t iwi_path_new_message_term(struct iwi_paths *paths, const struct iwi_cost *cost,
                                   enum iwi_message_part part, iw_time handshake);

static inline uint32_t iwi_path_message(struct iwi_paths *paths, const struct iwi_cost *cost,
                                        enum iwi_message_part part, iw_time handshake)
{
    const struct iwi_known_term *known = iwi_known_term_of(paths, cost, part);

    return known->cost == cost && known->part == part
               ? known->what
               : iwi_path_new_message_term(paths, cost, part, handshake);
}

/* Another cost comes to be where this one is. */
void iwi_paths_forget_cost(struct iwi_paths *paths, const struct iwi_cost *cost);

/* The path that goes on with `ps` of one part. */
uint32_t iwi_path_then_amount(struct iwi_paths *paths, uint32_t before, iw_part part, iw_time ps);

/* What noise has taken of one piece of work. */
struct iwi_path_noise {
    iw_time by_source[IW_NOISE_MAX_SOURCES];
    iw_hit worst[IW_HITS];
};
uint32_t iwi_path_then_noise(struct iwi_paths *paths, uint32_t before, const struct iwi_path_noise *noise);

/* The path that goes on with what noise took of this. */
uint32_t iwi_path_then_work(struct iwi_paths *paths, uint32_t before, const struct iwi_path_work *work);

/* Numbers of paths that are needed: `count` of them, each so many bytes after the one before. */
struct iwi_path_roots {
    uint32_t *first;
    size_t count, stride_bytes;
};

static inline uint32_t *iwi_path_root(const struct iwi_path_roots *roots, size_t i)
{
    return (uint32_t *)(void *)((char *)roots->first + i * roots->stride_bytes);
}

/* So much is kept that it should be added up, for that many roots; or it cannot be kept. */
bool iwi_paths_are_many(const struct iwi_paths *paths, size_t roots);

/* Adds up what the roots need, of a trial of `job`. All other paths are gone, and roots have the new numbers
 * of theirs. */
IW_NODISCARD iw_status iwi_paths_settle(struct iwi_paths *paths, const struct iwi_job *job,
                                        const struct iwi_path_roots *roots, size_t count);

#endif
