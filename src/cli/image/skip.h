/* Images that need no work. */
#ifndef GC_CLI_IMAGE_SKIP_H
#define GC_CLI_IMAGE_SKIP_H

#include "cli/image/result.h"
#include "cli/image/session.h"
#include "cli/tasks/tasks.h"

/* Decides whether an image is skipped. GCONV_OK: the image needs work. GCONV_ERROR_EXISTS: it is
 * skipped because of --no-clobber, --update or the journal, and result->skipped says why. Other
 * failures: the journal says that the image failed before. */
gconv_status gc_decide_to_skip(const gc_session *session, const gc_task *task, gc_result *result);

#endif
