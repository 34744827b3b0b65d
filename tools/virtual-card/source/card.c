#define _GNU_SOURCE
#include "card.h"

#include <alsa/asoundlib.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "doorbell.h"

// The places that README.md tells; other programs rely on them.
_Static_assert(offsetof(vc_card, virtual_now) == 24, "layout");
_Static_assert(offsetof(vc_card, plug_generation) == 32, "layout");
_Static_assert(offsetof(vc_card, replug_at) == 40, "layout");
_Static_assert(offsetof(vc_card, delay_frames) == 48, "layout");
_Static_assert(offsetof(vc_card, gain_bits) == 56, "layout");
_Static_assert(offsetof(vc_card, slots) == 256, "layout");
_Static_assert(sizeof(vc_slot) == 160, "layout");
_Static_assert(offsetof(vc_slot, xrun_requests) == 48, "layout");
_Static_assert(offsetof(vc_slot, stalled_until) == 64, "layout");
_Static_assert(offsetof(vc_card, tape) == 576, "layout");
_Static_assert(sizeof(long) == 8, "positions are not wrapped at a 32-bit boundary");

// Locks of the object, each one byte. They belong to the open descriptor (F_OFD_SETLK) and so end with their process,
// however that ends: no owner is ever dead. A direction has its own byte for each time the card was plugged in, as a
// program may still hold what it has of the card that was pulled.
enum { SETUP_BYTE = 0, FIRST_DIRECTION_BYTE = 16 };

static off_t direction_byte(uint32_t generation, vc_direction direction) {
    return FIRST_DIRECTION_BYTE + 2 * (off_t)generation + direction;
}

static int lock_byte(int descriptor, off_t byte, short type, bool wait) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(descriptor, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock) < 0 ? -errno : 0;
}

static bool is_locked_by_another(int descriptor, off_t byte) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static int map(vc_access *access, const char *space, const char *id, int flags) {
    char name[2 * VC_NAME_LIMIT + 16];
    snprintf(name, sizeof name, "/vcard.%s.%s", space, id);
    int descriptor = shm_open(name, O_RDWR | flags, 0600);
    if (descriptor < 0) return -errno;
    struct stat status;
    int error = 0;
    if (fstat(descriptor, &status) < 0 ||
        (status.st_size < (off_t)sizeof(vc_card) &&
            (!(flags & O_CREAT) || ftruncate(descriptor, sizeof(vc_card)) < 0)))
        error = errno ? -errno : -ENODEV;
    void *memory = error ? MAP_FAILED
                         : mmap(NULL, sizeof(vc_card), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor, 0);
    if (memory == MAP_FAILED) {
        if (!error) error = -errno;
        close(descriptor);
        return error;
    }
    access->card = memory;
    access->descriptor = descriptor;
    snprintf(access->space, sizeof access->space, "%s", space);
    snprintf(access->id, sizeof access->id, "%s", id);
    return 0;
}

static void initialise_lock(pthread_mutex_t *lock) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

/// Time zero, a silent air, no requests; only what is unplugged stays so.
static void start_afresh(vc_card *card, const vc_identity *identity) {
    card->version = VC_LAYOUT_VERSION;
    card->rate = (int32_t)identity->rate;
    card->is_virtual = identity->is_virtual;
    card->epoch = vc_monotonic_ns();
    atomic_store(&card->virtual_now, 0);
    atomic_store(&card->delay_frames, 0);
    vc_card_set_gain(card, 1);
    initialise_lock(&card->lock);
    memset((void *)card->slots, 0, sizeof card->slots);
    for (int direction = 0; direction < 2; direction++)
        atomic_store(&card->slots[direction].microhertz, vc_microhertz(identity->rate, 0));
    memset((void *)&card->tape, 0, sizeof card->tape);
    atomic_fetch_add(&card->openings, 1);
    atomic_store(&card->magic, VC_MAGIC);
}

static void replug_when_due(vc_access *access) {
    int64_t at = atomic_load(&access->card->replug_at);
    if (at != 0 && vc_monotonic_ns() >= at) vc_card_replug(access);
}

