/* The memory of a domain as it is written in one line, and what it may be.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/net/memory.h"

#include <stdio.h>
#include <string.h>

#include <idlewave/net.h>

#include "core/base/base.h"

iw_status iwi_memory_check(const iw_log *log, const iw_memory *memory)
{
    if (memory->ranks < 1 || memory->core_bytes_per_s < 1 || memory->domain_bytes_per_s < memory->ranks) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "memory: a domain has at least 1 rank, and at least 1 B/s for each of them");
    }
    if (memory->core_bytes_per_s > memory->domain_bytes_per_s) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "memory: a core cannot move more (%" PRIu64 " B/s) than its domain (%" PRIu64 " B/s)",
                        memory->core_bytes_per_s, memory->domain_bytes_per_s);
    }
    return IW_OK;
}

/* ---- one line ---- */

enum { WORD_SIZE = 64 };

static iw_status parse_ranks(const iw_log *log, const char *text, uint32_t *ranks_p)
{
    uint64_t ranks;

    IW_TRY(iw_parse_count(log, text, &ranks));
    if (ranks < 1 || ranks > UINT32_MAX) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s': a domain has 1 to 4294967295 ranks", text);
    }
    *ranks_p = (uint32_t)ranks;
    return IW_OK;
}

static iw_status parse_field(const iw_log *log, const char *text, size_t length, iw_memory *memory,
                             bool *is_known_p)
{
    const char *equals = memchr(text, '=', length);
    const size_t name_length = equals == NULL ? length : (size_t)(equals - text);
    char value[WORD_SIZE];

    *is_known_p = equals != NULL && length - name_length <= WORD_SIZE;
    if (!*is_known_p) {
        return IW_OK;
    }
    snprintf(value, sizeof value, "%.*s", (int)(length - name_length - 1), equals + 1);
    if (name_length == 5 && memcmp(text, "ranks", 5) == 0) {
        return parse_ranks(log, value, &memory->ranks);
    }
    if (name_length == 6 && memcmp(text, "domain", 6) == 0) {
        return iw_parse_throughput(log, value, &memory->domain_bytes_per_s);
    }
    if (name_length == 4 && memcmp(text, "core", 4) == 0) {
        return iw_parse_throughput(log, value, &memory->core_bytes_per_s);
    }
    *is_known_p = false;
    return IW_OK;
}

iw_status iw_memory_parse(const iw_log *log, const char *text, iw_memory *memory_p)
{
    iw_memory memory = {.ranks = 0};
    bool is_known = true;
    const char *field = text;

    while (is_known && *field != '\0') {
        const size_t length = strcspn(field, ",");

        IW_TRY(parse_field(log, field, length, &memory, &is_known));
        field += length + (field[length] == ',');
    }
    if (!is_known || memory.ranks == 0 || memory.domain_bytes_per_s == 0 || memory.core_bytes_per_s == 0) {
        return iwi_fail(log, IW_ERR_FORMAT,
                        "'%s' is not a memory: write for example ranks=20,domain=40GB/s,core=6.5GB/s", text);
    }
    IW_TRY(iwi_memory_check(log, &memory));
    *memory_p = memory;
    return IW_OK;
}

char *iw_memory_text(const iw_memory *memory, char buf[IW_MEMORY_TEXT_SIZE])
{
    const double bytes_of_gb = 1e9;

    snprintf(buf, IW_MEMORY_TEXT_SIZE, "ranks=%" PRIu32 ",domain=%.15gGB/s,core=%.15gGB/s", memory->ranks,
             (double)memory->domain_bytes_per_s / bytes_of_gb,
             (double)memory->core_bytes_per_s / bytes_of_gb);
    return buf;
}
