/* Plans as blocks of memory: making one, handing it over as a file, and taking one from a stranger.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/replay/inject_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/hash.h"

/* What a file must promise before it is mapped: nobody can cut it (SIGBUS) or change what was checked. */
enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

static uint64_t digest_of(const void *block, size_t bytes)
{
    struct iwi_plan_head head = *(const struct iwi_plan_head *)block;
    struct iwi_hash digest;

    head.digest = 0;
    iwi_hash_init(&digest, iwi_hash_key);
    iwi_hash_add(&digest, &head, sizeof head);
    iwi_hash_add(&digest, (const char *)block + sizeof head, bytes - sizeof head);
    return iwi_hash_value(&digest);
}

/* The head must have been checked. */
static void point_into_block(iw_inject_plan *plan)
{
    const struct iwi_plan_head *head = plan->block;
    const int64_t *events = (const int64_t *)(head + 1);

    plan->opts = (iw_inject_opts){.sync = (iw_sync)head->sync,
                                  .skew_ns = head->skew_ns,
                                  .time_scale = head->time_scale,
                                  .most_share = head->most_share,
                                  .is_uncompensated = head->is_uncompensated != 0,
                                  .seed = head->seed,
                                  .node = head->node};
    plan->costs = head->costs;
    plan->facts = head->facts;
    plan->count = (size_t)head->event_count;
    plan->start_ns = events;
    plan->duration_ns = events + head->event_count;
}

static void fill_head(struct iwi_plan_head *head, const iw_inject_opts *opts, const iw_inject_costs *costs,
                      const iw_inject_facts *facts, size_t count, size_t bytes)
{
    *head = (struct iwi_plan_head){.version = IWI_PLAN_VERSION,
                                   .head_bytes = sizeof *head,
                                   .block_bytes = bytes,
                                   .event_count = count,
                                   .sync = (uint32_t)opts->sync,
                                   .is_uncompensated = opts->is_uncompensated,
                                   .skew_ns = opts->skew_ns,
                                   .time_scale = opts->time_scale,
                                   .most_share = opts->most_share,
                                   .seed = opts->seed,
                                   .node = opts->node,
                                   .costs = *costs,
                                   .facts = *facts};
    memcpy(head->magic, IWI_PLAN_MAGIC, sizeof head->magic);
}

iw_status iwi_plan_new(const iw_log *log, const iw_inject_opts *opts, const iw_inject_costs *costs,
                       const iw_inject_facts *facts, const int64_t *start_ns, const int64_t *duration_ns,
                       size_t count, iw_inject_plan **plan_p)
{
    const size_t bytes = sizeof(struct iwi_plan_head) + 2 * count * sizeof(int64_t);
    iw_inject_plan *plan = iwi_new_array(log, 1, sizeof *plan);
    struct iwi_plan_head *head = iwi_new_array(log, 1, bytes);
    int64_t *events;

    if (plan == NULL || head == NULL) {
        free(plan);
        free(head);
        return IW_ERR_NOMEM;
    }
    fill_head(head, opts, costs, facts, count, bytes);
    events = (int64_t *)(head + 1);
    if (count > 0) {
        memcpy(events, start_ns, count * sizeof *events);
        memcpy(events + count, duration_ns, count * sizeof *events);
    }
    head->digest = digest_of(head, bytes);
    *plan = (iw_inject_plan){.block = head, .block_bytes = bytes};
    point_into_block(plan);
    *plan_p = plan;
    return IW_OK;
}

void iw_inject_plan_free(iw_inject_plan *plan)
{
    if (plan == NULL) {
        return;
    }
    if (plan->is_mapped) {
        (void)munmap(plan->block, plan->block_bytes);
    } else {
        free(plan->block);
    }
    free(plan);
}

const iw_inject_facts *iw_inject_plan_facts(const iw_inject_plan *plan)
{
    return &plan->facts;
}

static iw_status write_all(const iw_log *log, int fd, const char *bytes, size_t size)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t now = write(fd, bytes + done, size - done);

        if (now < 0 && errno != EINTR) {
            return iwi_fail(log, IW_ERR_IO, "out of memory for a plan of %zu bytes: %s", size,
                            strerror(errno));
        }
        done += now > 0 ? (size_t)now : 0;
    }
    return IW_OK;
}

iw_status iw_inject_plan_share(const iw_log *log, const iw_inject_plan *plan, int *fd_p)
{
    const int fd = memfd_create("idlewave-plan", MFD_ALLOW_SEALING);
    iw_status status;

    if (fd < 0) {
        return iwi_fail(log, IW_ERR_IO, "cannot share the plan: memfd_create: %s", strerror(errno));
    }
    status = write_all(log, fd, plan->block, plan->block_bytes);
    if (status == IW_OK && fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_SEAL) != 0) {
        status = iwi_fail(log, IW_ERR_IO, "cannot seal the plan: %s", strerror(errno));
    }
    if (status != IW_OK) {
        (void)close(fd);
        return status;
    }
    *fd_p = fd;
    return IW_OK;
}

