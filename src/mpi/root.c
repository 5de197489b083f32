#include "mpi/exchange.h"

#include "cli/commands/commands.h"
#include "cli/journal/journal.h"
#include "cli/terminal/messages.h"

#include <stdlib.h>
#include <time.h>

/* Images that a rank gets ahead of time for each that it computes: enough for the time that
 * messages take, also if processors are busy, and no more, so that in the end no rank has much left
 * that others could do. */
static const double AHEAD_SECONDS = 2e-3;
enum { AHEAD_MAX = 64 };

/* How long rank 0 sleeps if no message has come: a part of an image's time, within limits. */
static const double SLEEP_MIN = 20e-6, SLEEP_MAX = 500e-6, SLEEP_PART = 0.05;

typedef struct member {
    int places;     /* images that it computes at one time */
    int lent;       /* images that it has */
    size_t settled; /* images that it has reported */
    bool ended;     /* no message of it follows */
} member;

typedef struct root_rank {
    int ranks;
    member *members;
    struct gc_batch *batch;
    gc_journal *journal; /* NULL: there is none */
    double mean;         /* seconds of an image, of the last ones; 0: not known */
    double seconds;      /* of a processor that messages took, but for looking for them in vain */
    size_t lent;         /* to all ranks */
} root_rank;

/* ---- Lending --------------------------------------------------------------------------------- */

/* What the journal has of the image; free releases it. NULL if that is nothing, and if it cannot be
 * read: the rank computes the image again. */
static char *find_line(const root_rank *root, const gc_task *task)
{
    char *line = NULL;
    if (root->journal != NULL && !gc_task_is_doomed(task))
        gc_journal_find_line(root->journal, task->input, task->output, &line, NULL);
    return line;
}

static void lend(root_rank *root, int rank, const gc_loan *lent)
{
    gc_message message = {.at = 0};
    char *line = find_line(root, lent->task);
    gc_loan *loan = malloc(sizeof *loan);
    if (loan == NULL)
        gc_exchange_give_up();
    *loan = *lent;
    gc_message_put_number(&message, (uintptr_t)loan);
    gc_message_put_number(&message, loan->images_left / (size_t)root->ranks + 1);
    gc_message_put_task(&message, loan->task);
    gc_message_put_text(&message, line);
    gc_exchange_send(rank, GC_MESSAGE_TASK, &message);
    free(line);
    root->members[rank].lent++;
    root->lent++;
}

/* How many images a rank may have. */
static int room_of(const root_rank *root, const member *m)
{
    double ahead = root->mean > 0 ? AHEAD_SECONDS / root->mean : 0;
    return m->places * (1 + (ahead < AHEAD_MAX ? (int)ahead : AHEAD_MAX));
}

/* Gives each rank that has room one task, in turn, until no task or no room is left. */
static bool lend_all(root_rank *root)
{
    bool any = false, again = true;
    while (again) {
        again = false;
        for (int r = 1; r < root->ranks; r++) {
            gc_loan loan;
            if (root->members[r].lent >= room_of(root, &root->members[r]))
                continue;
            if (!gc_batch_lend(root->batch, &loan))
                return any;
            lend(root, r, &loan);
            any = again = true;
        }
    }
    return any;
}

/* ---- Settling -------------------------------------------------------------------------------- */

/* Adds the line of an image to the journal. If that fails the image has failed. */
static void record(root_rank *root, const char *line, gc_result *result)
{
    gconv_error error;
    if (line[0] == '\0' || root->journal == NULL ||
        gc_journal_append_line(root->journal, line, false, &error) == GCONV_OK)
        return;
    result->outcome = GC_OUTCOME_FAILED;
    result->error = error;
    result->subject = gc_batch_session(root->batch)->options->journal.file;
    free(result->json); /* this process reports it */
    result->json = NULL;
}

static void settle(root_rank *root, int rank, gc_message *message)
{
    gc_result result;
    gc_loan *loan = (gc_loan *)(uintptr_t)gc_message_take_number(message);
    const char *line = gc_message_take_text(message), *loss;
    while ((loss = gc_message_take_text(message))[0] != '\0')
        gc_say("rank %d: %s", rank, loss);
    gc_message_take_result(message, &result);
    if (message->failed || result.json == NULL)
        gc_exchange_give_up();
    record(root, line, &result);
    if (result.outcome == GC_OUTCOME_DONE || result.outcome == GC_OUTCOME_MISMATCH)
        root->mean += (result.timings.total - root->mean) * (root->mean > 0 ? 0.1 : 1);
    root->members[rank].lent--;
    root->members[rank].settled++;
    root->lent--;
    gc_batch_settle(root->batch, loan, &result);
    free(loan);
}

