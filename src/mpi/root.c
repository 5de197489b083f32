#include "mpi/root.h"

#include "base/memory.h"
#include "cli/journal/journal.h"
#include "cli/report/messages.h"
#include "mpi/office.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Images that a rank gets ahead of time for each that it computes: enough for the time that
 * messages take, also where processors are busy, and no more, so that in the end no rank has much
 * left that others could do. */
static const double AHEAD_SECONDS = 2e-3;
enum { AHEAD_MAX = 64 };

/* How long rank 0 sleeps where no message has come: a part of an image's time, within limits. */
static const double SLEEP_MIN = 20e-6, SLEEP_MAX = 500e-6, SLEEP_PART = 0.05;

typedef struct member {
    int places;     /* images that it computes at one time */
    int lent;       /* images that it has */
    size_t settled; /* images that it has reported */
    bool ended;     /* no message of it follows */
} member;

/* A task that a rank has. */
typedef struct entry {
    gc_loan loan;
    size_t next_free; /* of an entry that is free: the next one, or FREE_END */
} entry;

#define FREE_END SIZE_MAX

struct gc_root {
    int ranks;
    member *members;
    gc_office office;
    struct gc_batch *batch;
    gc_journal *journal; /* NULL: there is none */
    double mean;         /* seconds of an image, of the last ones; 0: not known */
    double seconds;      /* of a processor that messages took, but for looking for them in vain */
    entry *entries;
    size_t entry_count, entry_room, free;
    size_t lent; /* by all ranks */
};

gc_root *gc_root_create(int ranks, const int *places)
{
    gc_root *root = calloc(1, sizeof *root);
    if (root == NULL)
        return NULL;
    *root = (gc_root){.ranks = ranks, .free = FREE_END};
    root->members = calloc((size_t)ranks, sizeof *root->members);
    if (root->members == NULL) {
        free(root);
        return NULL;
    }
    for (int r = 1; r < ranks; r++)
        root->members[r].places = places[r];
    return root;
}

void gc_root_free(gc_root *root)
{
    if (root == NULL)
        return;
    free(root->members);
    free(root->entries);
    free(root);
}

/* ---- Lending --------------------------------------------------------------------------------- */

static size_t take_entry(gc_root *root, const gc_loan *loan)
{
    size_t number = root->free;
    if (number == FREE_END) {
        entry *entries =
            gc_make_room(root->entries, root->entry_count, &root->entry_room, sizeof *entries);
        if (entries == NULL) {
            gc_office_give_up();
            abort();
        }
        root->entries = entries;
        number = root->entry_count++;
    } else {
        root->free = root->entries[number].next_free;
    }
    root->entries[number].loan = *loan;
    return number;
}

/* What the journal has of the image. Where it cannot be read, the rank computes the image again. */
static void put_line(const gc_root *root, gc_packet *packet, const gc_task *task)
{
    char *line = NULL;
    size_t size = 0;
    if (root->journal != NULL && !gc_task_is_doomed(task) &&
        gc_journal_find_line(root->journal, task->input, task->output, &line, &size, NULL) !=
            GCONV_OK)
        line = NULL;
    size = line != NULL ? size : 0;
    gc_packet_put(packet, &size, sizeof size);
    gc_packet_put(packet, line, size);
    free(line);
}

static void lend(gc_root *root, int rank, const gc_loan *loan)
{
    gc_packet packet = {.bytes = NULL};
    size_t number = take_entry(root, loan);
    size_t left = loan->images_left / (size_t)root->ranks + 1;
    gc_packet_put(&packet, &number, sizeof number);
    gc_packet_put(&packet, &left, sizeof left);
    gc_packet_put_task(&packet, loan->task);
    put_line(root, &packet, loan->task);
    gc_office_send(&root->office, rank, GC_MESSAGE_TASK, &packet);
    root->members[rank].lent++;
    root->lent++;
}

/* How many images a rank may have. */
static int room_of(const gc_root *root, const member *m)
{
    double ahead = root->mean > 0 ? AHEAD_SECONDS / root->mean : 0;
    return m->places * (1 + (ahead < AHEAD_MAX ? (int)ahead : AHEAD_MAX));
}

/* Gives each rank that has room one task, in turn, until no task or no room is left. */
static bool lend_all(gc_root *root)
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

/* Adds the line of an image to the journal. Where that fails the image has failed. */
static void record(gc_root *root, const char *line, size_t size, gc_result *result)
{
    gconv_error error;
    if (size == 0 || line == NULL || root->journal == NULL ||
        gc_journal_append_line(root->journal, line, size, false, &error) == GCONV_OK)
        return;
    result->outcome = GC_OUTCOME_FAILED;
    result->error = error;
    result->blamed = gc_journal_path(root->journal);
}

