/* Networks as simulations have them: words, tables, a picture, JSON.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include <idlewave/internal/machine.h>

#include "core/base/base.h"
#include "features/tables.h"
#include "kit/doc/doc.h"
#include "kit/text/words.h"

/* The figure of a machine: a box for each level, with one of the groups inside it, and what else there is
 * beside that one.
 *
 * Places are columns and lines of characters, so that a terminal shows them as they are. The upper edge of a
 * box has its first line of text.
 */

enum {
    WIDTH = 80,
    EDGE = 2,         /* columns of a box's edge and of the blank inside it, at each side */
    SIDE = 12,        /* columns beside a group: its neighbours, and NICs */
    LEAST_CHILD = 29, /* columns of a group that has something beside it */
    RANK = 12,        /* columns of a rank */
    SMALL = 3         /* lines of a rank, of NICs */
};

static const double LINE_PIXELS = 19.0, PAGE_PIXELS = 640.0;

struct drawing {
    struct iwi_document *doc;
    struct iwi_figure *figure;
    const iw_net_machine *machine;
};

struct box {
    size_t x, y, width, height;
};

static const char *bandwidth_words(struct iwi_document *doc, double bytes_per_ns);

static void add_box(struct drawing *d, struct box box, enum iwi_ink ink, bool is_more, const char *text)
{
    struct iwi_mark *mark = iwi_figure_mark(d->figure, IWI_MARK_FRAME, ink, NULL);
    const double numbers[] = {(double)box.x, (double)(box.x + box.width), (double)box.y,
                              (double)(box.y + box.height)};

    mark->dash = is_more ? IWI_DASHED : IWI_SOLID;
    iwi_mark_add_named(d->figure, mark, numbers, text, false);
}

/* ---- what is written into a box ---- */

struct lines {
    char text[512];
    size_t column, count;
};

/* Behind the last phrase, or on a line of its own. */
static void add_phrase(struct lines *lines, size_t width, bool is_new_line, const char *phrase)
{
    const size_t length = strlen(phrase), used = strlen(lines->text);
    const bool fits = !is_new_line && lines->column > 0 && lines->column + 2 + length <= width;

    snprintf(lines->text + used, sizeof lines->text - used, "%s%s", fits ? ", " : "\n", phrase);
    lines->column = fits ? lines->column + 2 + length : length;
    lines->count += !fits;
}

static const char *nics_count(struct drawing *d)
{
    return iwi_doc_printf(d->doc, "%u NIC%s", d->machine->nic_count, iwi_plural_s(d->machine->nic_count));
}

static bool has_side(const struct drawing *d, size_t index, size_t width)
{
    const iw_net_machine_level *level = &d->machine->levels[index];

    return index > 0 && (level->parts != 1 || level->is_node) &&
           width >= LEAST_CHILD + SIDE + 1 + (size_t)(2 * EDGE);
}

/* `is_one_of`: there are more of it, but no room to show them. */
static void write_lines(struct drawing *d, size_t index, size_t width, bool is_one_of, struct lines *lines)
{
    const iw_net_machine_level *level = &d->machine->levels[index];
    const size_t room = width - (size_t)(2 * EDGE);
    const uint32_t siblings = index + 1 < d->machine->level_count ? d->machine->levels[index + 1].parts : 0;

    *lines = (struct lines){.count = 0};
    snprintf(lines->text, sizeof lines->text, "%s", level->name);
    if (level->ranks > 0) {
        snprintf(lines->text, sizeof lines->text, "%s of %u ranks", level->name, level->ranks);
    }
    if (is_one_of && siblings > 1) {
        add_phrase(lines, room, true, iwi_doc_printf(d->doc, "one of %u", siblings));
    }
    add_phrase(lines, room, true,
               iwi_doc_printf(d->doc, "L %s", iwi_ns_short(d->doc, (double)level->L_ps / 1e3)));
    if (level->o_send_ps == level->o_recv_ps) {
        add_phrase(lines, room, false,
                   iwi_doc_printf(d->doc, "o %s", iwi_ns_short(d->doc, (double)level->o_send_ps / 1e3)));
    } else {
        add_phrase(lines, room, false,
                   iwi_doc_printf(d->doc, "o_s %s", iwi_ns_short(d->doc, (double)level->o_send_ps / 1e3)));
        add_phrase(lines, room, false,
                   iwi_doc_printf(d->doc, "o_r %s", iwi_ns_short(d->doc, (double)level->o_recv_ps / 1e3)));
    }
    add_phrase(lines, room, false,
               iwi_doc_printf(d->doc, "g %s", iwi_ns_short(d->doc, (double)level->g_ps / 1e3)));
    add_phrase(lines, room, false, bandwidth_words(d->doc, level->bytes_per_ns));
    if (level->taper > 1.0) {
        add_phrase(lines, room, false, iwi_doc_printf(d->doc, "taper %.3g", level->taper));
    }
    add_phrase(lines, room, true,
               iwi_doc_printf(d->doc, "8 B: %s", iwi_ns_short(d->doc, (double)level->small_ps / 1e3)));
    add_phrase(lines, room, false,
               iwi_doc_printf(d->doc, "1 MiB: %s", iwi_ns_short(d->doc, (double)level->large_ps / 1e3)));
    if (level->is_node && index > 0 && !has_side(d, index, width)) {
        add_phrase(lines, room, true,
                   iwi_doc_printf(d->doc, "%s of %s", nics_count(d),
                                  bandwidth_words(d->doc, d->machine->nic_bytes_per_ns)));
    }
}

