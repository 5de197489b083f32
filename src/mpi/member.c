#include "mpi/member.h"

#include "base/memory.h"
#include "base/status.h"
#include "cli/image/batch.h"
#include "cli/tasks/directories.h"
#include "mpi/office.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How long a rank sleeps where no message has come and nothing is to be sent: while it has room for
 * an image, and while it has not. */
static const long HUNGRY_NANOSECONDS = 50000, BUSY_NANOSECONDS = 1000000;

/* An image that rank 0 has handed out. It is told from others by the pointer `input`, which task,
 * record and result share. */
typedef struct work_item {
    size_t number; /* of the loan */
    gc_task task;  /* the batch owns its strings once it has the task */
    const char *input;
    char *line; /* what the journal has of the image; NULL: nothing */
    size_t line_size;
    char *made; /* the line for the journal; NULL: none yet */
    size_t made_size;
    bool answered; /* rank 0 has written the intent, or failed to */
    gconv_error answer;
    struct work_item *next;
} work_item;

/* A packet that waits for the thread that sends. */
typedef struct outgoing {
    gc_message kind;
    gc_packet packet;
    struct outgoing *next;
} outgoing;

typedef struct rank_member {
    gc_session *session;
    gc_office office;
    int places;
    atomic_size_t left;
    pthread_mutex_t lock;              /* of all below */
    pthread_cond_t comes;              /* a task, an answer, or the end */
    pthread_cond_t goes;               /* something is to be sent */
    work_item *waiting, **waiting_end; /* tasks that the batch has not taken */
    work_item *taken;
    int count; /* of both */
    outgoing *out, **out_end;
    bool ended; /* no task follows */
    bool done;  /* the batch is over */
    int losses; /* devices of which rank 0 knows that they are lost */
} rank_member;

/* ---- Tasks for the batch --------------------------------------------------------------------- */

/* A task that the batch takes. */
static bool next_task(void *user, gc_task *task)
{
    rank_member *m = user;
    pthread_mutex_lock(&m->lock);
    while (m->waiting == NULL && !m->ended)
        pthread_cond_wait(&m->comes, &m->lock);
    work_item *item = m->waiting;
    if (item != NULL) {
        m->waiting = item->next;
        if (m->waiting == NULL)
            m->waiting_end = &m->waiting;
        item->next = m->taken;
        m->taken = item;
        *task = item->task;
    }
    pthread_mutex_unlock(&m->lock);
    return item != NULL;
}

static size_t images_left(void *user)
{
    rank_member *m = user;
    return atomic_load(&m->left);
}

static work_item *find_item(const rank_member *m, const char *input)
{
    work_item *item = m->taken;
    while (item != NULL && item->input != input)
        item = item->next;
    return item;
}

/* ---- What goes to rank 0 --------------------------------------------------------------------- */

/* The caller has the lock. */
static void send_later(rank_member *m, gc_message kind, const gc_packet *packet)
{
    outgoing *letter = malloc(sizeof *letter);
    if (letter == NULL) {
        gc_office_give_up();
        return;
    }
    *letter = (outgoing){.kind = kind, .packet = *packet};
    *m->out_end = letter;
    m->out_end = &letter->next;
    pthread_cond_signal(&m->goes);
}

static void remove_item(rank_member *m, const work_item *gone)
{
    work_item **at = &m->taken;
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    m->count--;
}

/* A gc_report_function. */
static void send_result(void *user, const gc_task *task, const gc_result *result)
{
    rank_member *m = user;
    gc_packet packet = {.bytes = NULL};
    const char *loss;
    pthread_mutex_lock(&m->lock);
    work_item *item = find_item(m, task->input);
    gc_packet_put(&packet, &item->number, sizeof item->number);
    gc_packet_put(&packet, &item->made_size, sizeof item->made_size);
    gc_packet_put(&packet, item->made, item->made_size);
    while ((loss = gconv_device_loss(m->losses)) != NULL) {
        gc_packet_put_text(&packet, loss);
        m->losses++;
    }
    gc_packet_put_text(&packet, NULL);
    gc_packet_put_result(&packet, result);
    send_later(m, GC_MESSAGE_RESULT, &packet);
    remove_item(m, item);
    pthread_mutex_unlock(&m->lock);
    free(item->line);
    free(item->made);
    free(item);
}

