/* A leak that is not ours: HDF5 1.10 loses the header of an object whose checksum is wrong.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/status.h>

IW_API const char *__lsan_default_suppressions(void); /* NOLINT(bugprone-reserved-identifier): its name */

const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}
