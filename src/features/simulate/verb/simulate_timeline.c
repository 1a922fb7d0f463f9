/* The timeline of a simulation: what is known of the run, its exact window, the file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/simulate/verb/simulate_timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/window.h"
#include "options/window_choice.h"

/* A window that was asked for may have so many steps: at most 118 bytes each while they are being sorted, 1
 * GB in all. */
static const uint64_t MOST_STEPS_ASKED = UINT64_C(1) << 23;

/* ---- what is known ---- */

/* sigma of the paper (docs/explanation/waves.md): 2 where an exchange in two waits goes by rendezvous both
 * ways. */
static uint32_t sigma_of(const iw_pattern *halo, const iw_net *net)
{
    return !halo->is_one_way && halo->is_split && halo->bytes > net->S_bytes ? 2 : 1;
}

static void fill_about(const char *command, const iw_program *program, const iw_net *net,
                       iw_timeline_about *about)
{
    iw_pattern halo = IW_PATTERN_INIT;
    bool is_alone;

    (void)snprintf(about->title, sizeof about->title, "%s", command);
    (void)snprintf(about->net, sizeof about->net, "%s", net->name);
    about->ranks = about->dims[0] = iw_program_ranks(program);
    if (iw_program_halo(program, &halo, &is_alone)) {
        memcpy(about->dims, halo.dims, sizeof about->dims);
        about->is_periodic = halo.is_periodic;
        about->distance = halo.distance;
        about->sigma = is_alone ? sigma_of(&halo, net) : 0;
    }
}

/* Steps of a rank and how long they take together, roughly: 0 if the program is no pattern. */
struct guess {
    uint64_t steps;
    double time_ps;
};

static struct guess guess_run(const struct program_opts *opts, const struct program_source *source)
{
    const double most = 9e18; /* of an iw_time */
    struct guess guess = {.steps = 0};
    iw_time longest_ps = 0;

    if (source->path == NULL) {
        guess.steps = opts->repeat;
        guess.time_ps = 1.2 * (double)opts->compute_ps * (double)guess.steps;
    }
    for (size_t i = 0; i < source->delay_count; i++) { /* those of other ranks pass at the same time */
        longest_ps = longest_ps > source->delays[i].time_ps ? longest_ps : source->delays[i].time_ps;
    }
    if (guess.time_ps > 0.0) {
        guess.time_ps += (double)longest_ps;
    }
    guess.time_ps = guess.time_ps < most ? guess.time_ps : most;
    return guess;
}

/* ---- the window ---- */

/* Nobody asked for ranks: all if they fit, else some that have the first delay among them, or the first
 * ones. */
static void choose_ranks(const struct program_source *source, uint64_t steps, bool has_time,
                         iw_timeline_opts *timeline)
{
    const uint64_t fitting = steps > 0 ? timeline->max_steps / steps : 0;

    if (fitting >= timeline->about.ranks) {
        return;
    }
    if (steps > 0 && !has_time && source->delay_count > 0) {
        window_centre_on(source->delays[0].rank, fitting, timeline);
    } else if (steps > 0 && !has_time) {
        timeline->rank_count = fitting > 0 ? (uint32_t)fitting : 1;
    } else if (source->delay_count > 0) {
        window_begin_before(source->delays[0].rank, timeline);
    }
}

static int parse_window(struct ui *ui, const struct output_opts *opts, iw_timeline_opts *timeline)
{
    const uint32_t ranks = timeline->about.ranks;
    struct window window = {.has_ranks = false};
    int code = UI_DONE;

    if (opts->timeline_time != NULL) {
        code = window_parse_time(ui, "--timeline-time", opts->timeline_time, &window);
    }
    if (code == UI_DONE && opts->timeline_ranks != NULL) {
        code = window_parse_ranks(ui, "--timeline-ranks", opts->timeline_ranks, &window);
    }
    if (code != UI_DONE) {
        return code;
    }
    if (window.has_ranks && (window.first_rank >= ranks || window.last_rank >= ranks)) {
        return ui_usage(ui, "--timeline-ranks %s: the last of %u ranks is %u", opts->timeline_ranks, ranks,
                        ranks - 1);
    }
    timeline->first_rank = window.first_rank;
    timeline->rank_count = window_rank_count(&window, ranks);
    timeline->from_ps = window.from_ps;
    timeline->to_ps = window.to_ps;
    if (opts->timeline_time != NULL || opts->timeline_ranks != NULL) {
        timeline->max_steps = MOST_STEPS_ASKED;
    }
    return UI_DONE;
}

int simulate_new_timeline(struct ui *ui, const struct simulate_opts *opts, const iw_program *program,
                          const iw_net *net, const struct program_source *source, iw_timeline **timeline_p)
{
    const struct guess guess = guess_run(&opts->program, source);
    iw_timeline_opts timeline = IW_TIMELINE_OPTS_INIT;
    int code = ui_exit_of(iw_output_check(&ui->log, opts->output.timeline_path, true));

    if (code != UI_DONE) {
        return code;
    }
    fill_about(ui->command, program, net, &timeline.about);
    timeline.expected_ps = (iw_time)guess.time_ps;
    code = parse_window(ui, &opts->output, &timeline);
    if (code != UI_DONE) {
        return code;
    }
    if (opts->output.timeline_ranks == NULL) {
        choose_ranks(source, guess.steps, opts->output.timeline_time != NULL, &timeline);
    }
    return ui_exit_of(iw_timeline_new(&ui->log, &timeline, timeline_p));
}

int simulate_write_timeline(struct ui *ui, iw_timeline *timeline, const char *path)
{
    iw_status status = iw_timeline_finish(&ui->log, timeline);

    if (status == IW_OK) {
        status = iw_timeline_write(&ui->log, timeline, path);
    }
    return ui_exit_of(status);
}

static bool has_steps(const iw_timeline *timeline)
{
    for (uint32_t i = 0; i < iw_timeline_exact_ranks(timeline); i++) {
        uint64_t first;
        size_t count;

        (void)iw_timeline_steps(timeline, i, &count, &first);
        if (count > 0) {
            return true;
        }
    }
    return false;
}

void simulate_print_timeline(const iw_timeline *timeline, const char *path)
{
    const uint32_t ranks = iw_timeline_describe(timeline)->ranks;
    const uint32_t exact = iw_timeline_exact_ranks(timeline);
    const char *plural = ranks == 1 ? "" : "s";

    if (iw_timeline_is_whole(timeline)) {
        printf("timeline  %s (every step of %u rank%s)\n", path, ranks, plural);
    } else if (exact == 0) {
        printf("timeline  %s (%u rank%s as a raster, no steps)\n", path, ranks, plural);
    } else if (!has_steps(timeline)) {
        printf("timeline  %s (%u rank%s as a raster, no step in that time)\n", path, ranks, plural);
    } else if (exact == 1) {
        printf("timeline  %s (%u rank%s as a raster, steps of rank %u)\n", path, ranks, plural,
               iw_timeline_exact_rank(timeline, 0));
    } else {
        printf("timeline  %s (%u ranks as a raster, steps of ranks %u to %u)\n", path, ranks,
               iw_timeline_exact_rank(timeline, 0), iw_timeline_exact_rank(timeline, exact - 1));
    }
}
