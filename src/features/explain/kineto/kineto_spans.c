/* Spans of the host: steps, pauses, waits for the device.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/order.h"
#include "features/explain/kineto/kineto_parts.h"

IWI_COMPARE(compare_spans, struct iwi_kineto_span, IWI_RISING(begin_ns), IWI_RISING(number))

IWI_COMPARE(compare_causes, struct iwi_kineto_span, IWI_RISING(cause), compare_spans(left, right))

static void sort(struct iwi_kineto_spans *spans, int (*compare)(const void *, const void *))
{
    iwi_sort(spans->of, spans->count, compare);
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
    size_t at;

    IWI_FIRST_NOT(at, 0, file->steps.count,
                  file->steps.of[at].begin_ns <= host_ns); /* the first that begins after it */
    return at > 0 && host_ns < file->steps.of[at - 1].end_ns ? file->steps.of[at - 1].number
                                                             : IWI_VISIT_NO_STEP;
}
