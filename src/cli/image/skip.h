/* Images that need no work. */
#ifndef GC_CLI_IMAGE_SKIP_H
#define GC_CLI_IMAGE_SKIP_H

#include "cli/image/result.h"
#include "cli/image/session.h"
#include "cli/tasks/tasks.h"

/* Whether an image needs work: GCONV_OK. GCONV_ERROR_EXISTS where nothing has to be done, because of
 * --no-clobber, --update or the journal; then result->skipped says why. Other failures where the
 * journal says that the image failed before. */
gconv_status gc_find_work(const gc_session *session, const gc_task *task, gc_result *result);

#endif
