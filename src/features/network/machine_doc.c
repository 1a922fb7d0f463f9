/* Machines: the levels of a network, and what messages take at each.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/network/machine_report.h"
#include "features/tables.h"
#include "kit/text/words.h"

/* ---- the table ---- */

IWI_NAMES(placement_name, [IW_PLACEMENT_BLOCK] = "block", [IW_PLACEMENT_ROUND_ROBIN] = "round-robin",
          [IW_PLACEMENT_LIST] = "list")
IWI_OF(bool, has_taper, iw_net_machine_level, it->taper > 0.0)
IWI_OF(bool, is_by_device, iw_net_machine_level, it->is_device_progress)
IWI_OF(bool, is_inner, iw_net_machine_level, it->ranks > 0)
IWI_OF(bool, has_nics, iw_net_machine, it->nic_count > 0)
IWI_OF(bool, has_list, iw_net_machine, it->placement == IW_PLACEMENT_LIST)
IWI_OF(bool, has_memory, iw_net_machine, it->memory.ranks > 0)

static const struct iwi_field level_fields[] = {
    IWI_CHARS(iw_net_machine_level, name),
    IWI_VALUE(iw_net_machine_level, ranks, .is_there = is_inner, .is_optional = true,
              .about = "of a group; the outermost level has none"),
    IWI_VALUE(iw_net_machine_level, parts, .is_there = is_inner, .is_optional = true,
              .about = "groups of the level inside; 0 of the innermost"),
    IWI_TIME(iw_net_machine_level, L_ps, "L_ns",
             .about = "of small messages between two ranks that are alone, as the next ones"),
    IWI_TIME(iw_net_machine_level, o_send_ps, "o_send_ns"),
    IWI_TIME(iw_net_machine_level, o_recv_ps, "o_recv_ns"),
    IWI_TIME(iw_net_machine_level, g_ps, "g_ns"),
    IWI_PER_BYTE(iw_net_machine_level, G, "G_ns_per_byte"),
    IWI_VALUE(iw_net_machine_level, bytes_per_ns,
              .about = "what a rank alone moves in large messages, GB/s; 0: no limit"),
    IWI_VALUE(iw_net_machine_level, segments, .about = "sizes from which on costs are others"),
    IWI_VALUE(iw_net_machine_level, taper, .is_there = has_taper, .is_optional = true,
              .about = "how much narrower the links out of a group are; missing: not at all"),
    IWI_VALUE(iw_net_machine_level, is_node, .about = "its groups have the NICs"),
    IWI_TIME(iw_net_machine_level, small_ps, "small_ns",
             .about = "what 8 bytes take between two ranks that are alone, from the beginning of the send to "
                      "the end of the receive"),
    IWI_TIME(iw_net_machine_level, large_ps, "large_ns", .about = "what 1 MiB takes"),
    IWI_TIME(iw_net_machine_level, shared_ps, "large_shared_ns",
             .about = "what 1 MiB takes where all active ranks share NICs and narrow links"),
    IWI_VALUE(iw_net_machine_level, is_device_progress, .is_there = is_by_device, .is_optional = true,
              .about = "a device moves messages: what takes no CPU time needs no CPU"),
};
static const struct iwi_schema level_schema = IWI_SCHEMA(iw_net_machine_level, level_fields);

static const struct iwi_field memory_fields[] = {
    IWI_VALUE(iw_memory, ranks, .about = "of a domain"),
    IWI_VALUE(iw_memory, domain_bytes_per_s, .about = "what all cores of a domain move together"),
    IWI_VALUE(iw_memory, core_bytes_per_s, .about = "what one core moves"),
};
static const struct iwi_schema memory_schema = IWI_SCHEMA(iw_memory, memory_fields);

static const struct iwi_field machine_fields[] = {
    IWI_CHARS(iw_net_machine, name),
    IWI_OBJECTS_IN_PLACE(iw_net_machine, levels, level_count, level_schema, .is_row = true,
                         .about = "from the inside out; a network without levels has one"),
    IWI_VALUE(iw_net_machine, S_bytes, .about = "larger messages use rendezvous"),
    IWI_ENUM(iw_net_machine, placement, "placement", placement_name),
    IWI_VALUE(iw_net_machine, placed_ranks, .is_there = has_list, .is_optional = true,
              .about = "that a list places"),
    IWI_VALUE(iw_net_machine, placed_nodes, .is_there = has_list, .is_optional = true,
              .about = "on which it places them"),
    IWI_VALUE(iw_net_machine, nic_count, .about = "of a node; 0: they are no limit"),
    IWI_VALUE(iw_net_machine, nic_bytes_per_ns, .is_there = has_nics, .is_optional = true,
              .about = "of one NIC, GB/s; 0: no limit"),
    IWI_VALUE(iw_net_machine, active, .is_there = has_nics, .is_optional = true,
              .about = "ranks of a node that share them at once; 0: messages wait in queues"),
    IWI_VALUE_AS(iw_net_machine, has_rails, "rails", .is_there = has_nics, .is_optional = true,
                 .about = "each rank has one of them"),
    IWI_OBJECT(iw_net_machine, memory, memory_schema, .is_there = has_memory, .is_optional = true,
               .about = "where it is known"),
    IWI_INLINE(iw_net_machine, caveats, iwi_caveats_schema),
};
static const struct iwi_schema machine_schema = IWI_SCHEMA(iw_net_machine, machine_fields);

