/* Asks what-if for what each mitigation is worth.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/settings/verb/verify_worth.h"

#if IW_FEATURE_WHATIF
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features/whatif/verb/whatif_question.h"
#include "process/progress.h"

/* Recordings drawn anew, so that intervals tell how short they are. */
enum { REDRAWS = 12 };

/* What is in effect already gains nothing more. */
static bool is_missing(const iw_mitigation *m)
{
    return m->state == IW_MITIGATION_CONTRADICTED || m->state == IW_MITIGATION_ABSENT;
}

size_t worth_sets(const iw_verify *verify, iw_named_set *sets)
{
    size_t count = 0;

    for (size_t i = 0; i < verify->count; i++) {
        const iw_mitigation *m = &verify->mitigations[i];

        if (m->source_count > 0 && is_missing(m)) {
            sets[count++] = (iw_named_set){m->name, (const char *const *)m->sources, m->source_count};
        }
    }
    return count;
}

void worth_take(const iw_whatif *whatif, iw_verify *verify)
{
    for (size_t i = 0; i < whatif->change_count; i++) {
        const iw_change *change = &whatif->changes[i];

        for (size_t k = 0; change->kind == IW_CHANGE_SET && k < verify->count; k++) {
            if (strcmp(verify->mitigations[k].name, change->name) == 0) {
                verify->mitigations[k].has_worth = true;
                verify->mitigations[k].worth = change->saving;
            }
        }
    }
    iw_verify_sort(verify);
}

static iw_status ask(struct ui *ui, const struct worth_opts *opts, struct question *q, iw_verify *verify)
{
    const iw_sim_opts sim = IW_SIM_OPTS_INIT;
    iw_named_set *sets = ui_grow(NULL, verify->count + 1, sizeof *sets);
    iw_whatif_opts wanted = {.size = sizeof wanted,
                             .sim = sim,
                             .net = q->net,
                             .program = question_maker(q),
                             .sets = sets,
                             .set_count = worth_sets(verify, sets),
                             .target = -1.0,
                             .redraws = REDRAWS,
                             .most_parts = 1};
    char nodes[IW_NODES_TEXT_SIZE];
    struct progress progress;
    iw_whatif *whatif = NULL;
    iw_status status;

    wanted.sim.trials = opts->trials;
    wanted.sim.seed = opts->seed;
    wanted.sim.rendezvous = (iw_rendezvous)opts->net.rendezvous;
    progress_begin(&progress, 0, NULL);
    progress_tell(&progress, ui->verb, false);
    wanted.sim.progress = progress_calls(&progress);
    ui->progress = &progress;
    status = iw_whatif_run(&ui->log, q->noise, &wanted, &whatif);
    ui->progress = NULL;
    progress_wipe(&progress);
    free(sets);
    if (status == IW_OK) {
        worth_take(whatif, verify);
        iw_caveats_of_net(q->net, whatif->ranks, &verify->caveats);
        verify->slowdown = whatif->now;
        (void)snprintf(verify->job, sizeof verify->job, "%s on %u ranks of %s (%s)", q->what, whatif->ranks,
                       whatif->net,
                       iw_nodes_text(iw_noise_set_ranks_per_node(q->noise), 1,
                                     iw_noise_set_recorded_cpus(q->noise), NULL, nodes));
    }
    iw_whatif_free(whatif);
    return status;
}

int worth_cut_quiet(struct ui *ui, const char *name, const iw_recording *recording, const iw_verify *verify,
                    iw_recording **cut_p)
{
    uint32_t *cpus = ui_grow(NULL, recording->cpu_count + 1, sizeof *cpus);
    const bool is_any = iw_cpu_set_is_empty(&verify->quiet);
    iw_cut_opts opts = IW_CUT_OPTS_INIT;
    char list[64];
    iw_edit edit;
    int code;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        if (is_any || iw_cpu_set_has(&verify->quiet, recording->cpus[i].cpu)) {
            cpus[opts.cpu_count++] = recording->cpus[i].cpu;
        }
    }
    opts.cpus = cpus;
    code = opts.cpu_count > 0
               ? ui_exit_of(iw_recording_cut(&ui->log, name, recording, &opts, cut_p, &edit))
               : ui_usage(ui, "'%s' has none of the CPUs that should be quiet (%s); record those", name,
                          iw_cpu_set_text(&verify->quiet, list, sizeof list));
    free(cpus);
    return code;
}

int worth_fill(struct ui *ui, const struct worth_opts *opts, const char *name, const iw_recording *recording,
               iw_verify *verify)
{
    const struct noise_opts no_noise = {.ranks_per_node = opts->ranks_per_node}; /* it is in memory */
    const struct opt_args none = {0, NULL};
    iw_recording *cut = NULL;
    struct question q = {.ui = ui};
    int code = worth_cut_quiet(ui, name, recording, verify, &cut);

    if (cut == NULL) {
        return code;
    }
    code = question_init(&q, ui, &opts->program, &opts->net, &opts->memory, &no_noise, &none);
    if (code == UI_DONE) {
        code = ui_exit_of(iw_noise_set_add_recording(&ui->log, q.noise, name, cut));
        cut = code == UI_DONE ? NULL : cut;
    }
    if (code == UI_DONE) {
        iw_noise_set_align(q.noise, IW_SYNC_NONE, 0, (uint32_t)opts->ranks_per_node);
        code = ui_exit_of(ask(ui, opts, &q, verify));
    }
    iw_recording_free(cut);
    question_release(&q);
    return code;
}

#else
int worth_fill(struct ui *ui, const struct worth_opts *opts, const char *name, const iw_recording *recording,
               iw_verify *verify)
{
    (void)opts;
    (void)name;
    (void)recording;
    (void)verify;
    return ui_lacks(ui, "--pattern", "whatif");
}
#endif

bool worth_is_asked(const struct worth_opts *opts)
{
    return opts->program.patterns.count > 0;
}
