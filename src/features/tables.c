/* What the features of this build give to the kit: one line each.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/tables.h"

/* clang-format off */
/* Kinds of results that are written as JSON. */
const struct iwi_kind *const iwi_kinds[] = {
#if IW_FEATURE_BENCH
    &iwi_bench_kind,
#endif
#if IW_FEATURE_CHECK
    &iwi_check_kind,
#endif
#if IW_FEATURE_FLEET
    &iwi_coincidence_kind,
    &iwi_digest_kind,
#endif
#if IW_FEATURE_EXPLAIN
    &iwi_explain_kind,
    &iwi_explanation_kind,
#endif
#if IW_FEATURE_REPLAY
    &iwi_fidelity_kind,
#endif
#if IW_FEATURE_RECORDINGS
    &iwi_fit_kind,
#endif
#if IW_FEATURE_FLEET
    &iwi_fleet_kind,
#endif
#if IW_FEATURE_SIMULATE
    &iwi_forecast_kind,
#endif
#if IW_FEATURE_FLEET
    &iwi_history_kind,
#endif
#if IW_FEATURE_NETWORK
    &iwi_machine_kind,
#endif
#if IW_FEATURE_BENCH
    &iwi_memory_kind,
#endif
#if IW_FEATURE_MODEL
    &iwi_model_kind,
#endif
#if IW_FEATURE_NETWORK
    &iwi_net_kind,
#endif
#if IW_FEATURE_RECORDINGS
    &iwi_noise_compare_kind,
    &iwi_noise_edit_kind,
    &iwi_noise_kind,
    &iwi_noise_spectrum_kind,
#endif
#if IW_FEATURE_CHECK
    &iwi_profile_kind,
#endif
#if IW_FEATURE_RECORD
    &iwi_record_kind,
#endif
#if IW_FEATURE_SIMULATE
    &iwi_simulate_kind,
#endif
#if IW_FEATURE_SETTINGS
    &iwi_verify_kind,
#endif
#if IW_FEATURE_EXPLAIN
    &iwi_stragglers_kind,
#endif
#if IW_FEATURE_STUDY
    &iwi_study_estimate_kind,
    &iwi_study_run_kind,
#endif
#if IW_FEATURE_WAVE
    &iwi_trace_kind,
#endif
#if IW_FEATURE_TRAINING
    &iwi_training_kind,
#endif
#if IW_FEATURE_EXPLAIN
    &iwi_waits_kind,
#endif
#if IW_FEATURE_WATCH
    &iwi_watch_kind,
#endif
#if IW_FEATURE_WAVE
    &iwi_wave_kind,
#endif
#if IW_FEATURE_WHATIF
    &iwi_whatif_kind,
    &iwi_whatif_plan_kind,
#endif
    NULL,
};

const struct iwi_trace_reader *const iwi_trace_readers[] = {
#if IW_FEATURE_EXPLAIN
    &iwi_visits_trace_reader,
#endif
    NULL,
};

const struct iwi_net_reader *const iwi_net_readers[] = {
#if IW_FEATURE_NETWORK
    &iwi_loggp_net_reader,
    &iwi_osu_net_reader,
#endif
    NULL,
};
