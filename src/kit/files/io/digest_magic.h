/* How files of digests begin.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_DIGEST_MAGIC_H
#define IWI_DIGEST_MAGIC_H

/* With the version. */
#define IWI_DIGEST_MAGIC "IWDIGST1"
enum { IWI_DIGEST_MAGIC_BYTES = 8 };

#endif
