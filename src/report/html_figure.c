/* A figure of a page: plot, caption, and the table behind it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html.h"

#include <math.h>

#include "base/base.h"

json_t *iwi_html_number(double value)
{
    if (!isfinite(value)) {
        return json_null();
    }
    return value == floor(value) && fabs(value) < 1e6 ? json_integer((json_int_t)value) : json_real(value);
}

/* Where the plot is, or will be drawn; its message is all that some readers get of it. */
static void write_place(struct iwi_html *page, const struct iwi_figure *figure)
{
    (void)fprintf(page->out, "<div class=\"plot%s\" id=\"plot-%u\" role=\"img\" aria-label=\"",
                  page->is_static ? " static" : "", page->figure_count);
    iwi_html_text(page->out, figure->message);
    (void)fputs("\">\n", page->out);
    if (page->is_static) {
        iwi_html_static_plot(page->out, figure->data);
    } else {
        (void)fputs("<noscript>Plots need JavaScript; the table has the numbers.</noscript>\n", page->out);
    }
    (void)fputs("</div>\n", page->out);
}

static iw_status keep_data(struct iwi_html *page, json_t *data)
{
    if (json_object_set_new(data, "id", json_sprintf("plot-%u", page->figure_count)) != 0 ||
        json_array_append(page->plots, data) != 0) {
        return iwi_fail(page->log, IW_ERR_NOMEM, "out of memory for the page");
    }
    return IW_OK;
}

static iw_status write_figure(struct iwi_html *page, const struct iwi_figure *figure)
{
    FILE *out = page->out;

    page->figure_count++;
    (void)fputs("<figure>\n<h3>", out);
    iwi_html_text(out, figure->title);
    (void)fputs("</h3>\n", out);
    write_place(page, figure);
    if (!page->is_static) {
        IW_TRY(keep_data(page, figure->data));
    }
    (void)fputs("<figcaption>", out);
    iwi_html_prose(out, figure->message);
    (void)fputs("</figcaption>\n<details><summary>Table: ", out);
    iwi_html_text(out, figure->title);
    (void)fputs("</summary>\n", out);
    iwi_html_table_begin(out, figure->table_caption);
    figure->write_table(out, figure->arg);
    iwi_html_table_end(out);
    (void)fputs("</details>\n</figure>\n", out);
    return IW_OK;
}

iw_status iwi_html_figure(struct iwi_html *page, const struct iwi_figure *figure)
{
    iw_status status;

    if (figure->data == NULL) {
        return iwi_fail(page->log, IW_ERR_NOMEM, "out of memory for the page");
    }
    status = write_figure(page, figure);
    json_decref(figure->data);
    return status;
}
