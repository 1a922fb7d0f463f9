/* Looks for the fewest sources whose removal brings the mean slowdown down to a target.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the program is monotone (sim/monotone.h), removing more never makes anything later in the same
 * trials. So
 *   - if all sources together do not get there, none do;
 *   - a source without which (all others gone) the target is missed is in every set that reaches it;
 *   - the set of these needed ones, if it suffices, is the smallest.
 * Else the best is added to it one by one (an upper bound on the size), and then all smaller sets with the
 * needed ones are tried, as long as the number of simulations stays within the budget. Once it is spent, they
 * are added in the order of what each saves alone.
 *
 * Sources that were not tried alone are one at first. That gives the least size that any set can have; if
 * they are in the set that was found, the search begins anew with each of them on its own.
 *
 * Where it is not monotone nothing follows from one set for another. No source is known to be needed, each is
 * on its own from the beginning, and only trying all smaller sets tells that a set is the smallest; all of
 * them, that there is none.
 */
#include "features/whatif/smallest_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/numeric/numeric.h"
#include "core/stats/mean_interval.h"

/* Simulations, each of all trials; and messages, some minutes' worth. */
enum { MOST_SIMULATIONS = 300 };
static const double MOST_MESSAGES = 3e10;

static const size_t REST = SIZE_MAX; /* an atom: s->rest */

struct search {
    struct iwi_experiment *experiment;
    const iw_change *rest; /* the sources that were not tried alone; NULL: there are none */
    size_t *atoms;         /* what can be removed, by what it saves alone: parts, or REST */
    size_t atom_count;
    bool *is_chosen;  /* by atom: what is tried */
    bool *is_needed;  /* by atom */
    bool *is_best;    /* by atom: of what reaches the target */
    bool *is_removed; /* by part, of what is tried */
    double *values;
    double target, best; /* the slowdown of is_best */
    size_t best_size;    /* more than all: none has been found */
    size_t least_size;   /* in atoms; smaller sets do not reach the target */
    uint64_t left;       /* simulations */
};

static size_t count_true(const bool *flags, size_t count)
{
    size_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += flags[i];
    }
    return sum;
}

/* Marks the parts of the atoms that are chosen. */
static void mark_parts(const struct search *s, const bool *is_chosen, bool *is_removed)
{
    const size_t part_count = s->experiment->inquiry->set->part_count;

    memset(is_removed, 0, part_count * sizeof *is_removed);
    for (size_t i = 0; i < s->atom_count; i++) {
        if (is_chosen[i] && s->atoms[i] != REST) {
            is_removed[s->atoms[i]] = true;
        }
        for (size_t part = 0; is_chosen[i] && s->atoms[i] == REST && part < part_count; part++) {
            is_removed[part] |= s->rest->is_removed[part];
        }
    }
}

/* The mean slowdown without the chosen atoms. */
static iw_status try_chosen(struct search *s, double *slowdown_p)
{
    const struct iwi_variant variant = {.is_removed = s->is_removed};

    mark_parts(s, s->is_chosen, s->is_removed);
    s->left -= s->left > 0;
    s->experiment->inquiry->work_total += iw_program_messages(s->experiment->program) * s->experiment->trials;
    IW_TRY(iwi_experiment_run_trials(s->experiment, &variant, s->values));
    *slowdown_p = iwi_mean_estimate(s->values, (size_t)s->experiment->trials).value;
    return IW_OK;
}

/* Whether the sources that were not tried alone are in it. */
static bool has_rest(const struct search *s, const bool *is_chosen)
{
    return s->rest != NULL && is_chosen[s->atom_count - 1] && s->atoms[s->atom_count - 1] == REST;
}

/* Smaller; the rest is many in truth; what leaves less. */
static bool is_better(const struct search *s, double slowdown)
{
    const size_t size = count_true(s->is_chosen, s->atom_count);
    const bool with_rest = has_rest(s, s->is_chosen), best_with_rest = has_rest(s, s->is_best);

    if (size != s->best_size) {
        return size < s->best_size;
    }
    return with_rest != best_with_rest ? best_with_rest : slowdown < s->best;
}

static void keep_chosen(struct search *s, double slowdown)
{
    memcpy(s->is_best, s->is_chosen, s->atom_count * sizeof *s->is_best);
    s->best = slowdown;
    s->best_size = count_true(s->is_chosen, s->atom_count);
}

/* With half of the budget at most; who is needed and not found is only not known to be. */
static iw_status find_needed(struct search *s)
{
    const uint64_t to_keep = s->left / 2;

    for (size_t i = 0; i < s->atom_count && s->left > to_keep; i++) {
        double slowdown;

        memset(s->is_chosen, true, s->atom_count * sizeof *s->is_chosen);
        s->is_chosen[i] = false;
        IW_TRY(try_chosen(s, &slowdown));
        s->is_needed[i] = slowdown > s->target;
    }
    return IW_OK;
}

