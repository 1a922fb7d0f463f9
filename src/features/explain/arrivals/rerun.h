/* The run again, with some of its pauses left out: when would everything have happened?
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What a rank does on one stream is a lane of *activities*: stretches of computation and visits. An activity
 * begins when the last thing that it needed was there, and that is found in the trace: of
 *
 *   - the end of the activity before it on its lane,
 *   - the end of its launch on the host, where the file has launches,
 *   - for a visit, the computation that was launched before it (where the file does not say which: the point
 *     that computation had come to, unless one of the two above happened at most 20 us before),
 *   - what ended last on the other lanes of its rank,
 *
 * all of them also if they ended up to a microsecond after it had begun,
 * the latest one *binds* it, and the time between the two is kept. The first three also hold where they do
 * not bind, without that time; so does the last for computation that stood still when the other thing ended.
 * The host begins with its first step, launches one thing after the other, and goes on after a wait for its
 * device when that has ended what it waited for. A visit ends when all who had come before its end have come,
 * and its transfer has passed:
 *
 *     leave of r = max over q with traced enter of q <= traced leave of r: enter of q
 *                  + (traced leave of r - the same maximum of traced times)
 *
 * Those who only wait for a root wait for that one, and one that went on with other things meanwhile also
 * until it waited. All of this is max-plus. With nothing left out each time is the traced one, to the
 * picosecond.
 *
 * A pause on the host that is left out lets the host launch earlier by its length; what the device had in
 * its queue meanwhile had absorbed it, and nothing is gained. Where the file has no launches, or the rank has
 * no device, it shortens the computation and the gaps that it overlaps. A pause on the device shortens these
 * always. Late launches (gaps of the device) shorten what the host did in the gap, but for the part of it
 * that has another name.
 */
#ifndef IWI_RERUN_H
#define IWI_RERUN_H

#include <idlewave/estimate.h>

#include "features/explain/arrivals/visits.h"

struct iwi_rerun;

/* Of visits that are finished and aligned, which are borrowed. IW_ERR_NOMEM, IW_ERR_RANGE (logged). */
IW_NODISCARD iw_status iwi_rerun_new(const struct iwi_visits *visits, struct iwi_rerun **rerun_p);
void iwi_rerun_free(struct iwi_rerun *rerun);

/* Steps: all numbers that activities have, ascending; activities of no step belong to none. Where the file
 * has no steps: the time between two collectives of the largest group of a rank, numbered from 0. */
size_t iwi_rerun_step_count(const struct iwi_rerun *rerun);
uint32_t iwi_rerun_step_number(const struct iwi_rerun *rerun, size_t step);

/* Without the pauses i with is_left_out[i] (NULL: all stay). steps_ps[k], if not NULL: from the end of step
 * k - 1 on its last rank (for the first: from the start of the run) to the end of step k on its last rank. */
IW_NODISCARD iw_status iwi_rerun_run(struct iwi_rerun *rerun, const bool *is_left_out, iw_time *steps_ps);

/* What held it back: the launch of a stretch; for a visit, another one on its stream. */
bool iwi_rerun_waits_for_launch(const struct iwi_rerun *rerun, size_t stretch);
bool iwi_rerun_waits_for_stream(const struct iwi_rerun *rerun, size_t visit);

/* When visit or stretch `index` began and ended in the last run. */
void iwi_rerun_visit(const struct iwi_rerun *rerun, size_t index, iw_time *enter_ps_p, iw_time *leave_ps_p);
void iwi_rerun_stretch(const struct iwi_rerun *rerun, size_t index, iw_time *begin_ps_p, iw_time *end_ps_p);

/* ---- what the files of the rerun share ---- */

#define IWI_RERUN_NONE UINT32_MAX
#define IWI_RERUN_PROMPT_PS (20 * IW_PS_PER_US) /* what came at most this long before may have caused it */

/* What begins at most this long before something ends may still have needed it: files round times, and some
 * have them in whole microseconds. */
#define IWI_RERUN_OVERLAP_PS IW_PS_PER_US

enum iwi_rerun_bind {
    IWI_BIND_TRACED, /* nothing of its rank came before it: the begin of the run */
    IWI_BIND_PREVIOUS,
    IWI_BIND_LAUNCH,
    IWI_BIND_READY,
    IWI_BIND_OTHER /* the end of activity `other`, on another lane */
};

/* A point in time of the trace as a place in an activity: its end, or a time within it. */
struct iwi_rerun_point {
    uint32_t activity; /* or IWI_RERUN_NONE */
    bool is_inside;
    iw_time at_ps;
};

