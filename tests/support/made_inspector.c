/* Writes a made run of training as NCCL's Inspector writes it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/made_inspector.h"

#include <inttypes.h>
#include <stdlib.h>

#include "support/made_kineto_parts.h"

#define BASE_US INT64_C(1760000000000000) /* October 2025 */

static const char *const words[IWT_GROUPS] = {"default_pg", "TP", "unknown", "PP"};

static int64_t shown_us(const struct iwt_kineto_run *run, uint32_t rank, int64_t ns)
{
    const int64_t shown = ns + run->clock_ns[rank] + (int64_t)(run->drift[rank] * (double)ns);

    return BASE_US + (shown - (shown < 0 ? 999 : 0)) / 1000;
}

static uint32_t place_of(const uint32_t *members, uint32_t count, uint32_t rank)
{
    uint32_t i = 0;

    while (i < count && members[i] != rank) {
        i++;
    }
    return i;
}

/* Channels begin and end one after the other. */
static void print_times(FILE *out, bool is_message, int64_t begin_us, int64_t end_us)
{
    (void)fprintf(out,
                  ",\"event_trace_ts\":{\"%s_start_ts\":%" PRId64 ",\"%s_stop_ts\":%" PRId64
                  ",\"kernel_events\":[{\"channel_id\":0,\"kernel_start_ts\":%" PRId64
                  ",\"kernel_stop_ts\":%" PRId64 ",\"kernel_record_ts\":%" PRId64
                  "},{\"channel_id\":1,\"kernel_start_ts\":%" PRId64 ",\"kernel_stop_ts\":%" PRId64
                  ",\"kernel_record_ts\":%" PRId64 "}]}",
                  is_message ? "p2p" : "coll", begin_us - 50, is_message ? "p2p" : "coll", begin_us - 45,
                  begin_us < end_us ? begin_us + 1 : begin_us, end_us, end_us, begin_us,
                  begin_us < end_us ? end_us - 1 : end_us, end_us);
}

/* Who writes: a line of its own in v4.3, the begin of the line before. */
static void print_writer(const struct iwt_inspector *made, uint32_t rank, const uint32_t *members,
                         uint32_t size, const struct iwt_kineto_event *event, int64_t end_us, FILE *out)
{
    const uint32_t gpus = made->process_gpus > 0 ? made->process_gpus : 1;

    (void)fprintf(
        out,
        "{\"header\":{\"id\":\"0x%x\",\"comm_name\":\"%s\",\"rank\":%" PRIu32 ",\"n_ranks\":%" PRIu32
        ",\"nnodes\":%u},\"metadata\":{\"inspector_output_format_version\":\"%s\",\"git_rev\":\"\","
        "\"rec_mechanism\":\"nccl_profiler_interface\",\"dump_timestamp_us\":%" PRId64
        ",\"hostname\":\"node%" PRIu32 "\",\"pid\":%" PRIu32 "},",
        0x7f8c4000U + (unsigned)event->group * 0x10000U + members[0], words[event->group],
        place_of(members, size, rank), size, 1 + (size - 1) / IWT_INSPECTOR_NODE_GPUS,
        made->is_v43 ? "v4.3" : "v4.0", end_us + 200, rank / IWT_INSPECTOR_NODE_GPUS, 1000 + rank / gpus);
    if (made->is_v43) {
        (void)fputs("\"dump_stats\":{\"coll_records\":1,\"p2p_records\":1,\"proxy_records\":1}}\n"
                    "{\"proxy_trace\":{\"type\":\"ProxyOp\"}}\n",
                    out);
    }
}

static void print_line(const struct iwt_kineto_run *run, const struct iwt_inspector *made, uint32_t rank,
                       const struct iwt_kineto_event *event, uint64_t sequence, bool is_next, FILE *out)
{
    uint32_t *members = calloc(run->ranks, sizeof *members);
    const uint32_t size = iwt_kineto_members(&run->made, event->group, rank, members);
    const bool is_message = event->kind != IWT_ALLREDUCE;
    const int64_t begin_us = shown_us(run, rank, event->begin_ns),
                  end_us = shown_us(run, rank, event->end_ns);

    if (!made->is_v43 || !is_next) {
        print_writer(made, rank, members, size, event, end_us, out);
    }
    if (made->is_v43) {
        (void)fputs("{", out);
    }
    if (is_message) {
        (void)fprintf(out,
                      "\"p2p_perf\":{\"p2p\":\"%s\",\"p2p_sn\":%" PRIu64 ",\"p2p_peer\":%" PRIu32
                      ",\"p2p_msg_size_bytes\":%" PRIu64 ",\"p2p_exec_time_us\":%" PRId64
                      ",\"p2p_timing_source\":\"kernel_gpu\",\"p2p_algobw_gbs\":1.5,\"p2p_busbw_gbs\":1.5",
                      event->kind == IWT_SEND ? "Send" : "Recv", sequence,
                      place_of(members, size, event->peer), event->elements * 4, end_us - begin_us);
    } else {
        (void)fprintf(out,
                      "\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":%" PRIu64
                      ",\"coll_msg_size_bytes\":%" PRIu64 ",\"coll_exec_time_us\":%" PRId64
                      ",\"coll_timing_source\":\"kernel_gpu\",\"coll_algobw_gbs\":1.5,\"coll_busbw_gbs\":1.5",
                      event->sequence, event->elements * 4, end_us - begin_us);
    }
    if (made->is_verbose) {
        print_times(out, is_message, begin_us, end_us);
    }
    (void)fputs("}}\n", out);
    free(members);
}

void iwt_inspector_print(const struct iwt_kineto_run *run, const struct iwt_inspector *made, uint32_t rank,
                         FILE *out)
{
    uint64_t lines = 0, messages = 0;
    int last_group = -1;

    for (size_t i = 0; i < run->of[rank].count; i++) {
        const struct iwt_kineto_event *event = &run->of[rank].events[i];
        const bool is_message = event->kind == IWT_SEND || event->kind == IWT_RECV;

        if ((event->kind == IWT_ALLREDUCE || is_message) &&
            (made->has_small || event->elements * 4 >= IWT_INSPECTOR_LEAST_BYTES)) {
            messages += is_message;
            lines++;
            if (made->loses == 0 || (lines + rank) % made->loses != 0) {
                print_line(run, made, rank, event, messages, (int)event->group == last_group, out);
                last_group = (int)event->group;
            }
        }
    }
}

char *iwt_inspector_text(const struct iwt_kineto_run *run, const struct iwt_inspector *made, uint32_t rank,
                         size_t *size_p)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size_p);

    iwt_inspector_print(run, made, rank, out);
    (void)fclose(out);
    return text;
}
