/* Names of sources that a fleet has met. Those that differ only in numbers are one family.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/fleet/fleet_cells.h"

iw_source iwi_fleet_pattern(const iw_source *source)
{
    iw_source pattern = {.kind = source->kind};
    size_t used = 0;

    for (const char *c = source->name; *c != '\0'; c++) {
        if (!isdigit((unsigned char)*c)) {
            pattern.name[used++] = *c;
        } else if (used == 0 || pattern.name[used - 1] != '*') {
            pattern.name[used++] = '*';
        }
    }
    return pattern;
}

static int compare_sources(const iw_source *a, const iw_source *b)
{
    return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : strcmp(a->name, b->name);
}

/* Where the name is or belongs among the sorted ones; they begin with name 1. */
static size_t place_of(const struct iwi_fleet_cells *cells, const iw_source *source)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, cells->name_count - 1,
                  compare_sources(&cells->names[cells->sorted_names[at]].source, source) < 0);
    return at;
}

/* Names are few hundreds, and each is looked for once. */
static iw_status find_family(const iw_log *log, struct iwi_fleet_cells *cells, const iw_source *source,
                             uint32_t name, uint32_t *family_p)
{
    const iw_source pattern = iwi_fleet_pattern(source);

    for (size_t i = 1; i < cells->family_count; i++) {
        if (compare_sources(&cells->families[i].pattern, &pattern) == 0) {
            cells->families[i].has_other_names = true;
            *family_p = (uint32_t)i;
            return IW_OK;
        }
    }
    IW_TRY(iwi_grow(log, (void **)&cells->families, &cells->family_capacity, cells->family_count + 1,
                    sizeof *cells->families));
    cells->families[cells->family_count] = (struct iwi_fleet_family){.pattern = pattern, .first_name = name};
    *family_p = (uint32_t)cells->family_count++;
    return IW_OK;
}

iw_status iwi_fleet_find_name(const iw_log *log, struct iwi_fleet_cells *cells, const iw_source *source,
                              uint32_t *name_p)
{
    const size_t place = place_of(cells, source), sorted = cells->name_count - 1;
    const uint32_t name = (uint32_t)cells->name_count;
    uint32_t family;

    if (place < sorted && compare_sources(&cells->names[cells->sorted_names[place]].source, source) == 0) {
        *name_p = cells->sorted_names[place];
        return IW_OK;
    }
    IW_TRY(iwi_grow(log, (void **)&cells->names, &cells->name_capacity, cells->name_count + 1,
                    sizeof *cells->names));
    IW_TRY(iwi_grow(log, (void **)&cells->sorted_names, &cells->sorted_capacity, sorted + 1,
                    sizeof *cells->sorted_names));
    IW_TRY(find_family(log, cells, source, name, &family));
    cells->names[cells->name_count++] = (struct iwi_fleet_name){*source, family};
    memmove(&cells->sorted_names[place + 1], &cells->sorted_names[place],
            (sorted - place) * sizeof *cells->sorted_names);
    cells->sorted_names[place] = name;
    *name_p = name;
    return IW_OK;
}
