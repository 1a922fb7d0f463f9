/* Steps of paths: kept while a trial runs, and added up where they are needed.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Steps come behind those that they follow. Going back through them once finds those that some root needs,
 * and how often; going forward once adds up. The sum of a path that goes on in one way only is not copied.
 */
#include "core/sim/flow/flow_paths.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/noise/stream.h"

/* Kept before anything is added up; more where sums of so many roots take as much. */
static const size_t MOST_BYTES = (size_t)64 << 20;

enum { MOST_USES = UINT8_MAX, UNUSED = UINT32_MAX };

iw_status iwi_paths_new(const iw_log *log, struct iwi_paths **paths_p)
{
    struct iwi_paths *paths = iwi_new_array(log, 1, sizeof *paths);

    if (paths == NULL) {
        return IW_ERR_NOMEM;
    }
    paths->log = log;
    if (iwi_grow(log, (void **)&paths->settled, &paths->settled_capacity, 1, sizeof *paths->settled) !=
        IW_OK) {
        free(paths);
        return IW_ERR_NOMEM;
    }
    *paths_p = paths;
    iwi_paths_restart(paths);
    return IW_OK;
}

void iwi_paths_free(struct iwi_paths *paths)
{
    if (paths != NULL) {
        free(paths->settled);
        free(paths->sums);
        free(paths->uses);
        free(paths->steps);
        free(paths->terms);
        free(paths->amounts);
        free(paths->hits);
        free(paths->works);
        free(paths);
    }
}

static void drop_steps(struct iwi_paths *paths)
{
    paths->step_count = paths->term_count = paths->amount_count = 0;
    paths->hit_count = paths->work_count = 0;
    memset(paths->known, 0, sizeof paths->known);
}

void iwi_paths_restart(struct iwi_paths *paths)
{
    drop_steps(paths);
    memset(&paths->settled[0], 0, sizeof paths->settled[0]);
    paths->settled_count = 1;
    paths->has_failed = false;
}

/* ---- steps ---- */

/* False: no memory, which whoever settles tells. */
static bool make_room(struct iwi_paths *paths, void **array_p, size_t *capacity_p, size_t need,
                      size_t element_size)
{
    if (need + paths->settled_count > UINT32_MAX / IWI_PATH_KINDS ||
        iwi_grow(paths->log, array_p, capacity_p, need, element_size) != IW_OK) {
        paths->has_failed = true;
        return false;
    }
    return true;
}

bool iwi_paths_reserve(struct iwi_paths *paths, size_t count)
{
    return make_room(paths, (void **)&paths->steps, &paths->step_capacity, paths->step_count + count,
                     sizeof *paths->steps);
}

static uint32_t what_of(enum iwi_path_kind kind, size_t place)
{
    return (uint32_t)place * IWI_PATH_KINDS + kind;
}

uint32_t iwi_path_term(struct iwi_paths *paths, const struct iwi_path_term *term)
{
    if (!make_room(paths, (void **)&paths->terms, &paths->term_capacity, paths->term_count + 1,
                   sizeof *paths->terms)) {
        return what_of(IWI_PATH_TERM, 0);
    }
    paths->terms[paths->term_count] = *term;
    return what_of(IWI_PATH_TERM, paths->term_count++);
}

uint32_t iwi_path_new_message_term(struct iwi_paths *paths, const struct iwi_cost *cost,
                                   enum iwi_message_part part, iw_time handshake)
{
    struct iwi_known_term *known = iwi_known_term_of(paths, cost, part);
    struct iwi_path_term term = {.count = 0};

    if (part == IWI_MESSAGE_ARRIVED || part == IWI_MESSAGE_ARRIVED_GAP) {
        iwi_term_add_wire(&term, cost);
    }
    if (part == IWI_MESSAGE_SENT) {
        iwi_term_add(&term, IW_PART_OVERHEAD, cost->inner, cost->send_cpu);
    } else if (part == IWI_MESSAGE_RECEIVED || part == IWI_MESSAGE_ARRIVED) {
        iwi_term_add(&term, IW_PART_OVERHEAD, cost->inner, cost->recv_cpu);
    } else if (part == IWI_MESSAGE_GAP || part == IWI_MESSAGE_ARRIVED_GAP) {
        iwi_term_add(&term, IW_PART_GAP, cost->inner, cost->gap - cost->bytes_part);
        iwi_term_add(&term, IW_PART_BYTES, cost->inner, cost->bytes_part);
    } else if (part == IWI_MESSAGE_HANDSHAKE || part == IWI_MESSAGE_NOTICED) {
        iwi_term_add(&term, IW_PART_RENDEZVOUS, cost->inner, handshake);
    } else {
        term.hops++;
    }
    *known = (struct iwi_known_term){cost, iwi_path_term(paths, &term), part};
    return known->what;
}

