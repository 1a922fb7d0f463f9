/* `idlewave watch`: what a running job loses to noise, without a probe.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/idlewave.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "features/watch/verb/http_serve.h"
#include "features/watch/verb/watch_live.h"
#include "options/cpu_list.h"
#include "options/program_opts.h"
#include "options/shown_opts.h"
#include "options/verbs.h"
#include "process/interrupt.h"
#include "process/live.h"
#include "process/progress.h"

/* One page over HTTP, for programs that fetch it now and then. */
struct http_page {
    struct http_server server;
    int stop[2]; /* a byte in this pipe ends the thread */
    pthread_t thread;
};

struct watch_metrics {
    const struct ui *ui;
    const char *file; /* NULL: a page */
    bool is_begun;
    int64_t due_ns; /* of the time that is watched: when to publish next */
    struct http_page page;
    iw_watch_metrics *metrics;
};

/* ---- addresses ---- */

static bool read_port(const char *text, in_port_t *port_p)
{
    char *end;
    long port;

    if (*text < '0' || *text > '9') {
        return false;
    }
    errno = 0;
    port = strtol(text, &end, 10);
    if (*end != '\0' || errno != 0 || port < 1 || port > 65535) {
        return false;
    }
    *port_p = htons((in_port_t)port);
    return true;
}

/* "9913": on 127.0.0.1; "192.0.2.7:9913" and "[::1]:9913" as they say. False: it is something else. */
static bool http_address(const char *text, struct sockaddr_storage *address, socklen_t *size_p)
{
    struct sockaddr_in *v4 = (void *)address;
    struct sockaddr_in6 *v6 = (void *)address;
    const char *colon = strrchr(text, ':');
    char host[64];

    memset(address, 0, sizeof *address);
    if (colon == NULL) {
        v4->sin_family = AF_INET;
        v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        *size_p = sizeof *v4;
        return read_port(text, &v4->sin_port);
    }
    if ((size_t)(colon - text) >= sizeof host) {
        return false;
    }
    (void)snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
    if (host[0] == '[' && host[strlen(host) - 1] == ']') {
        host[strlen(host) - 1] = '\0';
        v6->sin6_family = AF_INET6;
        *size_p = sizeof *v6;
        return inet_pton(AF_INET6, host + 1, &v6->sin6_addr) == 1 && read_port(colon + 1, &v6->sin6_port);
    }
    v4->sin_family = AF_INET;
    *size_p = sizeof *v4;
    return inet_pton(AF_INET, host, &v4->sin_addr) == 1 && read_port(colon + 1, &v4->sin_port);
}

/* ---- the thread ---- */

static void *answer_all(void *page)
{
    http_serve(&((struct http_page *)page)->server);
    return NULL;
}

static int listen_at(const struct sockaddr_storage *address, socklen_t size)
{
    const int one = 1, listener = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (listener < 0) {
        return -1;
    }
    (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (const void *)address, size) != 0 || listen(listener, SOMAXCONN) != 0) {
        const int error = errno;

        (void)close(listener);
        errno = error;
        return -1;
    }
    return listener;
}

/* Signals are for the thread that watches. */
static int start_thread(struct http_page *page)
{
    sigset_t all, before;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&page->thread, NULL, answer_all, page);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static int tell_no_listener(const struct ui *ui, const char *text, int error)
{
    ui_error(ui, "cannot listen on '%s': %s", text, strerror(error));
    if (error == EADDRINUSE) {
        ui_hint(ui, "find the process that listens there with 'ss -ltnp', or use another port");
    } else if (error == EADDRNOTAVAIL) {
        ui_hint(ui, "list the addresses of this node with 'ip address'");
    }
    return UI_ERROR;
}

/* What the thread needs. Gives errno. */
static int prepare(struct http_page *page)
{
    page->server.connections = http_connections_new();
    if (page->server.connections == NULL) {
        return ENOMEM;
    }
    if (pipe2(page->stop, O_CLOEXEC) != 0) {
        return errno;
    }
    page->server.stop = page->stop[0];
    return pthread_mutex_init(&page->server.lock, NULL);
}

static void release(struct http_page *page)
{
    (void)close(page->server.listener);
    (void)close(page->stop[0]);
    (void)close(page->stop[1]);
    free(page->server.connections);
}

