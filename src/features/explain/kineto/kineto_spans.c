/* Spans of the host: steps, pauses, waits for the device.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "features/explain/kineto/kineto_parts.h"

static int compare_spans(const void *a, const void *b)
{
    const struct iwi_kineto_span *left = a, *right = b;

    if (left->begin_ns != right->begin_ns) {
        return left->begin_ns < right->begin_ns ? -1 : 1;
    }
    return (left->number > right->number) - (left->number < right->number);
}

static int compare_causes(const void *a, const void *b)
{
    const struct iwi_kineto_span *left = a, *right = b;

    return left->cause != right->cause ? (int)left->cause - (int)right->cause : compare_spans(a, b);
}

static void sort(struct iwi_kineto_spans *spans, int (*compare)(const void *, const void *))
{
    if (spans->count > 1) {
        qsort(spans->of, spans->count, sizeof spans->of[0], compare);
    }
}

/* Steps follow each other; one that repeats a number, or begins within the one before, is an annotation of
 * another thread and is dropped. */
void iwi_kineto_sort_steps(struct iwi_kineto_spans *steps)
{
    size_t kept = 0;

    sort(steps, compare_spans);
    for (size_t i = 0; i < steps->count; i++) {
        const struct iwi_kineto_span *before = kept > 0 ? &steps->of[kept - 1] : NULL;

        if (before == NULL ||
            (steps->of[i].number > before->number && steps->of[i].begin_ns >= before->end_ns)) {
            steps->of[kept++] = steps->of[i];
        }
    }
    steps->count = kept;
}

void iwi_kineto_unite(struct iwi_kineto_spans *spans)
{
    size_t kept = 0;

    sort(spans, compare_causes);
    for (size_t i = 0; i < spans->count; i++) {
        struct iwi_kineto_span *before = kept > 0 ? &spans->of[kept - 1] : NULL;
        const struct iwi_kineto_span *span = &spans->of[i];

        if (before != NULL && before->cause == span->cause && span->begin_ns < before->end_ns) {
            before->end_ns = iwi_max(before->end_ns, span->end_ns);
        } else {
            spans->of[kept++] = *span;
        }
    }
    spans->count = kept;
}

uint32_t iwi_kineto_step_at(const struct iwi_kineto_file *file, int64_t host_ns)
{
    size_t low = 0, high = file->steps.count;

    while (low < high) { /* the first that begins after it */
        const size_t middle = low + (high - low) / 2;

        if (file->steps.of[middle].begin_ns <= host_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && host_ns < file->steps.of[low - 1].end_ns ? file->steps.of[low - 1].number
                                                               : IWI_VISIT_NO_STEP;
}
