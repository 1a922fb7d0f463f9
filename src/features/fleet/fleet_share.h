/* The processes that judge one fleet together: messages between them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each process reads a part of the digests. Numbers of nodes, names and families are those that one process
 * would have given, since parts follow each other by rank. The first process has what whole nodes lose, and
 * concludes; columns are shared out among all (fleet_read.c).
 */
#ifndef IWI_FLEET_SHARE_H
#define IWI_FLEET_SHARE_H

#include "core/team/team.h"
#include "features/fleet/fleet_judge.h"

struct iwi_fleet_share {
    struct iwi_team *team;
    struct iwi_member member;      /* this process */
    uint32_t first_node;           /* of its nodes, in the fleet */
    size_t own_count;              /* so many */
    size_t node_count;             /* of all processes */
    struct iwi_fleet_column guest; /* on the first process: a column of another one */
};

/* Nothing (NULL) if this process is alone. Collective. */
IW_NODISCARD iw_status iwi_fleet_share_open(const iw_log *log, const struct iw_link *link,
                                            struct iwi_fleet_share **share_p);
void iwi_fleet_share_close(struct iwi_fleet_share *share);

/* Whether this process concludes. */
bool iwi_fleet_is_first(const iw_fleet *fleet);

/* ---- messages of any length ---- */

/* What is sent, or was received and is taken apart again. All zero is an empty one. */
struct iwi_parcel {
    struct iwi_bytes bytes;
    size_t at; /* taken so far */
};

IW_NODISCARD iw_status iwi_parcel_put(const iw_log *log, struct iwi_parcel *parcel, const void *data,
                                      size_t bytes);
IW_NODISCARD iw_status iwi_parcel_put_text(const iw_log *log, struct iwi_parcel *parcel, const char *text);

/* IW_ERR_FORMAT: there is less left. */
IW_NODISCARD iw_status iwi_parcel_take(const iw_log *log, struct iwi_parcel *parcel, void *data,
                                       size_t bytes);
/* Borrowed from the parcel. */
IW_NODISCARD iw_status iwi_parcel_take_text(const iw_log *log, struct iwi_parcel *parcel,
                                            const char **text_p);
bool iwi_parcel_is_empty(const struct iwi_parcel *parcel);

/* From one to another one, which takes it into an empty parcel or over what it held. */
IW_NODISCARD iw_status iwi_share_send(struct iwi_fleet_share *share, uint32_t to,
                                      const struct iwi_parcel *parcel);
IW_NODISCARD iw_status iwi_share_receive(struct iwi_fleet_share *share, uint32_t from,
                                         struct iwi_parcel *parcel);

/* Those of the others, by rank, behind what the first process has. Collective. */
IW_NODISCARD iw_status iwi_share_gather(struct iwi_fleet_share *share, struct iwi_parcel *parcel);

/* How many the processes before this one have together, and all of them. Collective. */
IW_NODISCARD iw_status iwi_share_count(struct iwi_fleet_share *share, size_t own, size_t *before_p,
                                       size_t *all_p);

/* What the first process has goes to all. Collective. */
IW_NODISCARD iw_status iwi_share_spread(struct iwi_fleet_share *share, struct iwi_parcel *parcel);

/* ---- what they do together ---- */

/* What is said of a node of this process; the same of the last node of the fleet. */
IW_NODISCARD iw_status iwi_fleet_put_facts(const iw_log *log, const struct iwi_fleet_cells *cells,
                                           size_t node, struct iwi_parcel *parcel);
IW_NODISCARD iw_status iwi_fleet_take_facts(const iw_log *log, iw_fleet *fleet, struct iwi_parcel *parcel);

/* ---- the same; nothing if a process is alone ---- */

/* The columns of all processes at their owners. Columns are those that every process had room for. */
IW_NODISCARD iw_status iwi_fleet_exchange_columns(const iw_log *log, iw_fleet *fleet);

/* The column of a CPU on the first process; read again if nobody has it. Collective; the others get NULL. */
IW_NODISCARD iw_status iwi_fleet_bring_column(const iw_log *log, iw_fleet *fleet, uint32_t cpu,
                                              const struct iwi_fleet_column **column_p);

#endif
