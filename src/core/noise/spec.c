/* Cuts specs into fields, and puts the spec in front of what the unit parsers log about a field.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/spec.h"

#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/prefix_log.h"

const char *iwi_spec_arguments(const char *spec, const char *name)
{
    const size_t length = strlen(name);

    return strncmp(spec, name, length) == 0 && spec[length] == ':' ? spec + length + 1 : NULL;
}

iw_status iwi_spec_split(const iw_log *log, const char *spec, const char *arguments, const char *usage,
                         const char *example, size_t count, char fields[][IWI_FIELD_SIZE])
{
    for (size_t i = 0; i < count; i++) {
        const char *comma = i + 1 < count ? strchr(arguments, ',') : NULL;
        const size_t length = comma != NULL ? (size_t)(comma - arguments) : strlen(arguments);

        if (length == 0 || (comma == NULL && i + 1 < count)) {
            return iwi_fail(log, IW_ERR_FORMAT, "'%s' is incomplete: write %s, for example '%s'", spec, usage,
                            example);
        }
        if (length >= IWI_FIELD_SIZE) {
            return iwi_fail(log, IW_ERR_FORMAT, "'%.40s...' is too long: write %s, for example '%s'", spec,
                            usage, example);
        }
        memcpy(fields[i], arguments, length);
        fields[i][length] = '\0';
        arguments += length + 1;
    }
    return IW_OK;
}

iw_status iwi_spec_time(const iw_log *log, const char *spec, const char *field, iw_time *ps_p)
{
    struct iwi_prefix_log prefix;

    iwi_prefix_log_init(&prefix, log, spec);
    return iw_parse_time(&prefix.log, field, ps_p);
}

iw_status iwi_spec_rate(const iw_log *log, const char *spec, const char *field, iw_time *period_ps_p)
{
    struct iwi_prefix_log prefix;

    iwi_prefix_log_init(&prefix, log, spec);
    return iw_parse_rate(&prefix.log, field, period_ps_p);
}

iw_status iwi_spec_share(const iw_log *log, const char *spec, const char *field, double *share_p)
{
    struct iwi_prefix_log prefix;

    iwi_prefix_log_init(&prefix, log, spec);
    return iw_parse_share(&prefix.log, field, share_p);
}

char *iwi_list_usages(const char *(*usage)(size_t index), char *buf, size_t size)
{
    size_t used = 0;

    buf[0] = '\0';
    for (size_t i = 0; usage(i) != NULL && used < size; i++) {
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i > 0 ? ", " : "", usage(i));
    }
    return buf;
}
