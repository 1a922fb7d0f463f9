/* The table of verbs: those of the features of this build.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/verbs.h"

/* clang-format off */
const struct verb *const verbs[] = {
    /* as help lists them */
#if IW_FEATURE_CHECK
    &verb_check,
#endif
#if IW_FEATURE_RECORD
    &verb_record,
#endif
#if IW_FEATURE_WATCH
    &verb_watch,
#endif
#if IW_FEATURE_SETTINGS
    &verb_verify,
#endif
#if IW_FEATURE_FLEET
    &verb_fleet,
#endif
#if IW_FEATURE_TRACE
    &verb_trace,
#endif
#if IW_FEATURE_EXPLAIN
    &verb_explain,
#endif
#if IW_FEATURE_REPLAY
    &verb_replay,
#endif
#if IW_FEATURE_BENCH
    &verb_bench,
#endif
#if IW_FEATURE_NETWORK
    &verb_net,
#endif
#if IW_FEATURE_SIMULATE
    &verb_simulate,
#endif
#if IW_FEATURE_WHATIF
    &verb_whatif,
#endif
#if IW_FEATURE_STUDY
    &verb_study,
#endif
#if IW_FEATURE_MODEL
    &verb_model,
#endif
#if IW_FEATURE_TRAINING
    &verb_training,
#endif
#if IW_FEATURE_WAVE
    &verb_wave,
#endif
#if IW_FEATURE_RECORDINGS
    &verb_noise,
#endif
    &verb_report,
    &verb_schedule,
    &verb_get,
    &verb_config,
    &verb_help,
    /* for the build */
    &verb_man,
    &verb_complete,
    &verb_schema,
    &verb_options,
    NULL,
};

const struct left_out verbs_left_out[] = {
#if !IW_FEATURE_RECORD
    {"record", "record"},
#endif
#if !IW_FEATURE_WATCH
    {"watch", "watch"},
#endif
#if !IW_FEATURE_RECORDINGS
    {"noise", "recordings"},
#endif
#if !IW_FEATURE_SETTINGS
    {"verify", "settings"},
#endif
#if !IW_FEATURE_CHECK
    {"check", "check"},
#endif
#if !IW_FEATURE_FLEET
    {"fleet", "fleet"},
#endif
#if !IW_FEATURE_NETWORK
    {"net", "network"},
#endif
#if !IW_FEATURE_TRACE
    {"trace", "trace"},
#endif
#if !IW_FEATURE_EXPLAIN
    {"explain", "explain"},
#endif
#if !IW_FEATURE_REPLAY
    {"replay", "replay"},
#endif
#if !IW_FEATURE_BENCH
    {"bench", "bench"},
#endif
#if !IW_FEATURE_SIMULATE
    {"simulate", "simulate"},
#endif
#if !IW_FEATURE_STUDY
    {"study", "study"},
#endif
#if !IW_FEATURE_WHATIF
    {"whatif", "whatif"},
#endif
#if !IW_FEATURE_MODEL
    {"model", "model"},
#endif
#if !IW_FEATURE_TRAINING
    {"training", "training"},
#endif
#if !IW_FEATURE_WAVE
    {"wave", "wave"},
#endif
    {NULL, NULL},
};
