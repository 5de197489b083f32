/* --with: results of another machine beside those of this one. */
#pragma once

#include "cli/options/options.h"
#include "lab/bench/kept.h"

/* Reads the results that --with names, if it is given: a word of GC_KEPT_DEVICES, for
 * presets, or a file that --resume or --json made. Their names get "@h200", "@h100" or "@with"
 * behind them, so that they are none of this machine. On failure *subject is the path of a file
 * that is wrong. */
gconv_status gc_beside_read(const gc_options *options, gc_points *points, const char **subject,
                            gconv_error *error);

/* Adds the times and rates that the source of a preset prints for single images: as points whose
 * names end with "@paper". They are only to be shown: nothing is known of runs and verdicts. */
gconv_status gc_published_read(const char *preset, gc_points *points, gconv_error *error);

/* Whether a point is one of these. */
bool gc_point_is_published(const gc_point *point);