/* ---- boxes ---- */

static size_t child_width(const struct drawing *d, size_t index, size_t width)
{
    return width - (size_t)(2 * EDGE) - (has_side(d, index, width) ? SIDE + 1 : 0);
}

static size_t height_of(struct drawing *d, size_t index, size_t width, bool is_one_of)
{
    struct lines lines;

    write_lines(d, index, width, is_one_of, &lines);
    return 2 + lines.count +
           (index == 0 ? SMALL
                       : height_of(d, index - 1, child_width(d, index, width), !has_side(d, index, width)));
}

static void draw_nics(struct drawing *d, size_t x, size_t y)
{
    add_box(d, (struct box){x, y, SIDE, SMALL}, iwi_series_ink(4), false,
            iwi_doc_printf(d->doc, "%s\n%s", nics_count(d),
                           bandwidth_words(d->doc, d->machine->nic_bytes_per_ns)));
}

static const char *more_words(struct drawing *d, uint32_t count, const char *name)
{
    return count > 0 ? iwi_doc_printf(d->doc, "%s\n%u more", name, count - 1)
                     : iwi_doc_printf(d->doc, "%s\nand more", name);
}

static void draw_ranks(struct drawing *d, const struct box *around, size_t y)
{
    const iw_net_machine_level *level = &d->machine->levels[0];
    const bool is_wide = around->width >= 2 * RANK + SIDE + 2 + (size_t)(2 * EDGE);
    const size_t x = around->x + EDGE;

    add_box(d, (struct box){x, y, RANK, SMALL}, IWI_INK_FAINT, false, "rank");
    if (level->ranks != 1 && around->width >= 2 * RANK + 1 + (size_t)(2 * EDGE)) {
        add_box(d, (struct box){x + RANK + 1, y, RANK, SMALL}, IWI_INK_FAINT, true,
                more_words(d, level->ranks, "rank"));
    }
    if (level->is_node && is_wide) {
        draw_nics(d, around->x + around->width - EDGE - SIDE, y);
    }
}

/* The neighbours of the group inside, and the NICs below them. */
static void draw_side(struct drawing *d, size_t index, const struct box *child)
{
    const iw_net_machine_level *level = &d->machine->levels[index];
    const size_t x = child->x + child->width + 1, nics = level->is_node ? SMALL : 0;

    if (level->parts != 1) {
        add_box(d, (struct box){x, child->y, SIDE, child->height - nics}, iwi_series_ink(index - 1), true,
                more_words(d, level->parts, d->machine->levels[index - 1].name));
    }
    if (level->is_node) {
        draw_nics(d, x, child->y + child->height - SMALL);
    }
}

