/* Reads who used the CPUs from the attributes of a recording.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/facts/load_facts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/short_number.h"

/* The kernel counts by ticks of 10 ms. */
static const double SHORTEST_MS = 1000.0;

/* Joined recordings have "a | b": the largest, so that a load is not lost on the way. */
static double number_of(const iw_recording *recording, const char *name)
{
    const char *value = iw_recording_get(recording, name), *next;
    double largest = value != NULL ? strtod(value, NULL) : (double)NAN;

    for (; value != NULL && (next = strstr(value, " | ")) != NULL; value = next + 1) {
        largest = fmax(largest, strtod(next + 3, NULL));
    }
    return largest;
}

/* "cc1=4100,ninja=30" of so many ms: "cc1 41 %, ninja 0.3 %". */
static void list_programs(const char *text, double whole_ms, char *buf, size_t size)
{
    size_t used = 0;

    buf[0] = '\0';
    while (text != NULL && *text != '\0') {
        const size_t name = strcspn(text, "=,"), length = strcspn(text, ",");
        const double share = text[name] == '=' ? strtod(text + name + 1, NULL) / whole_ms : 0.0;
        const int written = snprintf(buf + used, size - used, "%s%.*s %s %%", used > 0 ? ", " : "", (int)name,
                                     text, iwi_short_percent(share, 2).text);

        if (written < 0 || (size_t)written >= size - used) {
            buf[used] = '\0';
            return;
        }
        used += (size_t)written;
        text += length + (text[length] == ',');
    }
}

iw_load iwi_load_of(const iw_recording *recording)
{
    const double cpus = number_of(recording, "load_cpus"); /* a part of a recording may have fewer */
    const double elapsed_ms = number_of(recording, "load_elapsed_ms"), whole_ms = elapsed_ms * cpus;
    iw_load load = {
        .users = number_of(recording, "load_users_ms") / whole_ms,
        .services = number_of(recording, "load_services_ms") / whole_ms,
        .kernel = number_of(recording, "load_kernel_ms") / whole_ms,
    };

    if (!(elapsed_ms >= SHORTEST_MS) || !isfinite(load.users) || !isfinite(load.services) ||
        !isfinite(load.kernel)) {
        return (iw_load){.is_known = false};
    }
    load.is_known = true;
    load.is_busy = load.users * cpus >= IW_BUSY_CPUS && iw_recording_get(recording, "under") == NULL;
    list_programs(iw_recording_get(recording, "load_users"), whole_ms, load.programs, sizeof load.programs);
    return load;
}

bool iwi_is_kernel_thread(const iw_recording *recording, size_t source)
{
    const iw_source *wanted = &recording->sources[source];
    const char *at = iw_recording_get(recording, "kernel_threads");

    while (wanted->kind == IW_CLASS_THREAD && at != NULL && *at != '\0') {
        const size_t length = strcspn(at, ",");

        if (length == strlen(wanted->name) && strncmp(at, wanted->name, length) == 0) {
            return true;
        }
        at += length + (at[length] == ',');
    }
    return false;
}
