/* `idlewave fleet show`: what the digest of one node says.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/idlewave.h>

#include "features/fleet/verb/fleet_verbs.h"
#include "options/shown_opts.h"
#include "options/suggest.h"

struct show_opts {
    struct opt_origins origins;
    const char *node; /* NULL: the only one */
    struct shown_opts shown;
};

#define ROW(...) OPT_ROW(struct show_opts, __VA_ARGS__)
static const struct opt rows[] = {
    ROW("node", OPT_STRING, node, "NAME", "in a file of several digests: this node, its latest digest"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("What to show", rows, 0),
    SHOWN_GROUP("Output; csv has one line per source", offsetof(struct show_opts, shown)),
};

static const struct show_opts defaults = {.node = NULL};

static const char *const synopsis[] = {"[options] FILE", NULL};

static const struct example examples[] = {
    {"show one node of many digests", "idlewave fleet show week47.digest --node n0713"},
    {NULL, NULL},
};

/* ---- names ---- */

enum { FIRST_NAMES = 5 };

/* Nodes that a file has, for who asks for another one. */
struct names {
    char *first[FIRST_NAMES];
    size_t count;
    bool are_more;
    char *nearest; /* to the one asked for, or NULL */
    size_t distance;
};

static char *copy_of(const char *node)
{
    const size_t size = strlen(node) + 1;

    return memcpy(ui_grow(NULL, size, 1), node, size);
}

static void keep_first(struct names *names, const char *node)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->first[i], node) == 0) {
            return;
        }
    }
    if (names->count < FIRST_NAMES) {
        names->first[names->count++] = copy_of(node);
    } else {
        names->are_more = true;
    }
}

static void keep_nearest(struct names *names, const char *wanted, const char *node)
{
    const int length = (int)(strchr(node, '.') != NULL ? strlen(wanted) : strcspn(wanted, "."));
    struct suggestion suggestion;
    char word[256]; /* hosts are known with and without their domain */

    (void)snprintf(word, sizeof word, "%.*s", length, wanted);
    suggest_begin(&suggestion, word);
    if (names->nearest != NULL) {
        suggestion.best_distance = names->distance;
    }
    suggest_offer(&suggestion, node);
    if (suggestion.best != NULL) {
        free(names->nearest);
        names->nearest = copy_of(node);
        names->distance = suggestion.best_distance;
    }
}

static void names_release(struct names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        free(names->first[i]);
    }
    free(names->nearest);
}

/* "did you mean 'n0007'? It has n0001, n0002 and others" */
static void hint_names(const struct ui *ui, const struct names *names)
{
    char text[FIRST_NAMES * 64] = "";
    size_t used = 0;

    for (size_t i = 0; i < names->count && used < sizeof text; i++) {
        const bool is_last = i + 1 == names->count && !names->are_more;
        const char *before = i == 0 ? "" : is_last ? " and " : ", ";

        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", before, names->first[i]);
    }
    if (names->nearest != NULL) {
        ui_hint(ui, "did you mean '%s'? It has %s%s", names->nearest, text,
                names->are_more ? " and others" : "");
    } else if (names->count > 0) {
        ui_hint(ui, "it has %s%s", text, names->are_more ? " and others" : "");
    }
}

/* ---- the digest ---- */

/* The digest of a node, the latest of several; of any node if `node` is NULL. Counts how many fit. */
static iw_status find_digest(const iw_log *log, iw_digest_file *file, const char *node, iw_digest **found_p,
                             size_t *count_p, struct names *names)
{
    for (;;) {
        iw_digest *digest = NULL;

        IW_TRY(iw_digest_file_next(log, file, &digest));
        if (digest == NULL) {
            return IW_OK;
        }
        keep_first(names, digest->node);
        if (node != NULL && strcmp(digest->node, node) != 0) {
            keep_nearest(names, node, digest->node);
            iw_digest_free(digest);
            continue;
        }
        ++*count_p;
        if (*found_p == NULL || digest->start_ns >= (*found_p)->start_ns) {
            iw_digest_free(*found_p);
            *found_p = digest;
        } else {
            iw_digest_free(digest);
        }
    }
}

static int show_found(struct ui *ui, const struct show_opts *opts, const iw_digest *digest, size_t count,
                      const struct names *names, const char *path)
{
    if (digest == NULL) {
        ui_error(ui, "'%s' has no digest of '%s'", path, opts->node != NULL ? opts->node : "any node");
        hint_names(ui, names);
        return UI_ERROR;
    }
    if (count > 1 && opts->node == NULL) {
        ui_error(ui, "'%s' has %zu digests: show one with --node NAME, or compare them with 'idlewave fleet'",
                 path, count);
        hint_names(ui, names);
        return UI_USAGE;
    }
    return shown_write(ui, &opts->shown, iw_digest_doc(digest));
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct show_opts *opts = values;
    iw_digest_file *file = NULL;
    iw_digest *digest = NULL;
    struct names names = {.count = 0};
    size_t count = 0;
    iw_status status;
    int code;

    if (args->count == 0) {
        return ui_usage(ui, "no file given; type: idlewave fleet show FILE");
    }
    status = iw_digest_file_open(&ui->log, args->values[0], &file);
    status = status == IW_OK ? find_digest(&ui->log, file, opts->node, &digest, &count, &names) : status;
    code =
        status == IW_OK ? show_found(ui, opts, digest, count, &names, args->values[0]) : ui_exit_of(status);
    names_release(&names);
    iw_digest_free(digest);
    iw_digest_file_close(file);
    return code;
}

const struct verb verb_fleet_show = {
    .name = "fleet show",
    .summary = "show the digest of a node",
    .synopsis = synopsis,
    .description = "Show the digest of a node: what each source takes of its time, the lengths of its "
                   "detours, and its settings.",
    .argument_name = "FILE",
    .argument_help = "a file of digests",
    VERB_GROUPS(groups),
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 1,
    .run = run,
};
