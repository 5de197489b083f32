/* Text in a page of HTML, which is well-formed XML as well. */
#ifndef GC_CLI_DRAW_HTML_H
#define GC_CLI_DRAW_HTML_H

#include <stdio.h>

/* Writes text, with the characters that mean something in HTML escaped. Control characters and
 * bytes that are not UTF-8 are written as \n, \xNN. */
void gc_html_text(FILE *page, const char *text);

/* Writes an element that holds text. `tag` may have attributes: "td class='n'". */
void gc_html_element(FILE *page, const char *tag, const char *text);

/* Writes a link that saves `text` as the file `name`, without a server or a script. */
void gc_html_download(FILE *page, const char *name, const char *type, const char *text);

#endif
