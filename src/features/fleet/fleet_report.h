/* What the document of a fleet is made of.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLEET_REPORT_H
#define IWI_FLEET_REPORT_H

#include <idlewave/fleet.h>

#include "kit/doc/doc.h"
#include "kit/schema/schema.h"

extern const struct iwi_schema iwi_spread_schema; /* iw_spread */

/* "irq/eno1"; the class alone where there is no name. */
const char *iwi_fleet_source_name(struct iwi_document *doc, const iw_source *source);

/* "0.41 %", "263/s", "2.02 us"; "-" where there is none. */
const char *iwi_fleet_amount(struct iwi_document *doc, iw_fleet_metric metric, double value);

/* How many nodes have how much: a figure, and for a terminal a table with bars. Nothing where no node has
 * any. */
void iwi_fleet_show_figure(struct iwi_document *doc, const iw_fleet *fleet, iw_fleet_metric metric);
void iwi_fleet_show_bars(struct iwi_document *doc, const iw_fleet *fleet);

/* How long detours are: of the first `count` findings beside those of the others, as a table and a figure; of
 * each source on the usual node. Nothing where it is not known. */
void iwi_fleet_show_lengths(struct iwi_document *doc, const iw_fleet *fleet, size_t count);
void iwi_fleet_show_lengths_figure(struct iwi_document *doc, const iw_fleet *fleet);
void iwi_fleet_show_source_lengths(struct iwi_document *doc, const iw_fleet *fleet);

#endif
