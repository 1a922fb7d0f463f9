/* SipHash-2-4 as Aumasson and Bernstein describe it ("SipHash: a fast short-input PRF", 2012).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/hash.h"

#include <string.h>

enum { WORD_BYTES = 8, MIX_ROUNDS = 2, LAST_ROUNDS = 4 };

/* "idlewave" and zero */
const uint64_t iwi_hash_key[2] = {UINT64_C(0x65766177656c6469), 0};

static uint64_t rotated(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

/* The two halves of the paper's SipRound are alike but for the numbers. */
static void half_round(uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *d, int bits_b, int bits_d)
{
    *a += *b;
    *c += *d;
    *b = rotated(*b, bits_b) ^ *a;
    *d = rotated(*d, bits_d) ^ *c;
    *a = rotated(*a, 32);
}

static void mix(uint64_t v[4], int rounds)
{
    while (rounds-- > 0) {
        half_round(&v[0], &v[1], &v[2], &v[3], 13, 16);
        half_round(&v[2], &v[1], &v[0], &v[3], 17, 21);
    }
}

static void add_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix(v, MIX_ROUNDS);
    v[0] ^= word;
}

void iwi_hash_init(struct iwi_hash *hash, const uint64_t key[2])
{
    /* the paper's constants: "somepseudorandomlygeneratedbytes" */
    *hash = (struct iwi_hash){
        .v = {key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
              key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)}};
}

static void add_byte(struct iwi_hash *hash, unsigned char byte)
{
    const unsigned place = (unsigned)(hash->length++ % WORD_BYTES);

    hash->word |= (uint64_t)byte << (8 * place);
    if (place == WORD_BYTES - 1) {
        add_word(hash->v, hash->word);
        hash->word = 0;
    }
}

/* The lowest byte first, whatever the machine's order. */
static uint64_t word_at(const unsigned char *bytes)
{
    uint64_t word = 0;

    for (unsigned place = 0; place < WORD_BYTES; place++) {
        word |= (uint64_t)bytes[place] << (8 * place);
    }
    return word;
}

void iwi_hash_add(struct iwi_hash *hash, const void *data, size_t size)
{
    const unsigned char *bytes = data, *const end = bytes + size;
    uint64_t v[4]; /* apart from the bytes, with which `hash` might overlap for all that the compiler knows */

    while (bytes < end && hash->length % WORD_BYTES != 0) {
        add_byte(hash, *bytes++);
    }
    memcpy(v, hash->v, sizeof v);
    for (; end - bytes >= WORD_BYTES; bytes += WORD_BYTES) {
        add_word(v, word_at(bytes));
        hash->length += WORD_BYTES;
    }
    memcpy(hash->v, v, sizeof v);
    while (bytes < end) {
        add_byte(hash, *bytes++);
    }
}

void iwi_hash_add_text(struct iwi_hash *hash, const char *text)
{
    iwi_hash_add(hash, text, strlen(text));
}

void iwi_hash_add_u64(struct iwi_hash *hash, uint64_t value)
{
    unsigned char bytes[WORD_BYTES];

    for (size_t i = 0; i < WORD_BYTES; i++) {
        bytes[i] = (unsigned char)(value >> (8 * i));
    }
    iwi_hash_add(hash, bytes, sizeof bytes);
}

uint64_t iwi_hash_value(const struct iwi_hash *hash)
{
    uint64_t v[4];

    memcpy(v, hash->v, sizeof v);
    add_word(v, hash->word | hash->length << 56);
    v[2] ^= 0xff;
    mix(v, LAST_ROUNDS);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
