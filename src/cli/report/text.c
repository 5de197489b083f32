#include "cli/report/text.h"

#include "base/output.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

gconv_status gc_text_print(gc_text_function *print, const void *content, char **text,
                           gconv_error *error)
{
    size_t size = 0;
    *text = NULL;
    FILE *stream = open_memstream(text, &size);
    if (stream == NULL)
        return gc_fail_memory(error, BUFSIZ);
    print(stream, content);
    bool failed = ferror(stream) != 0;
    if (fclose(stream) != 0 || failed) {
        free(*text);
        *text = NULL;
        return gc_fail_memory(error, size);
    }
    return GCONV_OK;
}

gconv_status gc_text_write(const char *path, const char *text, gconv_error *error)
{
    gc_output *output;
    gconv_status status = gc_output_open(path, &(gc_output_options){.sync = false}, &output, error);
    if (status == GCONV_OK)
        status = gc_output_write(output, text, strlen(text), error);
    if (status == GCONV_OK)
        status = gc_output_commit(output, error);
    gc_output_free(output);
    return status;
}
