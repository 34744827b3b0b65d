#define _GNU_SOURCE
#include "transport_sockets.h"
#include "breath.h"
#include "linux_realtime.h"
#include "ordinary_thread.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// MARK: Addresses

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

static int is_mapped(const dv_address *address) { return memcmp(address->bytes, mapped_prefix, 12) == 0; }

static socklen_t to_system(const dv_address *address, struct sockaddr_storage *out) {
    if (is_mapped(address)) {
        struct sockaddr_in *in = (struct sockaddr_in *)out;
        *in = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(address->port)};
        memcpy(&in->sin_addr, address->bytes + 12, 4);
        return sizeof *in;
    }
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
    *in6 = (struct sockaddr_in6){
        .sin6_family = AF_INET6, .sin6_port = htons(address->port), .sin6_scope_id = address->scope};
    memcpy(&in6->sin6_addr, address->bytes, 16);
    return sizeof *in6;
}

static void from_system(const struct sockaddr_storage *in, dv_address *out) {
    memset(out, 0, sizeof *out);
    if (in->ss_family == AF_INET) {
        const struct sockaddr_in *address = (const struct sockaddr_in *)in;
        memcpy(out->bytes, mapped_prefix, 12);
        memcpy(out->bytes + 12, &address->sin_addr, 4);
        out->port = ntohs(address->sin_port);
    } else if (in->ss_family == AF_INET6) {
        const struct sockaddr_in6 *address = (const struct sockaddr_in6 *)in;
        memcpy(out->bytes, &address->sin6_addr, 16);
        out->scope = address->sin6_scope_id;
        out->port = ntohs(address->sin6_port);
    }
}

int dv_address_parse(dv_address *out, const char *text, uint16_t port) {
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICHOST}, *found = NULL;
    if (getaddrinfo(text, NULL, &hints, &found) || !found) return -1;
    struct sockaddr_storage storage = {0};
    memcpy(&storage, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    from_system(&storage, out);
    out->port = port;
    return 0;
}

int dv_address_is_loopback(const dv_address *address) {
    static const uint8_t loopback[16] = {[15] = 1};
    if (is_mapped(address)) return address->bytes[12] == 127;
    return memcmp(address->bytes, loopback, 16) == 0;
}

// MARK: Names

struct dv_resolution {
    _Atomic int owners;
    _Atomic int state;
    int event;
    uint16_t port;
    dv_address addresses[DV_ADDRESS_LIMIT];
    char host[256];
};

static void *resolve(void *argument) {
    dv_resolution *resolution = argument;
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = AI_ADDRCONFIG}, *found = NULL;
    int error = getaddrinfo(resolution->host, NULL, &hints, &found);
    int count = 0, families = 0;
    if (!error) {
        for (const struct addrinfo *next = found; next && count < DV_ADDRESS_LIMIT; next = next->ai_next) {
            const int family = next->ai_family == AF_INET ? 1 : 2;
            // The last place is the other family's.
            if (count == DV_ADDRESS_LIMIT - 1 && families == family) continue;
            families |= family;
            struct sockaddr_storage storage = {0};
            memcpy(&storage, next->ai_addr, next->ai_addrlen);
            from_system(&storage, &resolution->addresses[count]);
            resolution->addresses[count].port = resolution->port;
            count++;
        }
        freeaddrinfo(found);
    }
    const int unreachable = error == EAI_AGAIN || error == EAI_SYSTEM || error == EAI_MEMORY;
    atomic_store(&resolution->state, count > 0 ? count : unreachable ? -2 : -1);
    const uint64_t one = 1;
    ssize_t written = write(resolution->event, &one, sizeof one);
    (void)written;
    dv_resolution_release(resolution);
    return NULL;
}

dv_resolution *dv_resolution_start(const char *host, uint16_t port) {
    dv_resolution *resolution = calloc(1, sizeof *resolution);
    if (!resolution) return NULL;
    resolution->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    resolution->port = port;
    strncpy(resolution->host, host, sizeof resolution->host - 1);
    atomic_store(&resolution->owners, 2);

    sigset_t all, previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    make_ordinary(&attributes);
    pthread_t thread;
    int error = resolution->event < 0 ? errno : pthread_create(&thread, &attributes, resolve, resolution);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    if (error) {
        if (resolution->event >= 0) close(resolution->event);
        free(resolution);
        errno = error;
        return NULL;
    }
    return resolution;
}

int dv_resolution_descriptor(const dv_resolution *resolution) { return resolution->event; }

int dv_resolution_result(const dv_resolution *resolution, dv_address *out) {
    const int state = atomic_load(&resolution->state);
    if (state > 0) memcpy(out, resolution->addresses, (size_t)state * sizeof *out);
    return state;
}

void dv_resolution_release(dv_resolution *resolution) {
    if (atomic_fetch_sub(&resolution->owners, 1) > 1) return;
    close(resolution->event);
    free(resolution);
}

// MARK: Sockets