static void draw_level(struct drawing *d, size_t index, struct box box, bool is_one_of)
{
    struct lines lines;
    struct box child = {.x = box.x + EDGE};

    write_lines(d, index, box.width, is_one_of, &lines);
    add_box(d, box, iwi_series_ink(index), false, lines.text);
    child.y = box.y + 1 + lines.count;
    if (index == 0) {
        draw_ranks(d, &box, child.y);
        return;
    }
    child.width = child_width(d, index, box.width);
    child.height = box.y + box.height - 1 - child.y;
    draw_level(d, index - 1, child, !has_side(d, index, box.width));
    if (has_side(d, index, box.width)) {
        draw_side(d, index, &child);
    }
}

/* Boxes within boxes, as lstopo draws a node. */
static iw_status machine_figure(struct iwi_document *doc, const iw_net_machine *machine,
                                struct iwi_figure **figure_p)
{
    const size_t outermost = machine->level_count - 1;
    struct drawing d = {.doc = doc, .machine = machine};
    struct box all = {.width = WIDTH};

    IW_TRY(iwi_figure_new(doc->log, "Levels, with one group of each", &d.figure));
    all.height = height_of(&d, outermost, WIDTH, false);
    d.figure->x = (struct iwi_figure_axis){.label = "", .unit = IWI_AXIS_NONE, .high = WIDTH};
    d.figure->y = (struct iwi_figure_axis){.label = "", .unit = IWI_AXIS_NONE, .high = (double)all.height};
    d.figure->height = (double)all.height * LINE_PIXELS / PAGE_PIXELS;
    d.figure->is_wide = true;
    d.figure->message = "Levels from the outermost to ranks, with the cost of messages between two ranks "
                        "that share that level. Dashed: groups not drawn again.";
    draw_level(&d, outermost, all, false);
    *figure_p = d.figure;
    return IW_OK;
}

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
             .about = "of small messages between two otherwise silent ranks, as the next ones"),
    IWI_TIME(iw_net_machine_level, o_send_ps, "o_send_ns"),
    IWI_TIME(iw_net_machine_level, o_recv_ps, "o_recv_ns"),
    IWI_TIME(iw_net_machine_level, g_ps, "g_ns"),
    IWI_PER_BYTE(iw_net_machine_level, G, "G_ns_per_byte"),
    IWI_VALUE(iw_net_machine_level, bytes_per_ns,
              .about = "bandwidth of large messages of a single rank, GB/s; 0: no limit"),
    IWI_VALUE(iw_net_machine_level, segments, .about = "sizes at which costs change"),
    IWI_VALUE(iw_net_machine_level, taper, .is_there = has_taper, .is_optional = true,
              .about = "factor by which links out of a group are narrower; missing: 1"),
    IWI_VALUE(iw_net_machine_level, is_node, .about = "its groups own the NICs"),
    IWI_TIME(iw_net_machine_level, small_ps, "small_ns",
             .about = "time of 8 bytes between two otherwise silent ranks, from the beginning of the send to "
                      "the end of the receive"),
    IWI_TIME(iw_net_machine_level, large_ps, "large_ns", .about = "time of 1 MiB"),
    IWI_TIME(iw_net_machine_level, shared_ps, "large_shared_ns",
             .about = "time of 1 MiB where all active ranks share NICs and narrow links"),
    IWI_VALUE(iw_net_machine_level, is_device_progress, .is_there = is_by_device, .is_optional = true,
              .about = "a device moves messages: only CPU time needs the CPU"),
};
static const struct iwi_schema level_schema = IWI_SCHEMA(iw_net_machine_level, level_fields);

static const struct iwi_field memory_fields[] = {
    IWI_VALUE(iw_memory, ranks, .about = "of a domain"),
    IWI_VALUE(iw_memory, domain_bytes_per_s, .about = "moved by all cores of a domain together"),
    IWI_VALUE(iw_memory, core_bytes_per_s, .about = "moved by one core"),
};
static const struct iwi_schema memory_schema = IWI_SCHEMA(iw_memory, memory_fields);

