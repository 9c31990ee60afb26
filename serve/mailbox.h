/*
 * mailbox.h - work that other threads do for a loop, and its way back.
 *
 * Two kinds of threads work for loops and are not of libuv's pool: that of an
 * archive on another server (archives/remote.h), and that of the aggregator
 * (memento/gather.h). A message is a piece of such work, with copies of all
 * that the work needs:
 *
 *     loop                                       the other thread
 *     serve_message_await(box, m, until)
 *     archive_remote_post() or the like -------> works
 *     m->arrived(m, true) <--------------------- serve_message_return(m)
 *
 * The loop waits for a message until one of three things happens. Then
 * arrived() is called, once, in the loop, and never by the function that sent
 * the message:
 *
 *     it returns         arrived(m, true)     the loop has it again, and frees
 *                                             it or sends it once more
 *     it is late, or     arrived(m, false)    the other thread still has it,
 *     the loop stops                          and uses it
 *
 * After arrived(m, false) nobody waits for m. It is freed when it returns: by
 * the loop, or by the thread that returns it if the loop has ended. So free()
 * touches nothing that belongs to a loop.
 *
 * Threads: all but serve_message_return() belongs to one loop.
 */
#ifndef SEEN_SERVE_MAILBOX_H
#define SEEN_SERVE_MAILBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct serve_mailbox;

/* To be a member of what is sent, with arrived() and free() set. */
struct serve_message {
    void (*arrived)(struct serve_message *m, bool back);
    void (*free)(struct serve_message *m); /* nobody waits for it any more */

    /* Of the mailbox. */
    struct serve_mailbox *box;
    uint64_t until;             /* of the loop's clock; 0: for ever */
    struct serve_message *next; /* that has returned */
    struct serve_message *after, **before; /* that the loop waits for; `before`
                                              is NULL if it does not */
};

/* The mailbox of a loop that `wake` calls to serve_mailbox_empty(). NULL
   without memory. */
struct serve_mailbox *serve_mailbox_new(uv_async_t *wake);

/* Wait for a message, which another thread gets after that. False if the loop
   stops: nothing was done. */
bool serve_message_await(struct serve_mailbox *box, struct serve_message *m,
                         uint64_t until);

/* The work is done. From any thread, once; the loop may have ended. */
void serve_message_return(struct serve_message *m);

/* Handle the messages that have returned. */
void serve_mailbox_empty(struct serve_mailbox *box);

/* Wait no longer for those that are late now. */
void serve_mailbox_expire(struct serve_mailbox *box, uint64_t now);

/* Wait for none any more. `wake` is not used after that, and
   serve_message_await() is false. */
void serve_mailbox_stop(struct serve_mailbox *box);

/* The loop has ended, and needs it no more. NULL is welcome. */
void serve_mailbox_close(struct serve_mailbox *box);

#endif
