// RealtimeKit: the desktop's way to real-time priority for who has no right to it. A service on the system bus that
// gives it to single threads, up to a priority of 20, of processes that have limited how long such a thread may run
// without sleeping.
//
// Spoken with through libdbus, which is loaded at run time: it is on every machine that has RealtimeKit, and servers
// need not have it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include "linux_realtime.h"

static const char service[] = "org.freedesktop.RealtimeKit1", path[] = "/org/freedesktop/RealtimeKit1";

// How long the service may take to answer, or the system to start it, milliseconds.
enum { ANSWER = 1000 };

// The part of libdbus's interface that is used, as dbus/dbus.h has it.
enum { BUS_SYSTEM = 1, TYPE_INVALID = 0, TYPE_STRING = 's', TYPE_INT32 = 'i', TYPE_INT64 = 'x', TYPE_UINT32 = 'u', TYPE_UINT64 = 't' };
typedef struct {
    const char *name, *message;
    unsigned int dummy;
    void *padding;
} bus_error;
// DBusMessageIter has 9 words; some are spared.
typedef struct {
    void *words[16];
} bus_iterator;

typedef struct {
    void (*error_init)(bus_error *);
    void (*error_free)(bus_error *);
    void *(*get_private)(int, bus_error *);
    void (*set_exit_on_disconnect)(void *, unsigned int);
    void (*close)(void *);
    void (*unref)(void *);
    void *(*new_call)(const char *, const char *, const char *, const char *);
    unsigned int (*append)(void *, int, ...);
    void *(*ask)(void *, void *, int, bus_error *);
    void (*message_unref)(void *);
    unsigned int (*iter_init)(void *, bus_iterator *);
    void (*iter_recurse)(bus_iterator *, bus_iterator *);
    int (*iter_type)(bus_iterator *);
    void (*iter_get)(bus_iterator *, void *);
} bus_library;

static int load(bus_library *bus) {
    // Never unloaded: it keeps threads' state of its own.
    void *handle = dlopen("libdbus-1.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return 0;
    struct {
        const char *name;
        void *function;
    } wanted[] = {
        {"dbus_error_init", &bus->error_init},
        {"dbus_error_free", &bus->error_free},
        {"dbus_bus_get_private", &bus->get_private},
        {"dbus_connection_set_exit_on_disconnect", &bus->set_exit_on_disconnect},
        {"dbus_connection_close", &bus->close},
        {"dbus_connection_unref", &bus->unref},
        {"dbus_message_new_method_call", &bus->new_call},
        {"dbus_message_append_args", &bus->append},
        {"dbus_connection_send_with_reply_and_block", &bus->ask},
        {"dbus_message_unref", &bus->message_unref},
        {"dbus_message_iter_init", &bus->iter_init},
        {"dbus_message_iter_recurse", &bus->iter_recurse},
        {"dbus_message_iter_get_arg_type", &bus->iter_type},
        {"dbus_message_iter_get_basic", &bus->iter_get},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *function = dlsym(handle, wanted[i].name);
        if (!function) return 0;
        memcpy(wanted[i].function, &function, sizeof function);
    }
    return 1;
}

// Sends `call` and gives its answer, or NULL. Takes the call.
static void *ask(const bus_library *bus, void *connection, void *call) {
    bus_error error;
    bus->error_init(&error);
    void *answer = bus->ask(connection, call, ANSWER, &error);
    bus->error_free(&error);
    bus->message_unref(call);
    return answer;
}

// A property that is a number; -1 where there is none.
static int64_t property(const bus_library *bus, void *connection, const char *name) {
    const char *interface = service;
    int64_t value = -1;
    void *call = bus->new_call(service, path, "org.freedesktop.DBus.Properties", "Get");
    if (!call) return value;
    bus->append(call, TYPE_STRING, &interface, TYPE_STRING, &name, TYPE_INVALID);
    void *answer = ask(bus, connection, call);
    if (!answer) return value;
    bus_iterator outer, inner;
    if (bus->iter_init(answer, &outer) && bus->iter_type(&outer) == 'v') {
        bus->iter_recurse(&outer, &inner);
        int32_t narrow = 0;
        if (bus->iter_type(&inner) == TYPE_INT32) {
            bus->iter_get(&inner, &narrow);
            value = narrow;
        } else if (bus->iter_type(&inner) == TYPE_INT64) {
            bus->iter_get(&inner, &value);
        }
    }
    bus->message_unref(answer);
    return value;
}

// What the service demands: that a real-time thread which never sleeps is ended by the kernel, and does not end the
// machine.
static int limit_running(int64_t microseconds) {
    struct rlimit limit;
    if (microseconds <= 0 || getrlimit(RLIMIT_RTTIME, &limit)) return 0;
    if (limit.rlim_max <= (rlim_t)microseconds) return 1;
    limit.rlim_max = (rlim_t)microseconds;
    if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_RTTIME, &limit) == 0;
}

int dv_scaled_priority(int priority, int highest) {
    if (priority < 1 || highest < 1) return 0;
    const int scaled = (priority * highest + 49) / 99;
    return scaled < 1 ? 1 : scaled > highest ? highest : scaled;
}

// The priority that was granted, 0 where it was refused, -1 where nobody answers.
static int negotiate(const bus_library *bus, void *connection, int64_t thread, int priority) {
    const int64_t highest = property(bus, connection, "MaxRealtimePriority");
    if (highest < 0) return -1;
    if (highest < 1 || highest > 99) return 0;
    if (!limit_running(property(bus, connection, "RTTimeUSecMax"))) return 0;
    const uint64_t identifier = (uint64_t)thread;
    const uint32_t granted = (uint32_t)dv_scaled_priority(priority, (int)highest);
    void *call = bus->new_call(service, path, service, "MakeThreadRealtime");
    if (!call) return 0;
    bus->append(call, TYPE_UINT64, &identifier, TYPE_UINT32, &granted, TYPE_INVALID);
    void *answer = ask(bus, connection, call);
    if (!answer) return 0;
    bus->message_unref(answer);
    return (int)granted;
}

int dv_ask_realtime_kit(int64_t thread, int priority) {
    static _Atomic int is_absent;
    if (atomic_load(&is_absent)) return 0;
    bus_library bus;
    bus_error error;
    if (!load(&bus)) return 0;
    bus.error_init(&error);
    void *connection = bus.get_private(BUS_SYSTEM, &error);
    bus.error_free(&error);
    if (!connection) return 0;
    // The library's own wish is to end the process when the bus does.
    bus.set_exit_on_disconnect(connection, 0);
    const int granted = negotiate(&bus, connection, thread, priority);
    bus.close(connection);
    bus.unref(connection);
    // Who is not there, or hangs, is not waited for again and again.
    if (granted < 0) atomic_store(&is_absent, 1);
    return granted < 0 ? 0 : granted;
}
