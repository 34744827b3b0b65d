#include "bio.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "dtls.h"

// MARK: Queues

int dv_queue_append(dv_queue *queue, const void *bytes, size_t count) {
    if (queue->count >= DV_DTLS_QUEUE_LIMIT) return 0;
    dv_waiting *waiting = malloc(sizeof *waiting + count);
    if (!waiting) return 0;
    waiting->next = NULL;
    waiting->count = count;
    memcpy(waiting->bytes, bytes, count);
    if (queue->last) queue->last->next = waiting;
    else queue->first = waiting;
    queue->last = waiting;
    queue->count++;
    return 1;
}

size_t dv_queue_take(dv_queue *queue, void *out, size_t capacity) {
    while (queue->first) {
        dv_waiting *waiting = queue->first;
        const size_t count = waiting->count;
        const int fits = count <= capacity;
        if (fits) memcpy(out, waiting->bytes, count);
        queue->first = waiting->next;
        if (!queue->first) queue->last = NULL;
        queue->count--;
        // What peers told each other does not stay in freed memory.
        OPENSSL_cleanse(waiting->bytes, count);
        free(waiting);
        if (fits) return count;
    }
    return 0;
}

void dv_queue_clear(dv_queue *queue) {
    while (queue->first) dv_queue_take(queue, NULL, 0);
}

// MARK: The BIO

static int wire_write(BIO *bio, const char *bytes, int count) {
    dv_wire *wire = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (count <= 0) return count;
    // Never a failure: what is lost here is repeated like what is lost on the path.
    dv_queue_append(&wire->output, bytes, (size_t)count);
    return count;
}

static int wire_read(BIO *bio, char *out, int capacity) {
    dv_wire *wire = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (!wire->input || capacity <= 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    const size_t count = wire->input_count < (size_t)capacity ? wire->input_count : (size_t)capacity;
    memcpy(out, wire->input, count);
    wire->input = NULL;
    return (int)count;
}

static long wire_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    switch (command) {
    case BIO_CTRL_FLUSH:
    case BIO_CTRL_DUP: return 1;
    default: return 0;
    }
}

static int wire_create(BIO *bio) {
    BIO_set_init(bio, 1);
    return 1;
}

static BIO_METHOD *method;

static void make_method(void) {
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams");
    if (!method) return;
    BIO_meth_set_write(method, wire_write);
    BIO_meth_set_read(method, wire_read);
    BIO_meth_set_ctrl(method, wire_control);
    BIO_meth_set_create(method, wire_create);
}

BIO *dv_bio_create(dv_wire *wire) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_method);
    BIO *bio = method ? BIO_new(method) : NULL;
    if (bio) BIO_set_data(bio, wire);
    return bio;
}
