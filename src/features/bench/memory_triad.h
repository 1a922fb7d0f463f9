/* The loop that moves data: the triad of McCalpin's STREAM.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MEMORY_TRIAD_H
#define IWI_MEMORY_TRIAD_H

#include <stddef.h>

/* a[i] = b[i] + s c[i]: two numbers read and one written, 24 bytes as STREAM counts them. */
enum { IWI_TRIAD_BYTES = 24 };

void iwi_triad(double *a, const double *b, const double *c, size_t count);

#endif
