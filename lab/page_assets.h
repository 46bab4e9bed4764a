/* page_assets.h - page.css and page.js, made into C by the Makefile.
 */
#ifndef HEADROOM_LAB_PAGE_ASSETS_H
#define HEADROOM_LAB_PAGE_ASSETS_H

/* NUL-terminated. */
extern const char page_css[], page_js[];

#endif
