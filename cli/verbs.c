/* The table of verbs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/verbs.h"

const struct verb *const verbs[] = {
    /* as help lists them */
    &verb_record,
    &verb_watch,
    &verb_noise,
    &verb_verify,
    &verb_check,
    &verb_net,
    &verb_trace,
    &verb_explain,
    &verb_waits,
    &verb_replay,
    &verb_bench,
    &verb_simulate,
    &verb_study,
    &verb_whatif,
    &verb_model,
    &verb_training,
    &verb_stragglers,
    &verb_wave,
    &verb_report,
    &verb_schedule,
    &verb_get,
    &verb_config,
    &verb_help,
    /* for the build */
    &verb_man,
    &verb_complete,
    &verb_schema,
    NULL,
};
