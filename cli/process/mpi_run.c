/* All processes of a verb that a launcher of MPI started: one run, told by one of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "process/mpi_run.h"

#include <idlewave/internal/link.h>

#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* ---- messages ---- */

/* Notes and warnings are told by the first process, errors once for each node. */
static void tell(void *arg, iw_log_level level, const char *text)
{
    struct mpi_run *mpi_run = arg;

    if (level == IW_LOG_ERROR) {
        mpi_run->node_log.log.write(mpi_run->node_log.log.arg, level, text);
    } else if (mpi_run->launcher.rank == 0) {
        mpi_run->node_log.below.write(mpi_run->node_log.below.arg, level, text);
    }
}

static bool is_of_many(const struct mpi_run *mpi_run)
{
    return mpi_run->launcher.name != NULL && mpi_run->launcher.size != 1; /* 0: the launcher does not tell */
}

void mpi_run_begin(struct mpi_run *mpi_run, struct ui *ui)
{
    *mpi_run = (struct mpi_run){.ui = ui, .sharers = 1};
    node_log_init(&mpi_run->node_log, ui);
    if (iw_launcher_detect(NULL, &mpi_run->launcher) != IW_OK) {
        return; /* mpi_run_open() says why */
    }
    node_log_take_ui(&mpi_run->node_log, ui);
    if (mpi_run->node_log.is_one_of_many) {
        ui->log = (iw_log){tell, mpi_run};
    }
}

/* ---- meeting ---- */

/* What each process tells the first one, and what it is told. */
struct report {
    int32_t code;
    uint32_t node;
    uint64_t cpus; /* a digest of those that it may use */
    uint32_t sharers;
};

static iw_status finish(const struct mpi_run *mpi_run, iw_link_request *request)
{
    static const struct timespec a_while = {.tv_nsec = 50000};
    const iw_link *link = mpi_run->link;
    bool is_done = false;

    for (uint32_t looks = 0; !is_done; looks++) {
        const iw_status status = link->test(link->arg, &mpi_run->ui->log, request, &is_done);

        if (status != IW_OK) {
            return status;
        }
        if (looks > 100) {
            (void)nanosleep(&a_while, NULL);
        }
    }
    return IW_OK;
}

iw_status mpi_run_send(const struct mpi_run *mpi_run, uint32_t to, const void *data, size_t bytes)
{
    const iw_link *link = mpi_run->link;
    iw_link_request *request;
    const iw_status status = link->send(link->arg, &mpi_run->ui->log, to, 0, data, bytes, &request);

    return status == IW_OK ? finish(mpi_run, request) : status;
}

iw_status mpi_run_receive(const struct mpi_run *mpi_run, uint32_t from, void *data, size_t bytes)
{
    const iw_link *link = mpi_run->link;
    iw_link_request *request;
    const iw_status status = link->receive(link->arg, &mpi_run->ui->log, from, 0, data, bytes, &request);

    return status == IW_OK ? finish(mpi_run, request) : status;
}

/* The largest code is everybody's; processes of a node are neighbours. */
static void judge(struct report *reports, uint32_t count)
{
    int32_t code = 0;

    for (uint32_t p = 0; p < count; p++) {
        code = reports[p].code > code ? reports[p].code : code;
        reports[p].sharers = 0;
        for (uint32_t q = p; q-- > 0 && reports[q].node == reports[p].node;) {
            reports[p].sharers += reports[q].cpus == reports[p].cpus;
        }
        for (uint32_t q = p; q < count && reports[q].node == reports[p].node; q++) {
            reports[p].sharers += reports[q].cpus == reports[p].cpus;
        }
    }
    for (uint32_t p = 0; p < count; p++) {
        reports[p].code = code;
    }
}

