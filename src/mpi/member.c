
#include "base/json.h"
#include "base/memory.h"
#include "base/status.h"
#include "cli/commands/image_report.h"
#include "cli/image/batch.h"
#include "cli/journal/journal.h"
#include "cli/tasks/directories.h"
#include "cli/terminal/messages.h"
#include "mpi/exchange.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How long a rank sleeps if no message has come and nothing is to be sent: while it has room for an
 * image, and while it has not. */
static const long HUNGRY_NANOSECONDS = 50000, BUSY_NANOSECONDS = 1000000;

/* An image that rank 0 has handed out. It is told from others by the pointer `input`, which task,
 * record and result share. */
typedef struct work_item {
    uint64_t token; /* of the task, for rank 0 */
    gc_task task;   /* the batch owns its strings once it has the task */
    const char *input;
    char *line;    /* what the journal has of the image; "": nothing */
    char *made;    /* the line for the journal; NULL: none yet */
    bool answered; /* rank 0 has written the intent, or failed to */
    gconv_error answer;
    struct work_item *next;
} work_item;

/* A message that waits for the thread that sends. */
typedef struct outgoing {
    gc_message_kind kind;
    gc_message message;
    struct outgoing *next;
} outgoing;

typedef struct rank_member {
    gc_session *session;
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
static void send_later(rank_member *m, gc_message_kind kind, const gc_message *message)
{
    outgoing *added = malloc(sizeof *added);
    if (added == NULL)
        gc_exchange_give_up();
    *added = (outgoing){.kind = kind, .message = *message};
    *m->out_end = added;
    m->out_end = &added->next;
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

/* Puts the result with what is reported of it. */
static void put_report(const rank_member *m, gc_message *message, const gc_task *task,
                       const gc_result *result)
{
    char *said = NULL;
    size_t size;
    FILE *stream = open_memstream(&said, &size);
    if (stream == NULL)
        gc_exchange_give_up();
    gc_messages_into(stream);
    gc_json_begin_apart();
    gc_report_image(m->session->options, task, result);
    char *json = gc_json_end_apart(NULL);
    gc_messages_into(NULL);
    if (fclose(stream) != 0 || said == NULL || json == NULL)
        gc_exchange_give_up();
    gc_message_put_result(message, result, said, json);
    free(said);
    free(json);
}

/* A gc_report_function. */
static void send_result(void *user, const gc_task *task, const gc_result *result)
{
    rank_member *m = user;
    gc_message message = {.at = 0};
    const char *loss;
    pthread_mutex_lock(&m->lock);
    work_item *item = find_item(m, task->input);
    gc_message_put_number(&message, item->token);
    gc_message_put_text(&message, item->made);
    while ((loss = gconv_device_loss(m->losses)) != NULL) {
        gc_message_put_text(&message, loss);
        m->losses++;
    }
    gc_message_put_text(&message, NULL);
    put_report(m, &message, task, result);
    send_later(m, GC_MESSAGE_RESULT, &message);
    remove_item(m, item);
    pthread_mutex_unlock(&m->lock);
    free(item->line);
    free(item->made);
    free(item);
}

/* ---- The journal ----------------------------------------------------------------------------- */

static const char *find_line(void *user, const char *input)
{
    rank_member *m = user;
    pthread_mutex_lock(&m->lock);
    const work_item *item = find_item(m, input);
    const char *line = item != NULL && item->line[0] != '\0' ? item->line : NULL;
    pthread_mutex_unlock(&m->lock);
    return line;
}

/* Has rank 0 write a line before the image goes on. */
static gconv_status send_intent(rank_member *m, work_item *item, const char *line,
                                gconv_error *error)
{
    gc_message message = {.at = 0};
    gc_message_put_number(&message, (uintptr_t)item);
    gc_message_put_text(&message, line);
    item->answered = false;
    send_later(m, GC_MESSAGE_INTENT, &message);
    while (!item->answered)
        pthread_cond_wait(&m->comes, &m->lock);
    *error = item->answer;
    return item->answer.status;
}

static gconv_status append_line(void *user, const gc_record *record, const char *line, bool sync,
                                gconv_error *error)
{
    rank_member *m = user;
    gconv_status status = GCONV_OK;
    pthread_mutex_lock(&m->lock);
    work_item *item = find_item(m, record->input);
    if (sync)
        status = send_intent(m, item, line, error);
    else if ((item->made = gc_copy_string(line)) == NULL)
        status = gc_fail_memory(error, strlen(line));
    pthread_mutex_unlock(&m->lock);
    return status;
}

/* ---- What comes from rank 0 ------------------------------------------------------------------ */

static void take_task(rank_member *m, gc_message *message)
{
    work_item *item = calloc(1, sizeof *item);
    if (item == NULL)
        gc_exchange_give_up();
    item->token = gc_message_take_number(message);
    atomic_store(&m->left, gc_message_take_number(message));
    gc_message_take_task(message, &item->task);
    item->line = gc_copy_string(gc_message_take_text(message));
    item->input = item->task.input;
    if (item->input == NULL || item->task.output == NULL || item->line == NULL || message->failed)
        gc_exchange_give_up();
    pthread_mutex_lock(&m->lock);
    *m->waiting_end = item;
    m->waiting_end = &item->next;
    m->count++;
    pthread_cond_broadcast(&m->comes);
    pthread_mutex_unlock(&m->lock);
}

/* The batch begins with the first task, which comes after these. */
static void take_results(rank_member *m, const gc_message *message)
{
    const gc_map_entry *entries = (const void *)message->bytes.bytes;
    for (size_t i = 0; i < message->bytes.size / sizeof *entries; i++)
        if (!gc_map_add(gc_journal_results(m->session->journal), entries[i]))
            gc_exchange_give_up();
}

static void take_answer(rank_member *m, gc_message *message)
{
    work_item *item = (work_item *)(uintptr_t)gc_message_take_number(message);
    gconv_status status = (gconv_status)gc_message_take_number(message);
    pthread_mutex_lock(&m->lock);
    gc_fail(&item->answer, status, "%s", gc_message_take_text(message));
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
    gc_message message;
    gc_message_kind kind;
    for (int rank; gc_exchange_receive(&rank, &kind, &message);) {
        if (kind == GC_MESSAGE_TASK)
            take_task(m, &message);
        else if (kind == GC_MESSAGE_RESULTS)
            take_results(m, &message);
        else if (kind == GC_MESSAGE_ANSWER)
            take_answer(m, &message);
        else if (kind == GC_MESSAGE_END)
            take_end(m);
        gc_message_free(&message);
    }
}

/* ---- Running --------------------------------------------------------------------------------- */

/* The thread that computes. */
static void *compute(void *user)
{
    rank_member *m = user;
    gc_task_source source = {next_task, images_left, m};
    gc_task_list list = {.batch = true, .source = &source};
    gc_directories directories = GC_DIRECTORIES_NONE;
    gconv_error error;
    const gc_batch_plan plan = {.session = m->session,
                                .list = &list,
                                .directories = &directories,
                                .report = send_result,
                                .user = m};
    if (gc_batch_run(&plan, &error) != GCONV_OK)
        gc_exchange_give_up();
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
            gc_exchange_send(0, sent->kind, &sent->message);
            out = sent->next;
            free(sent);
        }
        receive_all(m);
        gc_exchange_clear();
    }
    gc_message bye = {.at = 0};
    gc_exchange_send(0, GC_MESSAGE_BYE, &bye);
    while (!gc_exchange_clear())
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
    if ((session->options->journal.file != NULL &&
         gc_journal_open_relay(relay, &session->journal, &error) != GCONV_OK) ||
        pthread_create(&thread, NULL, compute, &m) != 0)
        gc_exchange_give_up();
    exchange(&m);
    pthread_join(thread, NULL);
    gc_journal_close(session->journal);
}
