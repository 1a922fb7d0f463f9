/* Reads lists of CPUs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "cpu_list.h"

#include <stdio.h>
#include <string.h>

_Static_assert(CPU_LIST_MOST == 8192, "a message says so");
enum { SHOWN = 40, WHY_SIZE = 64 }; /* characters of a faulty item, and of what is wrong with it */

struct item {
    const char *text;
    int length;
    const char *next; /* what has not been read yet */
    uint32_t first, last, step;
    char *fault;
};

static bool refuse(const struct item *item, const char *why)
{
    const int shown = item->length < SHOWN ? item->length : SHOWN;

    snprintf(item->fault, CPU_LIST_FAULT_SIZE, "'%.*s' %s", shown, item->text, why);
    return false;
}

static bool read_number(struct item *item, uint32_t *number_p)
{
    const char *s = item->next;
    uint32_t number = 0;

    for (; *s >= '0' && *s <= '9'; s++) {
        number = number * 10 + (uint32_t)(*s - '0');
        if (number >= CPU_LIST_MOST) {
            return refuse(item, "is too large: CPUs are numbered below 8192");
        }
    }
    if (s == item->next) {
        return refuse(item, "is not a CPU or a range of CPUs: write 0-3,8");
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

/* "8", "0-3", "0-31:2" */
static bool read_item(struct item *item)
{
    item->step = 1;
    if (!read_number(item, &item->first)) {
        return false;
    }
    item->last = item->first;
    if (!read_behind(item, '-', &item->last) || !read_behind(item, ':', &item->step)) {
        return false;
    }
    if (item->next != item->text + item->length) {
        return refuse(item, "is not a CPU or a range of CPUs: write 0-3,8");
    }
    if (item->last < item->first) {
        char why[WHY_SIZE];

        snprintf(why, sizeof why, "runs backwards: write %u-%u", item->last, item->first);
        return refuse(item, why);
    }
    return item->step > 0 || refuse(item, "has a step of 0: write 1 or more");
}

bool cpu_list_parse(const char *text, struct cpu_list *list, char fault[CPU_LIST_FAULT_SIZE])
{
    bool is_listed[CPU_LIST_MOST] = {false};

    for (;; text++) { /* past the comma */
        struct item item = {.text = text, .length = (int)strcspn(text, ","), .next = text, .fault = fault};

        if (!read_item(&item)) {
            return false;
        }
        for (uint32_t i = item.first; i <= item.last; i += item.step) {
            is_listed[i] = true;
        }
        text += item.length;
        if (*text == '\0') {
            break;
        }
    }
    list->count = 0;
    for (uint32_t i = 0; i < CPU_LIST_MOST; i++) {
        if (is_listed[i]) {
            list->numbers[list->count++] = i;
        }
    }
    return true;
}
