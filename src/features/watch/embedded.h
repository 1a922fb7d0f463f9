/* The watching programs, compiled for the kernel and embedded when idlewave is built.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_EMBEDDED_H
#define IWI_EMBEDDED_H

extern const unsigned char iwi_watch_object[], iwi_watch_object_end[];

#endif
