/* Reads, writes and combines sets of CPUs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/noise.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"

_Static_assert(IW_CPU_SET_MOST == 8192, "a message says so");
enum { SHOWN = 40, WHY_SIZE = 64, MASK_BITS = 32, HEX_BITS = 4 };

/* ---- lists ---- */

struct item {
    const char *text;
    int length;
    const char *next;                  /* what has not been read yet */
    uint32_t first, last, used, group; /* of each `group` CPUs the first `used` */
    char *fault;
};

static const char not_a_range[] = "is not a CPU or a range of CPUs: write 0-3,8";

static bool refuse(const struct item *item, const char *why)
{
    const int shown = item->length < SHOWN ? item->length : SHOWN;

    snprintf(item->fault, IW_CPU_FAULT_SIZE, "'%.*s' %s", shown, item->text, why);
    return false;
}

static bool read_number(struct item *item, uint32_t *number_p)
{
    const char *s = item->next;
    uint32_t number = 0;

    for (; *s >= '0' && *s <= '9'; s++) {
        number = number * 10 + (uint32_t)(*s - '0');
        if (number >= IW_CPU_SET_MOST) {
            return refuse(item, "is too large: CPUs are numbered below 8192");
        }
    }
    if (s == item->next) {
        return refuse(item, not_a_range);
    }
    item->next = s;
    *number_p = number;
    return true;
}

/* Reads a number behind `mark`, if that comes next. */
static bool read_behind(struct item *item, char mark, uint32_t *number_p)
{
    if (*item->next != mark) {
        return true;
    }
    item->next++;
    return read_number(item, number_p);
}

/* ":2" is one of each two, ":2/8" the first two of each eight. */
static bool read_step(struct item *item)
{
    uint32_t step = 1, group = 0;

    if (!read_behind(item, ':', &step) || !read_behind(item, '/', &group)) {
        return false;
    }
    if (step == 0) {
        return refuse(item, "has a step of 0: write 1 or more");
    }
    item->used = group > 0 ? step : 1;
    item->group = group > 0 ? group : step;
    return true;
}

/* "8", "0-3", "0-31:2", "0-31:2/8" */
static bool read_item(struct item *item)
{
    if (!read_number(item, &item->first)) {
        return false;
    }
    item->last = item->first;
    if (!read_behind(item, '-', &item->last) || !read_step(item)) {
        return false;
    }
    if (item->next != item->text + item->length) {
        return refuse(item, not_a_range);
    }
    if (item->last < item->first) {
        char why[WHY_SIZE];

        snprintf(why, sizeof why, "runs backwards: write %u-%u", item->last, item->first);
        return refuse(item, why);
    }
    return true;
}

bool iw_cpu_set_parse(const char *text, iw_cpu_set *set, char fault[IW_CPU_FAULT_SIZE])
{
    iw_cpu_set read = {{0}};

    for (;; text++) { /* past the comma */
        struct item item = {.text = text, .length = (int)strcspn(text, ","), .next = text, .fault = fault};

        if (!read_item(&item)) {
            return false;
        }
        for (uint32_t i = item.first; i <= item.last; i++) {
            if ((i - item.first) % item.group < item.used) {
                iw_cpu_set_add(&read, i);
            }
        }
        text += item.length;
        if (*text == '\0') {
            break;
        }
    }
    *set = read;
    return true;
}

/* Cuts what did not fit, so that it shows. */
static void cut(char *buf, size_t size)
{
    static const char dots[] = "...";

    if (size >= sizeof dots) {
        memcpy(buf + size - sizeof dots, dots, sizeof dots);
    }
}

