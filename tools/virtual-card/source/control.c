// vcard-control: makes things happen to a virtual sound card that is in use, from outside.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "card.h"
#include "clock.h"
#include "doorbell.h"

enum { USAGE = 64, UNAVAILABLE = 69 };

static const char usage[] =
    "usage: vcard-control [--space SPACE] ID COMMAND\n"
    "\n"
    "  status                      what the card and its streams are doing, as lines of `name value`\n"
    "  unplug [SECONDS]            pull it out; and, after that many seconds, put it back\n"
    "  replug                      put it back; programs must open it anew\n"
    "  stall DIRECTION MS          the device runs on, but the program is not woken for so long\n"
    "  xrun DIRECTION              the stream stops as after an underrun or overrun\n"
    "  jump DIRECTION FRAMES       the position leaps; negative: it stands still for so long\n"
    "  delay FRAMES                from the speaker to the microphone, from now on\n"
    "  gain FACTOR                 of the speaker in the microphone, from now on\n"
    "  remove                      remove the card's shared memory\n"
    "\n"
    "DIRECTION is playback, capture or both. SPACE is by default that of with-card (VCARD_SPACE), else -.\n"
    "Exit status: 0; 64 for usage; 69 if there is no such card.\n";

static int misuse(const char *what, const char *given) {
    fprintf(stderr, "vcard-control: %s%s%s\n\n%s", what, given ? ": " : "", given ? given : "", usage);
    return USAGE;
}

/// A number between `least` and `most`; false after complaining.
static bool number(const char *text, double least, double most, double *value) {
    char *end;
    *value = text ? strtod(text, &end) : NAN;
    if (text && end != text && !*end && *value >= least && *value <= most) return true;
    fprintf(stderr, "vcard-control: %s: must be a number from %.15g to %.15g\n", text ? text : "(nothing)", least, most);
    return false;
}

/// The first and the last direction meant.
static bool directions(const char *text, int *first, int *last) {
    *first = text && !strcmp(text, "capture") ? VC_CAPTURE : VC_PLAYBACK;
    *last = text && !strcmp(text, "playback") ? VC_PLAYBACK : VC_CAPTURE;
    return text && (!strcmp(text, "capture") || !strcmp(text, "playback") || !strcmp(text, "both"));
}

static int64_t card_time(const vc_card *card) {
    return card->is_virtual ? atomic_load(&card->virtual_now) : vc_monotonic_ns() - card->epoch;
}

static int show_status(const vc_card *card) {
    printf("rate %d\nvirtual %d\ntime_s %.6f\n", card->rate, card->is_virtual, (double)card_time(card) / 1e9);
    printf("plugged %d\nopenings %u\n", !(atomic_load(&card->plug_generation) & 1), atomic_load(&card->openings));
    printf("delay_frames %" PRId64 "\ngain %.9g\n", atomic_load(&card->delay_frames), vc_card_gain(card));
    for (int direction = VC_PLAYBACK; direction <= VC_CAPTURE; direction++) {
        const vc_slot *slot = &card->slots[direction];
        const char *name = vc_direction_name(direction);
        double ppm = ((double)atomic_load(&slot->microhertz) / (card->rate * 1e6) - 1) * 1e6;
        printf("%s.process %d\n%s.running %d\n", name, atomic_load(&slot->process), name, atomic_load(&slot->running));
        printf("%s.ppm %.6f\n%s.position %" PRId64 "\n", name, ppm, name, atomic_load(&slot->position));
        printf("%s.xruns %u\n%s.wakeups %u\n", name, atomic_load(&slot->xruns), name, atomic_load(&slot->wakeups));
    }
    return 0;
}

static void ring(const vc_access *access, int first, int last) {
    for (int direction = first; direction <= last; direction++)
        vc_doorbell_ring(access, access->generation, (vc_direction)direction, -1);
}

static int afflict(vc_access *access, const char *command, const char *which, const char *amount) {
    int first, last;
    double value = 0;
    if (!directions(which, &first, &last)) return misuse("which direction?", which);
    bool is_stall = !strcmp(command, "stall"), is_jump = !strcmp(command, "jump");
    if (is_stall && !number(amount, 0, 3600000, &value)) return USAGE;
    if (is_jump && !number(amount, -48000, 48000, &value)) return USAGE;
    for (int direction = first; direction <= last; direction++) {
        vc_slot *slot = &access->card->slots[direction];
        if (is_stall) {
            atomic_store(&slot->stalled_until, card_time(access->card) + (int64_t)(value * 1e6));
        } else if (is_jump) {
            atomic_store(&slot->jump_frames, (int64_t)value);
            atomic_fetch_add(&slot->jump_requests, 1);
        } else {
            atomic_fetch_add(&slot->xrun_requests, 1);
        }
    }
    ring(access, first, last);
    return 0;
}

static int obey(vc_access *access, int count, char **words) {
    const char *command = words[0], *first = count > 1 ? words[1] : NULL, *second = count > 2 ? words[2] : NULL;
    double value;
    if (!strcmp(command, "status")) return show_status(access->card);
    if (!strcmp(command, "unplug")) {
        if (first && !number(first, 0, 1e6, &value)) return USAGE;
        vc_card_unplug(access, first ? (int64_t)(value * 1e9) : -1);
        return 0;
    }
    if (!strcmp(command, "replug")) {
        vc_card_replug(access);
        return 0;
    }
    if (!strcmp(command, "delay")) {
        if (!number(first, 0, 96000, &value)) return USAGE;
        atomic_store(&access->card->delay_frames, (int64_t)value);
        return 0;
    }
    if (!strcmp(command, "gain")) {
        if (!number(first, -100, 100, &value)) return USAGE;
        vc_card_set_gain(access->card, value);
        return 0;
    }
    if (!strcmp(command, "stall") || !strcmp(command, "jump") || !strcmp(command, "xrun"))
        return afflict(access, command, first, second);
    return misuse("no such command", command);
}

int main(int count, char **words) {
    const char *space = getenv("VCARD_SPACE");
    if (!space) space = "-";
    int next = 1;
    if (count > 2 && !strcmp(words[1], "--space")) {
        space = words[2];
        next = 3;
    }
    if (count > 1 && (!strcmp(words[1], "--help") || !strcmp(words[1], "-h"))) {
        fputs(usage, stdout);
        return 0;
    }
    if (count < next + 2) return misuse("a card and a command are needed", NULL);
    const char *id = words[next];
    if (!strcmp(words[next + 1], "remove")) {
        char name[3 * VC_NAME_LIMIT];
        snprintf(name, sizeof name, "/vcard.%.*s.%.*s", VC_NAME_LIMIT, space, VC_NAME_LIMIT, id);
        if (shm_unlink(name) == 0) return 0;
    }
    vc_access access;
    int error = vc_card_attach(&access, space, id);
    if (error) {
        fprintf(stderr, "vcard-control: no card %s in the space %s: %s\n", id, space, strerror(-error));
        return UNAVAILABLE;
    }
    int status = obey(&access, count - next - 1, words + next + 1);
    vc_card_close(&access);
    return status;
}
