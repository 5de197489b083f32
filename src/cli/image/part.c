/* The line of progress while one image is computed. */
#include "cli/image/work.h"

#include "cli/report/progress.h"
#include "cli/report/tally.h"
#include "cli/tasks/names.h"

bool gc_part_show(void *user, double done)
{
    const gc_part *part = user;
    const gc_work *work = part->work;
    size_t count = work->image > 1 ? 0 : work->worker->image_count; /* a stream's is not known */
    gc_progress_images images = {gc_tally_finished(), gc_tally_failed(), count};
    double of_image = part->from + (part->to - part->from) * done;
    double of_all = count > 0 ? ((double)images.finished + of_image) / (double)count : 0;
    gc_progress_show_images(gc_input_name(work->task->input), of_all, &images);
    return true;
}
