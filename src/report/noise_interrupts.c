/* How often interrupts came, as /proc counted them: a hint where nothing tells the sources of detours.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/noise_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { MOST_NAMES = 64, SHOWN = 6, NAME_BYTES = 48, NAME_COLUMNS = 24 };

struct count {
    char name[NAME_BYTES];
    double sum;
};

/* "NAME=COUNT": counts it under its name; others, and names beyond the most, are passed over. */
static void count_item(const char *item, size_t length, struct count counts[MOST_NAMES], size_t *used_p)
{
    const char *equals = memchr(item, '=', length);
    const size_t name_length = equals != NULL ? (size_t)(equals - item) : 0;
    size_t i = 0;

    if (name_length == 0 || name_length >= NAME_BYTES) {
        return;
    }
    while (i < *used_p &&
           (strncmp(counts[i].name, item, name_length) != 0 || counts[i].name[name_length] != '\0')) {
        i++;
    }
    if (i == MOST_NAMES) {
        return;
    }
    if (i == *used_p) {
        counts[(*used_p)++] = (struct count){.sum = 0.0};
        memcpy(counts[i].name, item, name_length);
    }
    counts[i].sum += strtod(equals + 1, NULL);
}

/* "LOC=7500,RES=12": the counts of one CPU. */
static void count_cpu(const char *text, size_t length, struct count counts[MOST_NAMES], size_t *used_p)
{
    const char *end = text + length;

    while (text < end) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const char *item_end = comma != NULL ? comma : end;

        count_item(text, (size_t)(item_end - text), counts, used_p);
        text = item_end + (comma != NULL);
    }
}

/* "0:LOC=7500,RES=12;1:LOC=7400", summed over the CPUs of the recording: it may show some of them only. */
static size_t read_counts(const char *text, const iw_recording *recording, struct count counts[MOST_NAMES])
{
    size_t used = 0;

    while (*text != '\0') {
        const size_t length = strcspn(text, ";");
        char *colon;
        const unsigned long cpu = strtoul(text, &colon, 10);

        if (colon != text && *colon == ':' && iwi_has_cpu(recording, cpu)) {
            count_cpu(colon + 1, length - (size_t)(colon + 1 - text), counts, &used);
        }
        text += length + (text[length] != '\0');
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
