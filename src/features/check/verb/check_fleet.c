/* Compares a node with its fleet: the judgement of `fleet`, of which only this node is of interest.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/check/verb/check_fleet.h"

#if IW_FEATURE_FLEET
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "features/fleet/verb/node_files.h"

/* The nodes of a fleet, and this one behind them. */
struct peers {
    iw_digest_stream others;
    const char *host;
    const iw_recording *recording;
    bool is_behind; /* this one has been given out too */
};

static iw_status go_back(const iw_log *log, void *arg)
{
    struct peers *peers = arg;

    peers->is_behind = false;
    return peers->others.rewind(log, peers->others.arg);
}

static bool is_comparable(const struct peers *peers, const iw_digest *digest)
{
    return digest->probe == peers->recording->probe && strcmp(digest->node, peers->host) != 0;
}

static iw_status next(const iw_log *log, void *arg, iw_digest **digest_p)
{
    struct peers *peers = arg;

    do {
        IW_TRY(peers->others.next(log, peers->others.arg, digest_p));
        if (*digest_p == NULL || is_comparable(peers, *digest_p)) {
            break;
        }
        iw_digest_free(*digest_p);
    } while (true);
    if (*digest_p != NULL || peers->is_behind) {
        return IW_OK;
    }
    peers->is_behind = true;
    return iw_digest_make(log, peers->host, peers->recording, digest_p);
}

/* "irq/eno1 on CPU 3: 0.42 % of the time (fleet 0.01 %)". */
static void describe(const iw_fleet_finding *finding, const char *name, char *text, size_t size)
{
    char cpu[32] = "", values[96], longest[32], usual[32];

    if (finding->has_cpu) {
        (void)snprintf(cpu, sizeof cpu, " on CPU %u", finding->cpu);
    }
    switch (finding->metric) {
    case IW_FLEET_SHARE:
        (void)snprintf(values, sizeof values, "%.3g %% of the time (fleet %.3g %%)", 100.0 * finding->value,
                       100.0 * finding->median);
        break;
    case IW_FLEET_RATE:
        (void)snprintf(values, sizeof values, "%.*f detours a second (fleet %.*f)",
                       finding->value < 10.0 ? 2 : 0, finding->value, finding->median < 10.0 ? 2 : 0,
                       finding->median);
        break;
    default:
        (void)snprintf(values, sizeof values, "detours up to %s (fleet %s)",
                       iw_format_time((iw_time)(finding->value * IW_PS_PER_NS), longest, sizeof longest),
                       iw_format_time((iw_time)(finding->median * IW_PS_PER_NS), usual, sizeof usual));
        break;
    }
    (void)snprintf(text, size, "%.120s%s: %s", finding->is_all ? "all sources together" : name, cpu, values);
}

static void take_verdict(const iw_fleet *fleet, const char *host, iw_check_fleet *found)
{
    found->node_count = fleet->node_count - 1;
    found->finding_count = 0;
    for (size_t i = 0; i < fleet->node_count; i++) {
        if (strcmp(fleet->nodes[i].name, host) == 0) {
            found->finding_count = fleet->nodes[i].finding_count;
        }
    }
    for (size_t i = 0; i < fleet->finding_count; i++) { /* the largest excess comes first */
        const iw_fleet_finding *finding = &fleet->findings[i];
        char name[IW_SOURCE_NAME_SIZE + 16];

        if (strcmp(finding->node, host) == 0) {
            (void)snprintf(name, sizeof name, "%s/%s", iw_class_name(finding->source.kind),
                           finding->source.name);
            describe(finding, name, found->largest, sizeof found->largest);
            return;
        }
    }
}

static iw_status judge(const iw_log *log, const char *path, struct peers *peers, iw_check_fleet *found)
{
    iw_fleet_opts opts = IW_FLEET_OPTS_INIT;
    const iw_digest_stream stream = {.arg = peers, .rewind = go_back, .next = next};
    iw_fleet *fleet = NULL;
    iw_status status = iw_fleet_new(log, path, &fleet);

    opts.threads = peers->recording->probe == IW_PROBE_WATCH ? 1 : 0; /* programs run beside it */
    status = status == IW_OK ? iw_fleet_read(log, fleet, &stream) : status;
    status = status == IW_OK ? iw_fleet_judge(log, fleet, &opts) : status;
    if (status == IW_OK) {
        take_verdict(fleet, peers->host, found);
    }
    iw_fleet_free(fleet);
    return status;
}

int check_fleet_is_there(struct ui *ui, const char *path)
{
    struct node_files nodes;
    iw_status status = node_files_open(&ui->log, path, NULL, &nodes);

    if (status == IW_OK) {
        if (access(path, R_OK) != 0) {
            ui_error(ui, "--fleet: cannot read '%s': %s", path, strerror(errno));
            status = IW_ERR_IO;
        }
        node_files_close(&nodes);
    }
    return ui_exit_of(status);
}

int check_fleet(struct ui *ui, const char *path, const char *host, const iw_recording *recording,
                iw_check_fleet *found)
{
    struct peers peers = {.host = host, .recording = recording};
    struct node_files nodes;
    iw_status status = node_files_open(&ui->log, path, NULL, &nodes);

    if (status != IW_OK) {
        return ui_exit_of(status);
    }
    peers.others = node_files_stream(&nodes);
    status = judge(&ui->log, path, &peers, found);
    if (status == IW_OK && nodes.unread_count > 0) {
        const bool is_all = found->node_count == 0;

        ui->log.write(ui->log.arg, is_all ? IW_LOG_ERROR : IW_LOG_WARN, nodes.unread[0].reason);
        status = is_all ? IW_ERR_FORMAT : IW_OK;
    }
    node_files_close(&nodes);
    return ui_exit_of(status);
}

#else
int check_fleet_is_there(struct ui *ui, const char *path)
{
    (void)path;
    return ui_lacks(ui, "--fleet", "fleet");
}

int check_fleet(struct ui *ui, const char *path, const char *host, const iw_recording *recording,
                iw_check_fleet *found)
{
    (void)host;
    (void)recording;
    (void)found;
    return check_fleet_is_there(ui, path);
}
#endif
