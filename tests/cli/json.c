/* Reads JSON as RFC 8259 has it, one value a line of standard input, in UTF-8: nothing of gconv
 * judges itself here.
 *
 *     json         fails, with the line and the place, unless every line is valid
 *     json NAME    prints the value of every key of this name as well, in order, one a line
 *
 * A string is printed without its quotes and escapes, any other value as it stands. Text that is
 * not UTF-8 and control characters are not valid. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *line; /* that is read, and where it ends */
static const char *end;
static const char *at;
static unsigned long number; /* of the line, from 1 */
static const char *wanted;   /* a key, or NULL */

static void refuse(const char *why)
{
    fprintf(stderr, "json: line %lu, byte %ld: %s\n", number, (long)(at - line) + 1, why);
    exit(EXIT_FAILURE);
}

static int next_is(char c)
{
    return at < end && *at == c;
}

static void skip_blanks(void)
{
    while (at < end && strchr(" \t\r", *at) != NULL && *at != '\0')
        at++;
}

static void take(const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(end - at) < length || memcmp(at, text, length) != 0)
        refuse("not what JSON has here");
    at += length;
}

/* ---- Strings --------------------------------------------------------------------------------- */

/* One character of UTF-8: shortest form, no surrogate (Unicode 15, table 3-7). */
static void take_character(void)
{
    static const struct {
        unsigned char first, last;     /* of the first byte */
        unsigned char lowest, highest; /* of the second byte */
        int more;                      /* bytes behind the first */
    } forms[] = {
        {0x20, 0x7f, 0, 0, 0},       {0xc2, 0xdf, 0x80, 0xbf, 1}, {0xe0, 0xe0, 0xa0, 0xbf, 2},
        {0xe1, 0xec, 0x80, 0xbf, 2}, {0xed, 0xed, 0x80, 0x9f, 2}, {0xee, 0xef, 0x80, 0xbf, 2},
        {0xf0, 0xf0, 0x90, 0xbf, 3}, {0xf1, 0xf3, 0x80, 0xbf, 3}, {0xf4, 0xf4, 0x80, 0x8f, 3}};
    const unsigned char *bytes = (const unsigned char *)at;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (bytes[0] < forms[i].first || bytes[0] > forms[i].last)
            continue;
        if (end - at <= forms[i].more)
            break;
        for (int k = 1; k <= forms[i].more; k++)
            if (bytes[k] < (k == 1 ? forms[i].lowest : 0x80) ||
                bytes[k] > (k == 1 ? forms[i].highest : 0xbf))
                refuse("not UTF-8");
        at += 1 + forms[i].more;
        return;
    }
    refuse("not UTF-8, or a control character");
}

/* The four digits behind \u. */
static unsigned long take_digits(void)
{
    char digits[5] = {0};
    if (end - at < 4)
        refuse("four digits are wanted");
    memcpy(digits, at, 4);
    if (strspn(digits, "0123456789abcdefABCDEF") != 4)
        refuse("four digits are wanted");
    at += 4;
    return strtoul(digits, NULL, 16);
}

static void put_utf8(char **to, unsigned long code)
{
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char heads[] = {0, 0xc0, 0xe0, 0xf0};
    *(*to)++ = (char)(heads[more] | code >> 6 * more);
    while (more-- > 0)
        *(*to)++ = (char)(0x80 | (code >> 6 * more & 0x3f));
}

static void take_escape(char **to)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    const char *letter = at < end && *at != '\0' ? strchr(letters, *at) : NULL;
    if (letter != NULL) {
        *(*to)++ = meant[letter - letters];
        at++;
        return;
    }
    take("u");
    unsigned long code = take_digits();
    if (code >= 0xdc00 && code <= 0xdfff)
        refuse("the second half of a pair alone");
    if (code >= 0xd800 && code <= 0xdbff) {
        take("\\u");
        unsigned long low = take_digits();
        if (low < 0xdc00 || low > 0xdfff)
            refuse("the first half of a pair alone");
        code = 0x10000 + (code - 0xd800) * 0x400 + (low - 0xdc00);
    }
    put_utf8(to, code);
}

/* Leaves the string as it is meant in `text`, which has room for a whole line. */
static void take_string(char *text)
{
    take("\"");
    while (!next_is('"')) {
        const char *from = at;
        if (at == end)
            refuse("a string without an end");
        if (*at == '\\') {
            at++;
            take_escape(&text);
            continue;
        }
        take_character();
        memcpy(text, from, (size_t)(at - from));
        text += at - from;
    }
    at++;
    *text = '\0';
}

/* ---- Values ---------------------------------------------------------------------------------- */

static void take_number(void)
{
    static const char digits[] = "0123456789";
    if (next_is('-'))
        at++;
    size_t whole = strspn(at, digits);
    if (whole == 0 || (whole > 1 && *at == '0'))
        refuse("neither a value nor a number");
    at += whole;
    if (next_is('.')) {
        size_t fraction = strspn(++at, digits);
        if (fraction == 0)
            refuse("digits are wanted");
        at += fraction;
    }
    if (next_is('e') || next_is('E')) {
        at++;
        if (next_is('+') || next_is('-'))
            at++;
        size_t power = strspn(at, digits);
        if (power == 0)
            refuse("digits are wanted");
        at += power;
    }
}

static void take_value(void);

static void print_value(const char *from, const char *text)
{
    if (*from == '"')
        puts(text);
    else
        printf("%.*s\n", (int)(at - from), from);
}

/* NAME: VALUE of an object. */
static void take_member(void)
{
    char *name = malloc((size_t)(end - line) + 1);
    if (name == NULL)
        refuse("out of memory");
    take_string(name);
    skip_blanks();
    take(":");
    skip_blanks();
    const char *from = at;
    int chosen = wanted != NULL && strcmp(name, wanted) == 0;
    if (chosen && next_is('"'))
        take_string(name);
    else
        take_value();
    if (chosen)
        print_value(from, name);
    free(name);
}

/* The members of an object or the elements of an array. */
static void take_list(char closing, void (*take_one)(void))
{
    at++;
    skip_blanks();
    if (next_is(closing)) {
        at++;
        return;
    }
    for (;;) {
        skip_blanks();
        take_one();
        skip_blanks();
        if (!next_is(','))
            break;
        at++;
    }
    take((const char[]){closing, '\0'});
}

static void take_value(void)
{
    switch (at < end ? *at : '\0') {
    case '{':
        take_list('}', take_member);
        break;
    case '[':
        take_list(']', take_value);
        break;
    case '"': {
        char *text = malloc((size_t)(end - line) + 1);
        if (text == NULL)
            refuse("out of memory");
        take_string(text);
        free(text);
        break;
    }
    case 't':
        take("true");
        break;
    case 'f':
        take("false");
        break;
    case 'n':
        take("null");
        break;
    default:
        take_number();
    }
}

int main(int argc, char **argv)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    wanted = argc > 1 ? argv[1] : NULL;
    while ((length = getline(&text, &room, stdin)) > 0) {
        number++;
        line = at = text;
        end = text + length - (text[length - 1] == '\n');
        skip_blanks();
        take_value();
        skip_blanks();
        if (at != end)
            refuse("more than a value");
    }
    free(text);
    if (number == 0) {
        fputs("json: no line\n", stderr);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
