/* Programs of traces, as users make them: rules by name or from a file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/files.h>
#include <idlewave/program.h>

#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/program/trace_program.h"
#include "kit/files/trace/ompi_rules.h"

static iw_status unknown_rules(const iw_log *log, const char *name)
{
    char known[128];

    iwi_rules_list(known, sizeof known);
    return iwi_fail(log, IW_ERR_USAGE, "'%s' is neither a file of Open MPI's rules nor one of %s", name,
                    known);
}

iw_status iw_program_from_trace(const iw_log *log, const iw_trace *trace, const iw_trace_opts *given,
                                iw_program **program_p)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    const struct iwi_rule_set *known;
    struct iwi_rule_set read;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_TRACE_OPTS_INIT", given, &opts));
    known = iwi_rules_find(opts.rules);
    if (known != NULL) {
        return iwi_program_from_rules(log, trace, &opts, known, program_p);
    }
    if (access(opts.rules, F_OK) != 0) {
        return unknown_rules(log, opts.rules);
    }
    IW_TRY(iwi_ompi_rules_read(log, opts.rules, &read));
    status = iwi_program_from_rules(log, trace, &opts, &read, program_p);
    iwi_ompi_rules_release(&read);
    return status;
}
