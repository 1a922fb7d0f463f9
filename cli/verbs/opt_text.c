/* Values of options as text, as one would type them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/opt.h"

#include <stdio.h>

#include <idlewave/time.h>

/* "60s", "20us": in the largest unit of which it is a multiple. */
static void write_time(iw_time time_ps, char *buf, size_t size)
{
    static const char *const units[] = {"ps", "ns", "us", "ms", "s"};
    size_t unit = 0;

    while (time_ps != 0 && time_ps % 1000 == 0 && unit + 1 < sizeof units / sizeof units[0]) {
        time_ps /= 1000;
        unit++;
    }
    if (time_ps != 0) {
        (void)snprintf(buf, size, "%lld%s", (long long)time_ps, units[unit]);
    }
}

void opt_value_text(const struct opt *opt, const void *base, char *buf, size_t size)
{
    const void *target = (const char *)base + opt->offset;
    uint64_t count;

    buf[0] = '\0';
    switch (opt->type) {
    case OPT_CHOICE: (void)snprintf(buf, size, "%s", opt->choices[*(const int *)target]); break;
    case OPT_STRING:
        if (*(const char *const *)target != NULL) {
            (void)snprintf(buf, size, "%s", *(const char *const *)target);
        }
        break;
    case OPT_COUNT:
        count = opt->size == sizeof(uint32_t) ? *(const uint32_t *)target : *(const uint64_t *)target;
        if (count != 0) {
            (void)snprintf(buf, size, "%llu", (unsigned long long)count);
        }
        break;
    case OPT_TIME: write_time(*(const iw_time *)target, buf, size); break;
    case OPT_FACTOR: (void)snprintf(buf, size, "%g", *(const double *)target); break;
    case OPT_FLAG:
    case OPT_PER_BYTE:
    case OPT_LIST: break; /* no settings */
    }
}
