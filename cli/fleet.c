/* All processes of a verb that a launcher of MPI started: one run, told by one of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fleet.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* ---- messages ---- */

/* Notes and warnings are told by the first process, errors once for each node. */
static void tell(void *arg, iw_log_level level, const char *text)
{
    struct fleet *fleet = arg;

    if (level == IW_LOG_ERROR) {
        fleet->speaker.log.write(fleet->speaker.log.arg, level, text);
    } else if (fleet->launcher.rank == 0) {
        fleet->speaker.below.write(fleet->speaker.below.arg, level, text);
    }
}

static bool is_of_many(const struct fleet *fleet)
{
    return fleet->launcher.name != NULL && fleet->launcher.size != 1; /* 0: the launcher does not tell */
}

void fleet_begin(struct fleet *fleet, struct ui *ui)
{
    *fleet = (struct fleet){.ui = ui, .sharers = 1};
    speaker_init(&fleet->speaker, ui);
    if (iw_launcher_detect(NULL, &fleet->launcher) != IW_OK) {
        return; /* fleet_open() says why */
    }
    speaker_take_ui(&fleet->speaker, ui);
    if (fleet->speaker.is_one_of_many) {
        ui->log = (iw_log){tell, fleet};
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

static iw_status finish(const struct fleet *fleet, iw_link_request *request)
{
    static const struct timespec a_while = {.tv_nsec = 50000};
    const iw_link *link = fleet->link;
    bool is_done = false;

    for (uint32_t looks = 0; !is_done; looks++) {
        const iw_status status = link->test(link->arg, &fleet->ui->log, request, &is_done);

        if (status != IW_OK) {
            return status;
        }
        if (looks > 100) {
            (void)nanosleep(&a_while, NULL);
        }
    }
    return IW_OK;
}

static iw_status send_to(const struct fleet *fleet, uint32_t to, const struct report *report)
{
    const iw_link *link = fleet->link;
    iw_link_request *request;
    const iw_status status = link->send(link->arg, &fleet->ui->log, to, 0, report, sizeof *report, &request);

    return status == IW_OK ? finish(fleet, request) : status;
}

static iw_status receive_from(const struct fleet *fleet, uint32_t from, struct report *report)
{
    const iw_link *link = fleet->link;
    iw_link_request *request;
    const iw_status status =
        link->receive(link->arg, &fleet->ui->log, from, 0, report, sizeof *report, &request);

    return status == IW_OK ? finish(fleet, request) : status;
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

static iw_status meet_first(const struct fleet *fleet, struct report *mine)
{
    const uint32_t count = fleet->link->size;
    struct report *reports = ui_grow(NULL, count, sizeof *reports);
    iw_status status = IW_OK;

    reports[0] = *mine;
    for (uint32_t p = 1; status == IW_OK && p < count; p++) {
        status = receive_from(fleet, p, &reports[p]);
    }
    if (status == IW_OK) {
        judge(reports, count);
        *mine = reports[0];
    }
    for (uint32_t p = 1; status == IW_OK && p < count; p++) {
        status = send_to(fleet, p, &reports[p]);
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

/* All processes leave it with the largest exit code of any of them. */
static int agree(struct fleet *fleet, int code)
{
    struct report report = {.code = code, .node = fleet->link->node, .cpus = digest_of_cpus()};
    iw_status status = IW_OK;

    if (fleet->link->rank == 0) {
        status = meet_first(fleet, &report);
    } else {
        status = send_to(fleet, 0, &report);
        if (status == IW_OK) {
            status = receive_from(fleet, 0, &report);
        }
    }
    if (status != IW_OK) {
        fleet_abort(fleet, ui_exit_of(status));
    }
    fleet->sharers = report.sharers;
    return report.code;
}

int fleet_open(struct fleet *fleet, int code)
{
    struct ui *ui = fleet->ui;
    iw_status status = iw_launcher_detect(&fleet->speaker.log, &fleet->launcher);

    if (code == UI_DONE && status == IW_OK && fleet->launcher.name == NULL && fleet->launcher.size > 1) {
        ui_error(ui,
                 "srun has started %u processes that no MPI connects, and each would do all of the work: add "
                 "--mpi=pmix to srun for Open MPI, --mpi=pmi2 for MPICH, or start one process",
                 (unsigned)fleet->launcher.size);
        return UI_USAGE;
    }
    if (status != IW_OK || !is_of_many(fleet)) {
        return code != UI_DONE ? code : ui_exit_of(status);
    }
    status = iw_mpi_load(&ui->log, fleet->launcher.name, &fleet->part);
    if (status == IW_OK) {
        status = fleet->part->link_open(&ui->log, &fleet->link);
    }
    if (status != IW_OK) { /* all of them met it */
        return ui_exit_of(status);
    }
    return agree(fleet, code);
}

/* ---- while it runs ---- */

bool fleet_is_first(const struct fleet *fleet)
{
    return fleet->link == NULL || fleet->link->rank == 0;
}

uint32_t fleet_threads(const struct fleet *fleet)
{
    cpu_set_t set;
    uint32_t cpus;

    if (fleet->link == NULL) {
        return 0;
    }
    if (fleet->link->most_threads == 1 || sched_getaffinity(0, sizeof set, &set) != 0) {
        return 1;
    }
    cpus = (uint32_t)CPU_COUNT(&set);
    return cpus > fleet->sharers ? cpus / fleet->sharers : 1;
}

void fleet_abort(struct fleet *fleet, int code)
{
    if (fleet->link != NULL && fleet->link->size > 1) {
        fleet->part->abort(code);
    }
}

int fleet_end(struct fleet *fleet, int code)
{
    if (fleet->link != NULL) {
        code = agree(fleet, code);
    }
    if (fleet->part != NULL) {
        fleet->part->stop();
    }
    fleet->link = NULL;
    speaker_leave_ui(&fleet->speaker, fleet->ui);
    return code;
}
