#define _GNU_SOURCE
#include "doorbell.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static socklen_t address(struct sockaddr_un *to, const vc_access *access, uint32_t generation, vc_direction direction) {
    memset(to, 0, sizeof *to);
    to->sun_family = AF_UNIX;
    // The first byte stays 0: the name is not a path.
    int length = snprintf(to->sun_path + 1, sizeof to->sun_path - 1, "vcard/%s/%s/%u/%s", access->space, access->id,
        generation, vc_direction_name(direction));
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

int vc_doorbell_open(const vc_access *access, vc_direction direction) {
    int doorbell = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (doorbell < 0) return -errno;
    struct sockaddr_un name;
    socklen_t length = address(&name, access, access->generation, direction);
    if (bind(doorbell, (struct sockaddr *)&name, length) == 0) return doorbell;
    int error = -errno;
    close(doorbell);
    return error;
}

bool vc_doorbell_answer(int doorbell) {
    bool rang = false;
    char byte;
    while (recv(doorbell, &byte, sizeof byte, MSG_DONTWAIT) >= 0) rang = true;
    return rang;
}

void vc_doorbell_ring(const vc_access *access, uint32_t generation, vc_direction direction, int from) {
    int own = from < 0 ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    if (from < 0 && own < 0) return;
    struct sockaddr_un name;
    socklen_t length = address(&name, access, generation, direction);
    // A full queue means that it has been rung for already; no socket, that nobody has the direction open.
    sendto(from < 0 ? own : from, "", 1, MSG_DONTWAIT, (struct sockaddr *)&name, length);
    if (own >= 0) close(own);
}
