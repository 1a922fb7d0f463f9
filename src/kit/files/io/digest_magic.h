/* How files of digests begin.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_DIGEST_MAGIC_H
#define IWI_DIGEST_MAGIC_H

/* With the version. */
#define IWI_DIGEST_MAGIC "IWDIGST1"
enum { IWI_DIGEST_MAGIC_BYTES = 8 };

/* ---- what files with statistics of run queues are told by ---- */

#define IWI_RUNQ_NAME "final_aggregated_summary_river"
#define IWI_RUNQ_KEY "\"" IWI_RUNQ_NAME "\""
enum { IWI_RUNQ_WITHIN_BYTES = 16384 }; /* of the file's begin: messages stand before */

#endif
