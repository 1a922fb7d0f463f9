/* What features define for the tables of the kit: kinds of results, readers of traces and of networks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TABLES_H
#define IWI_TABLES_H

#include "kit/doc/doc.h"
#include "kit/files/net/net_yaml.h"
#include "kit/files/trace/trace_open.h"

extern const struct iwi_kind iwi_bench_kind;
extern const struct iwi_kind iwi_check_kind;
extern const struct iwi_kind iwi_coincidence_kind;
extern const struct iwi_kind iwi_digest_kind;
extern const struct iwi_kind iwi_explanation_kind;
extern const struct iwi_kind iwi_fidelity_kind;
extern const struct iwi_kind iwi_fit_kind;
extern const struct iwi_kind iwi_fleet_kind;
extern const struct iwi_kind iwi_forecast_kind;
extern const struct iwi_kind iwi_history_kind;
extern const struct iwi_kind iwi_machine_kind;
extern const struct iwi_kind iwi_memory_kind;
extern const struct iwi_kind iwi_model_kind;
extern const struct iwi_kind iwi_net_kind;
extern const struct iwi_kind iwi_noise_compare_kind;
extern const struct iwi_kind iwi_noise_edit_kind;
extern const struct iwi_kind iwi_noise_kind;
extern const struct iwi_kind iwi_noise_spectrum_kind;
extern const struct iwi_kind iwi_profile_kind;
extern const struct iwi_kind iwi_record_kind;
extern const struct iwi_kind iwi_study_kind; /* in no table: it has its folder instead of JSON */
extern const struct iwi_kind iwi_verify_kind;

extern const struct iwi_kind iwi_simulate_kind;
extern const struct iwi_kind iwi_stragglers_kind;
extern const struct iwi_kind iwi_study_estimate_kind;
extern const struct iwi_kind iwi_study_run_kind;
extern const struct iwi_kind iwi_trace_kind;
extern const struct iwi_kind iwi_training_kind;
extern const struct iwi_kind iwi_waits_kind;
extern const struct iwi_kind iwi_watch_kind;
extern const struct iwi_kind iwi_wave_kind;
extern const struct iwi_kind iwi_explain_kind;
extern const struct iwi_kind iwi_whatif_kind;
extern const struct iwi_kind iwi_whatif_plan_kind;

extern const struct iwi_trace_reader iwi_visits_trace_reader;

extern const struct iwi_net_reader iwi_loggp_net_reader;
extern const struct iwi_net_reader iwi_osu_net_reader;

#endif
