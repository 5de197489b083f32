#include "cli/draw/svg.h"
#include "cli/page/page.h"

static const char rules[] =
    "*{box-sizing:border-box}"
    "body{margin:0 auto;padding:2rem 1.25rem 4rem;max-width:78rem;background:var(--paper);"
    "color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}"
    "h1{font-size:1.7rem;line-height:1.2;margin:0 0 .25rem}"
    "h2{font-size:1.25rem;margin:2.5rem 0 .75rem}"
    "h3{font-size:1rem;margin:0 0 .5rem}"
    "p{max-width:46rem;margin:.5rem 0}"
    "a{color:var(--s0)}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.25rem;margin:1rem 0;"
    "font-size:.9rem}"
    "dt{color:var(--quiet)}dd{margin:0;overflow-wrap:anywhere}"
    "code{font:.9em ui-monospace,'DejaVu Sans Mono',Menlo,monospace}"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));"
    "gap:1.25rem}"
    "figure{margin:0;padding:1rem 1rem .75rem;border:1px solid var(--line);border-radius:.5rem;"
    "min-width:0}"
    "figure.wide{grid-column:1/-1}"
    "figure svg{display:block;width:100%;height:auto;margin:0 auto}"
    "figure.wide svg{max-width:60rem}"
    "figure svg text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}"
    "figure polygon,figure rect{shape-rendering:crispEdges}"
    ".note{font-size:.875rem}"
    "figcaption{font-size:.75rem;line-height:1.4;color:var(--quiet);margin-top:.5rem;"
    "overflow-wrap:anywhere}"
    "details{margin:.5rem 0;font-size:.875rem}summary{cursor:pointer}"
    ".scroll{overflow-x:auto;max-width:100%}"
    "table{border-collapse:collapse;font-size:.8125rem;font-variant-numeric:tabular-nums;"
    "margin:.5rem 0}"
    "th,td{padding:.2rem .6rem;text-align:left;border-bottom:1px solid var(--line);"
    "vertical-align:top}"
    "th{color:var(--quiet);font-weight:600;white-space:nowrap}caption{text-align:left;color:var(--"
    "quiet)}td.n,th.n{text-align:right;white-space:nowrap}td.v{min-width:14rem}"
    ".warn{border-left:4px solid var(--s1);padding:.5rem 1rem;margin:1rem 0;max-width:60rem}"
    ".bad{font-weight:700;text-decoration:underline}";

static const char print_rules[] =
    "body{max-width:none;padding:0;font-size:10pt}h1{margin:0}h2{margin:1rem 0 .5rem}"
    "h2,h3{break-after:avoid}dl{margin:.5rem 0}"
    ".charts{grid-template-columns:1fr 1fr;gap:.5rem}"
    "figure{break-inside:avoid;padding:.4rem}figure h3{font-size:9pt;margin:0 0 .2rem}"
    "figure.wide svg{max-height:9.5cm}.note{font-size:7.5pt}figcaption{font-size:6pt;margin:0}"
    "details:not([open]){display:none}a{color:inherit}"
    "tr{break-inside:avoid}thead{display:table-header-group}table{font-size:7pt}"
    "th,td{padding:.1rem .3rem}";

void gc_style_print(FILE *page)
{
    fputs("<style>:root{color-scheme:light dark;", page);
    gc_colours_print(page, 0);
    fputs("}@media (prefers-color-scheme:dark){:root{", page);
    gc_colours_print(page, 1);
    fprintf(page, "}}%s@media print{:root{color-scheme:light;", rules);
    gc_colours_print(page, 0);
    fprintf(page, "}%s}</style>\n", print_rules);
}
