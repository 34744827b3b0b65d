#define _GNU_SOURCE
#include "late_pcap.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

static struct late_pcap functions;
static bool is_loaded;

static bool find(void *library, const char *name, void *place) {
    void *function = dlsym(library, name);
    *(void **)place = function;
    return function != NULL;
}

static void load(void) {
    // The names that Debian and the others give it.
    void *library = dlopen("libpcap.so.0.8", RTLD_NOW | RTLD_LOCAL);
    if (!library) library = dlopen("libpcap.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    is_loaded = find(library, "pcap_open_offline_with_tstamp_precision", &functions.open_offline)
        && find(library, "pcap_datalink", &functions.datalink) && find(library, "pcap_next_ex", &functions.next)
        && find(library, "pcap_geterr", &functions.error) && find(library, "pcap_close", &functions.close);
}

const struct late_pcap *late_pcap(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded ? &functions : NULL;
}
