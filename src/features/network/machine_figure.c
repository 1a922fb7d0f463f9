/* The figure of a machine: a box for each level, with one of the groups inside it, and what else there is
 * beside that one.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Places are columns and lines of characters, so that a terminal shows them as they are. The upper edge of a
 * box has its first line of text.
 */
#include <string.h>

#include "core/base/base.h"
#include "features/network/machine_report.h"

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

static const char *nics_words(struct drawing *d)
{
    return iwi_say(d->doc, "%u NIC%s", d->machine->nic_count, iwi_s(d->machine->nic_count));
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
        add_phrase(lines, room, true, iwi_say(d->doc, "one of %u", siblings));
    }
    add_phrase(lines, room, true, iwi_say(d->doc, "L %s", iwi_ns_short(d->doc, (double)level->L_ps / 1e3)));
    if (level->o_send_ps == level->o_recv_ps) {
        add_phrase(lines, room, false,
                   iwi_say(d->doc, "o %s", iwi_ns_short(d->doc, (double)level->o_send_ps / 1e3)));
    } else {
        add_phrase(lines, room, false,
                   iwi_say(d->doc, "o_s %s", iwi_ns_short(d->doc, (double)level->o_send_ps / 1e3)));
        add_phrase(lines, room, false,
                   iwi_say(d->doc, "o_r %s", iwi_ns_short(d->doc, (double)level->o_recv_ps / 1e3)));
    }
    add_phrase(lines, room, false, iwi_say(d->doc, "g %s", iwi_ns_short(d->doc, (double)level->g_ps / 1e3)));
    add_phrase(lines, room, false, iwi_bandwidth_words(d->doc, level->bytes_per_ns));
    if (level->taper > 1.0) {
        add_phrase(lines, room, false, iwi_say(d->doc, "taper %.3g", level->taper));
    }
    add_phrase(lines, room, true,
               iwi_say(d->doc, "8 B: %s", iwi_ns_short(d->doc, (double)level->small_ps / 1e3)));
    add_phrase(lines, room, false,
               iwi_say(d->doc, "1 MiB: %s", iwi_ns_short(d->doc, (double)level->large_ps / 1e3)));
    if (level->is_node && index > 0 && !has_side(d, index, width)) {
        add_phrase(lines, room, true,
                   iwi_say(d->doc, "%s of %s", nics_words(d),
                           iwi_bandwidth_words(d->doc, d->machine->nic_bytes_per_ns)));
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
    add_box(
        d, (struct box){x, y, SIDE, SMALL}, iwi_series_ink(4), false,
        iwi_say(d->doc, "%s\n%s", nics_words(d), iwi_bandwidth_words(d->doc, d->machine->nic_bytes_per_ns)));
}

static const char *more_words(struct drawing *d, uint32_t count, const char *name)
{
    return count > 0 ? iwi_say(d->doc, "%s\n%u more", name, count - 1)
                     : iwi_say(d->doc, "%s\nand more", name);
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

iw_status iwi_machine_figure(struct iwi_document *doc, const iw_net_machine *machine,
                             struct iwi_figure **figure_p)
{
    const size_t outermost = machine->level_count - 1;
    struct drawing d = {.doc = doc, .machine = machine};
    struct box all = {.width = WIDTH};

    IW_TRY(iwi_figure_new(doc->log, "Levels, and one group of each", &d.figure));
    all.height = height_of(&d, outermost, WIDTH, false);
    d.figure->x = (struct iwi_figure_axis){.label = "", .unit = IWI_AXIS_NONE, .high = WIDTH};
    d.figure->y = (struct iwi_figure_axis){.label = "", .unit = IWI_AXIS_NONE, .high = (double)all.height};
    d.figure->height = (double)all.height * LINE_PIXELS / PAGE_PIXELS;
    d.figure->is_wide = true;
    d.figure->message = "Levels from the outermost to ranks: what messages cost between two ranks that meet "
                        "there. Dashed: what is not drawn once more.";
    draw_level(&d, outermost, all, false);
    *figure_p = d.figure;
    return IW_OK;
}
