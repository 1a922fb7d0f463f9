/* Characters of text that may be no UTF-8.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_UTF8_H
#define IWI_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* U+FFFD, for what is none. */
#define IWI_UTF8_REPLACEMENT "\xef\xbf\xbd"

/* Bytes of the UTF-8 character that begins there, and its code; 0: it is none. */
size_t iwi_utf8_size(const char *text, uint32_t *code_p);

#endif
