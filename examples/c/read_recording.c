/* The longest detour of each CPU in a recording of `idlewave record`: read_recording FILE
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * cc read_recording.c $(pkg-config --cflags --libs idlewave-tools)
 */
#include <idlewave/files.h>
#include <idlewave/recording.h>

#include <stdio.h>
#include <stdlib.h>

static void write_message(void *arg, iw_log_level level, const char *text)
{
    (void)arg;
    (void)level;
    (void)fprintf(stderr, "%s\n", text);
}

static void show(const iw_detours *cpu)
{
    int64_t busy_ns = 0, longest_ns = 0;

    for (size_t i = 0; i < cpu->count; i++) {
        busy_ns += cpu->duration_ns[i];
        longest_ns = cpu->duration_ns[i] > longest_ns ? cpu->duration_ns[i] : longest_ns;
    }
    printf("CPU %u: %zu detours take %.3f %% of %.1f s, the longest %.1f us\n", (unsigned)cpu->cpu,
           cpu->count, 100.0 * (double)busy_ns / (double)cpu->length_ns, 1e-9 * (double)cpu->length_ns,
           1e-3 * (double)longest_ns);
}

int main(int argc, char **argv)
{
    const iw_log log = {write_message, NULL};
    iw_recording *recording = NULL;

    if (argc != 2) {
        (void)fprintf(stderr, "usage: read_recording FILE\n");
        return EXIT_FAILURE;
    }
    if (iw_recording_load(&log, argv[1], &recording) != IW_OK) {
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < recording->cpu_count; i++) {
        show(&recording->cpus[i]);
    }
    iw_recording_free(recording);
    return EXIT_SUCCESS;
}
