/* What the features of this build give to the kit: one line each.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/tables.h"

/* clang-format off */
/* Kinds of results that are written as JSON. */
const struct iwi_kind *const iwi_kinds[] = {
    &iwi_bench_kind,
    &iwi_check_kind,
    &iwi_coincidence_kind,
    &iwi_digest_kind,
    &iwi_explain_kind,
    &iwi_fidelity_kind,
    &iwi_fit_kind,
    &iwi_fleet_kind,
    &iwi_forecast_kind,
    &iwi_history_kind,
    &iwi_machine_kind,
    &iwi_memory_kind,
    &iwi_model_kind,
    &iwi_net_kind,
    &iwi_noise_compare_kind,
    &iwi_noise_edit_kind,
    &iwi_noise_kind,
    &iwi_noise_spectrum_kind,
    &iwi_profile_kind,
    &iwi_record_kind,
    &iwi_simulate_kind,
    &iwi_verify_kind,
    &iwi_stragglers_kind,
    &iwi_study_estimate_kind,
    &iwi_study_run_kind,
    &iwi_trace_kind,
    &iwi_training_kind,
    &iwi_waits_kind,
    &iwi_watch_kind,
    &iwi_wave_kind,
    &iwi_whatif_kind,
    &iwi_whatif_plan_kind,
    NULL,
};

const struct iwi_trace_reader *const iwi_trace_readers[] = {
    &iwi_visits_trace_reader,
    NULL,
};
