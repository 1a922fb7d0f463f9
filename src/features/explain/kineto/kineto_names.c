/* What names in a profile of PyTorch mean.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/kineto/kineto_parts.h"

#include <ctype.h>
#include <string.h>

/* Letters of a name as far as its arguments, in lower case: "_allgather_base" is "allgatherbase". */
static void letters_of(const char *name, size_t size, char *to, size_t room)
{
    size_t used = 0;

    for (size_t i = 0; i < size && name[i] != '(' && used + 1 < room; i++) {
        if (isalpha((unsigned char)name[i])) {
            to[used++] = (char)tolower((unsigned char)name[i]);
        }
    }
    to[used] = '\0';
}

enum iwi_visit_op iwi_kineto_op(const char *name, size_t size)
{
    /* longer words first: "reducescatter" has "reduce" and "scatter" in it */
    static const struct {
        const char *word;
        enum iwi_visit_op op;
    } words[] = {
        {"reducescatter", IWI_VISIT_REDUCE_SCATTER},
        {"allgather", IWI_VISIT_ALLGATHER},
        {"allreduce", IWI_VISIT_ALLREDUCE},
        {"alltoall", IWI_VISIT_ALLTOALL},
        {"broadcast", IWI_VISIT_BROADCAST},
        {"barrier", IWI_VISIT_BARRIER},
        {"sendrecv", IWI_VISIT_MESSAGE},
        {"gather", IWI_VISIT_GATHER},
        {"scatter", IWI_VISIT_SCATTER},
        {"reduce", IWI_VISIT_REDUCE},
        {"send", IWI_VISIT_MESSAGE},
        {"recv", IWI_VISIT_MESSAGE},
    };
    char letters[96];

    letters_of(name, size, letters, sizeof letters);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strstr(letters, words[i].word) != NULL) {
            return words[i].op;
        }
    }
    return IWI_VISIT_OTHER;
}

static bool begins(const char *name, size_t size, const char *with)
{
    const size_t length = strlen(with);

    return size >= length && memcmp(name, with, length) == 0;
}

static bool has(const char *name, size_t size, const char *part)
{
    return memmem(name, size, part, strlen(part)) != NULL;
}

bool iwi_kineto_is_nccl(const char *name, size_t size)
{
    return begins(name, size, "nccl") || begins(name, size, "rccl") || begins(name, size, "msccl");
}

unsigned iwi_kineto_type_bytes(const char *name)
{
    static const struct {
        const char *name;
        unsigned bytes;
    } types[] = {
        {"BFloat16", 2},
        {"Half", 2},
        {"Float", 4},
        {"Double", 8},
        {"Byte", 1},
        {"Char", 1},
        {"Bool", 1},
        {"Short", 2},
        {"Int", 4},
        {"Long", 8},
        {"Float8_e4m3fn", 1},
        {"Float8_e5m2", 1},
        {"Float8_e4m3fnuz", 1},
        {"Float8_e5m2fnuz", 1},
        {"UInt16", 2},
        {"UInt32", 4},
        {"UInt64", 8},
        {"ComplexHalf", 4},
        {"ComplexFloat", 8},
        {"ComplexDouble", 16},
        {"QInt8", 1},
        {"QUInt8", 1},
        {"float", 4}, /* names of C++ */
        {"double", 8},
        {"c10::BFloat16", 2},
        {"c10::Half", 2},
        {"unsigned char", 1},
        {"signed char", 1},
        {"bool", 1},
        {"short int", 2},
        {"short", 2},
        {"int", 4},
        {"long int", 8},
        {"long", 8},
    };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(name, types[i].name) == 0) {
            return types[i].bytes;
        }
    }
    return 0;
}

/* "gc" as a word of its own: "gc", "train/gc", "manual gc", not "gcd". */
static bool has_gc_word(const char *name, size_t size)
{
    for (size_t i = 0; i + 2 <= size; i++) {
        if (tolower((unsigned char)name[i]) == 'g' && tolower((unsigned char)name[i + 1]) == 'c' &&
            (i == 0 || !isalnum((unsigned char)name[i - 1])) &&
            (i + 2 == size || !isalnum((unsigned char)name[i + 2]))) {
            return true;
        }
    }
    return false;
}

bool iwi_kineto_is_of_device(const char *name, size_t size)
{
    return begins(name, size, "nccl:") || begins(name, size, "rccl:") || begins(name, size, "xccl:");
}

/* Annotations of a backend's threads while they carry out a collective. */
static bool is_collective(const char *name, size_t size)
{
    return begins(name, size, "gloo:") || begins(name, size, "mpi:") || begins(name, size, "ucc:") ||
           iwi_kineto_is_of_device(name, size);
}

enum iwi_kineto_host iwi_kineto_host(const char *name, size_t size)
{
    if (begins(name, size, "ProfilerStep#")) {
        return IWI_KINETO_STEP;
    }
    if (is_collective(name, size)) {
        return IWI_KINETO_COLLECTIVE;
    }
    if ((has(name, size, "DataLoader") || has(name, size, "dataloader")) && has(name, size, "__next__")) {
        return IWI_KINETO_LOADER;
    }
    if (has(name, size, "<built-in function collect>") || has(name, size, "garbage") ||
        (has_gc_word(name, size) && !has(name, size, "gc.py"))) {
        return IWI_KINETO_GC;
    }
    return IWI_KINETO_HOST_OTHER;
}

enum iwi_kineto_call iwi_kineto_call(const char *name, size_t size)
{
    if (has(name, size, "Launch")) {
        return IWI_KINETO_LAUNCH;
    }
    if (has(name, size, "Synchronize") || (size == 10 && begins(name, size, "cudaMemcpy")) ||
        (size == 9 && begins(name, size, "hipMemcpy"))) {
        return IWI_KINETO_WAIT;
    }
    if ((has(name, size, "Malloc") || has(name, size, "Free") || has(name, size, "HostAlloc") ||
         has(name, size, "MemAlloc")) &&
        !has(name, size, "Async")) {
        return IWI_KINETO_MEMORY;
    }
    return IWI_KINETO_CALL_OTHER;
}
