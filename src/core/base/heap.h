/* Binary heaps over arrays, the item that comes first in front.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     IWI_HEAP(queue, iwi_event, is_before)
 *
 * gives, for a struct iwi_event, queue_put(), which puts an item into a heap of `count`, where there is room
 * for one more, and queue_take(), which takes the first one out of a heap of `count`, at least 1. Who calls
 * them counts.
 */
#ifndef IWI_HEAP_H
#define IWI_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#define IWI_HEAP(name, item, comes_first)                                            \
    static inline void name##_put(struct item *all, size_t count, struct item one)   \
    {                                                                                \
        size_t at = count;                                                           \
                                                                                     \
        for (; at > 0 && comes_first(&one, &all[(at - 1) / 2]); at = (at - 1) / 2) { \
            all[at] = all[(at - 1) / 2];                                             \
        }                                                                            \
        all[at] = one;                                                               \
    }                                                                                \
    static inline struct item name##_take(struct item *all, size_t count)            \
    {                                                                                \
        const struct item first = all[0], last = all[count - 1];                     \
        const size_t left = count - 1;                                               \
        size_t at = 0;                                                               \
                                                                                     \
        for (size_t child = 1; child < left; child = 2 * at + 1) {                   \
            child += child + 1 < left && comes_first(&all[child + 1], &all[child]);  \
            if (!comes_first(&all[child], &last)) {                                  \
                break;                                                               \
            }                                                                        \
            all[at] = all[child];                                                    \
            at = child;                                                              \
        }                                                                            \
        all[at] = last;                                                              \
        return first;                                                                \
    }

#endif
