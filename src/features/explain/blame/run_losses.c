/* Cuts the detours of ranks at their calls.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "core/noise/recording_head.h"
#include "core/noise/recording_pieces.h"
#include "features/explain/blame/run.h"

struct cutter {
    struct iwi_blamed_run *run;
    const uint32_t *map;                 /* of the recording's sources */
    uint64_t call, end;                  /* where the rank is, and behind its last call */
    int64_t zero_ns;                     /* time 0 of the recording on the host's clock */
    int64_t from_ns, to_ns, added_ns[2]; /* the rank's time on that clock, and what to add at its ends */
    iw_status status;
};

/* The offset between the clocks changes evenly from the rank's first event to its last. */
static int64_t on_run_clock(const struct cutter *c, int64_t ns)
{
    const double span = (double)(c->to_ns - c->from_ns);
    const double part = span > 0.0 ? (double)(ns - c->from_ns) / span : 0.0;

    return ns + c->added_ns[0] + (int64_t)(part * (double)(c->added_ns[1] - c->added_ns[0]));
}

static int64_t overlap(int64_t from_ns, int64_t to_ns, int64_t start_ns, int64_t end_ns)
{
    return iwi_max(0, iwi_min(to_ns, end_ns) - iwi_max(from_ns, start_ns));
}

static iw_status add_loss(struct iwi_blamed_run *run, const struct iwi_run_loss *loss)
{
    iw_blame_source *source = &run->sources[loss->source];

    IW_TRY(iwi_grow(run->log, (void **)&run->losses, &run->loss_capacity, run->loss_count + 1,
                    sizeof *run->losses));
    run->losses[run->loss_count++] = *loss;
    source->lost_ns += (double)(loss->gap_ns + loss->wait_ns + loss->rest_ns);
    source->absorbed_ns += (double)loss->wait_ns;
    return IW_OK;
}

/* A piece of a detour; it may lie over several calls. */
static void cut_piece(void *arg, int64_t start_ns, int64_t end_ns, uint32_t source)
{
    struct cutter *c = arg;
    struct iwi_blamed_run *run = c->run;
    const int64_t from_ns = on_run_clock(c, c->zero_ns + start_ns),
                  to_ns = on_run_clock(c, c->zero_ns + end_ns);
    bool is_first = true;

    while (c->call < c->end && run->leave_ns[c->call] <= from_ns) {
        c->call++;
    }
    for (uint64_t i = c->call; i < c->end && c->status == IW_OK; i++) {
        const int64_t before_ns = iwi_run_before_ns(run, i);
        struct iwi_run_loss loss = {
            .call = i, .source = c->map[source], .at_ns = iwi_max(from_ns, before_ns)};

        if (before_ns >= to_ns) {
            break;
        }
        loss.gap_ns = overlap(from_ns, to_ns, before_ns, run->enter_ns[i]);
        loss.wait_ns = overlap(from_ns, to_ns, run->enter_ns[i], run->start_ns[i]);
        loss.rest_ns = overlap(from_ns, to_ns, run->start_ns[i], run->leave_ns[i]);
        if (loss.gap_ns + loss.wait_ns + loss.rest_ns > 0) {
            c->status = add_loss(run, &loss);
            run->sources[loss.source].detours += is_first;
            is_first = false;
        }
    }
}

static iw_status find_source(struct iwi_blamed_run *run, const iw_source *source, uint32_t *index_p)
{
    char name[IWI_SOURCE_TEXT_SIZE];
    size_t i = 0;

    (void)iwi_source_text(source, name);
    while (i < run->source_count && strcmp(run->sources[i].name, name) != 0) {
        i++;
    }
    if (i == run->source_count) {
        IW_TRY(
            iwi_grow(run->log, (void **)&run->sources, &run->source_capacity, i + 1, sizeof *run->sources));
        run->sources[i] =
            (iw_blame_source){.kind = source->kind, .remedy = iw_remedy_of(source->kind, source->name)};
        snprintf(run->sources[i].name, sizeof run->sources[i].name, "%s", name);
        run->source_count++;
    }
    *index_p = (uint32_t)i;
    return IW_OK;
}

static iw_status cut_rank(struct iwi_blamed_run *run, const iw_recording *recording, size_t cpu,
                          const uint32_t *map, int64_t zero_ns)
{
    const uint32_t rank = recording->cpus[cpu].cpu;
    struct cutter c = {.run = run, .map = map, .zero_ns = zero_ns};

    if (rank >= run->trace->rank_count) {
        return IW_OK;
    }
    c.call = run->first[rank];
    c.end = run->first[rank + 1];
    memcpy(c.added_ns, run->trace->ranks[rank].clock_added_ns, sizeof c.added_ns);
    c.from_ns = run->begin_ns[rank] - c.added_ns[0];
    c.to_ns = run->leave_ns[c.end - 1] - c.added_ns[1];
    iwi_cut_detours(&recording->cpus[cpu],
                    &(struct iwi_piece_sink){cut_piece, &c, recording->cpus[cpu].length_ns});
    return c.status;
}

static iw_status cut_recording(struct iwi_blamed_run *run, const iw_recording *recording)
{
    const char *start = iw_recording_get(recording, "start_mono_ns");
    uint32_t *map = iwi_new_array(run->log, recording->source_count, sizeof *map);
    iw_status status = map != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t i = 0; status == IW_OK && i < recording->source_count; i++) {
        status = find_source(run, &recording->sources[i], &map[i]);
    }
    for (size_t i = 0; status == IW_OK && i < recording->cpu_count; i++) {
        status = cut_rank(run, recording, i, map, start != NULL ? strtoll(start, NULL, 10) : 0);
    }
    free(map);
    return status;
}

IWI_COMPARE(compare_losses, struct iwi_run_loss, IWI_RISING(call), IWI_RISING(at_ns))

iw_status iwi_run_read_losses(struct iwi_blamed_run *run, const iw_recording *const *kernel, size_t count)
{
    size_t next = 0;

    for (size_t i = 0; i < count; i++) {
        IW_TRY(cut_recording(run, kernel[i]));
    }
    iwi_sort(run->losses, run->loss_count, compare_losses);
    run->first_loss = iwi_new_array(run->log, iwi_run_calls(run) + 1, sizeof *run->first_loss);
    if (run->first_loss == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint64_t call = 0; call <= iwi_run_calls(run); call++) {
        while (next < run->loss_count && run->losses[next].call < call) {
            next++;
        }
        run->first_loss[call] = next;
    }
    return IW_OK;
}

/* ---- looking for them ---- */

static int64_t end_of(const struct iwi_run_loss *loss)
{
    return loss->at_ns + loss->gap_ns + loss->wait_ns + loss->rest_ns;
}

size_t iwi_run_loss_after(const struct iwi_blamed_run *run, uint32_t rank, int64_t at_ns)
{
    size_t at;

    IWI_FIRST_NOT(at, (size_t)run->first_loss[run->first[rank]],
                  (size_t)run->first_loss[run->first[rank + 1]], end_of(&run->losses[at]) <= at_ns);
    return at;
}

int64_t iwi_run_loss_during(const struct iwi_blamed_run *run, const struct iwi_run_loss *loss, uint64_t call)
{
    return iwi_min(end_of(loss), run->leave_ns[call]) - iwi_max(loss->at_ns, run->start_ns[call]);
}