static int is_unspecified(const dv_address *address) {
    static const uint8_t none[16] = {0};
    return memcmp(address->bytes + 12, none, 4) == 0 && (is_mapped(address) || memcmp(address->bytes, none, 12) == 0);
}

// Bound to all addresses: each datagram tells which one it came to, since who asked there takes an answer from nowhere else.
static int have_locals_told(int descriptor, int family) {
    const int on = 1;
    return family == AF_INET6 ? setsockopt(descriptor, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on)
                              : setsockopt(descriptor, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
}

int dv_udp_open(const dv_address *local, const dv_address *remote, int buffer_bytes) {
    const dv_address *decisive = remote ? remote : local;
    const int family = is_mapped(decisive) ? AF_INET : AF_INET6;
    const int descriptor = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;

    // Best effort, all of these: without them voice still flows, only less well.
    const int on = 1, off = 0, expedited = 46 << 2;
    // Beyond net.core.rmem_max, which most systems have at 208 KiB, with CAP_NET_ADMIN alone.
    if (setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof buffer_bytes))
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
    setsockopt(descriptor, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    if (family == AF_INET6) {
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_TCLASS, &expedited, sizeof expedited);
    }
    setsockopt(descriptor, IPPROTO_IP, IP_TOS, &expedited, sizeof expedited);

    struct sockaddr_storage address = {0};
    if ((local && !remote && is_unspecified(local) && have_locals_told(descriptor, family)) ||
        (local && bind(descriptor, (struct sockaddr *)&address, to_system(local, &address))) ||
        (remote && connect(descriptor, (struct sockaddr *)&address, to_system(remote, &address)))) {
        const int error = errno;
        close(descriptor);
        return -error;
    }
    return descriptor;
}

void dv_udp_close(int socket) { close(socket); }

int dv_udp_receive_buffer(int socket) {
    int bytes = 0;
    socklen_t length = sizeof bytes;
    if (getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, &length)) return -errno;
    // The kernel sets twice what is asked for, for what it keeps beside the datagrams, and tells that (socket(7)).
    return bytes / 2;
}

int dv_udp_local(int socket, dv_address *out) {
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    if (getsockname(socket, (struct sockaddr *)&address, &length)) return -errno;
    from_system(&address, out);
    return 0;
}

// MARK: Batches

typedef struct {
    struct iovec buffer;
    struct sockaddr_storage address;
    // Aligned for a cmsghdr. A mapped address on a socket of IPv6 is told as one of IPv6.
    union {
        char bytes[CMSG_SPACE(sizeof(struct timespec)) + CMSG_SPACE(sizeof(struct in6_pktinfo))];
        struct cmsghdr alignment;
    } control;
} dv_slot;

struct dv_batch {
    int capacity;
    struct mmsghdr *headers;
    dv_slot *slots;
    int64_t received_at;
    // CLOCK_REALTIME minus CLOCK_MONOTONIC at the last receive.
    int64_t realtime_offset;
};

dv_batch *dv_batch_create(int capacity) {
    dv_batch *batch = calloc(1, sizeof *batch);
    if (!batch) return NULL;
    batch->capacity = capacity;
    batch->headers = calloc((size_t)capacity, sizeof *batch->headers);
    batch->slots = calloc((size_t)capacity, sizeof *batch->slots);
    if (!batch->headers || !batch->slots) {
        dv_batch_free(batch);
        return NULL;
    }
    return batch;
}

void dv_batch_free(dv_batch *batch) {
    free(batch->headers);
    free(batch->slots);
    free(batch);
}

void dv_batch_place(dv_batch *batch, int index, void *bytes, size_t count, const dv_address *destination) {
    dv_slot *slot = &batch->slots[index];
    slot->buffer = (struct iovec){.iov_base = bytes, .iov_len = count};
    struct msghdr *header = &batch->headers[index].msg_hdr;
    *header = (struct msghdr){.msg_iov = &slot->buffer, .msg_iovlen = 1};
    if (destination) {
        header->msg_name = &slot->address;
        header->msg_namelen = to_system(destination, &slot->address);
    }
}

void dv_batch_place_from(dv_batch *batch, int index, const dv_address *local) {
    dv_slot *slot = &batch->slots[index];
    struct msghdr *header = &batch->headers[index].msg_hdr;
    struct cmsghdr *control = &slot->control.alignment;
    header->msg_control = control;
    if (is_mapped(local)) {
        struct in_pktinfo info = {.ipi_ifindex = 0};
        memcpy(&info.ipi_spec_dst, local->bytes + 12, 4);
        *control = (struct cmsghdr){
            .cmsg_level = IPPROTO_IP, .cmsg_type = IP_PKTINFO, .cmsg_len = CMSG_LEN(sizeof info)};
        memcpy(CMSG_DATA(control), &info, sizeof info);
        header->msg_controllen = CMSG_SPACE(sizeof info);
    } else {
        // The interface is that of the destination, where that is link-local; else routing decides.
        struct in6_pktinfo info = {.ipi6_ifindex = 0};
        memcpy(&info.ipi6_addr, local->bytes, 16);
        *control = (struct cmsghdr){
            .cmsg_level = IPPROTO_IPV6, .cmsg_type = IPV6_PKTINFO, .cmsg_len = CMSG_LEN(sizeof info)};
        memcpy(CMSG_DATA(control), &info, sizeof info);
        header->msg_controllen = CMSG_SPACE(sizeof info);
    }
}