/* ---- The journal ----------------------------------------------------------------------------- */

static const char *find_line(void *user, const char *input, const char *output, size_t *size)
{
    rank_member *m = user;
    (void)output;
    pthread_mutex_lock(&m->lock);
    const work_item *item = find_item(m, input);
    const char *line = item != NULL ? item->line : NULL;
    *size = item != NULL ? item->line_size : 0;
    pthread_mutex_unlock(&m->lock);
    return line;
}

/* Has rank 0 write a line before the image goes on. */
static gconv_status send_intent(rank_member *m, work_item *item, const char *line, size_t size,
                                gconv_error *error)
{
    gc_packet packet = {.bytes = NULL};
    uint64_t token = (uint64_t)(uintptr_t)item;
    gc_packet_put(&packet, &token, sizeof token);
    gc_packet_put(&packet, &size, sizeof size);
    gc_packet_put(&packet, line, size);
    item->answered = false;
    send_later(m, GC_MESSAGE_INTENT, &packet);
    while (!item->answered)
        pthread_cond_wait(&m->comes, &m->lock);
    *error = item->answer;
    return item->answer.status;
}

static gconv_status append_line(void *user, const gc_record *record, const char *line, size_t size,
                                bool sync, gconv_error *error)
{
    rank_member *m = user;
    gconv_status status = GCONV_OK;
    pthread_mutex_lock(&m->lock);
    work_item *item = find_item(m, record->input);
    if (sync) {
        status = send_intent(m, item, line, size, error);
    } else {
        item->made = malloc(size);
        if (item->made != NULL)
            memcpy(item->made, line, size);
        else
            status = gc_fail_memory(error, size);
        item->made_size = item->made != NULL ? size : 0;
    }
    pthread_mutex_unlock(&m->lock);
    return status;
}

/* ---- What comes from rank 0 ------------------------------------------------------------------ */

static void take_task(rank_member *m, gc_packet *packet)
{
    size_t left;
    work_item *item = calloc(1, sizeof *item);
    if (item == NULL) {
        gc_office_give_up();
        return;
    }
    gc_packet_take(packet, &item->number, sizeof item->number);
    gc_packet_take(packet, &left, sizeof left);
    gc_packet_take_task(packet, &item->task);
    gc_packet_take(packet, &item->line_size, sizeof item->line_size);
    const char *line = gc_packet_take_place(packet, item->line_size);
    item->input = item->task.input;
    if (item->line_size > 0 && line != NULL && (item->line = malloc(item->line_size)) != NULL)
        memcpy(item->line, line, item->line_size);
    if (item->input == NULL || item->task.output == NULL || packet->failed ||
        (item->line_size > 0 && item->line == NULL))
        gc_office_give_up();
    atomic_store(&m->left, left);
    pthread_mutex_lock(&m->lock);
    *m->waiting_end = item;
    m->waiting_end = &item->next;
    m->count++;
    pthread_cond_broadcast(&m->comes);
    pthread_mutex_unlock(&m->lock);
}

/* The batch begins with the first task, which comes after these. */
static void take_results(rank_member *m, gc_packet *packet)
{
    gc_results results, *own = &m->session->results;
    size_t first, count;
    gc_packet_take(packet, &results, sizeof results);
    gc_packet_take(packet, &first, sizeof first);
    gc_packet_take(packet, &count, sizeof count);
    const char *part = gc_packet_take_place(packet, count * sizeof *results.seen.entries);
    if (own->seen.entries == NULL) {
        *own = results;
        own->seen.entries = calloc(results.seen.room, sizeof *results.seen.entries);
    }
    if (own->seen.entries == NULL || part == NULL)
        gc_office_give_up();
    else
        memcpy(own->seen.entries + first, part, count * sizeof *results.seen.entries);
}

