/* How fast profiles of PyTorch are read: kineto_bench MIB makes a file of that size in TMPDIR, reads it and
 * removes it; kineto_bench FILE ... reads files. Prints megabytes per second of CPU time: of finding events,
 * of all parsed by yajl, of the reader; and the peak of memory, which the reader has last.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "features/explain/json/json_value.h"
#include "features/explain/kineto/kineto.h"
#include "support/made_kineto.h"

static void print_log(void *arg, iw_log_level level, const char *text)
{
    (void)arg;
    (void)level;
    (void)fprintf(stderr, "%s\n", text);
}

static const iw_log errors = {print_log, NULL};

static double cpu_s(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec +
           (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec;
}

static long peak_mib(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

/* One rank of four, with stacks and shapes, of about so many MiB: a step has some 1,540 events of 350 bytes.
 */
static int make_file(const char *path, uint64_t mib)
{
    struct iwt_kineto made = iwt_kineto_default();
    struct iwt_kineto_run run;
    FILE *out = fopen(path, "w");

    if (out == NULL) {
        perror(path);
        return 0;
    }
    made.tp = 2;
    made.dp = 2;
    made.pp = 1;
    made.layers = 8;
    made.padding = 12;
    made.steps = (uint32_t)(mib * 1048576 / 536000) + 1;
    iwt_kineto_run(&made, &run);
    iwt_kineto_print(&run, 0, out);
    iwt_kineto_release(&run);
    return fclose(out) == 0;
}

static void print_rate(const char *what, double bytes, double seconds, uint64_t count, const char *of)
{
    (void)printf("%-22s %7.1f MB/s  (%.2f s, %" PRIu64 " %s)\n", what, bytes / 1e6 / seconds, seconds, count,
                 of);
}

static int find_events(const char *path, double bytes, int want_parsed)
{
    struct iwi_json_items items;
    struct iwi_json_item item;
    struct iwi_json_tree tree;
    const double begin = cpu_s();
    uint64_t count = 0;
    iw_status status = iwi_json_open(&errors, path, IWI_JSON_ONE_ROOT, &items);

    if (status != IW_OK) {
        return 0;
    }
    iwi_json_tree_init(&tree, &errors);
    while ((status = iwi_json_next(&items, &item)) == IW_OK && item.text != NULL) {
        if (want_parsed && iwi_json_parse(&tree, &items, &item) != IW_OK) {
            return 0;
        }
        count++;
    }
    iwi_json_tree_release(&tree);
    iwi_json_close(&items);
    print_rate(want_parsed ? "parsed by yajl" : "events found", bytes, cpu_s() - begin, count, "events");
    return status == IW_OK;
}

static int read_files(const char *const *paths, size_t count, double bytes)
{
    struct iwi_visits visits;
    const double begin = cpu_s();
    iw_status status;

    iwi_visits_init(&visits, &errors, "Kineto");
    status = iwi_kineto_read(&errors, paths, count, &visits);
    print_rate("read", bytes, cpu_s() - begin, visits.visit_count, "visits");
    (void)printf("%zu stretches, %zu pauses, %zu steps; peak of memory %ld MiB\n", visits.stretch_count,
                 visits.pause_count, visits.step_count, peak_mib());
    iwi_visits_release(&visits);
    return status == IW_OK;
}

static int bench(const char *const *paths, size_t count)
{
    double bytes = 0;

    for (size_t i = 0; i < count; i++) {
        struct stat info;

        if (stat(paths[i], &info) != 0) {
            perror(paths[i]);
            return 0;
        }
        bytes += (double)info.st_size;
    }
    (void)printf("%.1f MB\n", bytes / 1e6);
    return find_events(paths[0], bytes / (double)count, 0) &&
           find_events(paths[0], bytes / (double)count, 1) && read_files(paths, count, bytes);
}

int main(int argc, char **argv)
{
    const char *folder = getenv("TMPDIR");
    char made[4096];
    const char *path = made;
    int is_ok;

    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 2) {
        (void)fputs("kineto_bench MIB | FILE ...\n", stderr);
        return 2;
    }
    if (argc > 2 || strspn(argv[1], "0123456789") != strlen(argv[1])) {
        return bench((const char *const *)argv + 1, (size_t)argc - 1) ? 0 : 1;
    }
    (void)snprintf(made, sizeof made, "%s/kineto_bench_%ld.json", folder != NULL ? folder : "/tmp",
                   (long)getpid());
    is_ok = make_file(made, strtoull(argv[1], NULL, 10)) && bench(&path, 1);
    (void)unlink(made);
    return is_ok ? 0 : 1;
}
