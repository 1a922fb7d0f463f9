/* Pauses of one file: those that it names, and suspects: kernels, calls of the loader, gaps of the device.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/order.h"
#include "features/explain/kineto/kineto_parts.h"

/* ---- how long things usually take, and which took longer ---- */

/* For each key a fixed number of lengths is kept, each of all that were seen with the same chance (a
 * reservoir; the draws depend on nothing but the count), so that memory grows with the program, not with the
 * run.
 */

enum { ENOUGH = 4, SLACK_NS = 50000 };

static const struct iwi_kineto_usual *kineto_usual(const struct iwi_kineto_usuals *usuals, uint64_t key);

static iw_status kineto_usual_add(const iw_log *log, struct iwi_kineto_usuals *usuals, uint64_t key,
                                  int64_t length_ns)
{
    const uint32_t known = usuals->keys.count;
    struct iwi_kineto_usual *usual;
    uint32_t number;
    uint64_t place;

    IW_TRY(iwi_grow(log, (void **)&usuals->of, &usuals->capacity, (size_t)known + 1, sizeof *usual));
    IW_TRY(iwi_index_number(log, &usuals->keys, (struct iwi_index_key){key, 0}, &number));
    usual = &usuals->of[number];
    if (number == known) {
        *usual = (struct iwi_kineto_usual){.shortest_ns = length_ns};
    }
    place = usual->count < IWI_KINETO_SAMPLES ? usual->count : iwi_mix(usual->count) % (usual->count + 1);
    if (place < IWI_KINETO_SAMPLES) {
        usual->us[place] = (float)length_ns / 1000;
    }
    usual->count++;
    usual->shortest_ns = iwi_min(usual->shortest_ns, length_ns);
    return IW_OK;
}

static const struct iwi_kineto_usual *kineto_usual(const struct iwi_kineto_usuals *usuals, uint64_t key)
{
    const uint32_t number = iwi_index_find(&usuals->keys, (struct iwi_index_key){key, 0});

    return number != IWI_LOOKUP_NONE ? &usuals->of[number] : NULL;
}

IWI_COMPARE(compare_us, float, IWI_ORDER(*left, *right))

/* median */
static int64_t kineto_usual_ns(const struct iwi_kineto_usual *usual)
{
    const size_t count = usual->count < IWI_KINETO_SAMPLES ? (size_t)usual->count : IWI_KINETO_SAMPLES;
    float us[IWI_KINETO_SAMPLES];

    memcpy(us, usual->us, count * sizeof us[0]);
    iwi_sort(us, count, compare_us);
    return (int64_t)(1000 * us[(count - 1) / 2]);
}

/* seen often enough; may be NULL */
static bool kineto_is_known(const struct iwi_kineto_usual *usual)
{
    return usual != NULL && usual->count >= ENOUGH;
}

/* Of the loader: what it takes on the rank where it is quickest, else a rank whose loader is always late
 * would make that the usual. */
static iw_time usual_ps(const struct iwi_kineto *kineto, const struct iwi_kineto_suspect *suspect,
                        const struct iwi_kineto_usual *usual)
{
    if (suspect->pause.cause == IWI_PAUSE_LOADER && kineto->loader_ns > 0) {
        return kineto->loader_ns * IW_PS_PER_NS;
    }
    return kineto_is_known(usual) ? kineto_usual_ns(usual) * IW_PS_PER_NS : 0;
}

/* A pause is what is beyond the usual, at the end of what took so long. Of a gap or a call of the loader that
 * was not seen often enough to say what is usual, it is all; a kernel needs others like it. */
iw_status iwi_kineto_judge(struct iwi_kineto *kineto)
{
    for (size_t i = 0; i < kineto->suspect_count; i++) {
        const struct iwi_kineto_suspect *suspect = &kineto->suspects[i];
        const struct iwi_kineto_usual *usual = kineto_usual(&kineto->usuals, suspect->key);
        const iw_time least_ps = usual_ps(kineto, suspect, usual);
        struct iwi_pause pause = suspect->pause;
        const iw_time length_ps = pause.end_ps - pause.begin_ps;

        if ((kineto_is_known(usual) || pause.cause != IWI_PAUSE_SLOW) &&
            length_ps > least_ps + least_ps / 2 + SLACK_NS * IW_PS_PER_NS) {
            pause.begin_ps += least_ps;
            IW_TRY(iwi_visits_add_pause(kineto->visits, &pause));
        }
    }
    return IW_OK;
}

