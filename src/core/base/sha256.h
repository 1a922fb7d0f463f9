/* SHA-256 (FIPS 180-4): whether a file is the one that somebody meant.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SHA256_H
#define IWI_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct iwi_sha256 {
    uint32_t state[8];
    uint64_t length;         /* bytes so far */
    unsigned char block[64]; /* those that do not fill a block yet */
};

enum { IWI_SHA256_TEXT_SIZE = 65 }; /* 64 hexadecimal digits and NUL */

void iwi_sha256_init(struct iwi_sha256 *sha);
void iwi_sha256_add(struct iwi_sha256 *sha, const void *data, size_t size);

/* Of all bytes, in lowercase. Nothing may be added afterwards. */
void iwi_sha256_text(struct iwi_sha256 *sha, char text[IWI_SHA256_TEXT_SIZE]);

#endif