struct iwi_activity {
    uint32_t rank, step, lane;
    uint32_t encounter;       /* IWI_RERUN_NONE: computation */
    uint32_t previous, other; /* activities, or IWI_RERUN_NONE */
    uint8_t bind;             /* enum iwi_rerun_bind */
    bool is_launched;         /* launched_ps is known */
    struct iwi_rerun_point ready;
    iw_time start_ps, end_ps, launched_ps, ready_ps; /* traced; ready_ps as the file has it, or 0 */
    iw_time needed_ps;                               /* what begins from here on may have needed its end */
    iw_time bound_ps;                                /* the traced time of what binds it */
    /* visits: */
    uint32_t root; /* the only one that it waits for, or IWI_RERUN_NONE: for all */
    uint32_t
        went_on; /* what it had ended when it began to wait, or IWI_RERUN_NONE: nothing since its start */
    iw_time ahead_ps;    /* after its start it went on for this long before it waited */
    iw_time met_ps;      /* traced: when the last one had come whom it waited for, and it waited */
    uint32_t together;   /* the next visit of the same kernel, or IWI_RERUN_NONE */
    bool is_with_before; /* it is the next of another */
};

struct iwi_rerun_lane {
    uint32_t rank;
    uint16_t stream;
    bool computes;                   /* has stretches */
    uint32_t last_begun, last_ended; /* so far */
};

/* In the order of the trace; at one time what ends before what begins. Ends are at needed_ps. */
enum iwi_rerun_event_kind {
    IWI_EVENT_END,
    IWI_EVENT_WAIT,
    IWI_EVENT_LAUNCH,
    IWI_EVENT_START,
    IWI_EVENT_EMPTY_END
};

struct iwi_rerun_event {
    iw_time at_ps;
    uint32_t index; /* activity, or host wait */
    uint8_t kind;
};

/* Time that is left out of one rank; disjoint, ascending. */
struct iwi_cut {
    iw_time begin_ps, end_ps;
    iw_time before_ps; /* sum of those before */
};

enum iwi_cut_layer { IWI_CUT_HOST, IWI_CUT_COMPUTE, IWI_CUT_GAP, IWI_CUT_LAYERS };

struct iwi_cuts {
    struct iwi_cut *of[IWI_CUT_LAYERS]; /* by rank */
    size_t *first[IWI_CUT_LAYERS];      /* rank_count + 1; NULL: nothing is left out */
};

struct iwi_rerun {
    const struct iwi_visits *visits;
    struct iwi_activity *activities; /* visits, in their order, then stretches */
    struct iwi_rerun_event *events;
    struct iwi_rerun_lane *lanes; /* by rank, stream */
    uint32_t *first_lane;         /* rank_count + 1 */
    bool *has_launches;           /* of ranks */
    uint32_t *step_numbers;
    size_t activity_count, event_count, lane_count, step_count;
    iw_time first_ps;
    /* of the last run */
    iw_time *start_ps, *end_ps, *launched_ps; /* of activities */
    iw_time *met_ps;                          /* of encounters: the last one that has come */
    iw_time *host_ps, *host_traced_ps;        /* of ranks */
};

/* Lanes, events, steps (rerun_order.c). */
IW_NODISCARD iw_status iwi_rerun_order(struct iwi_rerun *rerun);

/* What a run leaves out; `is_left_out` may be NULL. Released also after a failure. */
IW_NODISCARD iw_status iwi_cuts_new(const struct iwi_rerun *rerun, const bool *is_left_out,
                                    struct iwi_cuts *cuts_p);
void iwi_cuts_release(struct iwi_cuts *cuts);

/* Of [from, to] what is left. */
iw_time iwi_cuts_left_ps(const struct iwi_cuts *cuts, uint32_t rank, enum iwi_cut_layer layer,
                         iw_time from_ps, iw_time to_ps);

/* ---- what the pauses of a run cost: how much shorter its steps would be without them ---- */

#define IWI_PAUSE_EVERYWHERE UINT32_MAX

/* One cause, left out on all ranks, on one, or on those of one node. */
struct iwi_pause_cost {
    uint8_t cause;                  /* IWI_PAUSE_CAUSES: all of them */
    uint32_t rank;                  /* index, or IWI_PAUSE_EVERYWHERE */
    char node[IWI_VISIT_NAME_SIZE]; /* "": of no node */
    uint32_t ranks;                 /* that have such pauses */
    uint64_t pauses;
    double paused_ns; /* of all its ranks */
    /* Of a step, mean over the steps. The interval is over the steps: where the mean of many steps under the
     * same conditions would be; widened by how well the clocks agree. NaN: a single step. */
    iw_estimate saved_ns, share;
};

struct iwi_pause_costs {
    size_t step_count;
    double step_ns;  /* the mean */
    double clock_ns; /* within which synchronising collectives end: the median over them of the deviation */
    struct iwi_pause_cost *of; /* each cause everywhere, the dearest first, followed by its ranks and nodes */
    size_t count, capacity;
};

/* Of visits that are finished, aligned and have steps. Without pauses or steps there are no costs.
 * IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_pause_costs_find(const struct iwi_visits *visits, struct iwi_pause_costs *costs_p);
void iwi_pause_costs_release(struct iwi_pause_costs *costs);

#endif
