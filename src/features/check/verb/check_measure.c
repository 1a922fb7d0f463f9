/* Records a node, or watches the programs that run on it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/check/verb/check_measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/interrupt.h"
#include "process/progress.h"

/* Programs may end between looking and watching. */
enum { MOST_LOOKS = 3 };

struct measuring {
    struct ui *ui;
    const struct cpu_list *cpus;
    const struct check_times *times;
    struct progress progress;
};

static bool step(void *arg, const iw_progress_now *now)
{
    struct measuring *m = arg;

    progress_update(&m->progress, now->share);
    return !interrupt_has_come();
}

static const uint32_t *numbers_of(const struct cpu_list *cpus)
{
    return cpus->count > 0 ? cpus->numbers : NULL;
}

/* ---- is it at work? ---- */

static int look(struct measuring *m, iw_look *look_p, bool *is_busy_p)
{
    iw_noise_report_opts opts = IW_NOISE_REPORT_OPTS_INIT;
    iw_noise_report report;
    int code = ui_exit_of_value(m->ui, iw_look_at(&m->ui->log, numbers_of(m->cpus), m->cpus->count,
                                                  m->times->look_ns, m->ui->command, look_p));

    if (code != UI_DONE) {
        return code;
    }
    code = ui_exit_of(iw_noise_report_init(&m->ui->log, look_p->recording, &opts, &report));
    if (code == UI_DONE) {
        *is_busy_p = report.facts.load.is_busy;
        iw_noise_report_release(&report);
    } else {
        iw_look_release(look_p);
    }
    return code;
}

/* ---- one or the other ---- */

static int record(struct measuring *m, struct measured *measured)
{
    iw_measure_opts opts = IW_MEASURE_OPTS_INIT;

    opts.duration_ns = m->times->measured_ns;
    opts.cpus = numbers_of(m->cpus);
    opts.cpu_count = m->cpus->count;
    opts.command = m->ui->command;
    opts.progress = (iw_progress){step, m};
    return ui_exit_of_value(m->ui, iw_measure(&m->ui->log, &opts, &measured->recording));
}

/* Why watching failed is told as a warning: the node is busy all the same. */
struct reason {
    char text[512];
};

#if IW_FEATURE_WATCH
static void keep(void *arg, iw_log_level level, const char *text)
{
    struct reason *reason = arg;

    if (level == IW_LOG_ERROR) {
        (void)snprintf(reason->text, sizeof reason->text, "%s", text);
    }
}

/* IW_ERR_RANGE: those programs have ended. */
static iw_status watch(struct measuring *m, const iw_look *look, struct reason *reason,
                       iw_recording **recording_p)
{
    const iw_log log = {keep, reason};
    iw_watch_opts opts = IW_WATCH_OPTS_INIT;
    iw_watch_result *result = NULL;
    iw_status status = IW_ERR_IO;

    opts.pids = look->pids;
    opts.pid_count = look->pid_count;
    opts.cpus = numbers_of(m->cpus);
    opts.cpu_count = m->cpus->count;
    opts.duration_ns = m->times->busy_ns;
    opts.command = m->ui->command;
    opts.progress = (iw_progress){step, m};
    IW_TRY(iw_watch(&log, &opts, &result));
    if (result->totals.wanted_ns > 0) {
        *recording_p = result->recording;
        result->recording = NULL;
        status = IW_OK;
    } else {
        (void)snprintf(reason->text, sizeof reason->text, "%s wanted none of these CPUs", result->job);
    }
    iw_watch_result_free(result);
    return status;
}
#else
static iw_status watch(struct measuring *m, const iw_look *look, struct reason *reason,
                       iw_recording **recording_p)
{
    (void)m;
    (void)look;
    (void)recording_p;
    (void)snprintf(reason->text, sizeof reason->text, "this build leaves out the feature 'watch'");
    return IW_ERR_UNSUPPORTED;
}
#endif

/* Who used the CPUs is known from looking; `under` says that it is no surprise. */
static int note_load(struct ui *ui, const iw_look *look, bool is_judged, iw_recording *recording)
{
    int code = UI_DONE;

    for (size_t i = 0; i < look->recording->attribute_count && code == UI_DONE; i++) {
        const iw_attribute *attribute = &look->recording->attributes[i];

        if (strncmp(attribute->name, "load_", strlen("load_")) == 0) {
            code = ui_exit_of(iw_recording_set(&ui->log, recording, attribute->name, attribute->value));
        }
    }
    return code == UI_DONE && is_judged
               ? ui_exit_of(iw_recording_set(&ui->log, recording, "under", "the programs of users that ran"))
               : code;
}

/* What was seen by looking is all there is. */
static int give_up(struct ui *ui, const struct reason *reason, bool wants_watch, iw_look *seen,
                   struct measured *measured)
{
    char text[sizeof reason->text + 128];

    if (wants_watch) {
        ui_error(ui, "%s", reason->text);
        return UI_ERROR;
    }
    (void)snprintf(text, sizeof text, "programs of users run, and what they lose cannot be told: %s",
                   reason->text);
    ui->log.write(ui->log.arg, IW_LOG_WARN, text);
    measured->recording = seen->recording;
    measured->is_watched = true;
    seen->recording = NULL;
    return UI_DONE;
}

/* `seen` is a look at programs that run. */
static int watch_users(struct measuring *m, bool wants_watch, iw_look *seen, struct measured *measured)
{
    struct reason reason = {.text = "no program is left"};
    iw_status status = IW_ERR_RANGE;
    bool is_busy = true;
    int code = UI_DONE;

    for (int looks = 1; status == IW_ERR_RANGE && seen->pid_count > 0; looks++) {
        status = watch(m, seen, &reason, &measured->recording);
        if (status != IW_ERR_RANGE || looks == MOST_LOOKS) {
            break;
        }
        iw_look_release(seen);
        code = look(m, seen, &is_busy);
        if (code != UI_DONE) {
            return code;
        }
    }
    if (status != IW_OK) {
        return give_up(m->ui, &reason, wants_watch, seen, measured);
    }
    measured->is_watched = true;
    return note_load(m->ui, seen, wants_watch, measured->recording);
}

static int measure(struct measuring *m, bool wants_watch, struct measured *measured)
{
    iw_look seen = {.pid_count = 0};
    bool is_busy = false;
    int code = m->times->has_look ? look(m, &seen, &is_busy) : UI_DONE;

    if (code == UI_DONE && wants_watch && !is_busy) {
        ui_error(m->ui, "--watch: no program of users keeps these CPUs busy: without --watch the node itself "
                        "is measured");
        code = UI_UNDECIDED;
    }
    if (code == UI_DONE) {
        code = is_busy ? watch_users(m, wants_watch, &seen, measured) : record(m, measured);
    }
    iw_look_release(&seen);
    return code;
}

int check_measure(struct ui *ui, const struct cpu_list *cpus, const struct check_times *times,
                  bool wants_watch, struct measured *measured)
{
    struct measuring m = {.ui = ui, .cpus = cpus, .times = times};
    struct interrupt interrupt;
    int code;

    *measured = (struct measured){.recording = NULL};
    progress_begin(&m.progress, 0.0, NULL);
    ui->progress = &m.progress;
    interrupt_catch(&interrupt);
    code = measure(&m, wants_watch, measured);
    interrupt_release(&interrupt);
    ui->progress = NULL;
    progress_wipe(&m.progress);
    return code;
}