/* ---- pauses ---- */

enum {
    LEAST_NS = 100000,  /* shorter things are no pauses */
    AT_ONCE_NS = 20000, /* a kernel that begins so soon after its launch waited for nothing else */
    KERNEL_SLACK_NS = 50000
};

static uint64_t key_of(const char *what, uint64_t key, uint64_t index)
{
    struct iwi_hash hash;

    iwi_hash_init(&hash, iwi_hash_key);
    iwi_hash_add_text(&hash, what);
    iwi_hash_add_u64(&hash, key);
    iwi_hash_add_u64(&hash, index);
    return iwi_hash_value(&hash);
}

static iw_status suspect(struct iwi_kineto *kineto, const struct iwi_kineto_file *file, uint64_t key,
                         uint8_t cause, int64_t begin_ns, int64_t end_ns, uint32_t step)
{
    IW_TRY(iwi_grow(kineto->log, (void **)&kineto->suspects, &kineto->suspect_capacity,
                    kineto->suspect_count + 1, sizeof kineto->suspects[0]));
    kineto->suspects[kineto->suspect_count++] =
        (struct iwi_kineto_suspect){.key = key,
                                    .pause = {.rank = file->index,
                                              .step = step,
                                              .cause = cause,
                                              .is_on_host = cause == IWI_PAUSE_LOADER,
                                              .begin_ps = iwi_kineto_ps(kineto, begin_ns),
                                              .end_ps = iwi_kineto_ps(kineto, end_ns)}};
    return IW_OK;
}

/* ---- what the host says ---- */

static void keep_quickest(struct iwi_kineto *kineto, uint64_t key)
{
    const struct iwi_kineto_usual *usual = kineto_usual(&kineto->usuals, key);

    if (kineto_is_known(usual)) {
        const int64_t ns = iwi_max(1, kineto_usual_ns(usual));

        kineto->loader_ns = kineto->loader_ns > 0 ? iwi_min(kineto->loader_ns, ns) : ns;
    }
}

static iw_status add_named(struct iwi_kineto *kineto, const struct iwi_kineto_file *file)
{
    const uint64_t loader = key_of("loader", 0, 0), of_rank = key_of("loader", file->index, 1);

    for (size_t i = 0; i < file->pauses.count; i++) {
        const struct iwi_kineto_span *span = &file->pauses.of[i];
        const uint32_t step = iwi_kineto_step_at(file, span->begin_ns);
        const struct iwi_pause pause = {.rank = file->index,
                                        .step = step,
                                        .cause = span->cause,
                                        .is_on_host = true,
                                        .begin_ps = iwi_kineto_ps(kineto, span->begin_ns),
                                        .end_ps = iwi_kineto_ps(kineto, span->end_ns)};

        if (span->cause == IWI_PAUSE_LOADER) {
            IW_TRY(kineto_usual_add(kineto->log, &kineto->usuals, loader, span->end_ns - span->begin_ns));
            IW_TRY(kineto_usual_add(kineto->log, &kineto->usuals, of_rank, span->end_ns - span->begin_ns));
        }
        if (span->end_ns - span->begin_ns >= LEAST_NS) {
            IW_TRY(span->cause == IWI_PAUSE_LOADER
                       ? suspect(kineto, file, loader, span->cause, span->begin_ns, span->end_ns, step)
                       : iwi_visits_add_pause(kineto->visits, &pause));
        }
    }
    keep_quickest(kineto, of_rank);
    return IW_OK;
}

static iw_status add_waits(struct iwi_kineto *kineto, const struct iwi_kineto_file *file)
{
    for (size_t i = 0; i < file->waits.count; i++) {
        const struct iwi_kineto_span *span = &file->waits.of[i];
        const struct iwi_host_wait wait = {.rank = file->index,
                                           .step = iwi_kineto_step_at(file, span->begin_ns),
                                           .begin_ps = iwi_kineto_ps(kineto, span->begin_ns),
                                           .end_ps = iwi_kineto_ps(kineto, span->end_ns)};

        IW_TRY(iwi_visits_add_host_wait(kineto->visits, &wait));
    }
    return IW_OK;
}

/* ---- kernels that take longer than the same one elsewhere ---- */