/* Chooses the first so many of the atoms besides those in `is_kept`. */
static void choose_first(struct search *s, const bool *is_kept, size_t more)
{
    for (size_t i = 0; i < s->atom_count; i++) {
        s->is_chosen[i] = is_kept[i] || more > 0;
        more -= !is_kept[i] && more > 0;
    }
}

/* The fewest that reach the target in the order of the atoms, by halving: some simulations beyond the budget.
 */
static iw_status add_in_order(struct search *s, double *slowdown_p)
{
    bool *is_kept = s->is_best; /* of no use yet */
    size_t too_few = 0, enough;

    memcpy(is_kept, s->is_chosen, s->atom_count * sizeof *is_kept);
    enough = s->atom_count - count_true(is_kept, s->atom_count);
    while (too_few + 1 < enough) {
        const size_t middle = too_few + (enough - too_few) / 2;

        choose_first(s, is_kept, middle);
        IW_TRY(try_chosen(s, slowdown_p));
        *(*slowdown_p <= s->target ? &enough : &too_few) = middle;
    }
    choose_first(s, is_kept, enough);
    return try_chosen(s, slowdown_p);
}

/* Chooses the one that leaves least together with the chosen ones. */
static iw_status add_best(struct search *s, double *slowdown_p)
{
    size_t best = s->atom_count;

    for (size_t i = 0; i < s->atom_count; i++) {
        double tried;

        if (s->is_chosen[i]) {
            continue;
        }
        s->is_chosen[i] = true;
        IW_TRY(try_chosen(s, &tried));
        s->is_chosen[i] = false;
        if (best == s->atom_count || tried < *slowdown_p) {
            best = i;
            *slowdown_p = tried;
        }
    }
    s->is_chosen[best] = true;
    return IW_OK;
}

/* From the needed ones on until the target is reached; where it is monotone, all together do reach it. */
static iw_status add_by_greed(struct search *s)
{
    double slowdown;

    memcpy(s->is_chosen, s->is_needed, s->atom_count * sizeof *s->is_chosen);
    IW_TRY(try_chosen(s, &slowdown));
    while (slowdown > s->target) {
        const size_t others = s->atom_count - count_true(s->is_chosen, s->atom_count);

        if (others == 0) {
            return IW_OK; /* it is not monotone */
        }
        IW_TRY(others <= s->left ? add_best(s, &slowdown) : add_in_order(s, &slowdown));
    }
    keep_chosen(s, slowdown);
    return IW_OK;
}

/* Tries all ways of choosing `more` of the atoms from `first` on, besides those that are chosen. */
static iw_status try_all(struct search *s, size_t first, size_t more)
{
    double slowdown;

    if (more == 0) {
        IW_TRY(try_chosen(s, &slowdown));
        if (slowdown <= s->target && is_better(s, slowdown)) {
            keep_chosen(s, slowdown);
        }
        return IW_OK;
    }
    for (size_t i = first; i + more <= s->atom_count; i++) {
        if (!s->is_needed[i]) {
            s->is_chosen[i] = true;
            IW_TRY(try_all(s, i + 1, more - 1));
            s->is_chosen[i] = false;
        }
    }
    return IW_OK;
}

/* n over k, capped far above any budget. */
static double ways(size_t n, size_t k)
{
    return exp(iwi_log_gamma((double)n + 1.0) - iwi_log_gamma((double)k + 1.0) -
               iwi_log_gamma((double)(n - k) + 1.0));
}

/* Sizes from the smallest on; of equally small sets the one that saves most. Whether no smaller one does
 * shows by least_size afterwards: it is best_size then. */
static iw_status try_smaller(struct search *s)
{
    const size_t needed = count_true(s->is_needed, s->atom_count);
    const size_t most = s->best_size < s->atom_count ? s->best_size : s->atom_count;

    s->least_size = s->least_size > needed ? s->least_size : needed;
    for (size_t size = s->least_size; size <= most && s->best_size >= size; size++) {
        s->least_size = size;
        if (size == needed) {
            continue; /* greed began with it */
        }
        if (ways(s->atom_count - needed, size - needed) > (double)s->left + 0.5) {
            return IW_OK;
        }
        memcpy(s->is_chosen, s->is_needed, s->atom_count * sizeof *s->is_chosen);
        IW_TRY(try_all(s, 0, size - needed));
    }
    if (s->best_size > s->atom_count) {
        s->least_size = s->best_size; /* all sets were tried */
    }
    return IW_OK;
}