void iwi_paths_forget_cost(struct iwi_paths *paths, const struct iwi_cost *cost)
{
    for (int part = 0; part < IWI_MESSAGE_PARTS; part++) {
        iwi_known_term_of(paths, cost, (enum iwi_message_part)part)->cost = NULL;
    }
}

uint32_t iwi_path_then_amount(struct iwi_paths *paths, uint32_t before, iw_part part, iw_time ps)
{
    const size_t count = paths->amount_count;

    if (ps == 0) {
        return before;
    }
    /* ranks often do the same */
    if (count == 0 || paths->amounts[count - 1].ps != ps || paths->amounts[count - 1].part != part) {
        if (!make_room(paths, (void **)&paths->amounts, &paths->amount_capacity, count + 1,
                       sizeof *paths->amounts)) {
            return before;
        }
        paths->amounts[paths->amount_count++] = (struct iwi_path_amount){ps, part};
    }
    return iwi_path_then(paths, before, what_of(IWI_PATH_AMOUNT, paths->amount_count - 1));
}

/* Detours that were worst are told one by one; what a source took besides is an amount. */
uint32_t iwi_path_then_noise(struct iwi_paths *paths, uint32_t before, const struct iwi_path_noise *noise)
{
    iw_time rest[IW_NOISE_MAX_SOURCES];
    uint32_t path = before;

    memcpy(rest, noise->by_source, sizeof rest);
    for (size_t k = 0; k < IW_HITS && noise->worst[k].lost_ps > 0; k++) {
        if (make_room(paths, (void **)&paths->hits, &paths->hit_capacity, paths->hit_count + 1,
                      sizeof *paths->hits)) {
            paths->hits[paths->hit_count] = noise->worst[k];
            path = iwi_path_then(paths, path, what_of(IWI_PATH_HIT, paths->hit_count++));
            rest[noise->worst[k].source] -= noise->worst[k].lost_ps;
        }
    }
    for (size_t source = 0; source < IW_NOISE_MAX_SOURCES; source++) {
        path = iwi_path_then_amount(paths, path, (iw_part)(IW_PART_NOISE + source), rest[source]);
    }
    return path;
}

uint32_t iwi_path_then_work(struct iwi_paths *paths, uint32_t before, const struct iwi_path_work *work)
{
    if (!make_room(paths, (void **)&paths->works, &paths->work_capacity, paths->work_count + 1,
                   sizeof *paths->works)) {
        return before;
    }
    paths->works[paths->work_count] = *work;
    return iwi_path_then(paths, before, what_of(IWI_PATH_WORK, paths->work_count++));
}

/* ---- adding up ---- */

bool iwi_paths_are_many(const struct iwi_paths *paths, size_t roots)
{
    const size_t bytes = paths->step_count * sizeof *paths->steps + paths->term_count * sizeof *paths->terms +
                         paths->amount_count * sizeof *paths->amounts +
                         paths->hit_count * sizeof *paths->hits + paths->work_count * sizeof *paths->works;

    return paths->has_failed || (bytes > MOST_BYTES && bytes / (sizeof(iw_split) / 2) > roots);
}

static void add_term(iw_split *sum, const struct iwi_path_term *term)
{
    for (uint32_t k = 0; k < term->count; k++) {
        sum->part_ps[term->at[k].part] += term->ps[k];
        if (term->at[k].inner < IW_NET_INNER_MAX) {
            sum->inner_ps[term->at[k].inner][term->at[k].part - IW_PART_OVERHEAD] += term->ps[k];
        }
    }
    sum->hops += term->hops;
}

static void add_work(iw_split *sum, const struct iwi_job *job, struct iwi_path_work work)
{
    const struct iwi_stream_id id = {job->seed, job->first_trial,
                                     work.rank * iw_noise_cores_per_rank(job->noise)};

    (void)iwi_noise_finish(job->noise, id, work.words, &work.next, work.begin, work.d,
                           &(struct iwi_lost)IWI_LOST_OF(sum));
}

static void add_step(const struct iwi_paths *paths, const struct iwi_job *job, iw_split *sum, uint32_t what)
{
    const size_t place = what / IWI_PATH_KINDS;

    switch ((enum iwi_path_kind)(what % IWI_PATH_KINDS)) {
    case IWI_PATH_TERM: add_term(sum, &paths->terms[place]); break;
    case IWI_PATH_AMOUNT: sum->part_ps[paths->amounts[place].part] += paths->amounts[place].ps; break;
    case IWI_PATH_HIT: iwi_lost_add(&(struct iwi_lost)IWI_LOST_OF(sum), paths->hits[place]); break;
    default: add_work(sum, job, paths->works[place]); break;
    }
}

