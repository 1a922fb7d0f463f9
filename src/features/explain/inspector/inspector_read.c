/* Reads lines of NCCL's Inspector plugin, one JSON object each.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features/explain/inspector/inspector.h"
#include "features/explain/json/json_value.h"
#include "kit/files/io/yaml_doc.h"

/* Times are microseconds since 1970; what is above is no time. */
#define MOST_US (INT64_C(1) << 52)
#define MOST_TOOK_US ((uint64_t)(IW_TIME_INPUT_MAX / IW_PS_PER_US))

struct reading {
    struct iwi_inspector *all;
    struct iwi_json_items items;
    struct iwi_json_item item;
    struct iwi_json_tree tree;
    /* From format v4.3 on a line with 'dump_stats' says who writes the lines after it. */
    bool has_writer;
    uint32_t writer; /* a seat */
    int64_t written_us;
};

void iwi_inspector_init(struct iwi_inspector *all, const iw_log *log)
{
    *all = (struct iwi_inspector){.log = log};
}

void iwi_inspector_release(struct iwi_inspector *all)
{
    free(all->comms);
    free(all->processes);
    free(all->seats);
    free(all->lines);
    *all = (struct iwi_inspector){.log = all->log};
}

/* ---- values ---- */

#define FAIL(r, status, ...) iwi_json_fail(&(r)->items, (r)->item.byte, status, __VA_ARGS__)

static const struct iwi_json_value *find(const struct reading *r, const struct iwi_json_value *object,
                                         const char *key)
{
    return iwi_json_find(&r->tree, object, key);
}

static iw_status need_number(const struct reading *r, const struct iwi_json_value *object, const char *key,
                             uint64_t max, uint64_t *number_p)
{
    const struct iwi_json_value *value = find(r, object, key);

    if (value == NULL || !iwi_json_u64(value, number_p)) {
        return FAIL(r, IW_ERR_FORMAT, "the line has no number '%s', as lines of NCCL's Inspector do", key);
    }
    return *number_p <= max ? IW_OK : FAIL(r, IW_ERR_RANGE, "'%s' is %s", key, value->text);
}

/* Of what may be left out; 0 then. */
static int64_t time_of(const struct reading *r, const struct iwi_json_value *object, const char *key)
{
    uint64_t number;

    return iwi_json_u64(find(r, object, key), &number) && number < MOST_US ? (int64_t)number : 0;
}

/* ---- who ---- */

static iw_status process_of(struct reading *r, uint32_t *process_p)
{
    struct iwi_inspector *all = r->all;
    const struct iwi_json_value *metadata = find(r, r->tree.values, "metadata");
    struct iwi_inspector_process process = {.pid = 0};
    iw_status status;

    all->skips_small |= strcmp(iwi_json_string(find(r, metadata, "rec_mechanism"), ""), "idlewave") != 0;
    (void)snprintf(process.host, sizeof process.host, "%s",
                   iwi_json_string(find(r, metadata, "hostname"), "unknown"));
    IW_TRY(need_number(r, metadata, "pid", INT64_MAX, &process.pid));
    for (size_t i = all->process_count; i-- > 0;) {
        if (all->processes[i].pid == process.pid && strcmp(all->processes[i].host, process.host) == 0) {
            *process_p = (uint32_t)i;
            return IW_OK;
        }
    }
    status = iwi_grow(all->log, (void **)&all->processes, &all->process_capacity, all->process_count + 1,
                      sizeof all->processes[0]);
    if (status == IW_OK) {
        *process_p = (uint32_t)all->process_count;
        all->processes[all->process_count++] = process;
    }
    return status;
}

static iw_status comm_of(struct reading *r, const struct iwi_json_value *header, uint64_t size,
                         uint32_t *comm_p)
{
    struct iwi_inspector *all = r->all;
    const char *id = iwi_json_string(find(r, header, "id"), "");
    const char *name = iwi_json_string(find(r, header, "comm_name"), "unknown");
    struct iwi_inspector_comm comm = {.size = (uint32_t)size};

    if (id[0] == '\0') {
        return FAIL(r, IW_ERR_FORMAT, "the line does not name its communicator (header.id)");
    }
    (void)snprintf(comm.id, sizeof comm.id, "%s", id);
    (void)snprintf(comm.name, sizeof comm.name, "%s", strcmp(name, "unknown") == 0 ? "" : name);
    for (size_t i = all->comm_count; i-- > 0;) {
        if (strcmp(all->comms[i].id, comm.id) == 0) {
            *comm_p = (uint32_t)i;
            return all->comms[i].size == comm.size
                       ? IW_OK
                       : FAIL(r, IW_ERR_FORMAT,
                              "communicator '%s' has %" PRIu32 " ranks here and %" PRIu32
                              " elsewhere; give files of one run",
                              comm.id, comm.size, all->comms[i].size);
        }
    }
    IW_TRY(iwi_grow(all->log, (void **)&all->comms, &all->comm_capacity, all->comm_count + 1,
                    sizeof all->comms[0]));
    *comm_p = (uint32_t)all->comm_count;
    all->comms[all->comm_count++] = comm;
    return IW_OK;
}