static const struct iwi_field machine_fields[] = {
    IWI_CHARS(iw_net_machine, name),
    IWI_OBJECTS_IN_PLACE(iw_net_machine, levels, level_count, level_schema, .is_row = true,
                         .about = "from the inside out; a network without levels has one"),
    IWI_VALUE(iw_net_machine, S_bytes, .about = "larger messages use rendezvous"),
    IWI_ENUM(iw_net_machine, placement, "placement", placement_name),
    IWI_VALUE(iw_net_machine, placed_ranks, .is_there = has_list, .is_optional = true,
              .about = "placed by a list"),
    IWI_VALUE(iw_net_machine, placed_nodes, .is_there = has_list, .is_optional = true,
              .about = "on which the list places them"),
    IWI_VALUE(iw_net_machine, nic_count, .about = "per node; 0: no limit"),
    IWI_VALUE(iw_net_machine, nic_bytes_per_ns, .is_there = has_nics, .is_optional = true,
              .about = "of one NIC, GB/s; 0: no limit"),
    IWI_VALUE(iw_net_machine, active, .is_there = has_nics, .is_optional = true,
              .about = "ranks per node that share them at once; 0: messages wait in queues"),
    IWI_VALUE_AS(iw_net_machine, has_rails, "rails", .is_there = has_nics, .is_optional = true,
                 .about = "each rank has one of them"),
    IWI_OBJECT(iw_net_machine, memory, memory_schema, .is_there = has_memory, .is_optional = true,
               .about = "if known"),
    IWI_INLINE(iw_net_machine, caveats, iwi_caveats_schema),
};
static const struct iwi_schema machine_schema = IWI_SCHEMA(iw_net_machine, machine_fields);

/* ---- words ---- */

/* "24 GB/s", "no limit". */
static const char *bandwidth_words(struct iwi_document *doc, double bytes_per_ns)
{
    return bytes_per_ns > 0.0 ? iwi_doc_printf(doc, "%.3g GB/s", bytes_per_ns) : "no limit";
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
    return bytes_per_ns > 0.0 ? iwi_doc_printf(doc, "at %s", bandwidth_words(doc, bytes_per_ns))
                              : "without a limit";
}

static void say_verdict(struct iwi_document *doc, const iw_net_machine *machine)
{
    const iw_net_machine_level *outermost = outermost_of(machine), *shared = most_shared(machine);

    iwi_verdict(doc, "Between two ranks of %s, 8 B takes ", machine->name);
    for (size_t i = 0; i < machine->level_count; i++) {
        const iw_net_machine_level *level = &machine->levels[i];

        iwi_doc_append(doc, "%s%s%s%s",
                       i == 0                         ? ""
                       : i + 1 < machine->level_count ? ", "
                                                      : " and ",
                       iwi_ps(doc, level->small_ps),
                       machine->level_count == 1 ? ""
                       : level->ranks > 0        ? " inside a "
                                                 : " between ",
                       machine->level_count == 1 ? ""
                       : level->ranks > 0        ? level->name
                                                 : iwi_doc_printf(doc, "%ss", machine->levels[i - 1].name));
    }
    iwi_doc_append(doc, ", and large messages move %s", speed_words(doc, machine->levels[0].bytes_per_ns));
    if (machine->level_count > 1) {
        iwi_doc_append(doc, " inside and %s outside", speed_words(doc, outermost->bytes_per_ns));
    }
    iwi_doc_append(doc, ".");
    if (shared != NULL) {
        iwi_doc_append(doc, " Where ranks share links, 1 MiB takes up to %sx as long.",
                       iwi_factor(doc, (double)shared->shared_ps / (double)shared->large_ps));
    }
}