/// With the setup lock held.
static int take_direction(vc_access *access, const vc_identity *identity, vc_direction direction) {
    vc_card *card = access->card;
    if (atomic_load(&card->magic) == VC_MAGIC && card->version != VC_LAYOUT_VERSION) {
        SNDERR("vcard %s: made by another version of this card; remove /dev/shm/vcard.%s.%s", identity->id,
            identity->space, identity->id);
        return -EINVAL;
    }
    replug_when_due(access);
    access->generation = atomic_load(&card->plug_generation);
    if (access->generation & 1) return -ENODEV;

    int error = lock_byte(access->descriptor, direction_byte(access->generation, direction), F_WRLCK, false);
    if (error) return error == -EAGAIN || error == -EACCES ? -EBUSY : error;
    bool is_alone = !vc_card_is_taken(access, !direction);
    if (is_alone || atomic_load(&card->magic) != VC_MAGIC) {
        start_afresh(card, identity);
    } else if (card->rate != identity->rate || card->is_virtual != identity->is_virtual) {
        SNDERR("vcard %s: its %s is open with RATE=%d,VIRTUAL=%d; both directions of a card must agree, this one has "
               "RATE=%ld,VIRTUAL=%d",
            identity->id, vc_direction_name(!direction), card->rate, card->is_virtual, identity->rate,
            identity->is_virtual);
        return -EINVAL;
    }
    return 0;
}

int vc_card_open(vc_access *access, const vc_identity *identity, vc_direction direction) {
    int error = map(access, identity->space, identity->id, O_CREAT);
    if (error) {
        SNDERR("vcard %s: no shared memory /vcard.%s.%s: %s", identity->id, identity->space, identity->id,
            snd_strerror(error));
        return error;
    }
    error = lock_byte(access->descriptor, SETUP_BYTE, F_WRLCK, true);
    if (!error) error = take_direction(access, identity, direction);
    lock_byte(access->descriptor, SETUP_BYTE, F_UNLCK, false);
    if (error) vc_card_close(access);
    return error;
}

bool vc_card_is_taken(const vc_access *access, vc_direction direction) {
    return is_locked_by_another(access->descriptor, direction_byte(access->generation, direction));
}

int vc_card_attach(vc_access *access, const char *space, const char *id) {
    int error = map(access, space, id, 0);
    if (error) return error;
    access->generation = atomic_load(&access->card->plug_generation);
    if (atomic_load(&access->card->magic) == VC_MAGIC && access->card->version == VC_LAYOUT_VERSION) return 0;
    vc_card_close(access);
    return -EPROTO;
}

void vc_card_close(vc_access *access) {
    munmap(access->card, sizeof(vc_card));
    close(access->descriptor);
    access->card = NULL;
    access->descriptor = -1;
}

void vc_card_unplug(vc_access *access, int64_t replug_after_ns) {
    vc_card *card = access->card;
    uint32_t generation = atomic_load(&card->plug_generation);
    if (generation & 1) return;
    atomic_store(&card->replug_at, replug_after_ns < 0 ? 0 : vc_monotonic_ns() + replug_after_ns);
    if (!atomic_compare_exchange_strong(&card->plug_generation, &generation, generation + 1)) return;
    vc_doorbell_ring(access, generation, VC_PLAYBACK, -1);
    vc_doorbell_ring(access, generation, VC_CAPTURE, -1);
}

void vc_card_replug(vc_access *access) {
    uint32_t generation = atomic_load(&access->card->plug_generation);
    if (!(generation & 1)) return;
    atomic_store(&access->card->replug_at, 0);
    atomic_compare_exchange_strong(&access->card->plug_generation, &generation, generation + 1);
}

void vc_card_set_gain(vc_card *card, double gain) {
    uint64_t bits;
    memcpy(&bits, &gain, sizeof bits);
    atomic_store(&card->gain_bits, bits);
}

double vc_card_gain(const vc_card *card) {
    uint64_t bits = atomic_load(&card->gain_bits);
    double gain;
    memcpy(&gain, &bits, sizeof gain);
    return gain;
}