static int64_t clock_nanoseconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int dv_batch_receive(dv_batch *batch, int socket, int count) {
    for (int i = 0; i < count; i++) {
        struct msghdr *header = &batch->headers[i].msg_hdr;
        header->msg_name = &batch->slots[i].address;
        header->msg_namelen = sizeof batch->slots[i].address;
        header->msg_control = &batch->slots[i].control;
        header->msg_controllen = sizeof batch->slots[i].control;
        header->msg_flags = 0;
    }
    const int received = recvmmsg(socket, batch->headers, (unsigned)count, MSG_DONTWAIT, NULL);
    if (received < 0) return -errno;
    batch->received_at = clock_nanoseconds(CLOCK_MONOTONIC);
    batch->realtime_offset = clock_nanoseconds(CLOCK_REALTIME) - batch->received_at;
    return received;
}

size_t dv_batch_length(const dv_batch *batch, int index) {
    const struct mmsghdr *header = &batch->headers[index];
    return header->msg_hdr.msg_flags & MSG_TRUNC ? 0 : header->msg_len;
}

void dv_batch_source(const dv_batch *batch, int index, dv_address *out) { from_system(&batch->slots[index].address, out); }

int64_t dv_batch_arrival(const dv_batch *batch, int index) {
    struct msghdr *header = &batch->headers[index].msg_hdr;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) continue;
        struct timespec stamp;
        memcpy(&stamp, CMSG_DATA(c), sizeof stamp);
        const int64_t arrival = (int64_t)stamp.tv_sec * 1000000000 + stamp.tv_nsec - batch->realtime_offset;
        // A step of the wall clock between the arrival and now must not travel into the media's time.
        if (arrival <= batch->received_at && arrival > batch->received_at - 1000000000) return arrival;
    }
    return batch->received_at;
}

int dv_batch_local(const dv_batch *batch, int index, dv_address *out) {
    struct msghdr *header = &batch->headers[index].msg_hdr;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            *out = (dv_address){.scope = 0};
            memcpy(out->bytes, mapped_prefix, 12);
            memcpy(out->bytes + 12, &info.ipi_spec_dst, 4);
            return 1;
        }
        if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            *out = (dv_address){.scope = 0};
            memcpy(out->bytes, &info.ipi6_addr, 16);
            return 1;
        }
    }
    return 0;
}

int dv_batch_send(dv_batch *batch, int socket, int first, int end) {
    const int sent = sendmmsg(socket, batch->headers + first, (unsigned)(end - first), MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent < 0 ? -errno : sent;
}

// MARK: Waiting

int dv_poll_create(void) {
    const int poll = epoll_create1(EPOLL_CLOEXEC);
    return poll < 0 ? -errno : poll;
}

void dv_poll_close(int poll) { close(poll); }

int dv_poll_add(int poll, int descriptor, int tag) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)tag};
    return epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) ? -errno : 0;
}

void dv_poll_remove(int poll, int descriptor) { epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, NULL); }

uint32_t dv_poll_wait(int poll, int64_t timeout_nanoseconds) {
    struct epoll_event events[8];
    int64_t milliseconds = timeout_nanoseconds < 0 ? -1 : (timeout_nanoseconds + 999999) / 1000000;
    if (milliseconds > 60000) milliseconds = 60000;
    const int64_t before = dv_monotonic_nanoseconds();
    const int ready = epoll_wait(poll, events, 8, (int)milliseconds);
    dv_breathe(before);
    uint32_t bits = 0;
    for (int i = 0; i < ready; i++) bits |= 1u << events[i].data.u32;
    return bits;
}

// MARK: Secrets

int dv_process_set_dumpable(int dumpable) { return prctl(PR_SET_DUMPABLE, dumpable ? 1 : 0, 0, 0, 0) ? -errno : 0; }

int dv_process_set_core_filter(const char *bits) {
    const int file = open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);
    if (file < 0) return -errno;
    const ssize_t written = write(file, bits, strlen(bits));
    const int error = written < 0 ? -errno : 0;
    close(file);
    return error;
}

int dv_process_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1; }

// MARK: Random numbers

void dv_random(void *bytes, size_t count) {
    size_t filled = 0;
    while (filled < count) {
        const ssize_t got = getrandom((char *)bytes + filled, count - filled, 0);
        // Only a kernel older than 3.17 fails otherwise than by an interruption; without random numbers there is no safe way on.
        if (got < 0 && errno != EINTR) abort();
        if (got > 0) filled += (size_t)got;
    }
}