static void say_levels(struct iwi_document *doc, const iw_net_machine *machine)
{
    const double fs_per_ns = 1e6;

    iwi_section(doc, "levels", "Levels, from the inside out");
    IWI_TABLE(doc, "", {"level", IWI_WORDS}, {"ranks", IWI_NUMBER}, {"L", IWI_NUMBER}, {"o_s", IWI_NUMBER},
              {"o_r", IWI_NUMBER}, {"g", IWI_NUMBER}, {"G ns/B", IWI_NUMBER}, {"GB/s", IWI_NUMBER},
              {"taper", IWI_NUMBER});
    iwi_unfold(doc);
    for (size_t i = 0; i < machine->level_count; i++) {
        const iw_net_machine_level *level = &machine->levels[i];

        iwi_row(
            doc, level->name, level->ranks > 0 ? iwi_doc_printf(doc, "%u", level->ranks) : "all",
            iwi_ns_short(doc, (double)level->L_ps / 1e3), iwi_ns_short(doc, (double)level->o_send_ps / 1e3),
            iwi_ns_short(doc, (double)level->o_recv_ps / 1e3), iwi_ns_short(doc, (double)level->g_ps / 1e3),
            iwi_doc_printf(doc, "%.4g", (double)level->G / fs_per_ns),
            level->bytes_per_ns > 0.0 ? iwi_doc_printf(doc, "%.3g", level->bytes_per_ns) : "-",
            level->taper > 0.0 ? iwi_doc_printf(doc, "%.3g", level->taper) : "-");
    }
    for (size_t i = 0; i < machine->level_count; i++) {
        const iw_net_machine_level *level = &machine->levels[i];

        iwi_item(doc, "%s: 8 B takes %s, 1 MiB takes %s between two ranks", level->name,
                 iwi_ps(doc, level->small_ps), iwi_ps(doc, level->large_ps));
        if (level->shared_ps > level->large_ps) {
            iwi_doc_append(doc, ", or %s in simulations where they share links",
                           iwi_ps(doc, level->shared_ps));
        }
        iwi_doc_append(doc, ".%s", level->is_device_progress ? " A device moves messages." : "");
        if (level->segments > 0) {
            iwi_doc_append(doc, " Costs change at %u size%s; the table shows those of small messages.",
                           level->segments, iwi_plural_s(level->segments));
        }
    }
}

static const char *placement_words(struct iwi_document *doc, const iw_net_machine *machine)
{
    switch (machine->placement) {
    case IW_PLACEMENT_ROUND_ROBIN: return "round-robin: ranks are dealt out to nodes in turn";
    case IW_PLACEMENT_LIST:
        return iwi_doc_printf(doc, "by a list: %u rank%s on %u node%s", machine->placed_ranks,
                              iwi_plural_s(machine->placed_ranks), machine->placed_nodes,
                              iwi_plural_s(machine->placed_nodes));
    case IW_PLACEMENT_BLOCK:
    default: return "block: ranks fill one group after the other";
    }
}

static const char *nics_words(struct iwi_document *doc, const iw_net_machine *machine)
{
    const char *those = iwi_doc_printf(
        doc, "%u per node, %s%s%s", machine->nic_count, bandwidth_words(doc, machine->nic_bytes_per_ns),
        machine->nic_count > 1 ? " each" : "", machine->has_rails ? ", as rails: one per rank" : "");

    return machine->active > 0
               ? iwi_doc_printf(doc, "%s; %u rank%s per node send%s at once", those, machine->active,
                                iwi_plural_s(machine->active), machine->active == 1 ? "s" : "")
               : iwi_doc_printf(doc, "%s; messages queue for them in time order", those);
}

static void say_rest(struct iwi_document *doc, const iw_net_machine *machine)
{
    const double bytes_per_gb = 1e9;

    iwi_section(doc, "machine", "All levels");
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"", IWI_WORDS});
    iwi_row(doc, "S",
            machine->S_bytes < UINT64_MAX
                ? iwi_doc_printf(doc, "%s; larger messages use rendezvous", iwi_size(doc, machine->S_bytes))
                : "no limit, so no message uses rendezvous");
    if (machine->level_count > 1) {
        iwi_row(doc, "placement", placement_words(doc, machine));
    }
    if (machine->nic_count > 0) {
        iwi_row(doc, "NICs", nics_words(doc, machine));
    }
    if (machine->memory.ranks > 0) {
        iwi_row(doc, "memory",
                iwi_doc_printf(doc, "%u ranks per domain share %.3g GB/s, each at most %.3g GB/s",
                               machine->memory.ranks,
                               (double)machine->memory.domain_bytes_per_s / bytes_per_gb,
                               (double)machine->memory.core_bytes_per_s / bytes_per_gb));
    }
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_net_machine *machine = subject;
    struct iwi_figure *figure = NULL;
    const iw_status made = machine_figure(doc, machine, &figure);

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
    .about =
        "A network as simulations use it, from `idlewave net show --format json`. CSV has one line per level",
    .older_id = "idlewave.machine/1",
    .schema = &machine_schema,
    .write_doc = write_doc,
    .check = check,
};

IWI_DOC(iw_net_machine_doc, iw_net_machine, machine, iwi_machine_kind)
