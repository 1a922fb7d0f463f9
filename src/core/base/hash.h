/* A 64-bit hash of bytes: SipHash-2-4 with a fixed key. It names things; it protects nothing.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     struct iwi_hash hash;
 *     iwi_hash_init(&hash, iwi_hash_key);
 *     iwi_hash_add(&hash, data, size);
 *     value = iwi_hash_value(&hash);
 *
 * The same bytes give the same value on every machine, in however many pieces they are added.
 */
#ifndef IWI_HASH_H
#define IWI_HASH_H

#include <stddef.h>
#include <stdint.h>

struct iwi_hash {
    uint64_t v[4];
    uint64_t word;   /* bytes of the piece not yet mixed in, the first lowest */
    uint64_t length; /* bytes so far */
};

/* The key of everything stored; another one would change all identifiers. */
extern const uint64_t iwi_hash_key[2];

void iwi_hash_init(struct iwi_hash *hash, const uint64_t key[2]);
void iwi_hash_add(struct iwi_hash *hash, const void *data, size_t size);
void iwi_hash_add_text(struct iwi_hash *hash, const char *text);

/* Eight bytes, the lowest first. */
void iwi_hash_add_u64(struct iwi_hash *hash, uint64_t value);

/* Of all bytes so far; more may be added afterwards. */
uint64_t iwi_hash_value(const struct iwi_hash *hash);

/* 64 well mixed bits (splitmix64's last steps), one to one. */
static inline uint64_t iwi_mix(uint64_t bits)
{
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

/* Of whole words, for tables that compare them too. */
static inline uint64_t iwi_hash_words(const uint64_t *words, uint32_t count)
{
    uint64_t hash = count;

    for (uint32_t i = 0; i < count; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

#endif