struct place {
    uint64_t key;
    uint32_t step;
    size_t kernel; /* they are in the order of time */
};

IWI_COMPARE(compare_places, struct place, IWI_RISING(key), IWI_RISING(step), IWI_RISING(kernel))

/* The n-th kernel of a name and shape in a step is the same work in every step and on every rank; without
 * steps, all of them are. Leaves key_of() of its place in each. */
static iw_status list_places(struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                             struct place *places, size_t *count_p)
{
    const bool has_steps = file->steps.count > 0;
    uint64_t index = 0, before = 0;
    size_t count = 0;

    for (size_t i = 0; i < file->kernel_count; i++) {
        const struct iwi_kineto_kernel *kernel = &file->kernels[i];

        if (!kernel->is_nccl && (kernel->step != IWI_VISIT_NO_STEP || !has_steps)) {
            places[count++] = (struct place){kernel->key, kernel->step, i};
        }
    }
    iwi_sort(places, count, compare_places);
    for (size_t i = 0; i < count; i++) {
        const struct iwi_kineto_kernel *kernel = &file->kernels[places[i].kernel];
        const uint64_t key = places[i].key;

        index = i > 0 && before == key && places[i - 1].step == places[i].step ? index + 1 : 0;
        before = key;
        places[i].key = key_of("kernel", key, has_steps ? index : 0);
        IW_TRY(
            kineto_usual_add(kineto->log, &kineto->usuals, places[i].key, kernel->end_ns - kernel->begin_ns));
    }
    *count_p = count;
    return IW_OK;
}

static iw_status suspect_kernels(struct iwi_kineto *kineto, const struct iwi_kineto_file *file)
{
    struct place *places = iwi_new_array(kineto->log, file->kernel_count, sizeof *places);
    size_t count = 0;
    iw_status status = places != NULL ? list_places(kineto, file, places, &count) : IW_ERR_NOMEM;

    for (size_t i = 0; i < count && status == IW_OK; i++) {
        const struct iwi_kineto_kernel *kernel = &file->kernels[places[i].kernel];
        const struct iwi_kineto_usual *usual = kineto_usual(&kineto->usuals, places[i].key);
        const int64_t least_ns = usual->shortest_ns + usual->shortest_ns / 2 + KERNEL_SLACK_NS;

        if (kernel->end_ns - kernel->begin_ns > least_ns) {
            status = suspect(kineto, file, places[i].key, IWI_PAUSE_SLOW, kernel->begin_ns, kernel->end_ns,
                             kernel->step);
        }
    }
    free(places);
    return status;
}

/* ---- gaps in which nothing was launched ---- */

struct by_launch {
    int64_t launch_end_ns;
    size_t kernel;
};

IWI_COMPARE(compare_by_launch, struct by_launch, IWI_RISING(launch_end_ns), IWI_RISING(kernel))

/* The first launch that ended after a time; `count`: none. */
static size_t first_after(const struct by_launch *order, size_t count, int64_t ns)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, count, order[at].launch_end_ns <= ns);
    return at;
}

/* How much of [begin, end] spans of the host explain; they are in order and apart. */
static int64_t explained_ns(const struct iwi_kineto_spans *spans, int64_t begin_ns, int64_t end_ns)
{
    size_t at;
    int64_t sum = 0;

    IWI_FIRST_NOT(at, 0, spans->count,
                  spans->of[at].end_ns <= begin_ns); /* the first that ends after begin_ns */
    for (; at < spans->count && spans->of[at].begin_ns < end_ns; at++) {
        sum += iwi_min(end_ns, spans->of[at].end_ns) - iwi_max(begin_ns, spans->of[at].begin_ns);
    }
    return sum;
}

/* What the host is known to have done instead of launching: pauses that have a name, waits for the device. */
static iw_status list_known(const struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                            struct iwi_kineto_spans *known)
{
    known->capacity = file->pauses.count + file->waits.count;
    known->of = iwi_new_array(kineto->log, known->capacity, sizeof known->of[0]);
    if (known->of == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < known->capacity; i++) {
        known->of[i] = i < file->pauses.count ? file->pauses.of[i] : file->waits.of[i - file->pauses.count];
        known->of[i].cause = 0;
    }
    known->count = known->capacity;
    iwi_kineto_unite(known);
    return IW_OK;
}

