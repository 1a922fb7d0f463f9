/* Parts and wholes: what a source saves is at most what all noise costs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WHOLES_H
#define IWI_WHOLES_H

#include <stddef.h>

#include <idlewave/whatif.h>

/* Where less noise never ends a trial later, no change saves more than noise costs now, and what is saved
 * without some sources is at most what is saved without more of them; what is left goes the other way. Values
 * keep to that by themselves, since all changes see the same trials. These make the ends of intervals, which
 * come from several methods, keep to it too.
 *
 * `now` is what `simulate` says, and stays: both ends of a change give way to it. */
void iwi_keep_below_now(iw_change *change, iw_estimate now);

/* Among changes, each of which keeps below now: a whole saves at least what each part surely does, a part at
 * most what the whole can. `part_count` is the length of their is_removed. */
void iwi_keep_among_wholes(iw_change *change, const iw_change *others, size_t count, size_t part_count);

#endif