/* Answers from now on, in a thread of its own; `page` must stay where it is, and has its path and types.
 * `text` is the address as it was given, for messages. */
static int http_page_begin(const struct ui *ui, struct http_page *page, const char *text,
                           const struct sockaddr_storage *address, socklen_t size)
{
    int error;

    page->stop[0] = page->stop[1] = -1;
    page->server.listener = listen_at(address, size);
    if (page->server.listener < 0) {
        return tell_no_listener(ui, text, errno);
    }
    error = prepare(page);
    error = error == 0 ? start_thread(page) : error;
    if (error != 0) {
        ui_error(ui, "cannot answer requests: %s", strerror(error));
        release(page);
        return UI_ERROR;
    }
    return UI_DONE;
}

/* Shows these from now on; takes them. */
static void http_page_show(struct http_page *page, char *const texts[HTTP_FORMS])
{
    (void)pthread_mutex_lock(&page->server.lock);
    for (size_t i = 0; i < HTTP_FORMS; i++) {
        free(page->server.forms[i].text);
        page->server.forms[i].text = texts[i];
    }
    (void)pthread_mutex_unlock(&page->server.lock);
}

static void http_page_end(struct http_page *page)
{
    (void)!write(page->stop[1], "", 1);
    (void)pthread_join(page->thread, NULL);
    release(page);
    for (size_t i = 0; i < HTTP_FORMS; i++) {
        free(page->server.forms[i].text);
    }
    (void)pthread_mutex_destroy(&page->server.lock);
}

/* A file must reach the disk each time; a page costs nothing until it is asked for. */
static const int64_t FILE_NS = 15000000000;

static int begin_file(const struct ui *ui, const char *path, struct watch_metrics *to)
{
    if (!ui_ends_with(path, ".prom")) {
        return ui_usage(ui,
                        "--metrics '%s' is not recognised: write a port (9913), an address with one "
                        "(192.0.2.7:9913), or a file that ends in .prom, as node_exporter reads them",
                        path);
    }
    to->file = path;
    return ui_exit_of(iw_output_check(&ui->log, path, true));
}

/* `where`: as the option says it. */
static int watch_metrics_begin(const struct ui *ui, const char *where, struct watch_metrics *to)
{
    struct sockaddr_storage address;
    socklen_t size;
    int code;

    *to = (struct watch_metrics){
        .ui = ui,
        .page.server = {.path = "/metrics",
                        .forms = {{"application/openmetrics-text; version=1.0.0; charset=utf-8", NULL},
                                  {"text/plain; version=0.0.4; charset=utf-8", NULL}}}};
    if (http_address(where, &address, &size)) {
        code = http_page_begin(ui, &to->page, where, &address, size);
    } else {
        code = begin_file(ui, where, to);
    }
    if (code != UI_DONE) {
        return code;
    }
    to->is_begun = true;
    return ui_exit_of(iw_watch_metrics_new(&ui->log, &to->metrics));
}

static iw_status write_text(const iw_log *log, void *arg, FILE *out)
{
    (void)log;
    (void)fputs(arg, out);
    return IW_OK;
}

static iw_status publish(struct watch_metrics *to)
{
    char *texts[HTTP_FORMS] = {NULL, NULL};
    iw_status status = iw_watch_metrics_text(to->metrics, IW_METRICS_PROMETHEUS, &texts[1]);

    if (status == IW_OK && to->file != NULL) {
        status = iw_write_file(&to->ui->log, to->file, write_text, texts[1]);
        free(texts[1]);
        return status;
    }
    if (status == IW_OK) {
        status = iw_watch_metrics_text(to->metrics, IW_METRICS_OPENMETRICS, &texts[0]);
    }
    if (status == IW_OK) {
        http_page_show(&to->page, texts);
    } else {
        free(texts[1]);
    }
    return status;
}

