/* Reads what a check is asked.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/check/verb/check_demands.h"

#include "features/check/verb/check_fleet.h"

/* ---- time ---- */

struct check_times check_times_asked(const struct check_opts *opts, bool has_jobs)
{
    const struct asked_times asked = {.within_ns = opts->within_ps / IW_PS_PER_NS,
                                      .duration_ns = opts->duration_ps / IW_PS_PER_NS,
                                      .is_within_typed = opt_typed(opts, within_ps),
                                      .is_duration_typed = opt_typed(opts, duration_ps),
                                      .wants_watch = opts->wants_watch,
                                      .has_jobs = has_jobs};

    return check_times_of(&asked);
}

/* ---- what does not fit together ---- */

static int refuse_with_file(const struct ui *ui, const struct check_opts *opts)
{
    const char *option = opts->wants_watch              ? "--watch"
                         : opts->recording_path != NULL ? "--output"
                         : opt_typed(opts, duration_ps) ? "--duration"
                                                        : NULL;

    return option != NULL ? ui_usage(ui, "%s: nothing is measured where FILE is given", option) : UI_DONE;
}

static int refuse(const struct ui *ui, const struct check_opts *opts, bool has_file)
{
    const char *recording = opts->recording_path;

    if (has_file) {
        return refuse_with_file(ui, opts);
    }
    if (opts->sysroot != NULL) {
        return ui_usage(ui, "--sysroot: a recording of that node is needed, as FILE");
    }
    if (opt_typed(opts, duration_ps) && opt_typed(opts, within_ps) && opts->duration_ps >= opts->within_ps) {
        return ui_usage(ui, "--duration: all of --within would be spent on measuring: write a shorter "
                            "--duration or a longer --within");
    }
    if (recording != NULL && (ui_ends_with(recording, ".html") || ui_ends_with(recording, ".json"))) {
        return ui_usage(ui, "--output keeps the recording (HDF5), and '%s' looks like none: did you mean %s?",
                        recording, ui_ends_with(recording, ".html") ? "--html" : "--json");
    }
    return UI_DONE;
}

/* ---- values and files ---- */

static int read_limits(struct ui *ui, const struct check_opts *opts, iw_check_opts *limits)
{
    int code = ui_parse_share(ui, "--limit", opts->limit, &limits->most_lost);

    if (code == UI_DONE && limits->most_lost > 1.0) {
        code =
            ui_usage(ui, "--limit '%s' is more than all CPU time: write a share, 1%% or 0.01", opts->limit);
    }
    return code == UI_DONE
               ? ui_parse_share(ui, "--slowdown-limit", opts->slowdown_limit, &limits->most_slowdown)
               : code;
}

static int check_outputs(struct ui *ui, const struct check_opts *opts)
{
    const char *const paths[] = {opts->answer.learn, opts->answer.html, opts->answer.json,
                                 opts->recording_path};
    iw_status status = IW_OK;

    for (size_t i = 0; i < sizeof paths / sizeof paths[0] && status == IW_OK; i++) {
        status = paths[i] != NULL ? iw_output_check(&ui->log, paths[i], false) : IW_OK;
    }
    return ui_exit_of(status);
}

static int open_profile(struct ui *ui, const char *path, struct check_demands *demands)
{
    const iw_status status = iw_profile_open(&ui->log, path, &demands->profile, &demands->limits.profile);

    if (status == IW_ERR_FORMAT) {
        ui_hint(ui, "on a node that is good, 'idlewave check --learn FILE' writes a profile");
    }
    return ui_exit_of(status);
}

static int open_files(struct ui *ui, const struct check_opts *opts, struct check_demands *demands)
{
    int code = UI_DONE;

    if (opts->require != NULL && opts->answer.learn == NULL) {
        code = open_profile(ui, opts->require, demands);
    }
    if (code == UI_DONE && opts->baseline != NULL) {
        code = ui_exit_of(iw_recording_load(&ui->log, opts->baseline, &demands->baseline));
    }
    return code == UI_DONE && opts->fleet != NULL ? check_fleet_is_there(ui, opts->fleet) : code;
}

int check_demands_read(struct ui *ui, const struct check_opts *opts, bool has_file,
                       struct check_demands *demands)
{
    const iw_check_opts limits = IW_CHECK_OPTS_INIT;
    int code;

    *demands = (struct check_demands){.limits = limits};
    if (opts->answer.learn != NULL && opt_typed(opts, require)) {
        return ui_usage(ui, "--learn: a profile is learned, not required: leave --require out");
    }
    code = refuse(ui, opts, has_file);
    if (code == UI_DONE) {
        code = read_limits(ui, opts, &demands->limits);
    }
    if (code == UI_DONE) {
        code = check_outputs(ui, opts);
    }
    return code == UI_DONE ? open_files(ui, opts, demands) : code;
}

void check_demands_release(struct check_demands *demands)
{
    iw_recording_free(demands->baseline);
    iw_doc_close(demands->profile);
}
