/* What the sources predict: equations 9 to 14 of KTH 2018 (sections 3.5.1 and 4), and the bound of
 * De Smet 2011 (section 2.2). */
#pragma once

/* Floating-point operations for a byte of global memory, with a filter of these sides, by the
 * equation for the implementation of this name: naive (9), shared (10), const and const:kth (11),
 * twopass:kth, twopass:lecture and twopass:lecture1d (12), tiled, adaptive and adaptive:kth (13),
 * and twopass:transposed and twopass:tiled (14). `factor` is the tiling factor for (13), and for
 * both passes of twopass:tiled; 0: not known. Returns 0 for other implementations, and if the
 * equation needs a factor that is not known. */
double gc_kth_intensity(const char *implementation, int filter_width, int filter_height,
                        int factor);

/* The locality factor tau: floating-point operations for each complex number of a transform of so
 * many points. */
double gc_locality_factor(int points);

/* Operations a second that a bandwidth in bytes a second allows, if each complex number of 8 bytes
 * is moved once. */
double gc_locality_flops(int points, double bandwidth);