/* ---- words ---- */

const char *iwi_bandwidth_words(struct iwi_document *doc, double bytes_per_ns)
{
    return bytes_per_ns > 0.0 ? iwi_say(doc, "%.3g GB/s", bytes_per_ns) : "no limit";
}

static const iw_net_machine_level *outermost_of(const iw_net_machine *machine)
{
    return &machine->levels[machine->level_count - 1];
}

/* A level that ranks share the links of. */
static const iw_net_machine_level *most_shared(const iw_net_machine *machine)
{
    const iw_net_machine_level *most = NULL;

    for (size_t i = 0; i < machine->level_count; i++) {
        const iw_net_machine_level *level = &machine->levels[i];

        if (level->shared_ps > level->large_ps && (most == NULL || level->shared_ps > most->shared_ps)) {
            most = level;
        }
    }
    return most;
}

static const char *speed_words(struct iwi_document *doc, double bytes_per_ns)
{
    return bytes_per_ns > 0.0 ? iwi_say(doc, "at %s", iwi_bandwidth_words(doc, bytes_per_ns))
                              : "without a limit";
}

static void say_verdict(struct iwi_document *doc, const iw_net_machine *machine)
{
    const iw_net_machine_level *outermost = outermost_of(machine), *shared = most_shared(machine);

    iwi_verdict(doc, "Between two ranks of %s 8 B takes ", machine->name);
    for (size_t i = 0; i < machine->level_count; i++) {
        const iw_net_machine_level *level = &machine->levels[i];

        iwi_more(doc, "%s%s%s%s",
                 i == 0                         ? ""
                 : i + 1 < machine->level_count ? ", "
                                                : " and ",
                 iwi_ps(doc, level->small_ps),
                 machine->level_count == 1 ? ""
                 : level->ranks > 0        ? " inside a "
                                           : " between ",
                 machine->level_count == 1 ? ""
                 : level->ranks > 0        ? level->name
                                           : iwi_say(doc, "%ss", machine->levels[i - 1].name));
    }
    iwi_more(doc, ", and large messages move %s", speed_words(doc, machine->levels[0].bytes_per_ns));
    if (machine->level_count > 1) {
        iwi_more(doc, " inside and %s outside", speed_words(doc, outermost->bytes_per_ns));
    }
    iwi_more(doc, ".");
    if (shared != NULL) {
        iwi_more(doc, " Where ranks share links, 1 MiB takes up to %s times as long.",
                 iwi_factor(doc, (double)shared->shared_ps / (double)shared->large_ps));
    }
}

static void say_levels(struct iwi_document *doc, const iw_net_machine *machine)
{
    const double fs_per_ns = 1e6;

    iwi_section(doc, "levels", "Levels from inside out");
    IWI_TABLE(doc, "", {"level", IWI_WORDS}, {"ranks", IWI_NUMBER}, {"L", IWI_NUMBER}, {"o_s", IWI_NUMBER},
              {"o_r", IWI_NUMBER}, {"g", IWI_NUMBER}, {"G ns/B", IWI_NUMBER}, {"GB/s", IWI_NUMBER},
              {"taper", IWI_NUMBER});
    iwi_unfold(doc);
    for (size_t i = 0; i < machine->level_count; i++) {
        const iw_net_machine_level *level = &machine->levels[i];

        iwi_row(
            doc, level->name, level->ranks > 0 ? iwi_say(doc, "%u", level->ranks) : "all",
            iwi_ns_short(doc, (double)level->L_ps / 1e3), iwi_ns_short(doc, (double)level->o_send_ps / 1e3),
            iwi_ns_short(doc, (double)level->o_recv_ps / 1e3), iwi_ns_short(doc, (double)level->g_ps / 1e3),
            iwi_say(doc, "%.4g", (double)level->G / fs_per_ns),
            level->bytes_per_ns > 0.0 ? iwi_say(doc, "%.3g", level->bytes_per_ns) : "-",
            level->taper > 0.0 ? iwi_say(doc, "%.3g", level->taper) : "-");
    }
    for (size_t i = 0; i < machine->level_count; i++) {
        const iw_net_machine_level *level = &machine->levels[i];

        iwi_item(doc, "%s: 8 B takes %s, 1 MiB takes %s between two ranks", level->name,
                 iwi_ps(doc, level->small_ps), iwi_ps(doc, level->large_ps));
        if (level->shared_ps > level->large_ps) {
            iwi_more(doc, "; %s where they share links with others, as simulations have it",
                     iwi_ps(doc, level->shared_ps));
        }
        iwi_more(doc, ".%s", level->is_device_progress ? " A device moves them." : "");
        if (level->segments > 0) {
            iwi_more(doc, " Costs change at %u size%s; the table has those of small messages.",
                     level->segments, iwi_s(level->segments));
        }
    }
}

