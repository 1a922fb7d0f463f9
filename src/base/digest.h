/* A 64-bit digest of bytes: SipHash-2-4 with a fixed key. It names things; it protects nothing.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     struct iwi_digest digest;
 *     iwi_digest_init(&digest, iwi_digest_key);
 *     iwi_digest_add(&digest, data, size);
 *     value = iwi_digest_value(&digest);
 *
 * The same bytes give the same value on every machine, in however many pieces they are added.
 */
#ifndef IWI_DIGEST_H
#define IWI_DIGEST_H

#include <stddef.h>
#include <stdint.h>

struct iwi_digest {
    uint64_t v[4];
    uint64_t word;   /* bytes of the piece not yet mixed in, the first lowest */
    uint64_t length; /* bytes so far */
};

/* The key of everything stored; another one would change all identifiers. */
extern const uint64_t iwi_digest_key[2];

void iwi_digest_init(struct iwi_digest *digest, const uint64_t key[2]);
void iwi_digest_add(struct iwi_digest *digest, const void *data, size_t size);
void iwi_digest_add_text(struct iwi_digest *digest, const char *text);

/* Eight bytes, the lowest first. */
void iwi_digest_add_u64(struct iwi_digest *digest, uint64_t value);

/* Of all bytes so far; more may be added afterwards. */
uint64_t iwi_digest_value(const struct iwi_digest *digest);

/* 64 well mixed bits (splitmix64's last steps), one to one. */
static inline uint64_t iwi_mix(uint64_t bits)
{
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

#endif
