/* One operation as a line of JSON, as NCCL's own Inspector plugin writes it with all its times.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <inttypes.h>
#include <stdio.h>

#include "recorder.h"

/* Text between quotes; what is no plain ASCII becomes '?'. */
static void quote(const char *text, char *quoted, size_t size)
{
    size_t used = 0;

    for (; *text != '\0' && used + 3 < size; text++) {
        if (*text == '"' || *text == '\\') {
            quoted[used++] = '\\';
        }
        quoted[used++] = (char)(*text >= ' ' && *text < 127 ? *text : '?');
    }
    quoted[used] = '\0';
}

static int64_t us(int64_t ns)
{
    return ns / 1000;
}

static const char *timing_source(const struct iwi_nccl_record *record)
{
    return record->is_gpu_time ? "kernel_gpu" : (record->has_kernel ? "kernel_cpu" : "collective_cpu");
}

static int64_t took_ns(const struct iwi_nccl_record *record)
{
    const int64_t ns = record->has_kernel ? record->kernel_stop_ns - record->kernel_start_ns
                                          : record->stop_ns - record->start_ns;

    return ns > 0 ? ns : 0; /* the wall clock may have been set back */
}

/* Values of coll_perf or p2p_perf; `p` is "coll" or "p2p". */
static int write_perf(const struct iwi_nccl_record *record, const char *p, const char *func, char *text,
                      size_t size)
{
    char peer[40] = "", kernel[160] = "";

    if (record->is_message) {
        (void)snprintf(peer, sizeof peer, "\"p2p_peer\":%" PRId32 ",", record->peer);
    }
    if (record->has_kernel) {
        (void)snprintf(kernel, sizeof kernel,
                       "{\"channel_id\":0,\"kernel_start_ts\":%" PRId64 ",\"kernel_stop_ts\":%" PRId64 "}",
                       us(record->kernel_start_ns), us(record->kernel_stop_ns));
    }
    return snprintf(text, size,
                    "{\"%s\":\"%s\",\"%s_sn\":%" PRIu64 ",%s\"%s_msg_size_bytes\":%" PRIu64
                    ",\"%s_exec_time_us\":%" PRId64 ",\"%s_timing_source\":\"%s\",\"event_trace_ts\":{"
                    "\"%s_start_ts\":%" PRId64 ",\"%s_stop_ts\":%" PRId64 ",\"kernel_events\":[%s]}}",
                    p, func, p, record->sequence, peer, p, record->bytes, p, us(took_ns(record)), p,
                    timing_source(record), p, us(record->start_ns), p, us(record->stop_ns), kernel);
}

size_t iwi_nccl_line(const struct iwi_nccl_record *record, const struct iwi_nccl_origin *origin,
                     int64_t now_ns, uint64_t lost, char line[IWI_NCCL_LINE_SIZE])
{
    char name[2 * IWI_NCCL_NAME_SIZE], func[2 * IWI_NCCL_FUNC_SIZE], host[2 * sizeof origin->host];
    char perf[IWI_NCCL_LINE_SIZE / 2];
    const char *p = record->is_message ? "p2p" : "coll";
    int size;

    quote(record->comm_name[0] != '\0' ? record->comm_name : "unknown", name, sizeof name);
    quote(record->func, func, sizeof func);
    quote(origin->host, host, sizeof host);
    size = write_perf(record, p, func, perf, sizeof perf);
    if (size < 0 || size >= (int)sizeof perf) {
        return 0;
    }
    size = snprintf(line, IWI_NCCL_LINE_SIZE,
                    "{\"header\":{\"id\":\"0x%" PRIx64 "\",\"comm_name\":\"%s\",\"rank\":%" PRId32
                    ",\"n_ranks\":%" PRId32 ",\"nnodes\":%" PRId32
                    "},\"metadata\":{\"inspector_output_format_version\":\"v4.0\",\"rec_mechanism\":"
                    "\"idlewave\",\"dump_timestamp_us\":%" PRId64
                    ",\"hostname\":\"%s\",\"pid\":%ld,\"lost\":%" PRIu64 "},\"%s_perf\":%s}\n",
                    record->comm_id, name, record->rank, record->ranks, record->nodes, us(now_ns), host,
                    origin->pid, lost, p, perf);
    return size > 0 && size < IWI_NCCL_LINE_SIZE ? (size_t)size : 0;
}
