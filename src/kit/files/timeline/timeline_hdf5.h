/* What the reader and the writer of timeline files (docs/reference/formats/timeline.md) share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TIMELINE_HDF5_H
#define IWI_TIMELINE_HDF5_H

#define IWI_TIMELINE_FORMAT "idlewave.timeline/1"

enum { IWI_TIMELINE_PATH_BYTES = 64 };

#endif
