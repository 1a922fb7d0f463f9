/* What the parts of a profile of PyTorch have in common: events, spans of the host, groups, what names mean.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/kineto/kineto_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/order.h"

/* ---- events ---- */

enum { US_DECIMALS = 3 };

/* Some tools write the events alone, without a name for their list. */
bool iwi_kineto_is_event(const struct iwi_json_item *item)
{
    return item->is_element && (strcmp(item->key, "traceEvents") == 0 || item->key[0] == '\0');
}

struct iwi_json_span iwi_kineto_name(const struct iwi_json_item *item)
{
    struct iwi_json_span name = iwi_json_member(item, "name");

    if (name.size >= 2 && name.text[0] == '"') {
        name.text++;
        name.size -= 2;
        return name;
    }
    return (struct iwi_json_span){"", 0};
}

iw_status iwi_kineto_times(const struct iwi_kineto_file *file, const struct iwi_json_item *item,
                           int64_t *begin_p, int64_t *end_p)
{
    const struct iwi_json_span ts = iwi_json_member(item, "ts"), dur = iwi_json_member(item, "dur");
    int64_t length = 0;

    if (!iwi_json_decimal(ts.text, ts.size, US_DECIMALS, begin_p) ||
        (dur.size > 0 && !iwi_json_decimal(dur.text, dur.size, US_DECIMALS, &length)) ||
        *begin_p < -(INT64_MAX / 4) || length > INT64_MAX / 4) {
        return iwi_json_fail(&file->items, item->byte, IW_ERR_FORMAT,
                             "an event has no time: 'ts' and 'dur' must be numbers of microseconds");
    }
    *end_p = *begin_p + iwi_max(0, length);
    return IW_OK;
}

/* ---- spans of the host: steps, pauses, waits for the device ---- */

IWI_COMPARE(compare_spans, struct iwi_kineto_span, IWI_RISING(begin_ns), IWI_RISING(number))

IWI_COMPARE(compare_causes, struct iwi_kineto_span, IWI_RISING(cause), compare_spans(left, right))

/* Steps follow each other; one that repeats a number, or begins within the one before, is an annotation of
 * another thread and is dropped. */
void iwi_kineto_sort_steps(struct iwi_kineto_spans *steps)
{
    size_t kept = 0;

    iwi_sort(steps->of, steps->count, compare_spans);
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

    iwi_sort(spans->of, spans->count, compare_causes);
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

bool iwi_kineto_is_on_host(const struct iwi_kineto_file *file)
{
    return file->kernel_count == 0 && file->collectives.count > 0;
}

/* ---- the groups of all files: a name and its ranks. Names repeat on disjoint groups ---- */

static uint64_t key_of(const char *name, const uint32_t *ranks, uint32_t count, uint32_t size)
{
    struct iwi_hash hash;

    iwi_hash_init(&hash, iwi_hash_key);
    iwi_hash_add_text(&hash, name);
    iwi_hash_add_u64(&hash, size);
    iwi_hash_add(&hash, ranks, ranks != NULL ? count * sizeof ranks[0] : 0);
    return iwi_hash_value(&hash);
}

/* Index of the group with a key, or group_count. Most are asked for again and again. */
static size_t find(struct iwi_kineto *kineto, uint64_t key)
{
    uint32_t *seen = &kineto->seen_last[key % IWI_KINETO_SEEN];
    size_t index = *seen;

    if (index >= kineto->group_count || kineto->groups[index].key != key) {
        for (index = 0; index < kineto->group_count && kineto->groups[index].key != key;) {
            index++;
        }
        *seen = (uint32_t)index; /* where it will be, if it is new */
    }
    return index;
}

iw_status iwi_kineto_group(struct iwi_kineto *kineto, const char *name, const char *about, uint32_t *ranks,
                           uint32_t count, uint32_t size, uint32_t *index_p)
{
    struct iwi_kineto_group *group;
    uint64_t key;
    size_t index;

    if (ranks != NULL) {
        iwi_sort(ranks, count, iwi_compare_u32);
    }
    key = key_of(name, ranks, count, size);
    index = find(kineto, key);
    if (index < kineto->group_count) {
        *index_p = (uint32_t)index;
        return IW_OK;
    }
    IW_TRY(iwi_grow(kineto->log, (void **)&kineto->groups, &kineto->group_capacity, kineto->group_count + 1,
                    sizeof *group));
    group = &kineto->groups[kineto->group_count];
    *group = (struct iwi_kineto_group){.key = key, .count = ranks != NULL ? count : 0, .size = size};
    if (ranks != NULL) {
        group->ranks = iwi_new_array(kineto->log, count, sizeof ranks[0]);
        if (group->ranks == NULL) {
            return IW_ERR_NOMEM;
        }
        memcpy(group->ranks, ranks, count * sizeof ranks[0]);
    }
    (void)snprintf(group->name, sizeof group->name, about[0] != '\0' ? "%s (%s)" : "%s", name, about);
    *index_p = (uint32_t)kineto->group_count++;
    return IW_OK;
}

/* ---- what names mean: kernels of NCCL, collectives, types, functions of the host ---- */

/* Letters of a name as far as its arguments, in lower case: "_allgather_base" is "allgatherbase". */
static void letters_of(const char *name, size_t size, char *to, size_t room)
{
    size_t used = 0;

    for (size_t i = 0; i < size && name[i] != '(' && used + 1 < room; i++) {
        if (isalpha((unsigned char)name[i])) {
            to[used++] = (char)tolower((unsigned char)name[i]);
        }
    }
    to[used] = '\0';
}

enum iwi_visit_op iwi_kineto_op(const char *name, size_t size)
{
    /* longer words first: "reducescatter" has "reduce" and "scatter" in it */
    static const struct {
        const char *word;
        enum iwi_visit_op op;
    } words[] = {
        {"reducescatter", IWI_VISIT_REDUCE_SCATTER},
        {"allgather", IWI_VISIT_ALLGATHER},
        {"allreduce", IWI_VISIT_ALLREDUCE},
        {"alltoall", IWI_VISIT_ALLTOALL},
        {"broadcast", IWI_VISIT_BROADCAST},
        {"barrier", IWI_VISIT_BARRIER},
        {"sendrecv", IWI_VISIT_MESSAGE},
        {"gather", IWI_VISIT_GATHER},
        {"scatter", IWI_VISIT_SCATTER},
        {"reduce", IWI_VISIT_REDUCE},
        {"send", IWI_VISIT_MESSAGE},
        {"recv", IWI_VISIT_MESSAGE},
    };
    char letters[96];

    letters_of(name, size, letters, sizeof letters);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strstr(letters, words[i].word) != NULL) {
            return words[i].op;
        }
    }
    return IWI_VISIT_OTHER;
}