static const char *placement_words(struct iwi_document *doc, const iw_net_machine *machine)
{
    switch (machine->placement) {
    case IW_PLACEMENT_ROUND_ROBIN: return "round-robin: ranks are dealt out to the nodes in turn";
    case IW_PLACEMENT_LIST:
        return iwi_say(doc, "by a list: %u rank%s on %u node%s", machine->placed_ranks,
                       iwi_s(machine->placed_ranks), machine->placed_nodes, iwi_s(machine->placed_nodes));
    case IW_PLACEMENT_BLOCK:
    default: return "block: ranks fill one group after the other";
    }
}

static const char *nics_words(struct iwi_document *doc, const iw_net_machine *machine)
{
    const char *those =
        iwi_say(doc, "%u for a node, %s%s%s", machine->nic_count,
                iwi_bandwidth_words(doc, machine->nic_bytes_per_ns), machine->nic_count > 1 ? " each" : "",
                machine->has_rails ? ", as rails: each rank has one of them" : "");

    return machine->active > 0
               ? iwi_say(doc, "%s; %u rank%s of a node send%s at once", those, machine->active,
                         iwi_s(machine->active), machine->active == 1 ? "s" : "")
               : iwi_say(doc, "%s; messages wait for them in the order of time", those);
}

static void say_rest(struct iwi_document *doc, const iw_net_machine *machine)
{
    const double bytes_per_gb = 1e9;

    iwi_section(doc, "machine", "For all levels");
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"", IWI_WORDS});
    iwi_row(doc, "S",
            machine->S_bytes < UINT64_MAX
                ? iwi_say(doc, "%s; larger messages use rendezvous", iwi_size(doc, machine->S_bytes))
                : "no limit: no message uses rendezvous");
    if (machine->level_count > 1) {
        iwi_row(doc, "placement", placement_words(doc, machine));
    }
    if (machine->nic_count > 0) {
        iwi_row(doc, "NICs", nics_words(doc, machine));
    }
    if (machine->memory.ranks > 0) {
        iwi_row(doc, "memory",
                iwi_say(doc, "%u ranks of a domain share %.3g GB/s, each has %.3g GB/s at most",
                        machine->memory.ranks, (double)machine->memory.domain_bytes_per_s / bytes_per_gb,
                        (double)machine->memory.core_bytes_per_s / bytes_per_gb));
    }
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_net_machine *machine = subject;
    struct iwi_figure *figure = NULL;
    const iw_status made = iwi_machine_figure(doc, machine, &figure);

    iwi_title(doc, "Machine %s", machine->name);
    iwi_say_caveats(doc, &machine->caveats, NULL);
    say_verdict(doc, machine);
    iwi_show_figure(doc, made, figure);
    say_levels(doc, machine);
    say_rest(doc, machine);
}

/* A file could have no levels, or the outermost among others. */
static iw_status check(const iw_log *log, const char *name, const void *subject)
{
    const iw_net_machine *machine = subject;

    if (machine->level_count == 0 || machine->level_count > IW_NET_INNER_MAX + 1) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' has %zu levels; a machine has 1 to %d", name,
                        machine->level_count, IW_NET_INNER_MAX + 1);
    }
    for (size_t i = 0; i < machine->level_count; i++) {
        if ((machine->levels[i].ranks == 0) != (i + 1 == machine->level_count)) {
            return iwi_fail(log, IW_ERR_FORMAT, "'%s': all levels but the last, and only they, have ranks",
                            name);
        }
    }
    return IW_OK;
}

const struct iwi_kind iwi_machine_kind = {
    .name = "machine",
    .schema_id = "idlewave.machine/2",
    .about = "A network as simulations have it, from `idlewave net show --format json`. CSV has a line for "
             "each level",
    .older_id = "idlewave.machine/1",
    .schema = &machine_schema,
    .write_doc = write_doc,
    .check = check,
};

iw_doc iw_net_machine_doc(const iw_net_machine *machine)
{
    return (iw_doc){&iwi_machine_kind, machine};
}
