/* Damages JPEG files, the same way for the same seed. */
#pragma once

#include "random.h"
#include "samples.h"

/* Replaces *file, which malloc gave, by a damaged copy. Most damage is one of: bits flipped, bytes
 * overwritten by zeros, ones or noise, taken out, repeated, swapped or put in; the file cut; a byte
 * of a table or header changed; a part of `other` put in its place; bits flipped that the scan lets
 * pass. */
void jpeg_damage(jpeg_file *file, const jpeg_file *other, jpeg_random *random);

/* A file that no encoder made: random Huffman tables, quantisers and sampling, and blocks of random
 * coefficients whose energy is often just below what 8-bit samples can have. */
jpeg_file jpeg_craft(jpeg_random *random);

/* Small files of every kind that libjpeg writes, to be damaged. `index` is below JPEG_BASES. */
enum { JPEG_BASES = 24 };
jpeg_file jpeg_base(int index);

/* File `index` of those that belong to `seed`: crafted, or a damaged one of `files` and of the base
 * files. */
jpeg_file jpeg_damaged(uint64_t seed, size_t index, const jpeg_file *files, size_t count);