/* A file is of one process, which has few seats. */
static iw_status seat_of(struct reading *r, uint32_t *seat_p)
{
    struct iwi_inspector *all = r->all;
    const struct iwi_json_value *header = find(r, r->tree.values, "header");
    struct iwi_inspector_seat seat = {0};
    uint64_t rank, size;

    IW_TRY(need_number(r, header, "rank", UINT32_MAX, &rank));
    IW_TRY(need_number(r, header, "n_ranks", UINT32_MAX, &size));
    if (rank >= size) {
        return FAIL(r, IW_ERR_RANGE, "rank %" PRIu64 " of %" PRIu64, rank, size);
    }
    seat.rank = (uint32_t)rank;
    IW_TRY(comm_of(r, header, size, &seat.comm));
    IW_TRY(process_of(r, &seat.process));
    for (size_t i = all->first_seat; i < all->seat_count; i++) {
        if (all->seats[i].process == seat.process && all->seats[i].comm == seat.comm &&
            all->seats[i].rank == seat.rank) {
            *seat_p = (uint32_t)i;
            return IW_OK;
        }
    }
    IW_TRY(iwi_grow(all->log, (void **)&all->seats, &all->seat_capacity, all->seat_count + 1,
                    sizeof all->seats[0]));
    *seat_p = (uint32_t)all->seat_count;
    all->seats[all->seat_count++] = seat;
    return IW_OK;
}

/* ---- what ---- */

static uint8_t op_of(const char *name)
{
    static const struct {
        const char *name;
        uint8_t op;
    } ops[] = {{"AllReduce", IWI_VISIT_ALLREDUCE},  {"AllGather", IWI_VISIT_ALLGATHER},
               {"AllGatherV", IWI_VISIT_ALLGATHER}, {"ReduceScatter", IWI_VISIT_REDUCE_SCATTER},
               {"All2All", IWI_VISIT_ALLTOALL},     {"AlltoAll", IWI_VISIT_ALLTOALL},
               {"Broadcast", IWI_VISIT_BROADCAST},  {"Reduce", IWI_VISIT_REDUCE}};

    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (strcmp(ops[i].name, name) == 0) {
            return ops[i].op;
        }
    }
    return IWI_VISIT_OTHER;
}

/* The first beginning and the last end of the kernel's channels. */
static void read_times(const struct reading *r, const struct iwi_json_value *perf,
                       struct iwi_inspector_line *line)
{
    const struct iwi_json_value *channels = find(r, find(r, perf, "event_trace_ts"), "kernel_events");

    for (const struct iwi_json_value *channel = iwi_json_first(&r->tree, channels); channel != NULL;
         channel = iwi_json_after(&r->tree, channels, channel)) {
        const int64_t start_us = time_of(r, channel, "kernel_start_ts");
        const int64_t stop_us = time_of(r, channel, "kernel_stop_ts");

        if (start_us > 0 && (line->enter_us == 0 || start_us < line->enter_us)) {
            line->enter_us = start_us;
        }
        line->leave_us = iwi_max(line->leave_us, stop_us);
    }
    line->has_times = line->enter_us > 0 && line->leave_us >= line->enter_us;
}

/* NCCL counts the part of one rank where others hold another. */
static uint64_t whole_bytes(const struct iwi_inspector *all, const struct iwi_inspector_line *line,
                            uint64_t bytes)
{
    const uint64_t size = all->comms[all->seats[line->seat].comm].size;
    const bool is_part = line->op == IWI_VISIT_ALLGATHER || line->op == IWI_VISIT_REDUCE_SCATTER ||
                         line->op == IWI_VISIT_ALLTOALL;

    return !is_part ? bytes : bytes <= UINT64_MAX / size ? bytes * size : UINT64_MAX;
}

static iw_status read_perf(struct reading *r, const struct iwi_json_value *perf, bool is_message,
                           struct iwi_inspector_line *line)
{
    uint64_t bytes, took_us, peer = 0;

