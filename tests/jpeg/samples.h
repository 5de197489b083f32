/* JPEG files in memory, as libjpeg writes them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

typedef struct jpeg_file {
    unsigned char *bytes;
    size_t size;
} jpeg_file;

/* What the samples show. */
typedef enum jpeg_pattern {
    JPEG_SLOPES, /* with some noise */
    JPEG_NOISE,
    JPEG_CHECKERS,       /* of single pixels, 0 and 255 */
    JPEG_BLACK_OR_WHITE, /* at random */
    JPEG_WHITE,
    JPEG_PATTERNS
} jpeg_pattern;

typedef struct jpeg_recipe {
    uint32_t width, height;
    J_COLOR_SPACE stored; /* of 1, 3 or 4 components */
    int quality;
    int across, down; /* sampling factors of the first component */
    int restart;      /* MCUs from one restart marker to the next; 0: none */
    bool optimised;   /* Huffman tables made for the file */
    bool progressive, arithmetic;
    jpeg_pattern pattern;
} jpeg_recipe;

/* The first fields; the others are 0. */
jpeg_recipe jpeg_recipe_of(uint32_t width, uint32_t height, J_COLOR_SPACE stored, int quality,
                           int across, int down);

/* Ends the process if libjpeg fails or memory is out. */
jpeg_file jpeg_sample(const jpeg_recipe *recipe);

/* A sample by the recipe of jpeg_recipe_of. */
jpeg_file jpeg_plain(uint32_t width, uint32_t height, J_COLOR_SPACE stored, int quality, int across,
                     int down);

void jpeg_file_free(jpeg_file *file);

/* The file is freed at the end of the block that declares it. */
#define OWNED_JPEG __attribute__((cleanup(jpeg_file_free))) jpeg_file
