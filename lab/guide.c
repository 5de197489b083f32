#include "lab/guide.h"

#include "gconv_lab.h"

#include <stdio.h>
#include <string.h>

/* Sources of implementations with a comment at their head, "NAME: what it is", and guide.txt with
 * the others and with drawings (CMakeLists.txt). */
extern const char gc_guide_text[];

/* ---- Words ----------------------------------------------------------------------------------- */

/* Whether a line begins with words that end with a colon, among them the name. */
static bool heads(const char *line, const char *name)
{
    size_t length = strlen(name);
    for (size_t word; (word = strcspn(line, " \n")) > 0 && line[word] == ' '; line += word + 1) {
        bool ends = line[word - 1] == ':';
        if (word - ends == length && strncmp(line, name, length) == 0)
            return true;
        if (ends)
            return false;
    }
    return false;
}

/* The text behind the opening of the comment about a name; NULL if there is none. */
static const char *find_comment(const char *name)
{
    static const char opening[] = "\n/* ";
    const char *at = gc_guide_text;
    while ((at = strstr(at, opening)) != NULL && !heads(at + strlen(opening), name))
        at++;
    return at != NULL ? at + strlen(opening) : NULL;
}

/* Adds words with line breaks: `column` is where the text stands, and becomes where it ends. */
static void put_words(const char *words, size_t size, int width, int *column, gc_buffer *text)
{
    for (size_t i = 0; i < size;) {
        size_t word = strcspn(words + i, " ");
        word = word < size - i ? word : size - i;
        if (*column > 0 && *column + 1 + (int)word > width) {
            gc_buffer_put(text, "\n  ");
            *column = 2;
        } else if (*column > 0 && word > 0) {
            gc_buffer_put(text, " ");
            ++*column;
        }
        gc_buffer_add(text, words + i, word);
        *column += (int)word;
        i += word + 1;
    }
}

void gc_guide_line(const char *head, const char *words, int width, gc_buffer *text)
{
    int column = 0;
    put_words(head, strlen(head), width, &column, text);
    put_words(words, strlen(words), width, &column, text);
    gc_buffer_put(text, "\n");
}

/* Adds a comment up to its end. Its lines begin with " * "; those that go on a paragraph have two
 * more spaces, or no head behind a blank line. */
static void put_comment(const char *comment, int width, gc_buffer *text)
{
    const char *end = strstr(comment, "*/");
    int column = 0;
    for (const char *line = comment; line < end;) {
        const char *start = strncmp(line, " *", 2) == 0 ? line + 2 : line;
        size_t size = strcspn(start, "\n");
        bool is_last = start + size > end;
        size = is_last ? (size_t)(end - start) : size;
        bool goes_on = strncmp(start, "   ", 3) == 0;
        while (size > 0 && *start == ' ')
            start++, size--;
        if (column > 0 && !goes_on) {
            gc_buffer_put(text, "\n");
            column = 0;
        }
        put_words(start, size, width, &column, text);
        line = is_last ? end : start + size + 1;
    }
    gc_buffer_put(text, "\n");
}

/* Adds the drawing of a name. False if there is none. */
static bool put_drawing(const char *name, gc_buffer *text)
{
    static const char opening[] = "\ndrawing ";
    for (const char *at = gc_guide_text; (at = strstr(at, opening)) != NULL;) {
        char names[128], *place = NULL;
        at += strlen(opening);
        size_t size = strcspn(at, "\n");
        snprintf(names, sizeof names, "%.*s", (int)size, at);
        for (char *one = strtok_r(names, " ", &place); one != NULL;
             one = strtok_r(NULL, " ", &place))
            if (strcmp(one, name) == 0) {
                const char *end = strstr(at + size, "\n\n");
                gc_buffer_add(text, at + size,
                              end != NULL ? (size_t)(end - at) - size : strlen(at + size));
                gc_buffer_put(text, "\n");
                return true;
            }
    }
    return false;
}

