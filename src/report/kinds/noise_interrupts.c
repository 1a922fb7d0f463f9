/* How often interrupts came, as /proc counted them: a hint where nothing tells the sources of detours.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/noise_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/interrupt_text.h"

enum { MOST_NAMES = 64, SHOWN = 6, NAME_COLUMNS = 24 };

struct count {
    char name[IWI_INTERRUPT_NAME_SIZE];
    double sum;
};

/* Counts it under its name; names beyond the most are passed over. */
static void add_count(const struct iwi_interrupt_reader *item, struct count counts[MOST_NAMES],
                      size_t *used_p)
{
    size_t i = 0;

    while (i < *used_p && strcmp(counts[i].name, item->name) != 0) {
        i++;
    }
    if (i == MOST_NAMES) {
        return;
    }
    if (i == *used_p) {
        counts[(*used_p)++] = (struct count){.sum = 0.0};
        memcpy(counts[i].name, item->name, sizeof counts[i].name);
    }
    counts[i].sum += (double)item->count;
}

/* Summed over the CPUs of the recording: it may show some of them only. */
static size_t read_counts(const char *text, const iw_recording *recording, struct count counts[MOST_NAMES])
{
    struct iwi_interrupt_reader reader = {.next = text};
    size_t used = 0;

    while (iwi_interrupt_next(&reader)) {
        if (iwi_has_cpu(recording, reader.cpu)) {
            add_count(&reader, counts, &used);
        }
    }
    return used;
}

static int compare_counts(const void *a, const void *b)
{
    const struct count *x = a, *y = b;

    return (x->sum < y->sum) - (x->sum > y->sum);
}

void iwi_write_interrupts(FILE *out, const iw_recording *recording, const iw_noise_facts *facts)
{
    const char *text = iw_recording_get(recording, "interrupts");
    char paragraph[IWI_PARAGRAPH_SIZE] = "", rate[IWI_NUMBER_SIZE], name[IWI_NAME_SIZE];
    struct count counts[MOST_NAMES];
    size_t used;

    if (text == NULL || recording->rung > IW_RUNG_SWITCHES || facts->watched_ns <= 0.0) {
        return;
    }
    used = read_counts(text, recording, counts);
    qsort(counts, used, sizeof counts[0], compare_counts);
    for (size_t i = 0; i < used && i < SHOWN; i++) {
        iwi_append(paragraph, "%s%s %s", i == 0 ? "Interrupts meanwhile on each CPU, by /proc: " : ", ",
                   iwi_plain_name(counts[i].name, NAME_COLUMNS, name),
                   iwi_rate_text(1e9 * counts[i].sum / facts->watched_ns, rate));
    }
    if (used > 0) {
        iwi_append(paragraph, ".");
        (void)fputc('\n', out);
        iwi_write_wrapped(out, paragraph);
    }
}