static bool begins(const char *name, size_t size, const char *with)
{
    const size_t length = strlen(with);

    return size >= length && memcmp(name, with, length) == 0;
}

static bool has(const char *name, size_t size, const char *part)
{
    return memmem(name, size, part, strlen(part)) != NULL;
}

bool iwi_kineto_is_nccl(const char *name, size_t size)
{
    return begins(name, size, "nccl") || begins(name, size, "rccl") || begins(name, size, "msccl");
}

unsigned iwi_kineto_type_bytes(const char *name)
{
    static const struct {
        const char *name;
        unsigned bytes;
    } types[] = {
        {"BFloat16", 2},
        {"Half", 2},
        {"Float", 4},
        {"Double", 8},
        {"Byte", 1},
        {"Char", 1},
        {"Bool", 1},
        {"Short", 2},
        {"Int", 4},
        {"Long", 8},
        {"Float8_e4m3fn", 1},
        {"Float8_e5m2", 1},
        {"Float8_e4m3fnuz", 1},
        {"Float8_e5m2fnuz", 1},
        {"UInt16", 2},
        {"UInt32", 4},
        {"UInt64", 8},
        {"ComplexHalf", 4},
        {"ComplexFloat", 8},
        {"ComplexDouble", 16},
        {"QInt8", 1},
        {"QUInt8", 1},
        {"float", 4}, /* names of C++ */
        {"double", 8},
        {"c10::BFloat16", 2},
        {"c10::Half", 2},
        {"unsigned char", 1},
        {"signed char", 1},
        {"bool", 1},
        {"short int", 2},
        {"short", 2},
        {"int", 4},
        {"long int", 8},
        {"long", 8},
    };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(name, types[i].name) == 0) {
            return types[i].bytes;
        }
    }
    return 0;
}

/* "gc" as a word of its own: "gc", "train/gc", "manual gc", not "gcd". */
static bool has_gc_word(const char *name, size_t size)
{
    for (size_t i = 0; i + 2 <= size; i++) {
        if (tolower((unsigned char)name[i]) == 'g' && tolower((unsigned char)name[i + 1]) == 'c' &&
            (i == 0 || !isalnum((unsigned char)name[i - 1])) &&
            (i + 2 == size || !isalnum((unsigned char)name[i + 2]))) {
            return true;
        }
    }
    return false;
}

bool iwi_kineto_is_of_device(const char *name, size_t size)
{
    return begins(name, size, "nccl:") || begins(name, size, "rccl:") || begins(name, size, "xccl:");
}

/* Annotations of a backend's threads while they carry out a collective. */
static bool is_collective(const char *name, size_t size)
{
    return begins(name, size, "gloo:") || begins(name, size, "mpi:") || begins(name, size, "ucc:") ||
           iwi_kineto_is_of_device(name, size);
}

enum iwi_kineto_host iwi_kineto_host(const char *name, size_t size)
{
    if (begins(name, size, "ProfilerStep#")) {
        return IWI_KINETO_STEP;
    }
    if (is_collective(name, size)) {
        return IWI_KINETO_COLLECTIVE;
    }
    if ((has(name, size, "DataLoader") || has(name, size, "dataloader")) && has(name, size, "__next__")) {
        return IWI_KINETO_LOADER;
    }
    if (has(name, size, "<built-in function collect>") || has(name, size, "garbage") ||
        (has_gc_word(name, size) && !has(name, size, "gc.py"))) {
        return IWI_KINETO_GC;
    }
    return IWI_KINETO_HOST_OTHER;
}

enum iwi_kineto_call iwi_kineto_call(const char *name, size_t size)
{
    if (has(name, size, "Launch")) {
        return IWI_KINETO_LAUNCH;
    }
    if (has(name, size, "Synchronize") || (size == 10 && begins(name, size, "cudaMemcpy")) ||
        (size == 9 && begins(name, size, "hipMemcpy"))) {
        return IWI_KINETO_WAIT;
    }
    if ((has(name, size, "Malloc") || has(name, size, "Free") || has(name, size, "HostAlloc") ||
         has(name, size, "MemAlloc")) &&
        !has(name, size, "Async")) {
        return IWI_KINETO_MEMORY;
    }
    return IWI_KINETO_CALL_OTHER;
}
