/* Reads events of the osnoise tracer from trace.dat, the binary files of trace-cmd.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * libtracecmd decodes them in a child process: it trusts the lengths and offsets in a file.
 */
#include <string.h>

#include "features/recordings/convert/convert.h"
#include "kit/files/io/convert_child.h"

/* "tracing" behind three bytes that no text begins with. */
static bool matches(const char *data, size_t size)
{
    static const char magic[] = "\x17\x08\x44tracing";

    return size >= sizeof magic - 1 && memcmp(data, magic, sizeof magic - 1) == 0;
}

#if IW_HAVE_TRACECMD

#include <sys/mman.h>
#include <trace-cmd.h>
#include <unistd.h>

/* What the child tells of an event. */
struct record {
    struct iwi_osnoise_event event;
    iw_class class_of_it;
    uint64_t lost; /* events before it */
    char name[IW_SOURCE_NAME_SIZE];
};

static const struct event_kind {
    const char *system, *name;
    enum iwi_osnoise_kind kind;
    iw_class class_of_it;
} event_kinds[] = {
    {"osnoise", "sample_threshold", IWI_OSNOISE_SAMPLE, IW_CLASS_UNKNOWN},
    {"osnoise", "irq_noise", IWI_OSNOISE_NOISE, IW_CLASS_IRQ},
    {"osnoise", "softirq_noise", IWI_OSNOISE_NOISE, IW_CLASS_SOFTIRQ},
    {"osnoise", "thread_noise", IWI_OSNOISE_NOISE, IW_CLASS_THREAD},
    {"osnoise", "nmi_noise", IWI_OSNOISE_NOISE, IW_CLASS_NMI},
    {"ftrace", "osnoise", IWI_OSNOISE_PERIOD, IW_CLASS_UNKNOWN},
};

struct decoder {
    const struct iwi_import *in;
    FILE *out;
};

/* ---- in the child ---- */

static const struct event_kind *find_kind(const struct tep_event *event)
{
    for (size_t i = 0; i < sizeof event_kinds / sizeof event_kinds[0]; i++) {
        if (strcmp(event->system, event_kinds[i].system) == 0 &&
            strcmp(event->name, event_kinds[i].name) == 0) {
            return &event_kinds[i];
        }
    }
    return NULL;
}

static bool read_number(struct tep_event *event, struct tep_record *raw, const char *field, int64_t *value_p)
{
    unsigned long long value;

    if (tep_get_field_val(NULL, event, field, raw, &value, 0) != 0 || value > INT64_MAX) {
        return false;
    }
    *value_p = (int64_t)value;
    return true;
}

static void read_text(struct tep_event *event, struct tep_record *raw, const char *field,
                      char name[IW_SOURCE_NAME_SIZE])
{
    int length = 0;
    const char *text = tep_get_field_raw(NULL, event, field, raw, &length, 0);

    if (text != NULL && length > 0) {
        const size_t size = strnlen(text, (size_t)length);

        memcpy(name, text, size < IW_SOURCE_NAME_SIZE ? size : IW_SOURCE_NAME_SIZE - 1);
    }
}

static void read_name(struct tep_event *event, struct tep_record *raw, struct record *record)
{
    static const char *const softirqs[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
                                           "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};
    const int64_t count = sizeof softirqs / sizeof softirqs[0];
    int64_t vector;

    if (record->class_of_it == IW_CLASS_THREAD) {
        read_text(event, raw, "comm", record->name);
    } else if (record->class_of_it == IW_CLASS_IRQ) {
        read_text(event, raw, "desc", record->name);
    } else if (record->class_of_it == IW_CLASS_SOFTIRQ && read_number(event, raw, "vector", &vector) &&
               vector < count) {
        snprintf(record->name, sizeof record->name, "%s", softirqs[vector]);
    }
}

static bool read_period(struct tep_event *event, struct tep_record *raw, struct iwi_osnoise_event *period)
{
    static const char *const counters[] = {"nmi_count", "irq_count", "softirq_count", "thread_count"};
    int64_t runtime_us;

    if (!read_number(event, raw, "runtime", &runtime_us) || raw->ts > INT64_MAX) {
        return false;
    }
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
        int64_t count;

        if (!read_number(event, raw, counters[i], &count) || count > UINT32_MAX) {
            return false;
        }
        period->interference += (uint64_t)count;
    }
    period->duration_ns = iwi_min(iwi_min(runtime_us, INT64_MAX / 1000) * 1000, (int64_t)raw->ts);
    period->start_ns = (int64_t)raw->ts - period->duration_ns;
    return true;
}

static bool read_times(struct tep_event *event, struct tep_record *raw, struct iwi_osnoise_event *times)
{
    int64_t interference = 0;

    if (times->kind == IWI_OSNOISE_PERIOD) {
        return read_period(event, raw, times);
    }
    if (times->kind == IWI_OSNOISE_SAMPLE && !read_number(event, raw, "interference", &interference)) {
        return false;
    }
    times->interference = (uint64_t)interference;
    return read_number(event, raw, "start", &times->start_ns) &&
           read_number(event, raw, "duration", &times->duration_ns);
}

