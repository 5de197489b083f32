#include "cli/image/dry_run.h"

#include "base/status.h"
#include "cli/image/image.h"
#include "cli/image/skip.h"
#include "cli/tasks/names.h"

#include <errno.h>
#include <unistd.h>

void gc_plan_only(const gc_session *session, const gc_task *task, gc_result *result)
{
    *result = (gc_result){.outcome = GC_OUTCOME_PLANNED, .blamed = gc_input_name(task->input)};
    gconv_status status = gc_check_task(task, &result->error);
    if (status == GCONV_OK)
        status = gc_decide_to_skip(session, task, result);
    if (status == GCONV_OK && access(task->input, R_OK) != 0)
        status = gc_fail_errno(&result->error, GCONV_ERROR_OPEN, errno, "cannot open");
    if (status == GCONV_ERROR_EXISTS)
        result->outcome = GC_OUTCOME_SKIPPED;
    else if (status != GCONV_OK)
        result->outcome = GC_OUTCOME_FAILED;
}
