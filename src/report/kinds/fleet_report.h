/* What the writers of fleets share: sentences.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLEET_REPORT_H
#define IWI_FLEET_REPORT_H

#include <idlewave/fleet.h>
#include <idlewave/whatif.h>

#include "report/kinds/noise_report.h"

/* "irq/eno1"; the class alone where there is no name; fit for a terminal. */
const char *iwi_fleet_source_text(const iw_source *source, char buf[IWI_NAME_SIZE]);

/* Numbers of all nodes, those that stand out first, then by the time that they lose; free() the array. */
IW_NODISCARD iw_status iwi_fleet_order(const iw_log *log, const iw_fleet *fleet, size_t **order_p);

/* "0.41 %", "263/s", "2.02 us"; "-" where there is none. */
const char *iwi_fleet_value_text(iw_fleet_metric metric, double value, char buf[IWI_NUMBER_SIZE]);

/* How many nodes stand out, and what the fleet is like. */
void iwi_fleet_verdict(const iw_fleet *fleet, char text[IWI_PARAGRAPH_SIZE]);

/* "n0713, CPU 3: irq/eno1 takes ..., 57 times the fleet's median ...", and what to do; "" for all sources. */
void iwi_fleet_evidence(const iw_fleet *fleet, const iw_fleet_finding *finding,
                        char text[IWI_PARAGRAPH_SIZE]);
void iwi_fleet_advice(const iw_fleet_finding *finding, char text[IWI_PARAGRAPH_SIZE]);

/* "n0007 has no irq/local_timer, ...". */
void iwi_fleet_difference_text(const iw_fleet *fleet, const iw_fleet_difference *difference,
                               char text[IWI_PARAGRAPH_SIZE]);

/* Calls `take` for each fact that not all nodes share: "kernel: 990 nodes 6.1.0-18, 10 nodes ... (n0001,
 * ...)". */
void iwi_fleet_facts(const iw_fleet *fleet, iwi_warning_fn take, void *arg);

/* How the verdict came about, and what it rests on. */
void iwi_fleet_certainty(const iw_fleet *fleet, iwi_warning_fn take, void *arg);

/* How many nodes have how much: bins of equal ratio. */
enum { IWI_FLEET_BINS = 64 };
struct iwi_fleet_histogram {
    double per_decade, origin; /* bin b begins at 10^((origin + b) / per_decade) */
    size_t bin_count;          /* 0: no node has any */
    size_t zero_count;         /* nodes without any */
    size_t count[IWI_FLEET_BINS], outliers[IWI_FLEET_BINS];
    size_t first[IWI_FLEET_BINS]; /* the number of the first node that stands out, where one does */
};

/* In about `most` bins or fewer. */
struct iwi_fleet_histogram iwi_fleet_histogram(const iw_fleet *fleet, iw_fleet_metric metric, size_t most);
/* "n0024", or "n0024 +2" where others of the bin stand out too; "" where none does. */
const char *iwi_fleet_bin_names(const iw_fleet *fleet, const struct iwi_fleet_histogram *histogram,
                                size_t bin, char buf[IWI_NAME_SIZE]);
double iwi_fleet_bin_begin(const struct iwi_fleet_histogram *histogram, size_t bin);

#endif