static bool is_time(double value)
{
    return isfinite(value) && value >= 0;
}

static bool has_sane_opts(const struct iwi_plan_head *head)
{
    const iw_inject_costs *costs = &head->costs;
    const iw_inject_facts *facts = &head->facts;

    return head->sync <= IW_SYNC_PHASE && head->is_uncompensated <= 1 && head->skew_ns >= 0 &&
           head->skew_ns <= INT64_MAX / 2 && isfinite(head->time_scale) && head->time_scale >= 1 &&
           is_time(head->most_share) && is_time(costs->overhead_ns) && is_time(costs->late_share) &&
           is_time(costs->late_p50_ns) && is_time(costs->late_p99_ns) && is_time(costs->floor_ns) &&
           is_time(costs->gap_ns) && is_time(facts->noise_ns) && is_time(facts->as_recorded_ns) &&
           is_time(facts->made_ns) && facts->made_count == head->event_count && facts->length_ns > 0 &&
           facts->length_ns <= INT64_MAX / 2;
}

static bool has_sane_events(const struct iwi_plan_head *head)
{
    const size_t count = (size_t)head->event_count;
    const int64_t *start_ns = (const int64_t *)(head + 1), *duration_ns = start_ns + count;
    int64_t least_ns = 0;

    for (size_t i = 0; i < count; i++) {
        if (start_ns[i] < least_ns || start_ns[i] >= head->facts.length_ns || duration_ns[i] < 0 ||
            duration_ns[i] > IW_INJECT_MOST_NS) {
            return false;
        }
        least_ns = start_ns[i] + duration_ns[i];
    }
    return true;
}

static iw_status check_block(const iw_log *log, const struct iwi_plan_head *head, size_t bytes)
{
    if (memcmp(head->magic, IWI_PLAN_MAGIC, sizeof head->magic) != 0 || head->version != IWI_PLAN_VERSION ||
        head->head_bytes != sizeof *head) {
        return iwi_fail(log, IW_ERR_FORMAT, "the plan is not a plan of this version of idlewave");
    }
    if (head->block_bytes != bytes || head->event_count != (bytes - sizeof *head) / (2 * sizeof(int64_t)) ||
        (bytes - sizeof *head) % (2 * sizeof(int64_t)) != 0) {
        return iwi_fail(log, IW_ERR_TRUNCATED, "the plan has another length than it says");
    }
    if (head->digest != digest_of(head, bytes) || !has_sane_opts(head) || !has_sane_events(head)) {
        return iwi_fail(log, IW_ERR_FORMAT, "the plan is damaged");
    }
    return IW_OK;
}

static iw_status map_file(const iw_log *log, int fd, void **block_p, size_t *bytes_p)
{
    struct stat facts;
    void *block;
    const int seals = fcntl(fd, F_GET_SEALS);

    if (fstat(fd, &facts) != 0) {
        return iwi_fail(log, IW_ERR_IO, "cannot read the plan: %s", strerror(errno));
    }
    if (seals < 0 || (seals & SEALS) != SEALS) {
        return iwi_fail(log, IW_ERR_FORMAT, "the plan is not a sealed file");
    }
    if (facts.st_size < (off_t)sizeof(struct iwi_plan_head)) {
        return iwi_fail(log, IW_ERR_TRUNCATED, "the plan is shorter than its header");
    }
    /* populated, so that no handler meets a page fault */
    block = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (block == MAP_FAILED) {
        return iwi_fail(log, IW_ERR_IO, "cannot map the plan: %s", strerror(errno));
    }
    *block_p = block;
    *bytes_p = (size_t)facts.st_size;
    return IW_OK;
}

iw_status iwi_plan_map(const iw_log *log, int fd, iw_inject_plan **plan_p)
{
    iw_inject_plan *plan = iwi_new_array(log, 1, sizeof *plan);
    iw_status status;

    if (plan == NULL) {
        return IW_ERR_NOMEM;
    }
    status = map_file(log, fd, &plan->block, &plan->block_bytes);
    if (status == IW_OK) {
        plan->is_mapped = true;
        status = check_block(log, plan->block, plan->block_bytes);
    }
    if (status != IW_OK) {
        iw_inject_plan_free(plan);
        return status;
    }
    point_into_block(plan);
    *plan_p = plan;
    return IW_OK;
}
