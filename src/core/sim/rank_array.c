/* Arrays over ranks: on huge pages where they are large.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/rank_array.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "core/base/base.h"

enum { HUGE_PAGE = 2 << 20 };

/* Large arrays get huge pages where the kernel gives them: streaming over them is what the flow engine does.
 */
void *iwi_rank_array_new(const iw_log *log, size_t count, size_t element_size)
{
    const size_t bytes = count * element_size;
    void *memory;

    if (bytes < 4 * (size_t)HUGE_PAGE || count > SIZE_MAX / element_size) {
        return iwi_new_array(log, count, element_size);
    }
    memory = aligned_alloc(HUGE_PAGE, (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    if (memory == NULL) {
        (void)iwi_fail(log, IW_ERR_NOMEM, "out of memory for %zu bytes", bytes);
        return NULL;
    }
    (void)madvise(memory, bytes, MADV_HUGEPAGE); /* a hint: without it all is slower, nothing is wrong */
    return memory;
}
