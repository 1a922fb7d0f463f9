/* Collects what limits the inputs of a result.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/caveat.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/base.h"
#include "core/base/short_number.h"
#include "kit/facts/load_facts.h"

const char *iw_caveat_name(unsigned kind)
{
    static const char *const names[] = {"busy",    "short",      "not_valid", "one_host",
                                        "missing", "older_boot", "groups",    "opaque"};

    return kind < IW_CAVEAT_KINDS ? names[kind] : NULL;
}

bool iw_caveats_have(const iw_caveats *caveats, iw_caveat_kind kind)
{
    for (size_t i = 0; i < caveats->count; i++) {
        if (caveats->caveats[i].is_known && (kind == IW_CAVEAT_KINDS || caveats->caveats[i].kind == kind)) {
            return true;
        }
    }
    return false;
}

/* What is known is never left out for what is not. */
static iw_caveat *find_room(iw_caveats *caveats, bool is_known)
{
    if (caveats->count < IW_CAVEATS_MOST) {
        return &caveats->caveats[caveats->count++];
    }
    for (size_t i = 0; is_known && i < caveats->count; i++) {
        if (!caveats->caveats[i].is_known) {
            return &caveats->caveats[i];
        }
    }
    return NULL;
}

void iw_caveats_join(iw_caveats *caveats, const iw_caveats *more)
{
    for (size_t i = 0; i < more->count; i++) {
        iw_caveat *room = find_room(caveats, more->caveats[i].is_known);

        if (room != NULL) {
            *room = more->caveats[i];
        }
    }
}

static void add(iw_caveats *caveats, iw_caveat_kind kind, const char *input, const char *format, ...)
    IW_PRINTF(4, 5);

static void add(iw_caveats *caveats, iw_caveat_kind kind, const char *input, const char *format, ...)
{
    iw_caveat *caveat = find_room(caveats, true);
    va_list args;

    if (caveat != NULL) {
        *caveat = (iw_caveat){.kind = kind, .is_known = true};
        snprintf(caveat->input, sizeof caveat->input, "%s", input);
        va_start(args, format);
        vsnprintf(caveat->text, sizeof caveat->text, format, args);
        va_end(args);
    }
}

static void add_unknown(iw_caveats *caveats, iw_caveat_kind kind, const char *input, const char *text)
{
    iw_caveat *caveat = find_room(caveats, false);

    if (caveat != NULL) {
        *caveat = (iw_caveat){.kind = kind, .is_known = false};
        snprintf(caveat->input, sizeof caveat->input, "%s", input);
        snprintf(caveat->text, sizeof caveat->text, "%s", text);
    }
}

/* ---- recordings ---- */

static int64_t shortest_ns(const iw_recording *recording)
{
    int64_t shortest = INT64_MAX;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        shortest = iwi_min(shortest, recording->cpus[i].length_ns);
    }
    return shortest;
}

void iw_caveats_of_recording(const iw_recording *recording, const char *name, iw_caveats *caveats)
{
    const iw_load load = iwi_load_of(recording);
    const int64_t length_ns = shortest_ns(recording);

    if (iw_recording_get(recording, "specs") != NULL) {
        return;
    }
    if (load.is_busy) {
        add(caveats, IW_CAVEAT_BUSY, name,
            "'%s' was recorded while user programs took %s %% of the CPUs%s%s%s: it shows load, not noise",
            name, iwi_short_percent(load.users, 2).text, load.programs[0] != '\0' ? " (" : "", load.programs,
            load.programs[0] != '\0' ? ")" : "");
    } else if (!load.is_known && recording->probe != IW_PROBE_WATCH) {
        add_unknown(caveats, IW_CAVEAT_BUSY, name, "it does not say whether user programs ran");
    }
    if ((double)length_ns < IW_SHORTEST_NS) {
        add(caveats, IW_CAVEAT_SHORT, name, "'%s' has only %s s of each CPU; record at least %g s", name,
            iwi_short((double)length_ns / 1e9, 2).text, IW_SHORTEST_NS / 1e9);
    }
}