/* Writes an intent, and says that it is on the disk. */
static void answer(root_rank *root, int rank, gc_message *message)
{
    gc_message reply = {.at = 0};
    gconv_error error = {.status = GCONV_OK};
    gc_message_put_number(&reply, gc_message_take_number(message));
    gc_journal_append_line(root->journal, gc_message_take_text(message), true, &error);
    gc_message_put_number(&reply, (uint64_t)error.status);
    gc_message_put_text(&reply, error.message);
    gc_exchange_send(rank, GC_MESSAGE_ANSWER, &reply);
}

static bool receive_all(root_rank *root)
{
    bool any = false;
    gc_message message;
    gc_message_kind kind;
    for (int rank; gc_exchange_receive(&rank, &kind, &message); any = true) {
        if (kind == GC_MESSAGE_RESULT)
            settle(root, rank, &message);
        else if (kind == GC_MESSAGE_INTENT)
            answer(root, rank, &message);
        else if (kind == GC_MESSAGE_BYE)
            root->members[rank].ended = true;
        gc_message_free(&message);
    }
    gc_exchange_clear();
    return any;
}

/* ---- Running --------------------------------------------------------------------------------- */

static void sleep_for(double seconds)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(seconds * 1e9)}, NULL);
}

/* Sends what the journal has of results that replaced their inputs, so that ranks know them. */
static void send_results(const root_rank *root)
{
    enum { PART_ENTRIES = 1 << 20 };
    const gc_map *results = root->journal != NULL ? gc_journal_results(root->journal) : NULL;
    for (int r = 1; results != NULL && r < root->ranks; r++)
        for (size_t first = 0; first < results->room; first += PART_ENTRIES) {
            size_t left = results->room - first, count = left < PART_ENTRIES ? left : PART_ENTRIES;
            gc_message message = {.at = 0};
            gc_buffer_add(&message.bytes, results->entries + first,
                          count * sizeof *results->entries);
            gc_exchange_send(r, GC_MESSAGE_RESULTS, &message);
        }
}

static double thread_seconds(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

static void run(void *user, struct gc_batch *batch)
{
    root_rank *root = user;
    const gc_session *session = gc_batch_session(batch);
    root->batch = batch;
    root->journal = session->journal;
    send_results(root);
    for (;;) {
        double start = thread_seconds();
        bool lent = lend_all(root), received = receive_all(root);
        if (lent || received)
            root->seconds += thread_seconds() - start;
        if (root->lent == 0 && gc_batch_has_ended(batch))
            return;
        double pause = root->mean * SLEEP_PART;
        if (!lent && !received)
            sleep_for(pause < SLEEP_MIN ? SLEEP_MIN : pause > SLEEP_MAX ? SLEEP_MAX : pause);
    }
}

static void note_members(const root_rank *root)
{
    size_t all = 0;
    for (int r = 1; r < root->ranks; r++) {
        gc_note(NULL, "rank %d of %d: %zu images", r, root->ranks, root->members[r].settled);
        all += root->members[r].settled;
    }
    if (all > 0)
        gc_note(NULL, "rank 0 of %d: %.1f us of a processor for each image of other ranks",
                root->ranks, 1e6 * root->seconds / (double)all);
}

static bool have_ended(const root_rank *root)
{
    for (int r = 1; r < root->ranks; r++)
        if (!root->members[r].ended)
            return false;
    return true;
}

static void end(void *user)
{
    root_rank *root = user;
    for (int r = 1; r < root->ranks; r++) {
        gc_message message = {.at = 0};
        gc_exchange_send(r, GC_MESSAGE_END, &message);
    }
    while (!have_ended(root) || !gc_exchange_clear())
        if (!receive_all(root))
            sleep_for(SLEEP_MAX);
    note_members(root);
}

int gc_root_run(const gc_options *options, int ranks, const int *places)
{
    root_rank root = {.ranks = ranks};
    const gc_borrowers borrowers = {run, end, &root};
    root.members = calloc((size_t)ranks, sizeof *root.members);
    if (root.members == NULL)
        gc_exchange_give_up();
    for (int r = 1; r < ranks; r++)
        root.members[r].places = places[r];
    int code = gc_run_images_with(options, ranks > 1 ? &borrowers : NULL);
    free(root.members);
    return code;
}
