/* What pages carry with them: the files of web/, compiled in (cmake/Web.cmake).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_HTML_ASSETS_H
#define IWI_HTML_ASSETS_H

#include <stddef.h>

struct iwi_asset {
    const unsigned char *bytes;
    size_t size;
};

extern const struct iwi_asset iwi_asset_report_css, iwi_asset_whatif_css;
extern const struct iwi_asset iwi_asset_timeline_css, iwi_asset_timeline_cells_js, iwi_asset_timeline_js;

#endif