void iw_caveats_of_nodes(const char *name, size_t busy, size_t all, const char *first, iw_caveats *caveats)
{
    if (busy > 0) {
        char nodes[64] = "the node";

        if (all > 1) {
            snprintf(nodes, sizeof nodes, "%zu of %zu nodes", busy, all);
        }
        add(caveats, IW_CAVEAT_BUSY, name,
            "%s %s recorded while user programs ran (%s%s): %s load, not noise", nodes,
            busy == 1 ? "was" : "were", first, busy > 3 ? ", ..." : "", busy == 1 ? "it shows" : "they show");
    }
}

/* Seconds since 1970; 0: it does not say. Where there is no time of the start, the date is that of the end.
 */
static int64_t start_of(const iw_recording *recording)
{
    const char *start = iw_recording_get(recording, "start_wall_ns"),
               *date = iw_recording_get(recording, "date");
    struct tm utc = {0};

    if (start != NULL) {
        return strtoll(start, NULL, 10) / 1000000000;
    }
    return date != NULL && strptime(date, "%Y-%m-%dT%H:%M:%SZ", &utc) != NULL ? (int64_t)timegm(&utc) : 0;
}

void iw_caveats_of_boot(const iw_recording *recording, const char *name, int64_t boot_s, iw_caveats *caveats)
{
    const int64_t start_s = start_of(recording);

    if (boot_s <= 0 || iw_recording_get(recording, "specs") != NULL) {
        return;
    }
    if (start_s <= 0) {
        add_unknown(caveats, IW_CAVEAT_OLDER_BOOT, name, "its recording date is unknown");
    } else if (start_s < boot_s) {
        add(caveats, IW_CAVEAT_OLDER_BOOT, name,
            "'%s' was recorded before the last boot of this machine: its kernel and settings may have "
            "changed",
            name);
    }
}

/* ---- networks and traces ---- */

void iw_caveats_of_net(const iw_net *net, uint32_t ranks, iw_caveats *caveats)
{
    const iw_net_origin *origin = &net->origin;

    if (origin->not_valid[0] != '\0') {
        add(caveats, IW_CAVEAT_NOT_VALID, net->name, "the measurement of network '%s' is not valid: %s",
            net->name, origin->not_valid);
    }
    if (origin->hosts == 1 && ranks > origin->ranks) {
        add(caveats, IW_CAVEAT_ONE_HOST, net->name,
            "network '%s' was measured between %" PRIu32
            " ranks of one host, in its memory; messages between nodes take longer",
            net->name, origin->ranks);
    } else if (origin->is_measured && origin->hosts == 0) {
        add_unknown(caveats, IW_CAVEAT_ONE_HOST, net->name,
                    "the number of hosts that it was measured on is unknown");
    }
}

void iw_caveats_of_ranks(const char *name, uint32_t there, uint32_t all, iw_caveats *caveats)
{
    if (all == 0) {
        add_unknown(caveats, IW_CAVEAT_MISSING, name, "its number of ranks is unknown");
    } else if (there < all) {
        add(caveats, IW_CAVEAT_MISSING, name,
            "'%s' has %" PRIu32 " of %" PRIu32
            " ranks: waits for the others are not seen, and one of them may be slow",
            name, there, all);
    }
}

void iw_caveats_of_traced(const iw_traced *traced, const char *name, iw_caveats *caveats)
{
    const bool is_one = traced->fixed_groups == 1, is_one_call = traced->opaque == 1;

    if (traced->lost[0] != '\0') {
        add(caveats, IW_CAVEAT_MISSING, name, "the trace is incomplete: %s", traced->lost);
    }
    if (traced->replicas > 1 && traced->fixed_groups > 0) {
        add(caveats, IW_CAVEAT_GROUPS, name,
            "%" PRIu32 " communicator%s of the trace keep%s the traced size on more ranks: if %s grow%s with "
            "the job, collectives in %s take longer than predicted",
            traced->fixed_groups, is_one ? "" : "s", is_one ? "s" : "", is_one ? "it" : "they",
            is_one ? "s" : "", is_one ? "it" : "them");
    }
    if (traced->opaque > 0) {
        add(caveats, IW_CAVEAT_OPAQUE, name,
            "%" PRIu64 " MPI call%s of the trace %s not simulated; only %s time counts, as work: one-sided "
            "communication, files, or %s partners the trace lacks",
            traced->opaque, is_one_call ? "" : "s", is_one_call ? "is" : "are", is_one_call ? "its" : "their",
            is_one_call ? "a call whose" : "calls whose");
    }
}