static int take(struct tracecmd_input *handle, struct tep_record *raw, int cpu, void *arg)
{
    struct decoder *d = arg;
    struct tep_event *event = tep_find_event_by_record(tracecmd_get_tep(handle), raw);
    const struct event_kind *kind = event != NULL ? find_kind(event) : NULL;
    struct record record;

    if (kind == NULL) {
        return 0;
    }
    memset(&record, 0, sizeof record);
    record.event.kind = kind->kind;
    record.event.cpu = (uint32_t)cpu;
    record.class_of_it = kind->class_of_it;
    record.lost = raw->missed_events > 0 ? (uint64_t)raw->missed_events : 0;
    if (!read_times(event, raw, &record.event)) {
        (void)iwi_fail(d->in->log, IW_ERR_FORMAT, "'%s': an event '%s' lacks fields of osnoise", d->in->path,
                       kind->name);
        return 1;
    }
    read_name(event, raw, &record);
    return fwrite(&record, sizeof record, 1, d->out) == 1 ? 0 : 1;
}

static iw_status decode_all(struct decoder *d, struct tracecmd_input *handle)
{
    const int instances = tracecmd_buffer_instances(handle);

    if (tracecmd_iterate_events(handle, NULL, 0, take, d) != 0) {
        return IW_ERR_FORMAT;
    }
    for (int i = 0; i < instances; i++) {
        struct tracecmd_input *instance = tracecmd_buffer_instance_handle(handle, i);

        if (instance != NULL && tracecmd_iterate_events(instance, NULL, 0, take, d) != 0) {
            return IW_ERR_FORMAT;
        }
    }
    return IW_OK;
}

/* The handle is left to the end of the process. */
static iw_status decode(const struct iwi_import *in, FILE *out)
{
    struct decoder d = {in, out};
    const int fd = memfd_create("trace.dat", MFD_CLOEXEC);
    struct tracecmd_input *handle;

    for (size_t done = 0; done < in->size;) {
        const ssize_t written = write(fd, in->data + done, in->size - done);

        if (written <= 0) {
            return iwi_fail(in->log, IW_ERR_NOMEM, "out of memory for '%s'", in->path);
        }
        done += (size_t)written;
    }
    (void)lseek(fd, 0, SEEK_SET);
    tracecmd_set_loglevel(TEP_LOG_NONE);
    tep_set_loglevel(TEP_LOG_NONE);
    handle = tracecmd_open_fd(fd, TRACECMD_FL_LOAD_NO_PLUGINS);
    if (handle == NULL) {
        return iwi_fail(in->log, IW_ERR_FORMAT,
                        "'%s' looks like a trace.dat, but libtracecmd cannot read it: it is damaged, "
                        "truncated or of a newer version",
                        in->path);
    }
    return decode_all(&d, handle);
}

/* ---- in the parent ---- */

static iw_status add_records(struct iwi_osnoise *osnoise, const struct iwi_child_result *result)
{
    const size_t count = result->size / sizeof(struct record);

    for (size_t i = 0; i < count; i++) {
        struct record record;

        memcpy(&record, (const char *)result->bytes + i * sizeof record, sizeof record);
        osnoise->lost += record.lost;
        if (record.event.kind == IWI_OSNOISE_NOISE) {
            IW_TRY(iwi_sources_find(osnoise->log, &osnoise->sources, record.class_of_it, record.name,
                                    strnlen(record.name, sizeof record.name), &record.event.source));
        }
        IW_TRY(iwi_osnoise_add(osnoise, &record.event));
    }
    return IW_OK;
}

static iw_status read_trace_dat(const struct iwi_import *in, iw_recording **recording_p)
{
    struct iwi_child_result result;
    struct iwi_osnoise osnoise;
    iw_status status;

    IW_TRY(iwi_child_run(in, "libtracecmd", decode, &result));
    status = iwi_osnoise_init(in->log, in->path, &osnoise);
    if (status == IW_OK) {
        status = add_records(&osnoise, &result);
        if (status == IW_OK) {
            status = iwi_osnoise_finish(&osnoise, recording_p);
        } else {
            iwi_osnoise_release(&osnoise);
        }
    }
    iwi_child_release(&result);
    return status;
}

#else

static iw_status read_trace_dat(const struct iwi_import *in, iw_recording **recording_p)
{
    (void)recording_p;
    return iwi_fail(in->log, IW_ERR_UNSUPPORTED,
                    "'%s' is a trace.dat, but idlewave was built without libtracecmd: convert the text of "
                    "'trace-cmd report %s'",
                    in->path, in->path);
}

#endif

const struct iwi_convert_ops iwi_import_trace_dat = {
    .about = {.name = "trace.dat", .summary = "of trace-cmd", .can_read = true},
    .in_words = "trace.dat of trace-cmd",
    .is_foreign = true,
    .matches = matches,
    .read = read_trace_dat,
};
