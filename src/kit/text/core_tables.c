/* Tables over types of the core, and names of their enums.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/caveat.h>
#include <idlewave/net.h>
#include <idlewave/remedy.h>
#include <idlewave/sim.h>

#include "core/base/base.h"
#include "kit/text/words.h"

const char *iwi_class_at(unsigned kind)
{
    return kind < IW_CLASSES ? iw_class_name((iw_class)kind) : NULL;
}

static const struct iwi_field source_fields[] = {
    IWI_ENUM(iw_source, kind, "class", iwi_class_at),
    IWI_CHARS(iw_source, name, .about = "numbers that differ between nodes are `*`"),
};
const struct iwi_schema iwi_source_schema = IWI_SCHEMA(iw_source, source_fields);

const char *iwi_probe_at(unsigned probe)
{
    return probe < IW_PROBES ? iw_probe_name((iw_probe)probe) : NULL;
}

const char *iwi_attribution_level_at(unsigned level)
{
    return level < IW_ATTRIBUTION_LEVELS ? iw_attribution_level_name((iw_attribution_level)level) : NULL;
}

const char *iwi_sync_name(unsigned sync)
{
    static const char *const names[] = {
        [IW_SYNC_NONE] = "none", [IW_SYNC_START] = "start", [IW_SYNC_PHASE] = "phase"};

    return sync < sizeof names / sizeof names[0] ? names[sync] : NULL;
}

const char *iwi_split_name(unsigned parallel)
{
    static const char *const names[] = {
        [IW_PARALLEL_AUTO] = "auto", [IW_PARALLEL_TRIALS] = "trials", [IW_PARALLEL_RANKS] = "ranks"};

    return parallel < sizeof names / sizeof names[0] ? names[parallel] : NULL;
}

static const struct iwi_field caveat_fields[] = {
    IWI_ENUM(iw_caveat, kind, "kind", iw_caveat_name),
    IWI_VALUE(iw_caveat, is_known,
              .about = "false: the input does not say whether it is so, as files of older versions may not"),
    IWI_CHARS(iw_caveat, input, .about = "the file, or the name of the network"),
    IWI_CHARS(iw_caveat, text, .about = "a sentence"),
};
static const struct iwi_schema caveat_schema = IWI_SCHEMA(iw_caveat, caveat_fields);

static const struct iwi_field caveats_fields[] = {
    IWI_OBJECTS_IN_PLACE(iw_caveats, caveats, count, caveat_schema, .is_optional = true,
                         .about = "what limits the inputs"),
};
const struct iwi_schema iwi_caveats_schema = IWI_SCHEMA(iw_caveats, caveats_fields);

static const struct iwi_field memory_fields[] = {
    IWI_VALUE(iw_memory, ranks, .about = "of a domain"),
    IWI_VALUE(iw_memory, domain_bytes_per_s, .about = "what all cores of a domain move together"),
    IWI_VALUE(iw_memory, core_bytes_per_s, .about = "what one core moves"),
};
const struct iwi_schema iwi_memory_schema = IWI_SCHEMA(iw_memory, memory_fields);

static const struct iwi_field window_fields[] = {
    IWI_VALUE(iw_wall_window, from_wall_ns,
              .about = "beginning of the time that all nodes watched, since 1970 (UTC)"),
    IWI_VALUE(iw_wall_window, length_ns, .about = "of that time"),
    IWI_VALUE(iw_wall_window, error_ns, .about = "how wrong the worst clock is, by its kernel's estimate"),
    IWI_VALUE(iw_wall_window, unsynchronised, .about = "nodes whose clock nothing synchronizes"),
};
const struct iwi_schema iwi_wall_window_schema = IWI_SCHEMA(iw_wall_window, window_fields);

static const struct iwi_field remedy_fields[] = {
    IWI_VALUE(iw_remedy, name),
    IWI_VALUE(iw_remedy, how, .about = "what to do"),
};
const struct iwi_schema iwi_remedy_schema = IWI_SCHEMA(iw_remedy, remedy_fields);
