#define _GNU_SOURCE
#define LATE_WEBSOCKETS_BY_NAME
#include "late_websockets.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "web_socket.h"

struct late_websockets late_websockets;
static bool is_loaded;

enum {
    // The numbers that its releases 4.0 to 4.4 and later have had; 17 is Debian 12's.
    FIRST_SONAME = 16,
    LAST_SONAME = 24,
};

#define TEXT(number) #number
#define VERSION(major, minor) TEXT(major) "." TEXT(minor)
static const char wanted[] = VERSION(LWS_LIBRARY_VERSION_MAJOR, LWS_LIBRARY_VERSION_MINOR);

const char *dv_web_version(void) { return wanted; }

// Its structures change with the second number of a version.
static bool is_like_header(void *library) {
    const char *(*version)(void);
    *(void **)&version = dlsym(library, "lws_get_library_version");
    if (!version) return false;
    const size_t length = sizeof wanted - 1;
    return strncmp(version(), wanted, length) == 0 && version()[length] == '.';
}

static void load(void) {
    for (int number = FIRST_SONAME; number <= LAST_SONAME && !is_loaded; number++) {
        char name[32];
        snprintf(name, sizeof name, "libwebsockets.so.%d", number);
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (!library) continue;
        if (!is_like_header(library)) {
            dlclose(library);
            continue;
        }
        is_loaded = true;
#define LATE_FIND(name) is_loaded = (*(void **)&late_websockets.name = dlsym(library, #name)) && is_loaded;
        LATE_WEBSOCKETS(LATE_FIND)
    }
    if (is_loaded) late_websockets.lws_set_log_level(0, NULL);
}

bool dv_web_is_installed(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded;
}

// Before 4.2 the library's initialisation of TLS, which each context had, took new numbers for what it keeps with
// OpenSSL's structures, for all of the process: a handshake under way on another thread failed, and the authorities of
// contexts made before were never freed. A host alone does TLS without it, and the numbers stay.
struct lws_context *dv_web_context(const struct lws_context_creation_info *info) {
    struct lws_context_creation_info host = *info;
    host.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
#if LWS_LIBRARY_VERSION_NUMBER < 4002000
    struct lws_context_creation_info bare = *info;
    bare.options |= LWS_SERVER_OPTION_EXPLICIT_VHOSTS;
    struct lws_context *context = late_websockets.lws_create_context(&bare);
    if (context && !late_websockets.lws_create_vhost(context, &host)) {
        late_websockets.lws_context_destroy(context);
        return NULL;
    }
    return context;
#else
    return late_websockets.lws_create_context(&host);
#endif
}