struct gaps {
    struct by_launch *order;
    size_t count;
    struct iwi_kineto_spans known;
    bool *is_late; /* of kernels: a gap before it */
};

/* The device computed nothing from begin_ns to until_ns. Was that the host's doing? It launched nothing
 * before some time of the gap, and what it launched then began at once. */
static iw_status look_at_gap(struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                             const struct gaps *gaps, int64_t begin_ns, int64_t until_ns)
{
    const size_t next = first_after(gaps->order, gaps->count, begin_ns);
    const struct iwi_kineto_kernel *kernel =
        next < gaps->count ? &file->kernels[gaps->order[next].kernel] : NULL;
    int64_t end_ns, length_ns;
    uint64_t key;

    if (kernel == NULL || kernel->launch_ns > until_ns ||
        kernel->begin_ns - kernel->launch_end_ns > AT_ONCE_NS) {
        return IW_OK;
    }
    end_ns = iwi_min(kernel->launch_end_ns, kernel->begin_ns);
    if (end_ns - begin_ns < LEAST_NS) {
        return IW_OK;
    }
    length_ns = end_ns - begin_ns - explained_ns(&gaps->known, begin_ns, end_ns);
    if (length_ns < LEAST_NS) {
        return IW_OK;
    }
    key = key_of("gap", kernel->key, 0);
    gaps->is_late[gaps->order[next].kernel] = true;
    IW_TRY(kineto_usual_add(kineto->log, &kineto->usuals, key, length_ns));
    return suspect(kineto, file, key, IWI_PAUSE_LAUNCH, end_ns - length_ns, end_ns, kernel->step);
}

static iw_status walk_gaps(struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                           const struct gaps *gaps)
{
    int64_t busy_until_ns = INT64_MIN;

    for (size_t i = 0; i < file->kernel_count; i++) {
        const struct iwi_kineto_kernel *kernel = &file->kernels[i];

        if (kernel->is_nccl) {
            continue;
        }
        if (busy_until_ns != INT64_MIN && kernel->begin_ns - busy_until_ns >= LEAST_NS) {
            IW_TRY(look_at_gap(kineto, file, gaps, busy_until_ns, kernel->begin_ns));
        }
        busy_until_ns = iwi_max(busy_until_ns, kernel->end_ns);
    }
    return IW_OK;
}

/* Kernels with no gap before them count too: else a gap would be usual that was there a few times in many. */
static iw_status count_prompt(struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                              const struct gaps *gaps)
{
    for (size_t i = 0; i < gaps->count; i++) {
        const struct iwi_kineto_kernel *kernel = &file->kernels[gaps->order[i].kernel];

        if (!gaps->is_late[gaps->order[i].kernel]) {
            IW_TRY(kineto_usual_add(kineto->log, &kineto->usuals, key_of("gap", kernel->key, 0), 0));
        }
    }
    return IW_OK;
}

static iw_status suspect_gaps(struct iwi_kineto *kineto, const struct iwi_kineto_file *file)
{
    struct gaps gaps = {.order = iwi_new_array(kineto->log, file->kernel_count, sizeof *gaps.order)};
    iw_status status;

    gaps.is_late = iwi_new_array(kineto->log, file->kernel_count, sizeof *gaps.is_late);
    status =
        gaps.order != NULL && gaps.is_late != NULL ? list_known(kineto, file, &gaps.known) : IW_ERR_NOMEM;

    if (status == IW_OK) {
        for (size_t i = 0; i < file->kernel_count; i++) {
            if (file->kernels[i].launch_end_ns != INT64_MIN) {
                gaps.order[gaps.count++] = (struct by_launch){file->kernels[i].launch_end_ns, i};
            }
        }
        iwi_sort(gaps.order, gaps.count, compare_by_launch);
        status = walk_gaps(kineto, file, &gaps);
    }
    if (status == IW_OK) {
        status = count_prompt(kineto, file, &gaps);
    }
    free(gaps.is_late);
    free(gaps.order);
    free(gaps.known.of);
    return status;
}

iw_status iwi_kineto_add_pauses(struct iwi_kineto *kineto, struct iwi_kineto_file *file)
{
    IW_TRY(add_named(kineto, file));
    IW_TRY(add_waits(kineto, file));
    IW_TRY(suspect_kernels(kineto, file));
    return suspect_gaps(kineto, file);
}