static void take_answer(rank_member *m, gc_packet *packet)
{
    uint64_t token;
    gc_packet_take(packet, &token, sizeof token);
    work_item *item = (work_item *)(uintptr_t)token;
    pthread_mutex_lock(&m->lock);
    gc_packet_take(packet, &item->answer, sizeof item->answer);
    item->answered = true;
    pthread_cond_broadcast(&m->comes);
    pthread_mutex_unlock(&m->lock);
}

static void take_end(rank_member *m)
{
    pthread_mutex_lock(&m->lock);
    m->ended = true;
    pthread_cond_broadcast(&m->comes);
    pthread_mutex_unlock(&m->lock);
}

static void receive_all(rank_member *m)
{
    gc_packet packet;
    gc_message kind;
    for (int rank; gc_office_receive(&rank, &kind, &packet);) {
        if (kind == GC_MESSAGE_TASK)
            take_task(m, &packet);
        else if (kind == GC_MESSAGE_RESULTS)
            take_results(m, &packet);
        else if (kind == GC_MESSAGE_ANSWER)
            take_answer(m, &packet);
        else if (kind == GC_MESSAGE_END)
            take_end(m);
        gc_packet_free(&packet);
    }
}

/* ---- Running --------------------------------------------------------------------------------- */

/* A gc_gate_function: rank 0 began when all ranks were ready. */
static gconv_status pass(void *user, gconv_error *error)
{
    (void)user;
    (void)error;
    return GCONV_OK;
}

/* The thread that computes. */
static void *compute(void *user)
{
    rank_member *m = user;
    gc_task_source source = {next_task, images_left, m};
    gc_task_list list = {.batch = true, .source = &source};
    gc_directories directories = GC_DIRECTORIES_NONE;
    gconv_error error;
    gc_gate gate;
    gc_gate_create(&gate, pass, NULL);
    if (gc_batch_run(m->session, &list, &gate, &directories, NULL, send_result, m, &error) !=
        GCONV_OK)
        gc_office_give_up();
    gc_gate_destroy(&gate);
    gc_remove_empty_directories(&directories);
    pthread_mutex_lock(&m->lock);
    m->done = true;
    pthread_cond_signal(&m->goes);
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

/* Waits for something to send, for a short time. True once all is done and sent. */
static bool await_work(rank_member *m, outgoing **out)
{
    pthread_mutex_lock(&m->lock);
    if (m->out == NULL && !m->done) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += m->count < m->places ? HUNGRY_NANOSECONDS : BUSY_NANOSECONDS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&m->goes, &m->lock, &until);
    }
    *out = m->out;
    m->out = NULL;
    m->out_end = &m->out;
    bool over = m->done && *out == NULL;
    pthread_mutex_unlock(&m->lock);
    return over;
}

static void exchange(rank_member *m)
{
    outgoing *out;
    while (!await_work(m, &out)) {
        while (out != NULL) {
            outgoing *sent = out;
            gc_office_send(&m->office, 0, sent->kind, &sent->packet);
            out = sent->next;
            free(sent);
        }
        receive_all(m);
        gc_office_clear(&m->office);
    }
    gc_packet bye = {.bytes = NULL};
    gc_office_send(&m->office, 0, GC_MESSAGE_BYE, &bye);
    while (!gc_office_clear(&m->office))
        nanosleep(&(struct timespec){.tv_nsec = HUNGRY_NANOSECONDS}, NULL);
}

void gc_member_run(gc_session *session, int places)
{
    rank_member m = {.session = session,
                     .places = places,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .comes = PTHREAD_COND_INITIALIZER,
                     .goes = PTHREAD_COND_INITIALIZER,
                     .waiting_end = &m.waiting,
                     .out_end = &m.out};
    gc_journal_relay relay = {find_line, append_line, &m};
    pthread_t thread;
    gconv_error error;
    const char *path = session->options->journal.file;
    if ((path != NULL &&
         gc_journal_open_relay(path, relay, &session->journal, &error) != GCONV_OK) ||
        pthread_create(&thread, NULL, compute, &m) != 0) {
        gc_office_give_up();
        return;
    }
    exchange(&m);
    pthread_join(thread, NULL);
    gc_journal_close(session->journal);
    gc_results_free(&session->results);
}