static iw_status meet_first(const struct mpi_run *mpi_run, struct report *mine)
{
    const uint32_t count = mpi_run->link->size;
    struct report *reports = ui_grow(NULL, count, sizeof *reports);
    iw_status status = IW_OK;

    reports[0] = *mine;
    for (uint32_t p = 1; status == IW_OK && p < count; p++) {
        status = mpi_run_receive(mpi_run, p, &reports[p], sizeof reports[p]);
    }
    if (status == IW_OK) {
        judge(reports, count);
        *mine = reports[0];
    }
    for (uint32_t p = 1; status == IW_OK && p < count; p++) {
        status = mpi_run_send(mpi_run, p, &reports[p], sizeof reports[p]);
    }
    free(reports);
    return status;
}

/* FNV-1a over the CPUs that this process may use. */
static uint64_t digest_of_cpus(void)
{
    uint64_t digest = UINT64_C(14695981039346656037);
    cpu_set_t set;

    CPU_ZERO(&set);
    (void)sched_getaffinity(0, sizeof set, &set);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &set)) {
            digest = (digest ^ cpu) * UINT64_C(1099511628211);
        }
    }
    return digest;
}

int mpi_run_agree(struct mpi_run *mpi_run, int code)
{
    struct report report = {.code = code, .cpus = digest_of_cpus()};
    iw_status status = IW_OK;

    if (mpi_run->link == NULL) {
        return code;
    }
    report.node = mpi_run->link->node;
    if (mpi_run->link->rank == 0) {
        status = meet_first(mpi_run, &report);
    } else {
        status = mpi_run_send(mpi_run, 0, &report, sizeof report);
        if (status == IW_OK) {
            status = mpi_run_receive(mpi_run, 0, &report, sizeof report);
        }
    }
    if (status != IW_OK) {
        mpi_run_abort(mpi_run, ui_exit_of(status));
    }
    mpi_run->sharers = report.sharers;
    return report.code;
}

int mpi_run_open(struct mpi_run *mpi_run, int code)
{
    struct ui *ui = mpi_run->ui;
    iw_status status = iw_launcher_detect(&mpi_run->node_log.log, &mpi_run->launcher);

    if (code == UI_DONE && status == IW_OK && mpi_run->launcher.name == NULL && mpi_run->launcher.size > 1) {
        ui_error(ui,
                 "srun started %u processes without an MPI connection, each of which would do all of the "
                 "work: add --mpi=pmix to srun for Open MPI, --mpi=pmi2 for MPICH, or start one process",
                 (unsigned)mpi_run->launcher.size);
        return UI_USAGE;
    }
    if (status != IW_OK || !is_of_many(mpi_run)) {
        return code != UI_DONE ? code : ui_exit_of(status);
    }
    status = iw_mpi_load(&ui->log, mpi_run->launcher.name, &mpi_run->part);
    if (status == IW_OK) {
        ui->has_mpi = true;
        status = mpi_run->part->link_open(&ui->log, &mpi_run->link);
    }
    if (status != IW_OK) { /* all of them met it, or MPI is not started and main() ends them */
        return ui_exit_of(status);
    }
    return mpi_run_agree(mpi_run, code);
}

/* ---- while it runs ---- */

bool mpi_run_is_first(const struct mpi_run *mpi_run)
{
    return mpi_run->link == NULL || mpi_run->link->rank == 0;
}

uint32_t mpi_run_threads(const struct mpi_run *mpi_run)
{
    cpu_set_t set;
    uint32_t cpus;

    if (mpi_run->link == NULL) {
        return 0;
    }
    if (mpi_run->link->most_threads == 1 || sched_getaffinity(0, sizeof set, &set) != 0) {
        return 1;
    }
    cpus = (uint32_t)CPU_COUNT(&set);
    return cpus > mpi_run->sharers ? cpus / mpi_run->sharers : 1;
}

void mpi_run_abort(struct mpi_run *mpi_run, int code)
{
    if (mpi_run->link != NULL && mpi_run->link->size > 1) {
        mpi_run->part->abort(code);
    }
}

int mpi_run_end(struct mpi_run *mpi_run, int code)
{
    code = mpi_run_agree(mpi_run, code);
    if (mpi_run->part != NULL) {
        mpi_run->part->stop();
    }
    mpi_run->link = NULL;
    node_log_leave_ui(&mpi_run->node_log, mpi_run->ui);
    return code;
}