bool gc_guide_describe(const char *name, const char *summary, int width, gc_buffer *text)
{
    char of[64];
    snprintf(of, sizeof of, "%s", name);
    const char *comment = find_comment(of);
    if (comment == NULL) {
        of[strcspn(of, ":")] = '\0';
        comment = find_comment(of);
        gc_buffer_print(text, "%s: %s\n\n", name, summary);
    }
    if (comment == NULL)
        return false;
    put_comment(comment, width, text);
    if (!put_drawing(of, text)) {
        of[strcspn(of, ":")] = '\0';
        put_drawing(of, text);
    }
    return true;
}

/* ---- Factors by the limits of devices -------------------------------------------------------- */

/* Limits from the CUDA programming guide: KiB of shared memory of a block and of a multiprocessor,
 * 1024s of its registers, its threads. The papers print the blocks of both GTX. `registers` are
 * those of a thread up to factor 4, and beyond. Of a GTX 680 they are fitted
 * (reproduction.md), of a GTX 480 the most that a thread can have. Those of the others are an
 * assumption: with 32 the rule gives what was measured on an H200. */
typedef struct limits {
    const char *name;
    int major, block_kib, all_kib, registers_k, threads, block_width, block_height, registers[2];
} limits;

static const limits devices[] = {
    {"GTX 480", 2, 48, 48, 32, 1536, 16, 32, {63, 63}},
    {"GTX 680", 3, 48, 48, 64, 2048, 32, 32, {32, 65}},
    {"Tesla K20", 3, 48, 48, 64, 2048, 32, 32, {32, 32}},
    {"Tesla T4", 7, 64, 64, 64, 1024, 32, 32, {32, 32}},
    {"RTX 4090", 8, 99, 100, 64, 1536, 32, 32, {32, 32}},
    {"H200", 9, 227, 228, 64, 2048, 32, 32, {32, 32}},
};

static const int sides[] = {3, 5, 9, 17, 19, 31, 43, 63};
enum { SIDES = sizeof sides / sizeof sides[0] };

/* Adds a line of factors for square filters, with what is asked for in place of a device's own. */
static void put_factors(const char *name, const limits *l, const gconv_tiling *asked,
                        gc_buffer *text)
{
    gconv_device_info device = {.compute_major = l->major,
                                .shared_per_block_optin = (uint64_t)l->block_kib << 10,
                                .shared_per_processor = (uint64_t)l->all_kib << 10,
                                .registers_per_processor = l->registers_k << 10,
                                .threads_per_processor = l->threads,
                                .threads_per_block = 1024};
    int width = asked->block_width > 0 ? asked->block_width : l->block_width;
    int height = asked->block_width > 0 ? asked->block_height : l->block_height, column;
    uint64_t shared = (uint64_t)asked->shared_memory;
    if (shared > 0 && shared < device.shared_per_processor)
        device.shared_per_processor = shared;
    if (shared > 0 && shared < device.shared_per_block_optin)
        device.shared_per_block_optin = shared;
    gc_buffer_print(text, "\n%-10s %dx%d", name, width, height);
    column = 6 - snprintf(NULL, 0, "%dx%d", width, height);
    gc_buffer_print(text, "%*s", column > 0 ? column : 0, "");
    for (int j = 0; j < SIDES; j++)
        gc_buffer_print(
            text, " %*d", sides[j] < 10 ? 5 : 6,
            gconv_adaptive_factor(&device, l->registers, width, height, sides[j], sides[j]));
}

void gc_guide_factors(const gconv_tiling *asked, gc_buffer *text)
{
    const gconv_tiling own = gconv_tiling_default();
    enum { H200 = sizeof devices / sizeof devices[0] - 1 };
    gc_buffer_print(text, "factors by the rule, from the limits of devices (up to 16):\n%-10s %-6s",
                    "device", "block");
    for (int j = 0; j < SIDES; j++)
        gc_buffer_print(text, " %3dx%d", sides[j], sides[j]);
    for (size_t i = 0; i <= H200; i++)
        put_factors(devices[i].name, &devices[i], &own, text);
    if (asked->shared_memory > 0 || asked->block_width > 0)
        put_factors("asked for", &devices[H200], asked, text);
    gc_buffer_put(text, "\n");
}