char *iw_cpu_set_text(const iw_cpu_set *set, char *buf, size_t size)
{
    size_t used = 0;

    snprintf(buf, size, "none");
    for (uint32_t first = 0; first < IW_CPU_SET_MOST && used < size; first++) {
        uint32_t last = first;

        if (!iw_cpu_set_has(set, first)) {
            continue;
        }
        while (iw_cpu_set_has(set, last + 1)) {
            last++;
        }
        used += (size_t)snprintf(buf + used, size - used, first == last ? "%s%u" : "%s%u-%u",
                                 used > 0 ? "," : "", first, last);
        first = last;
    }
    if (used >= size) {
        cut(buf, size);
    }
    return buf;
}

/* ---- masks ---- */

bool iw_cpu_set_parse_mask(const char *text, iw_cpu_set *set)
{
    iw_cpu_set read = {{0}};
    uint32_t bit = 0;
    size_t length = strlen(text);

    if (length == 0 || text[0] == ',' || text[length - 1] == ',') {
        return false;
    }
    while (length-- > 0) {
        const unsigned char sign = (unsigned char)text[length];

        if (sign == ',') {
            if (bit % MASK_BITS != 0) {
                return false;
            }
            continue;
        }
        if (isxdigit(sign) == 0 || (bit >= IW_CPU_SET_MOST && sign != '0')) {
            return false;
        }
        if (bit < IW_CPU_SET_MOST) {
            const int digit = isdigit(sign) != 0 ? sign - '0' : tolower(sign) - 'a' + 10;

            read.words[bit / 64] |= (uint64_t)digit << (bit % 64);
        }
        bit += HEX_BITS;
    }
    *set = read;
    return true;
}

char *iw_cpu_set_mask(const iw_cpu_set *set, char *buf, size_t size)
{
    size_t used = 0;
    bool is_begun = false;

    buf[0] = '\0';
    for (size_t i = IW_CPU_SET_MOST / MASK_BITS; i-- > 0 && used < size;) {
        const uint32_t word = (uint32_t)(set->words[i / 2] >> (i % 2 * MASK_BITS));

        if (word != 0 || is_begun || i == 0) {
            used += (size_t)snprintf(buf + used, size - used, is_begun ? ",%08x" : "%x", word);
            is_begun = true;
        }
    }
    if (used >= size) {
        cut(buf, size);
    }
    return buf;
}

/* ---- sets ---- */

size_t iw_cpu_set_count(const iw_cpu_set *set)
{
    size_t count = 0;

    for (size_t i = 0; i < IW_CPU_SET_WORDS; i++) {
        count += (size_t)__builtin_popcountll(set->words[i]);
    }
    return count;
}

bool iw_cpu_set_is_empty(const iw_cpu_set *set)
{
    return iw_cpu_set_count(set) == 0;
}

bool iw_cpu_set_meets(const iw_cpu_set *a, const iw_cpu_set *b)
{
    const iw_cpu_set both = iw_cpu_set_and(a, b);

    return !iw_cpu_set_is_empty(&both);
}

bool iw_cpu_set_is_within(const iw_cpu_set *part, const iw_cpu_set *whole)
{
    const iw_cpu_set rest = iw_cpu_set_without(part, whole);

    return iw_cpu_set_is_empty(&rest);
}

iw_cpu_set iw_cpu_set_and(const iw_cpu_set *a, const iw_cpu_set *b)
{
    iw_cpu_set both;

    for (size_t i = 0; i < IW_CPU_SET_WORDS; i++) {
        both.words[i] = a->words[i] & b->words[i];
    }
    return both;
}

iw_cpu_set iw_cpu_set_or(const iw_cpu_set *a, const iw_cpu_set *b)
{
    iw_cpu_set any;

    for (size_t i = 0; i < IW_CPU_SET_WORDS; i++) {
        any.words[i] = a->words[i] | b->words[i];
    }
    return any;
}

iw_cpu_set iw_cpu_set_without(const iw_cpu_set *from, const iw_cpu_set *taken)
{
    iw_cpu_set rest;

    for (size_t i = 0; i < IW_CPU_SET_WORDS; i++) {
        rest.words[i] = from->words[i] & ~taken->words[i];
    }
    return rest;
}