    IW_TRY(
        need_number(r, perf, is_message ? "p2p_sn" : "coll_sn", INT64_MAX / IWI_VISIT_OPS, &line->sequence));
    IW_TRY(
        need_number(r, perf, is_message ? "p2p_msg_size_bytes" : "coll_msg_size_bytes", INT64_MAX, &bytes));
    IW_TRY(
        need_number(r, perf, is_message ? "p2p_exec_time_us" : "coll_exec_time_us", MOST_TOOK_US, &took_us));
    if (is_message) {
        IW_TRY(need_number(r, perf, "p2p_peer", UINT32_MAX, &peer));
        line->op = IWI_VISIT_MESSAGE;
        line->is_receiver = strcmp(iwi_json_string(find(r, perf, "p2p"), ""), "Send") != 0;
        line->sender = line->is_receiver ? (uint32_t)peer : r->all->seats[line->seat].rank;
        line->receiver = line->is_receiver ? r->all->seats[line->seat].rank : (uint32_t)peer;
    } else {
        line->op = op_of(iwi_json_string(find(r, perf, "coll"), ""));
        /* NCCL numbers each kind by itself: the fifth all-reduce and the fifth all-gather are both 5 */
        line->sequence = line->sequence * IWI_VISIT_OPS + line->op;
    }
    line->comm = r->all->seats[line->seat].comm;
    line->bytes = whole_bytes(r->all, line, bytes);
    line->took_us = (int64_t)took_us;
    read_times(r, perf, line);
    return IW_OK;
}

static int64_t written_us(const struct reading *r)
{
    return time_of(r, find(r, r->tree.values, "metadata"), "dump_timestamp_us");
}

/* Where lines say themselves who writes them (v4.2), this one only counts. */
static iw_status read_writer(struct reading *r, const struct iwi_json_value *stats)
{
    uint64_t collectives = 0, messages = 0;

    (void)iwi_json_u64(find(r, stats, "coll_records"), &collectives);
    (void)iwi_json_u64(find(r, stats, "p2p_records"), &messages);
    r->has_writer = collectives + messages > 0;
    r->written_us = written_us(r);
    return r->has_writer ? seat_of(r, &r->writer) : IW_OK;
}

static iw_status find_writer(struct reading *r, struct iwi_inspector_line *line)
{
    if (find(r, r->tree.values, "header") != NULL) {
        line->written_us = written_us(r);
        return seat_of(r, &line->seat);
    }
    line->seat = r->writer;
    line->written_us = r->written_us;
    return r->has_writer ? IW_OK
                         : FAIL(r, IW_ERR_FORMAT,
                                "the line has no 'header', and no earlier line with 'dump_stats' has one");
}

static iw_status read_line(struct reading *r)
{
    struct iwi_inspector *all = r->all;
    struct iwi_inspector_line line = {0};
    const struct iwi_json_value *coll, *p2p, *stats;

    IW_TRY(iwi_json_parse(&r->tree, &r->items, &r->item));
    coll = find(r, r->tree.values, "coll_perf");
    p2p = find(r, r->tree.values, "p2p_perf");
    stats = find(r, r->tree.values, "dump_stats");
    if (stats != NULL) {
        return read_writer(r, stats);
    }
    if (coll == NULL && p2p == NULL) {
        return find(r, r->tree.values, "proxy_trace") != NULL
                   ? IW_OK
                   : FAIL(r, IW_ERR_FORMAT,
                          "the line has no 'coll_perf', 'p2p_perf' or 'dump_stats': this version of NCCL's "
                          "Inspector is not supported");
    }
    IW_TRY(find_writer(r, &line));
    IW_TRY(read_perf(r, coll != NULL ? coll : p2p, coll == NULL, &line));
    all->timed += line.has_times;
    IW_TRY(iwi_grow(all->log, (void **)&all->lines, &all->line_capacity, all->line_count + 1,
                    sizeof all->lines[0]));
    all->lines[all->line_count++] = line;
    return IW_OK;
}

/* ---- files ---- */

/* The next line, or no text: a job that was killed leaves half a line, which is no error. */
static iw_status next_line(struct reading *r)
{
    struct iwi_log_keeper keeper;
    iw_status status;

    iwi_log_keeper_init(&keeper, r->all->log);
    r->items.bytes.log = &keeper.log;
    status = iwi_json_next(&r->items, &r->item);
    r->items.bytes.log = r->all->log;
    if (status == IW_ERR_TRUNCATED) {
        r->all->cut++;
        r->item.text = NULL;
        return IW_OK;
    }
    return status == IW_OK ? IW_OK : iwi_fail(r->all->log, status, "%s", keeper.text);
}

iw_status iwi_inspector_read(struct iwi_inspector *all, const char *path, const char *name, const void *data,
                             size_t size)
{
    struct reading r = {.all = all};
    iw_status status;

    all->first_seat = all->seat_count;
    IW_TRY(path != NULL ? iwi_json_open(all->log, path, IWI_JSON_MANY_ROOTS, &r.items)
                        : iwi_json_open_memory(all->log, name, data, size, IWI_JSON_MANY_ROOTS, &r.items));
    iwi_json_tree_init(&r.tree, all->log);
    status = next_line(&r);
    while (status == IW_OK && r.item.text != NULL) {
        status = read_line(&r);
        status = status == IW_OK ? next_line(&r) : status;
    }
    iwi_json_tree_release(&r.tree);
    iwi_json_close(&r.items);
    return status;
}
