// UDP sockets for voice: addresses, batches of datagrams, waiting, names. Nothing here allocates per datagram.
#pragma once

#include <stddef.h>
#include <stdint.h>

// MARK: Addresses

/// An IPv6 address, or an IPv4 one mapped (RFC 4291 section 2.5.5.2), in network byte order; the port in the host's.
typedef struct {
    uint8_t bytes[16];
    uint32_t scope;
    uint16_t port;
} dv_address;

/// Reads a numeric IPv4 or IPv6 address. 0, or -1 when `text` is none. Never blocks.
int dv_address_parse(dv_address *out, const char *text, uint16_t port);

/// Whether it is 127.0.0.0/8 or ::1.
int dv_address_is_loopback(const dv_address *address);

// MARK: Names

/// A look-up of a host name, on a thread of its own, since getaddrinfo can neither be polled nor cancelled.
typedef struct dv_resolution dv_resolution;

/// Addresses of a name that are told; where it has some of both families, so have these.
#define DV_ADDRESS_LIMIT 4

/// Starts a look-up. NULL with errno when the system refuses.
dv_resolution *dv_resolution_start(const char *host, uint16_t port);

/// Readable when the look-up has ended.
int dv_resolution_descriptor(const dv_resolution *resolution);

/// How many addresses there are, and they, in the order in which to try them (RFC 6724); 0 while the look-up runs; -1 when the name is unknown;
/// -2 when no name server answered. `out` has room for DV_ADDRESS_LIMIT.
int dv_resolution_result(const dv_resolution *resolution, dv_address *out);

/// Lets go; a look-up that still runs ends by itself.
void dv_resolution_release(dv_resolution *resolution);

// MARK: Sockets

/// A non-blocking UDP socket, bound when `local` is not NULL and connected when `remote` is not NULL; of the family of that address.
/// Its datagrams are marked for voice (DSCP EF, RFC 8837), its arrivals stamped by the kernel; bound to all addresses, each tells to which of them it
/// came (RFC 3542 section 4). The descriptor, or a negative errno.
int dv_udp_open(const dv_address *local, const dv_address *remote, int buffer_bytes);
void dv_udp_close(int socket);

/// Bytes of datagrams that the kernel keeps until they are read: fewer than were asked for where net.core.rmem_max is
/// less. Or a negative errno.
int dv_udp_receive_buffer(int socket);

/// The address to which the socket is bound. 0 or a negative errno.
int dv_udp_local(int socket, dv_address *out);

// MARK: Batches

/// Datagrams for one recvmmsg or sendmmsg.
typedef struct dv_batch dv_batch;

/// A batch of at most `capacity` datagrams. NULL when there is no memory.
dv_batch *dv_batch_create(int capacity);
void dv_batch_free(dv_batch *batch);

/// Places a buffer at `index`: to receive into, or to send to `destination` (NULL on a connected socket).
void dv_batch_place(dv_batch *batch, int index, void *bytes, size_t count, const dv_address *destination);

/// Has the datagram placed at `index`, which has a destination, leave from this address of the machine (its port is not looked at).
void dv_batch_place_from(dv_batch *batch, int index, const dv_address *local);

/// Receives up to `count` datagrams into the placed buffers, without waiting. How many, or a negative errno.
int dv_batch_receive(dv_batch *batch, int socket, int count);

/// Length of the datagram at `index`, from where it came, and when it arrived, as CLOCK_MONOTONIC in nanoseconds. A datagram longer than
/// its buffer has length 0.
size_t dv_batch_length(const dv_batch *batch, int index);
void dv_batch_source(const dv_batch *batch, int index, dv_address *out);
int64_t dv_batch_arrival(const dv_batch *batch, int index);

/// The address of this machine to which the datagram at `index` came, without the port: 1; 0 where the socket is not bound to all.
int dv_batch_local(const dv_batch *batch, int index, dv_address *out);

/// Sends the placed datagrams from `first` up to `end`, without waiting. How many, or a negative errno about the first of them.
int dv_batch_send(dv_batch *batch, int socket, int first, int end);

// MARK: Waiting

/// An epoll set, or a negative errno.
int dv_poll_create(void);
void dv_poll_close(int poll);

/// Watches `descriptor` for input and reports it as the bit 1 << `tag`. 0 or a negative errno.
int dv_poll_add(int poll, int descriptor, int tag);

/// Ends the watch of `descriptor`.
void dv_poll_remove(int poll, int descriptor);

/// Waits for input, at most `timeout_nanoseconds` (negative: for ever; rounded up to milliseconds). The bits of what is ready.
uint32_t dv_poll_wait(int poll, int64_t timeout_nanoseconds);

// MARK: Secrets

/// Whether the process's memory goes into core dumps, and its user's debuggers may read it (PR_SET_DUMPABLE, prctl(2)). 0 or -errno.
int dv_process_set_dumpable(int dumpable);

/// Which kinds of memory go into core dumps, as /proc/PID/coredump_filter has them (core(5)): a bit each, hexadecimal with 0x. 0 or -errno.
int dv_process_set_core_filter(const char *bits);

/// Whether a core dump of the process may be made.
int dv_process_is_dumpable(void);

// MARK: Random numbers

/// Fills `bytes` from the system's cryptographic source.
void dv_random(void *bytes, size_t count);