/* Sums of the paths that roots need, and where those of settled paths are among them. */
struct settling {
    struct iwi_paths *paths;
    const struct iwi_job *job;
    uint8_t *uses;   /* of each step: by steps and roots that are not done with; MOST_USES: or more */
    uint32_t *again; /* of each settled path: its sum, or UNUSED */
    size_t count;    /* of sums */
};

static void use(struct settling *s, uint32_t path)
{
    if (path >= s->paths->settled_count) {
        uint8_t *uses = &s->uses[path - s->paths->settled_count];

        *uses = (uint8_t)(*uses + (*uses < MOST_USES));
    }
}

static iw_status copy_sum(struct settling *s, const iw_split *from, size_t from_sum, uint32_t *sum_p)
{
    struct iwi_paths *paths = s->paths;

    IW_TRY(
        iwi_grow(paths->log, (void **)&paths->sums, &paths->sum_capacity, s->count + 1, sizeof *paths->sums));
    paths->sums[s->count] = from != NULL ? *from : paths->sums[from_sum];
    *sum_p = (uint32_t)s->count++;
    return IW_OK;
}

/* The sum of a path that one more needs: its own where nobody else does. Steps that are done have the number
 * of their sum instead of their path. */
static iw_status take_sum(struct settling *s, uint32_t path, uint32_t *sum_p)
{
    struct iwi_paths *paths = s->paths;
    const size_t step = path - paths->settled_count;

    if (path < paths->settled_count) {
        return copy_sum(s, &paths->settled[path], 0, sum_p);
    }
    if (s->uses[step] == 1) {
        *sum_p = paths->steps[step].before;
        return IW_OK;
    }
    s->uses[step] = (uint8_t)(s->uses[step] - (s->uses[step] < MOST_USES));
    return copy_sum(s, NULL, paths->steps[step].before, sum_p);
}

static iw_status add_up(struct settling *s)
{
    struct iwi_paths *paths = s->paths;

    for (size_t step = paths->step_count; step-- > 0;) {
        if (s->uses[step] > 0) {
            use(s, paths->steps[step].before);
        }
    }
    for (size_t step = 0; step < paths->step_count; step++) {
        if (s->uses[step] > 0) {
            uint32_t sum;

            IW_TRY(take_sum(s, paths->steps[step].before, &sum));
            add_step(paths, s->job, &paths->sums[sum], paths->steps[step].what);
            paths->steps[step].before = sum;
        }
    }
    return IW_OK;
}

static iw_status renumber(struct settling *s, const struct iwi_path_roots *roots)
{
    struct iwi_paths *paths = s->paths;

    for (size_t i = 0; i < roots->count; i++) {
        uint32_t *path = iwi_path_root(roots, i);

        if (*path >= paths->settled_count) {
            *path = paths->steps[*path - paths->settled_count].before;
            continue;
        }
        if (s->again[*path] == UNUSED) {
            IW_TRY(copy_sum(s, &paths->settled[*path], 0, &s->again[*path]));
        }
        *path = s->again[*path];
    }
    return IW_OK;
}

static iw_status settle(struct settling *s, const struct iwi_path_roots *roots, size_t count)
{
    struct iwi_paths *paths = s->paths;

    s->again = iwi_new_array(paths->log, paths->settled_count, sizeof *s->again);
    if (s->again == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(iwi_grow(paths->log, (void **)&paths->uses, &paths->use_capacity, paths->step_count + 1,
                    sizeof *paths->uses));
    memset(paths->uses, 0, paths->step_count * sizeof *paths->uses);
    s->uses = paths->uses;
    memset(s->again, UINT8_MAX, paths->settled_count * sizeof *s->again);
    IW_TRY(copy_sum(s, &(iw_split){.hops = 0}, 0, &s->again[0])); /* path 0 stays */
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < roots[k].count; i++) {
            use(s, *iwi_path_root(&roots[k], i));
        }
    }
    IW_TRY(add_up(s));
    for (size_t k = 0; k < count; k++) {
        IW_TRY(renumber(s, &roots[k]));
    }
    return IW_OK;
}

iw_status iwi_paths_settle(struct iwi_paths *paths, const struct iwi_job *job,
                           const struct iwi_path_roots *roots, size_t count)
{
    struct settling s = {.paths = paths, .job = job};
    const iw_status status = paths->has_failed ? IW_ERR_NOMEM : settle(&s, roots, count);

    free(s.again);
    if (status == IW_OK) {
        iw_split *const before = paths->settled;
        const size_t capacity = paths->settled_capacity;

        paths->settled = paths->sums;
        paths->settled_capacity = paths->sum_capacity;
        paths->settled_count = s.count;
        paths->sums = before;
        paths->sum_capacity = capacity;
        drop_steps(paths);
    }
    return status;
}