/* The change's parts, each on its own. */
static void list_parts(struct search *s, const iw_change *change)
{
    for (size_t part = 0; part < s->experiment->inquiry->set->part_count; part++) {
        if (change->is_removed[part]) {
            s->is_needed[s->atom_count] = false;
            s->atoms[s->atom_count++] = part;
        }
    }
}

/* Each source of the rest on its own, behind the others; they come by their shares. */
static iw_status search_in_rest(struct search *s)
{
    s->atom_count--;
    list_parts(s, s->rest);
    IW_TRY(add_by_greed(s));
    return try_smaller(s);
}

static iw_status search(struct search *s, struct iwi_smallest *smallest)
{
    const size_t part_count = s->experiment->inquiry->set->part_count;
    size_t size;

    if (s->experiment->is_monotone) {
        IW_TRY(find_needed(s));
    }
    s->best_size = s->atom_count + 1;
    IW_TRY(add_by_greed(s));
    IW_TRY(try_smaller(s));
    if (s->best_size > s->atom_count) {
        smallest->is_exact = s->least_size == s->best_size;
        return IW_OK;
    }
    mark_parts(s, s->is_best, smallest->is_removed);
    size = count_true(smallest->is_removed, part_count);
    if (has_rest(s, s->is_best)) {
        IW_TRY(search_in_rest(s));
        if (s->best_size < size) { /* greed without a budget may take more than all of the rest */
            mark_parts(s, s->is_best, smallest->is_removed);
            size = s->best_size;
        }
    }
    smallest->is_found = true;
    smallest->is_exact = size == s->least_size;
    return IW_OK;
}

/* The changes come by what they save alone; the rest goes behind. */
static void list_atoms(struct search *s, const struct iwi_changes *changes)
{
    const iw_change *rest = NULL;

    for (size_t i = 0; i < changes->count; i++) {
        if (changes->list[i].kind == IW_CHANGE_SOURCE) {
            list_parts(s, &changes->list[i]);
        } else if (changes->list[i].kind == IW_CHANGE_REST) {
            rest = &changes->list[i];
        }
    }
    if (rest != NULL && s->experiment->is_monotone) {
        s->rest = rest;
        s->atoms[s->atom_count++] = REST;
    } else if (rest != NULL) {
        list_parts(s, rest);
    }
}

uint64_t iwi_smallest_set_budget(const struct iwi_experiment *experiment)
{
    const double messages = (double)iw_program_messages(experiment->program) * (double)experiment->trials;

    return (uint64_t)fmin(MOST_SIMULATIONS, MOST_MESSAGES / fmax(messages, 1.0));
}

static iw_status prepare(struct search *s, const struct iwi_changes *changes)
{
    const iw_log *log = s->experiment->inquiry->log;
    const size_t part_count = s->experiment->inquiry->set->part_count;

    s->left = iwi_smallest_set_budget(s->experiment);
    s->atoms = iwi_new_array(log, part_count, sizeof *s->atoms);
    s->is_chosen = iwi_new_array(log, part_count, sizeof *s->is_chosen);
    s->is_needed = iwi_new_array(log, part_count, sizeof *s->is_needed);
    s->is_best = iwi_new_array(log, part_count, sizeof *s->is_best);
    s->is_removed = iwi_new_array(log, part_count, sizeof *s->is_removed);
    s->values = iwi_new_array(log, iwi_experiment_values(s->experiment), sizeof *s->values);
    if (s->atoms == NULL || s->is_chosen == NULL || s->is_needed == NULL || s->is_best == NULL ||
        s->is_removed == NULL || s->values == NULL) {
        return IW_ERR_NOMEM;
    }
    list_atoms(s, changes);
    return IW_OK;
}

iw_status iwi_smallest_set(struct iwi_experiment *experiment, const struct iwi_changes *changes, double now,
                           double all, double target, struct iwi_smallest *smallest_p)
{
    const struct iwi_inquiry *inquiry = experiment->inquiry;
    struct search s = {.experiment = experiment, .target = target};
    struct iwi_smallest smallest = {.is_found = now <= target, .is_exact = true};
    iw_status status = IW_OK;

    smallest.is_removed = iwi_new_array(inquiry->log, inquiry->set->part_count, sizeof *smallest.is_removed);
    if (smallest.is_removed == NULL) {
        return IW_ERR_NOMEM;
    }
    if (now > target && (all <= target || !experiment->is_monotone)) {
        status = prepare(&s, changes);
        status = status == IW_OK ? search(&s, &smallest) : status;
    }
    free(s.atoms);
    free(s.is_chosen);
    free(s.is_needed);
    free(s.is_best);
    free(s.is_removed);
    free(s.values);
    if (status != IW_OK) {
        free(smallest.is_removed);
        return status;
    }
    *smallest_p = smallest;
    return IW_OK;
}