/* For each snapshot; publishes those that are due. */
static void watch_metrics_take(struct watch_metrics *to, const iw_watch_result *so_far)
{
    struct timespec now;
    iw_status status;

    if (to->file != NULL && so_far->watched_ns < to->due_ns) {
        return;
    }
    to->due_ns = so_far->watched_ns + FILE_NS;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    status = iw_watch_metrics_update(to->metrics, so_far, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    if (status == IW_OK) {
        status = publish(to);
    }
    (void)status; /* has been told; the next snapshot may find a place */
}

/* Removes the file, so that nobody takes its last values for what is now. */
static void watch_metrics_end(struct watch_metrics *to)
{
    if (to->is_begun && to->file != NULL) {
        (void)unlink(to->file);
    } else if (to->is_begun) {
        http_page_end(&to->page);
    }
    iw_watch_metrics_free(to->metrics);
}

struct watch_opts {
    struct opt_origins origins;
    const char *path, *pids, *cgroup, *cpus, *metrics;
    uint64_t job;
    iw_time duration_ps, threshold_ps, notable_ps;
    bool is_live;
    int attribution;
    struct shown_opts shown;
};

#define ROW(...) OPT_ROW(struct watch_opts, __VA_ARGS__)
static const struct opt job_rows[] = {
    ROW("pid", OPT_STRING, pids, "LIST", "processes and all their descendants: 1234 or 1234,1240"),
    ROW("cgroup", OPT_STRING, cgroup, "FOLDER",
        "a control group and all below it: its folder in /sys/fs/cgroup"),
    ROW("job", OPT_COUNT, job, "N", "a Slurm job on this node, by its number", .min = 1, .max = UINT32_MAX),
};

/* In the order of iw_watch_attribution. */
static const char *const attributions[] = {"auto", "bpf", "events", "tracefs", "perf", NULL};

static const struct opt measure_rows[] = {
    ROW("cpus", OPT_STRING, cpus, "LIST", "watch these CPUs only: 0-3,8 (default all)"),
    ROW("duration", OPT_TIME, duration_ps, "TIME", "how long to watch (default until the job ends)"),
    ROW("threshold", OPT_TIME, threshold_ps, "TIME",
        "store only detours of at least TIME one by one; shorter ones are in the sums only (default 0: all)"),
    ROW("attribution", OPT_CHOICE, attribution, "",
        "how to ask the kernel: with BPF programs, or by its trace events (from tracefs if possible, else "
        "perf; or one of the two), which show less, and only at the end (default auto: the best available)",
        .choices = attributions),
    ROW("on-threshold", OPT_TIME, notable_ps, "TIME",
        "print each detour of at least TIME at once, with the stacks of the thread that took the CPU"),
};

static const struct opt output_rows[] = {
    ROW("live", OPT_FLAG, is_live, "", "show on the terminal what takes the CPUs, redrawn each second"),
    SHOWN_OUTPUT_ROW(struct watch_opts, path, "FILE",
                     "the noise file, HDF5 (default watch-HOST.h5; none with --metrics)"),
    ROW("metrics", OPT_STRING, metrics, "WHERE",
        "publish sums while watching, for Prometheus: a port of 127.0.0.1 (9913), an address with a port, or "
        "a file for node_exporter (NAME.prom)"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("Job", job_rows, 0),
    OPT_GROUP("How to watch", measure_rows, 0),
    OPT_GROUP("Output", output_rows, 0),
    SHOWN_NO_CSV_GROUP("Output", offsetof(struct watch_opts, shown)),
};

static const struct watch_opts defaults = {.duration_ps = 0};

static const char *const synopsis[] = {"--pid PID [options]", "--cgroup FOLDER [options]",
                                       "--job NUMBER [options]", NULL};

static const char description[] =
    "Report what a running job loses to the operating system, by interrupt, softirq, thread and hypervisor: "
    "the time in which a CPU did something else while a thread of the job had it or waited for it. No CPU "
    "is kept busy for that: small programs in the kernel (BPF) follow its switches and interrupts. Where "
    "they are not allowed, the kernel's trace events are used instead (--attribution).\nSleep, waiting for "
    "the job's own threads and quotas are not noise, and are shown separately. The noise file holds the "
    "detours in the time for which each CPU was wanted. Use it wherever a file of 'record' is "
    "accepted.\nNeeds CAP_BPF and CAP_PERFMON, or root, and Linux 5.8 or newer with BTF. Nothing is left in "
    "the kernel at the end, even if watching is killed.\nWith --metrics, watching continues until the job "
    "ends or the control group disappears; it keeps sums and no single detours, and writes no noise file "
    "unless -o asks for one.\nCtrl-C, SIGTERM or SIGHUP ends it early; the file is still written. Exits with "
    "3, and without a file, if the job slept all the time.";

static const struct example examples[] = {
    {"watch a running program until it ends", "idlewave watch --pid 1234"},
    {"watch a Slurm job for a minute, on its node", "idlewave watch --job 4711 --duration 1min"},
    {"watch a service, and print each interruption above a millisecond",
     "idlewave watch --cgroup /sys/fs/cgroup/system.slice/db.service --on-threshold 1ms"},
    {"show what takes the CPUs of a program right now", "idlewave watch --pid 1234 --live"},
    {"watch all Slurm jobs on this node, always, for Prometheus",
     "idlewave watch --cgroup /sys/fs/cgroup/system.slice/slurmstepd.scope --metrics 9913"},
    {NULL, NULL},
};

/* ---- what is asked for ---- */

enum { MOST_PIDS = 4096 };

struct asked {
    uint32_t pids[MOST_PIDS];
    size_t pid_count;
    char *cgroup; /* of a Slurm job; to be freed */
    struct cpu_list cpus;
};

static int read_pids(const struct ui *ui, const char *text, struct asked *asked)
{
    for (const char *at = text; *at != '\0'; at += *at == ',') {
        char *end;
        unsigned long pid;

        errno = 0;
        pid = strtoul(at, &end, 10);
        if (end == at || errno != 0 || pid == 0 || pid > INT32_MAX || (*end != ',' && *end != '\0') ||
            *at == '-' || *at == '+') {
            return ui_usage(ui, "--pid '%s' is not a list of processes: write numbers separated by commas",
                            text);
        }
        if (asked->pid_count == MOST_PIDS) {
            return ui_usage(ui, "--pid: at most %d processes; use --cgroup for more", MOST_PIDS);
        }
        asked->pids[asked->pid_count++] = (uint32_t)pid;
        at = end;
    }
    return asked->pid_count > 0 ? UI_DONE : ui_usage(ui, "--pid: no process given");
}

static int read_job(const struct ui *ui, const struct watch_opts *opts, struct asked *asked)
{
    const int given = (opts->pids != NULL) + (opts->cgroup != NULL) + (opts->job > 0);

    if (given != 1) {
        return ui_usage(ui, given == 0 ? "no job given; add --pid, --cgroup or --job"
                                       : "--pid, --cgroup and --job: use only one of them");
    }
    if (opts->job > 0) {
        return ui_exit_of(iw_watch_slurm_cgroup(&ui->log, opts->job, &asked->cgroup));
    }
    return opts->pids != NULL ? read_pids(ui, opts->pids, asked) : UI_DONE;
}

/* ---- what is done ---- */

static const int64_t SNAPSHOT_NS = 1000000000;

/* Loading and ending may take that long anywhere. */
static const int64_t DELAY_NS = 2000000000;

struct watching {
    struct progress progress;
    struct watch_metrics metrics;
    struct watch_live live;
};

static bool step(void *arg, const iw_progress_now *now)
{
    struct watching *watching = arg;

    if (now->total > 0 && !watching->live.is_on) {
        progress_update(&watching->progress, now->share);
    }
    return !interrupt_has_come();
}

static void tell_name(const iw_source *source)
{
    for (const char *c = source->name; *c != '\0'; c++) {
        (void)fputc(*c >= ' ' && *c < 127 ? *c : '?', stderr); /* threads choose their names */
    }
}

static bool has_thread(const iw_watch_event *event)
{
    for (size_t i = 0; i < event->part_count; i++) {
        if (event->parts[i].source.kind == IW_CLASS_THREAD) {
            return true;
        }
    }
    return false;
}

/* Below the line of a detour: where the thread was that had the CPU. */
static void tell_stacks(const iw_watch_event *event)
{
    if (event->stack[0] != '\0') {
        (void)fprintf(stderr, "    in %s (%sthread ", event->stack, event->is_kernel_thread ? "kernel " : "");
        tell_name(&event->stack_source);
        (void)fputs(event->is_kernel_thread ? ": no user stack)\n" : ")\n", stderr);
    }
    if (event->user_stack[0] != '\0') {
        (void)fputs("    user stack of ", stderr);
        tell_name(&event->stack_source);
        (void)fprintf(stderr, ": %s\n", event->user_stack);
    }
    if (!has_thread(event)) {
        (void)fputs("    interrupts have no stack\n", stderr);
    }
}

static void sort_parts(const iw_watch_event *event, size_t order[IW_WATCH_MOST_PARTS])
{
    for (size_t i = 0; i < event->part_count; i++) {
        size_t k = i;

        for (; k > 0 && event->parts[order[k - 1]].ns < event->parts[i].ns; k--) {
            order[k] = order[k - 1];
        }
        order[k] = i;
    }
}

/* "12.345678901 s, CPU 1: 1.23 ms, thread backup 1.20 ms, irq local_timer 30.0 us": what took most comes
 * first */
static void tell_event(void *arg, const iw_watch_event *event)
{
    struct watching *watching = arg;
    size_t order[IW_WATCH_MOST_PARTS];
    char time[24];

    progress_wipe(&watching->progress);
    (void)fprintf(stderr, "%" PRId64 ".%09" PRId64 " s, CPU %" PRIu32 ": %s", event->start_ns / 1000000000,
                  event->start_ns % 1000000000, event->cpu,
                  iw_format_time(event->duration_ns * IW_PS_PER_NS, time, sizeof time));
    sort_parts(event, order);
    for (size_t i = 0; i < event->part_count; i++) {
        const iw_source *source = &event->parts[order[i]].source;

        (void)fprintf(stderr, ", %s%s",
                      source->kind == IW_CLASS_UNKNOWN ? "other" : iw_class_name(source->kind),
                      source->name[0] != '\0' ? " " : "");
        tell_name(source);
        (void)fprintf(stderr, " %s",
                      iw_format_time(event->parts[order[i]].ns * IW_PS_PER_NS, time, sizeof time));
    }
    (void)fputs(event->is_waking ? ", on waking\n" : "\n", stderr);
    tell_stacks(event);
}

static void take_snapshot(void *arg, const iw_watch_result *so_far)
{
    struct watching *watching = arg;

    if (watching->metrics.is_begun) {
        watch_metrics_take(&watching->metrics, so_far);
    }
    if (watching->live.is_on) {
        watch_live_draw(&watching->live, so_far);
    }
}

static iw_watch_opts watch_opts_of(const struct watch_opts *opts, const struct asked *asked)
{
    iw_watch_opts how = IW_WATCH_OPTS_INIT;

    how.pids = asked->pid_count > 0 ? asked->pids : NULL;
    how.pid_count = asked->pid_count;
    how.cgroup = asked->cgroup != NULL ? asked->cgroup : opts->cgroup;
    how.cpus = asked->cpus.count > 0 ? asked->cpus.numbers : NULL;
    how.cpu_count = asked->cpus.count;
    how.duration_ns = opts->duration_ps / IW_PS_PER_NS;
    how.threshold_ns = opts->threshold_ps / IW_PS_PER_NS;
    how.attribution = (iw_watch_attribution)opts->attribution;
    if (opt_given(opts, notable_ps)) {
        how.on_event = tell_event;
        how.notable_ns = opts->notable_ps / IW_PS_PER_NS;
    }
    return how;
}

static int write_result(struct ui *ui, const struct watch_opts *opts, const iw_watch_result *result,
                        const char *path)
{
    iw_watch_report report;
    int code = ui_exit_of(iw_recording_save(&ui->log, result->recording, path));

    if (code == UI_DONE) {
        code = ui_exit_of(iw_watch_report_init(&ui->log, result, path, &report));
    }
    if (code != UI_DONE) {
        return code;
    }
    code = shown_write(ui, &opts->shown, iw_watch_doc(&report));
    if (code == UI_DONE && opts->shown.format == OUTPUT_TEXT) {
        (void)printf("\nNext: idlewave noise show %s\n"
                     "      idlewave whatif --noise %s \\\n"
                     "          " SUGGESTED_JOB "\n",
                     path, path);
    }
    iw_noise_report_release(&report.noise);
    return code;
}

/* Takes the file away that was begun. */
static int tell_idle(const struct ui *ui, const iw_watch_result *result, const char *path)
{
    (void)unlink(path);
    ui_error(ui, "%s wanted none of these CPUs while it was watched; nothing to report about noise",
             result->job);
    return UI_UNDECIDED;
}

/* A watcher that gets no CPU sees all the same, but ends late. */
static void warn_of_delay(const struct ui *ui, int64_t asked_ns, int64_t watched_ns)
{
    char asked[24], watched[24], text[256];

    if (asked_ns > 0 && watched_ns > 2 * asked_ns + DELAY_NS) {
        (void)snprintf(text, sizeof text,
                       "asked for %s, took %s: other programs kept idlewave from its CPU; raise its "
                       "priority: nice -n -20 idlewave watch",
                       iw_format_time(asked_ns * IW_PS_PER_NS, asked, sizeof asked),
                       iw_format_time(watched_ns * IW_PS_PER_NS, watched, sizeof watched));
        ui->log.write(ui->log.arg, IW_LOG_WARN, text);
    }
}

/* `path`: of the noise file; NULL: none. */
static int watch(struct ui *ui, const struct watch_opts *opts, const struct asked *asked, const char *path,
                 struct watching *watching)
{
    iw_watch_opts how = watch_opts_of(opts, asked);
    iw_watch_result *result = NULL;
    struct interrupt interrupt;
    struct live live;
    int code;

    live_begin(&live, &ui->log, path);
    how.sink = path != NULL ? &live.sink : NULL;
    how.wants_sums_only = path == NULL;
    how.command = ui->command;
    how.progress = (iw_progress){step, watching};
    how.arg = watching;
    if (opts->metrics != NULL || opts->is_live) {
        how.on_snapshot = take_snapshot;
        how.snapshot_ns = SNAPSHOT_NS;
    }
    progress_begin(&watching->progress, 0.0, NULL);
    ui->progress = &watching->progress;
    interrupt_catch(&interrupt);
    code = ui_exit_of_value(ui, iw_watch(&ui->log, &how, &result));
    ui->progress = NULL;
    progress_wipe(&watching->progress);
    live_end(&live);
    if (code == UI_DONE) {
        warn_of_delay(ui, how.duration_ns, result->watched_ns);
    }
    if (code == UI_DONE && path != NULL) {
        code =
            result->totals.wanted_ns > 0 ? write_result(ui, opts, result, path) : tell_idle(ui, result, path);
    }
    interrupt_release(&interrupt);
    iw_watch_result_free(result);
    return code;
}

static int publish_and_watch(struct ui *ui, const struct watch_opts *opts, const struct asked *asked,
                             const char *path)
{
    struct watching watching = {.metrics = {.ui = ui}};
    int code = opts->metrics != NULL ? watch_metrics_begin(ui, opts->metrics, &watching.metrics) : UI_DONE;

    if (code == UI_DONE && opts->is_live) {
        code = watch_live_begin(ui, &watching.live);
    }
    if (code == UI_DONE) {
        code = watch(ui, opts, asked, path, &watching);
    }
    watch_live_end(&watching.live);
    watch_metrics_end(&watching.metrics);
    return code;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct watch_opts *opts = values;
    char default_path[LIVE_PATH_SIZE];
    const char *path =
        opts->metrics != NULL && opts->path == NULL ? NULL : live_path(opts->path, "watch", default_path);
    struct asked *asked = calloc(1, sizeof *asked);
    int code;

    (void)args;
    if (asked == NULL) {
        ui_error(ui, "out of memory");
        return UI_ERROR;
    }
    code = read_job(ui, opts, asked);
    if (code == UI_DONE) {
        code = cpu_list_read(ui, opts->cpus, &asked->cpus);
    }
    if (code == UI_DONE && path != NULL) {
        /* to be known before an hour of watching, not after */
        code = ui_exit_of(iw_output_check(&ui->log, path, true));
    }
    if (code == UI_DONE) {
        code = publish_and_watch(ui, opts, asked, path);
    }
    free(asked->cgroup);
    free(asked);
    return code;
}

const struct verb verb_watch = {
    .name = "watch",
    .summary = "report what running jobs lose to noise",
    .synopsis = synopsis,
    .description = description,
    VERB_GROUPS(groups),
    .most_used = "pid cgroup job duration live output metrics format",
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 0,
    .run = run,
};
