/* The job that a what-if is asked for: its programs, network and noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/whatif/verb/whatif_question.h"
#include "features/simulate/verb/simulate_set.h"

#include <stdio.h>
#include <stdlib.h>

#include "options/program_parse.h"

/* ---- programs ---- */

/* Whether the job can be made with other ranks or work, without a message. */
static bool can_make(const struct question *q, uint32_t ranks, double work)
{
    const struct program_opts *opts = q->program;
    const bool is_pattern = opts->patterns.count > 0, is_changed = ranks != 0 || work != 1.0;
    const bool is_trace = q->made != NULL && q->made->source.trace != NULL;
    iw_trace_info traced;

    if (!is_changed) {
        return true;
    }
    if (ranks != 0 && (opts->dims != NULL || opt_typed(opts, root) || opts->delays.count > 0)) {
        return false;
    }
    if (is_pattern) {
        return work == 1.0 || opts->compute_ps > 0 || opts->compute_bytes > 0;
    }
    if (!is_trace) {
        return false;
    }
    iw_trace_describe(q->made->source.trace, &traced);
    return ranks % traced.ranks == 0;
}

static void hush(void *arg, iw_log_level level, const char *text)
{
    (void)arg;
    (void)level;
    (void)text;
}

/* The last one made comes first. What the user did not ask for, as other ranks, fails without a word. */
static int make_program(struct question *q, uint32_t ranks, double work)
{
    static const bool is_never_heard = false;
    const bool is_changed = ranks != 0 || work != 1.0;
    const struct program_place place = {q->net, q->ranks_per_node};
    struct program_opts opts = *q->program;
    struct ui quiet = *q->ui;
    struct question_program *made = ui_grow(NULL, 1, sizeof *made);

    quiet.log = (iw_log){hush, NULL};
    quiet.is_heard = &is_never_heard;
    *made = (struct question_program){.next = q->made};
    opts.ranks = ranks != 0 ? ranks : opts.ranks;
    program_scale_work(&opts, work);
    q->made = made;
    return program_make(is_changed ? &quiet : q->ui, &opts, &place, q->args, &made->source, &made->program);
}

static void free_program(struct question_program *made)
{
    iw_program_free(made->program);
    program_source_release(&made->source);
    free(made);
}

/* The one that was made last. */
static void drop_first(struct question *q)
{
    struct question_program *made = q->made;

    q->made = made->next;
    free_program(made);
}

/* What question_init() made; it stays, so that nothing is read, or warned of, a second time. */
static struct question_program *first_made(const struct question *q)
{
    struct question_program *made = q->made;

    while (made->next != NULL) {
        made = made->next;
    }
    return made;
}

static iw_status make(void *arg, uint32_t ranks, double work, iw_program **program_p)
{
    struct question *q = arg;
    const bool is_changed = ranks != 0 || work != 1.0;

    if (!can_make(q, ranks, work)) {
        return IW_ERR_UNSUPPORTED;
    }
    if (is_changed || q->is_first_used) {
        const int code = make_program(q, ranks, work);

        if (code != UI_DONE) {
            drop_first(q);
            return is_changed ? IW_ERR_UNSUPPORTED : IW_ERR_FORMAT;
        }
    }
    *program_p = is_changed || q->is_first_used ? q->made->program : first_made(q)->program;
    q->is_first_used = true;
    return IW_OK;
}

static void release(void *arg, iw_program *program)
{
    struct question *q = arg;

    if (first_made(q)->program == program) {
        q->is_first_used = false;
        return;
    }
    for (struct question_program **place = &q->made; *place != NULL; place = &(*place)->next) {
        struct question_program *made = *place;

        if (made->program == program) {
            *place = made->next;
            free_program(made);
            return;
        }
    }
}

iw_program_maker question_maker(struct question *q)
{
    return (iw_program_maker){.make = make, .release = release, .arg = q};
}

/* ---- all of it ---- */

int question_init(struct question *q, struct ui *ui, const struct program_opts *program,
                  const struct net_opts *net, const struct memory_opts *memory,
                  const struct noise_opts *noise, const struct opt_args *args)
{
    char name[PROGRAM_NAME_SIZE];
    int code;

    *q = (struct question){
        .ui = ui, .program = program, .args = args, .ranks_per_node = noise->ranks_per_node};
    code = simulate_make_net(ui, net, noise->ranks_per_node, &q->net);
    if (code == UI_DONE) {
        code = simulate_set_memory(ui, memory, program, q->net);
    }
    if (code == UI_DONE) {
        code = simulate_make_set(ui, noise, &q->noise);
    }
    if (code == UI_DONE) {
        q->noise_names = program_join(&noise->specs, " + ");
        code = make_program(q, 0, 1.0);
    }
    if (code == UI_DONE) {
        code = simulate_check_net(ui, net, &q->made->source);
    }
    if (code == UI_DONE) {
        (void)snprintf(q->what, sizeof q->what, "%s", program_name(&q->made->source, name));
        q->traced = q->made->source.trace != NULL ? &q->made->source.traced : NULL;
    }
    return code;
}

void question_release(struct question *q)
{
    while (q->made != NULL) {
        drop_first(q);
    }
    iw_noise_set_free(q->noise);
    iw_net_free(q->net);
    free(q->noise_names);
}