static void settle(gc_root *root, int rank, gc_packet *packet)
{
    size_t number, size;
    const char *loss;
    gc_result result;
    gc_packet_take(packet, &number, sizeof number);
    gc_packet_take(packet, &size, sizeof size);
    const char *line = gc_packet_take_place(packet, size);
    while ((loss = gc_packet_take_text(packet)) != NULL)
        gc_say("rank %d: %s", rank, loss);
    gc_packet_take_result(packet, &result);
    if (packet->failed || number >= root->entry_count) {
        gc_office_give_up();
        return;
    }
    record(root, line, size, &result);
    if (result.outcome == GC_OUTCOME_DONE || result.outcome == GC_OUTCOME_MISMATCH)
        root->mean += (result.timings.total - root->mean) * (root->mean > 0 ? 0.1 : 1);
    gc_loan loan = root->entries[number].loan;
    root->entries[number].next_free = root->free;
    root->free = number;
    root->members[rank].lent--;
    root->members[rank].settled++;
    root->lent--;
    gc_batch_settle(root->batch, &loan, &result);
}

/* Writes an intent, and says that it is on the disk. */
static void answer(gc_root *root, int rank, gc_packet *packet)
{
    gc_packet reply = {.bytes = NULL};
    uint64_t token;
    size_t size;
    gconv_error error = {.status = GCONV_OK};
    gc_packet_take(packet, &token, sizeof token);
    gc_packet_take(packet, &size, sizeof size);
    const char *line = gc_packet_take_place(packet, size);
    if (line != NULL)
        gc_journal_append_line(root->journal, line, size, true, &error);
    gc_packet_put(&reply, &token, sizeof token);
    gc_packet_put(&reply, &error, sizeof error);
    gc_office_send(&root->office, rank, GC_MESSAGE_ANSWER, &reply);
}

/* Takes all messages that have arrived. */
static bool receive_all(gc_root *root)
{
    bool any = false;
    gc_packet packet;
    gc_message kind;
    for (int rank; gc_office_receive(&rank, &kind, &packet); any = true) {
        if (kind == GC_MESSAGE_RESULT)
            settle(root, rank, &packet);
        else if (kind == GC_MESSAGE_INTENT)
            answer(root, rank, &packet);
        else if (kind == GC_MESSAGE_BYE)
            root->members[rank].ended = true;
        gc_packet_free(&packet);
    }
    gc_office_clear(&root->office);
    return any;
}

/* ---- Running --------------------------------------------------------------------------------- */

static void sleep_for(double seconds)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(seconds * 1e9)}, NULL);
}

static void rest(const gc_root *root)
{
    double seconds = root->mean * SLEEP_PART;
    sleep_for(seconds < SLEEP_MIN ? SLEEP_MIN : seconds > SLEEP_MAX ? SLEEP_MAX : seconds);
}

/* Sends what the journal has of results that replaced their inputs, so that ranks know them. */
static void send_results(gc_root *root, const gc_results *results)
{
    enum { PART_ENTRIES = 1 << 20 };
    const gc_seen *seen = &results->seen;
    for (int r = 1; r < root->ranks; r++)
        for (size_t first = 0; first < seen->room; first += PART_ENTRIES) {
            size_t count = seen->room - first < PART_ENTRIES ? seen->room - first : PART_ENTRIES;
            gc_packet packet = {.bytes = NULL};
            gc_packet_put(&packet, results, sizeof *results);
            gc_packet_put(&packet, &first, sizeof first);
            gc_packet_put(&packet, &count, sizeof count);
            gc_packet_put(&packet, seen->entries + first, count * sizeof *seen->entries);
            gc_office_send(&root->office, r, GC_MESSAGE_RESULTS, &packet);
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
    gc_root *root = user;
    const gc_session *session = gc_batch_session(batch);
    root->batch = batch;
    root->journal = session->journal;
    send_results(root, &session->results);
    for (;;) {
        double start = thread_seconds();
        bool lent = lend_all(root), received = receive_all(root);
        if (lent || received)
            root->seconds += thread_seconds() - start;
        if (root->lent == 0 && gc_batch_has_ended(batch))
            return;
        if (!lent && !received)
            rest(root);
    }
}

static void note_members(const gc_root *root)
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

static bool have_ended(const gc_root *root)
{
    for (int r = 1; r < root->ranks; r++)
        if (!root->members[r].ended)
            return false;
    return true;
}

static void end(void *user)
{
    gc_root *root = user;
    for (int r = 1; r < root->ranks; r++) {
        gc_packet packet = {.bytes = NULL};
        gc_office_send(&root->office, r, GC_MESSAGE_END, &packet);
    }
    while (!have_ended(root) || !gc_office_clear(&root->office))
        if (!receive_all(root))
            sleep_for(SLEEP_MAX);
    note_members(root);
}

gc_borrowers gc_root_borrowers(gc_root *root)
{
    return (gc_borrowers){run, end, root};
}
