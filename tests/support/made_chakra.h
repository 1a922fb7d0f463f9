/* Runs of training whose truth is known (made_kineto.h), as execution traces of Chakra.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_CHAKRA_H
#define IWT_MADE_CHAKRA_H

#include "support/made_kineto.h"

struct iwt_chakra {
    bool has_times;   /* start times; MLCommons' converter writes none */
    bool has_groups;  /* a node that lists process groups, whose names then repeat on disjoint ones */
    bool has_peers;   /* sends and receives say to and from whom */
    bool has_records; /* nodes of the host that launch them say it, as MLCommons' converter leaves it */
};

/* The file of one rank, written field by field; times are rounded down to microseconds of its clock. */
void iwt_chakra_print(const struct iwt_kineto_run *run, const struct iwt_chakra *made, uint32_t rank,
                      FILE *out);

/* The same in memory, to be freed. */
char *iwt_chakra_text(const struct iwt_kineto_run *run, const struct iwt_chakra *made, uint32_t rank,
                      size_t *size_p);

#endif
