/* SHA-256, block by block. Names are those of FIPS 180-4.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/sha256.h"

#include <stdio.h>
#include <string.h>

#include "core/base/base.h"

enum { BLOCK = 64, ROUNDS = 64, WORDS = 16, LENGTH_AT = 56 };

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t K[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static void fill_schedule(const unsigned char *block, uint32_t W[ROUNDS])
{
    for (size_t t = 0; t < WORDS; t++) {
        const unsigned char *b = block + 4 * t;

        W[t] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    for (size_t t = WORDS; t < ROUNDS; t++) {
        const uint32_t s0 = rotate(W[t - 15], 7) ^ rotate(W[t - 15], 18) ^ W[t - 15] >> 3;
        const uint32_t s1 = rotate(W[t - 2], 17) ^ rotate(W[t - 2], 19) ^ W[t - 2] >> 10;

        W[t] = W[t - 16] + s0 + W[t - 7] + s1;
    }
}

static void mix(uint32_t state[8], const unsigned char *block)
{
    uint32_t W[ROUNDS], v[8]; /* a to h */

    fill_schedule(block, W);
    memcpy(v, state, sizeof v);
    for (size_t t = 0; t < ROUNDS; t++) {
        const uint32_t S1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
        const uint32_t S0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
        const uint32_t chosen = (v[4] & v[5]) ^ (~v[4] & v[6]);
        const uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        const uint32_t T1 = v[7] + S1 + chosen + K[t] + W[t];

        memmove(v + 1, v, 7 * sizeof v[0]);
        v[4] += T1;
        v[0] = T1 + S0 + majority;
    }
    for (size_t i = 0; i < 8; i++) {
        state[i] += v[i];
    }
}

void iwi_sha256_init(struct iwi_sha256 *sha)
{
    /* of the square roots of the first 8 primes */
    static const uint32_t H[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

    *sha = (struct iwi_sha256){.length = 0};
    memcpy(sha->state, H, sizeof H);
}

void iwi_sha256_add(struct iwi_sha256 *sha, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    while (size > 0) {
        const size_t used = (size_t)(sha->length % BLOCK);
        const size_t count = size < BLOCK - used ? size : BLOCK - used;

        memcpy(sha->block + used, bytes, count);
        sha->length += count;
        bytes += count;
        size -= count;
        if (used + count == BLOCK) {
            mix(sha->state, sha->block);
        }
    }
}

void iwi_sha256_text(struct iwi_sha256 *sha, char text[IWI_SHA256_TEXT_SIZE])
{
    static const unsigned char padding[BLOCK] = {0x80};
    const uint64_t bits = sha->length * 8;
    const size_t used = (size_t)(sha->length % BLOCK);
    unsigned char length[8];

    iwi_sha256_add(sha, padding, used < LENGTH_AT ? LENGTH_AT - used : BLOCK + LENGTH_AT - used);
    for (size_t i = 0; i < sizeof length; i++) {
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    }
    iwi_sha256_add(sha, length, sizeof length);
    for (size_t i = 0; i < 8; i++) {
        snprintf(text + 8 * i, 9, "%08" PRIx32, sha->state[i]);
    }
}
