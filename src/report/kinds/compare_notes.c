/* How sure a comparison is, and what differs between two recordings besides their noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "base/attribute_text.h"
#include "base/base.h"
#include "report/kinds/compare_report.h"

/* Shorter blocks hardly keep bursts whole. */
static const int64_t SHORT_BLOCK_NS = 100000000;

enum { VALUE_COLUMNS = 28 };

struct noter {
    const iw_compared *compared;
    const iw_noise_comparison *comparison;
    iwi_note_fn note;
    void *arg;
};

static void note_method(const struct noter *n)
{
    const iw_compare_side *a = &n->comparison->a, *b = &n->comparison->b;
    char text[IWI_PARAGRAPH_SIZE] = "", time[IWI_NUMBER_SIZE];

    iwi_append(text, "Intervals come from drawing %zu blocks of %s (A)", a->block_count,
               iwi_ns_round_text((double)a->block_ns, time));
    iwi_append(text, " and %zu of %s (B)", b->block_count, iwi_ns_round_text((double)b->block_ns, time));
    iwi_append(text,
               " anew %zu times (seed %" PRIu64 "), all CPUs of a block together. Each is right in 95 of 100 "
               "cases by itself%s.",
               n->comparison->opts.replicates, n->comparison->opts.seed,
               n->comparison->source_count > 1 ? ": of 20 sources one may stand out by chance" : "");
    n->note(n->arg, text);
}

static void note_shortness(const struct noter *n)
{
    const int64_t block_ns = iwi_min(n->comparison->a.block_ns, n->comparison->b.block_ns);
    char text[IWI_PARAGRAPH_SIZE] = "", time[IWI_NUMBER_SIZE];

    if (block_ns < SHORT_BLOCK_NS) {
        iwi_append(
            text,
            "Bursts longer than %s make intervals too narrow: record at least 10 s for blocks of 100 ms.",
            iwi_ns_round_text((double)block_ns, time));
        n->note(n->arg, text);
    }
}

static void note_stretches(const struct noter *n)
{
    const iw_noise_comparison *c = n->comparison;
    char text[IWI_PARAGRAPH_SIZE] = "", time[IWI_NUMBER_SIZE];

    (void)iwi_ns_round_text((double)c->stretch_ns, time);
    if (c->stretch_count == 1) {
        iwi_append(text, "The difference comes from one stretch of %s: it may not come again.", time);
    } else if (c->stretch_count > 1) {
        iwi_append(text, "The difference comes from %zu stretches of %s together: they may not come again.",
                   c->stretch_count, time);
    } else {
        return;
    }
    iwi_append(text, " Chance is judged as if blocks of time were independent; record longer, or again.");
    n->note(n->arg, text);
}

static void note_threshold(const struct noter *n)
{
    const iw_noise_comparison *c = n->comparison;
    char text[IWI_PARAGRAPH_SIZE] = "", time[IWI_NUMBER_SIZE];

    if (c->threshold_ns > 0.0) {
        iwi_append(text, "Detours shorter than %s do not count, as %s could not see them: ",
                   iwi_ns_short_text(c->threshold_ns, time),
                   c->a.threshold_ns > c->b.threshold_ns ? "A" : "B");
        iwi_append(text, "%" PRIu64 " of A and %" PRIu64 " of B are left out.", c->a.left_out, c->b.left_out);
        n->note(n->arg, text);
    }
}

static void note_sources(const struct noter *n)
{
    const iw_recording *a = n->compared->a, *b = n->compared->b;
    char text[IWI_PARAGRAPH_SIZE] = "";

    if (a->probe != IW_PROBE_SELFISH || n->comparison->has_sources) {
        return;
    }
    if (a->rung != b->rung) {
        iwi_append(text,
                   "Sources cannot be compared: those of A were told by '%s', those of B by '%s', which name "
                   "the same things differently.",
                   iw_rung_name(a->rung), iw_rung_name(b->rung));
    } else {
        iwi_append(text, "What makes the difference is unknown: the recordings name no sources.");
    }
    n->note(n->arg, text);
}

static void note_quanta(const struct noter *n)
{
    const iw_recording *a = n->compared->a, *b = n->compared->b;
    char text[IWI_PARAGRAPH_SIZE] = "", time_a[IWI_NUMBER_SIZE], time_b[IWI_NUMBER_SIZE];

    if (a->probe != b->probe || a->quantum_ns != b->quantum_ns) {
        iwi_append(
            text,
            "Quanta differ (A %s of %s, B %s of %s): shares can be compared, losses of a quantum hardly.",
            iw_probe_name(a->probe), iwi_ns_round_text((double)a->quantum_ns, time_a),
            iw_probe_name(b->probe), iwi_ns_round_text((double)b->quantum_ns, time_b));
        n->note(n->arg, text);
    }
}

static void note_dropped(const struct noter *n)
{
    const iw_compare_side *a = &n->comparison->a, *b = &n->comparison->b;
    char text[IWI_PARAGRAPH_SIZE] = "";

    if (a->dropped > 0 || b->dropped > 0) {
        iwi_append(text,
                   "Detours that found no room are missing (%" PRIu64 " of A, %" PRIu64
                   " of B): record with room for more events.",
                   a->dropped, b->dropped);
        n->note(n->arg, text);
    }
}

/* Facts that explain noise, in the order in which they are told. */
static const char *const told[] = {"host", "kernel", "hypervisor", "governor", "clock", "cmdline"};

static void note_origin(const struct noter *n)
{
    char text[IWI_PARAGRAPH_SIZE] = "", plain_a[IWI_NAME_SIZE], plain_b[IWI_NAME_SIZE];

    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        const char *a = iw_recording_get(n->compared->a, told[i]);
        const char *b = iw_recording_get(n->compared->b, told[i]);

        if (a != NULL && b != NULL && strcmp(a, b) != 0) {
            iwi_append(text, "%s%s (%s, %s)", text[0] == '\0' ? "They also differ in " : "; ", told[i],
                       iwi_plain_name(iwi_attribute_text(told[i], a), VALUE_COLUMNS, plain_a),
                       iwi_plain_name(iwi_attribute_text(told[i], b), VALUE_COLUMNS, plain_b));
        }
    }
    if (text[0] != '\0') {
        iwi_append(text, ".");
        n->note(n->arg, text);
    }
}

void iwi_compare_notes(const iw_compared *compared, iwi_note_fn note, void *arg)
{
    const struct noter n = {compared, compared->comparison, note, arg};

    note_stretches(&n);
    note_threshold(&n);
    note_sources(&n);
    note_quanta(&n);
    note_dropped(&n);
    note_shortness(&n);
    note_origin(&n);
    note_method(&n);
}
