/* `idlewave fleet digest`: the noise of nodes in a few kilobytes each, for fleets.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include <idlewave/idlewave.h>

#include "features/fleet/verb/fleet_verbs.h"
#include "features/fleet/verb/node_files.h"

struct digest_opts {
    struct opt_origins origins;
    const char *output, *node;
};

#define ROW(...) OPT_ROW(struct digest_opts, __VA_ARGS__)
static const struct opt rows[] = {
    ROW("output", OPT_STRING, output, "FILE", "file of digests to write", .letter = 'o'),
    ROW("node", OPT_STRING, node, "NAME", "name of the node (default: the file's, without .h5)"),
};
#undef ROW

static const struct opt_group groups[] = {OPT_GROUP("Output", rows, 0)};

static const struct digest_opts defaults = {.output = NULL};

static const char *const synopsis[] = {"[options] FILE|DIR... -o FILE", NULL};

static const char description[] =
    "Write digests: a few kilobytes per recording, with its losses by source and CPU, the lengths of its "
    "detours, and the node's settings. 'idlewave fleet' takes digests in place of recordings and "
    "gives the same answer. Simulations need recordings.\nA file holds any number of digests; join files "
    "with this verb, or with cat. If a node has several digests, fleets use the latest.";

static const struct example examples[] = {
    {"on each node",
     "idlewave record --duration 60s -o /tmp/noise.h5 && \\\n"
     "      idlewave fleet digest /tmp/noise.h5 --node $(hostname) -o noise/$(hostname).digest"},
    {"a fleet in one file", "idlewave fleet digest noise -o week47.digest"},
    {"then", "idlewave fleet week47.digest"},
    {NULL, NULL},
};

/* One path after the other into one file. */
struct digesting {
    struct ui *ui;
    const char *node; /* or NULL */
    iw_digest_writer *writer;
    size_t count;
};

static iw_status add(struct digesting *d, iw_digest *digest)
{
    if (d->node != NULL && d->count++ > 0) {
        ui_error(d->ui, "--node names one node, but there are several");
        return IW_ERR_USAGE;
    }
    if (d->node != NULL) {
        free(digest->node);
        digest->node = strdup(d->node);
        if (digest->node == NULL) {
            return IW_ERR_NOMEM;
        }
    }
    return iw_digest_writer_add(d->writer, digest);
}

static iw_status add_nodes(struct digesting *d, struct node_files *nodes)
{
    const iw_digest_stream stream = node_files_stream(nodes);
    iw_digest *digest = NULL;

    do {
        iw_status status;

        IW_TRY(stream.next(&d->ui->log, stream.arg, &digest));
        status = digest != NULL ? add(d, digest) : IW_OK;
        iw_digest_free(digest);
        IW_TRY(status);
    } while (digest != NULL);
    if (nodes->unread_count > 0) {
        ui_error(d->ui, "%s", nodes->unread[0].reason);
        return IW_ERR_FORMAT;
    }
    return IW_OK;
}

static iw_status add_path(struct digesting *d, const char *path)
{
    struct node_files nodes;
    iw_status status;

    IW_TRY(node_files_open(&d->ui->log, path, NULL, &nodes));
    status = add_nodes(d, &nodes);
    node_files_close(&nodes);
    return status;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct digest_opts *opts = values;
    struct digesting d = {.ui = ui, .node = opts->node};
    iw_status status, closed;

    if (args->count == 0) {
        return ui_usage(ui, "no recording given; type: idlewave fleet digest FILE|DIR... -o FILE");
    }
    if (opts->output == NULL) {
        return ui_usage(ui, "no output given; add -o FILE, for example -o nodes.digest");
    }
    status = iw_digest_writer_open(&ui->log, opts->output, &d.writer);
    for (size_t i = 0; i < args->count && status == IW_OK; i++) {
        status = add_path(&d, args->values[i]);
    }
    closed = iw_digest_writer_close(d.writer, status == IW_OK);
    return ui_exit_of(status != IW_OK ? status : closed);
}

enum { MOST_PATHS = 1 << 16 };

const struct verb verb_fleet_digest = {
    .name = "fleet digest",
    .summary = "summarise recordings in a few kilobytes each, for fleets",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "FILE",
    .argument_help = "recordings (HDF5), files of digests, or folders of them",
    VERB_GROUPS(groups),
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = MOST_PATHS,
    .run = run,
};
