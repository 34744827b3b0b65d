#define _GNU_SOURCE
#include "linux_realtime.h"
#include "breath.h"
#include "ordinary_thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t nanoseconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t dv_monotonic_nanoseconds(void) { return nanoseconds(CLOCK_MONOTONIC); }

int64_t dv_thread_cpu_nanoseconds(void) { return nanoseconds(CLOCK_THREAD_CPUTIME_ID); }

// MARK: Threads

struct dv_thread {
    pthread_t handle;
    dv_thread_body body;
    void *context;
    char name[16];
    pthread_mutex_t joining;
    int is_joined;  // guarded by `joining`
    // Between the thread's beginning and its body's, while a broker is asked.
    int awaits_broker;
    pid_t identifier;
    sem_t begun, settled;
};

// Which dv_thread the caller runs on. A pthread_t would not do: it is handed out anew once its thread has been joined.
static _Thread_local const dv_thread *current_thread;

// What the process was started with, by `nice` or a service manager, holds for this thread too. Its creator may be of a pool that
// gives its threads a niceness of their own, as libdispatch does. Best effort: more than the creator's takes CAP_SYS_NICE.
static void take_nice_of_process(void) {
    errno = 0;
    const int nice = getpriority(PRIO_PROCESS, (id_t)getpid());
    if (errno == 0) setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), nice);
}

static void *run(void *argument) {
    dv_thread *thread = argument;
    // After its body has begun a thread may free its own structure, so nothing of it is read later.
    const dv_thread_body body = thread->body;
    void *const context = thread->context;
    current_thread = thread;
    pthread_setname_np(pthread_self(), thread->name);
    take_nice_of_process();
    if (thread->awaits_broker) {
        thread->identifier = (pid_t)syscall(SYS_gettid);
        sem_post(&thread->begun);
        while (sem_wait(&thread->settled)) {
        }
    }
    body(context);
    return NULL;
}

// Signals are the main thread's business: a handler that runs on a capture thread costs it its deadline. Those that tell of a crash stay
// open, for else the kernel ends the process before a handler can print a backtrace.
static void block_signals(sigset_t *previous) {
    const int open[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
    sigset_t blocked;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) sigdelset(&blocked, open[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, previous);
}

static int create_realtime(dv_thread *thread, int priority) {
    pthread_attr_t attributes;
    struct sched_param parameters = {.sched_priority = priority};
    pthread_attr_init(&attributes);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    int error = pthread_attr_setschedparam(&attributes, &parameters);
    if (!error) error = pthread_create(&thread->handle, &attributes, run, thread);
    pthread_attr_destroy(&attributes);
    return error;
}

int dv_permitted_priority(int priority, int limit) { return priority < limit ? priority : limit; }

static int create(dv_thread *thread, int priority, int asks_kernel, dv_realtime_broker broker, dv_scheduling *granted) {
    if (priority > 0 && asks_kernel) {
        int taken = priority, error = create_realtime(thread, taken);
        const int permitted = dv_permitted_priority(priority, dv_realtime_priority_limit());
        if (error == EPERM && permitted > 0 && permitted < priority) {
            taken = permitted;
            error = create_realtime(thread, taken);
        }
        *granted = (dv_scheduling){.priority = error ? 0 : taken, .error = error};
        if (!error) return 0;
    } else if (priority > 0) {
        granted->error = EPERM;
    }
    thread->awaits_broker = broker && granted->error == EPERM;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    make_ordinary(&attributes);
    const int error = pthread_create(&thread->handle, &attributes, run, thread);
    pthread_attr_destroy(&attributes);
    if (error || !thread->awaits_broker) return error;
    while (sem_wait(&thread->begun)) {
    }
    granted->priority = broker(thread->identifier, priority);
    if (granted->priority > 0) granted->error = 0;
    sem_post(&thread->settled);
    return 0;
}

int dv_thread_start(
    dv_thread **out, const char *name, int priority, int asks_kernel, dv_realtime_broker broker, dv_thread_body body, void *context,
    dv_scheduling *granted) {
    dv_thread *thread = calloc(1, sizeof *thread);
    if (!thread) return ENOMEM;
    thread->body = body;
    thread->context = context;
    strncpy(thread->name, name, sizeof thread->name - 1);
    pthread_mutex_init(&thread->joining, NULL);
    sem_init(&thread->begun, 0, 0);
    sem_init(&thread->settled, 0, 0);
    *granted = (dv_scheduling){0, 0};

    sigset_t previous;
    block_signals(&previous);
    const int error = create(thread, priority, asks_kernel, broker, granted);
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    if (error) {
        pthread_mutex_destroy(&thread->joining);
        free(thread);
        return error;
    }
    *out = thread;
    return 0;
}

void dv_thread_join(dv_thread *thread) {
    if (current_thread == thread) return;
    pthread_mutex_lock(&thread->joining);
    if (!thread->is_joined) pthread_join(thread->handle, NULL);
    thread->is_joined = 1;
    pthread_mutex_unlock(&thread->joining);
}

int dv_thread_is_current(void) { return current_thread != NULL; }

void dv_thread_free(dv_thread *thread) {
    if (current_thread == thread) {
        current_thread = NULL;
        pthread_detach(thread->handle);
    } else {
        dv_thread_join(thread);
    }
    pthread_mutex_destroy(&thread->joining);
    free(thread);
}

// Being root is not enough: a container's root has no capability that was not left to it.
static int has_capability(int capability) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (syscall(SYS_capget, &header, data)) return 0;
    return (data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability)) != 0;
}

int64_t dv_memory_lock_limit(void) {
    struct rlimit limit;
    if (has_capability(CAP_IPC_LOCK)) return INT64_MAX;
    if (getrlimit(RLIMIT_MEMLOCK, &limit)) return 0;
    return limit.rlim_cur == RLIM_INFINITY ? INT64_MAX : (int64_t)limit.rlim_cur;
}

int dv_lock_memory(void) {
    if (dv_memory_lock_limit() != INT64_MAX) return EPERM;
    return mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) ? errno : 0;
}

int dv_realtime_priority_limit(void) {
    struct rlimit limit;
    if (has_capability(CAP_SYS_NICE)) return 99;
    if (getrlimit(RLIMIT_RTPRIO, &limit)) return 0;
    return limit.rlim_cur > 99 ? 99 : (int)limit.rlim_cur;
}

// MARK: Memory

static _Thread_local int lock_refusal;

// Locks memory that was touched, where the limit allows it.
static void lock_pages(void *memory, size_t bytes) {
    if (mlock(memory, bytes)) lock_refusal = errno;
}

int dv_take_lock_refusal(void) {
    const int refusal = lock_refusal;
    lock_refusal = 0;
    return refusal;
}

void *dv_pages_map(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    lock_pages(memory, bytes);
    return memory;
}

void dv_pages_unmap(void *memory, size_t bytes) { munmap(memory, bytes); }

size_t dv_page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

void *dv_mirrored_map(size_t bytes) {
    int file = memfd_create("duplexvoice-ring", MFD_CLOEXEC);
    if (file < 0) return NULL;
    void *result = NULL;
    if (ftruncate(file, (off_t)bytes) == 0) {
        char *address = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (address != MAP_FAILED) {
            const int flags = MAP_SHARED | MAP_FIXED | MAP_POPULATE;
            if (mmap(address, bytes, PROT_READ | PROT_WRITE, flags, file, 0) != MAP_FAILED &&
                mmap(address + bytes, bytes, PROT_READ | PROT_WRITE, flags, file, 0) != MAP_FAILED) {
                // Through both mappings, so that neither has a page fault left.
                memset(address, 0, 2 * bytes);
                lock_pages(address, 2 * bytes);
                result = address;
            } else {
                munmap(address, 2 * bytes);
            }
        }
    }
    int error = errno;
    close(file);
    errno = error;
    return result;
}

void dv_mirrored_unmap(void *memory, size_t bytes) { munmap(memory, 2 * bytes); }

// MARK: Waking

int dv_event_create(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

void dv_event_close(int event) { close(event); }

void dv_event_signal(int event) {
    const uint64_t one = 1;
    dv_watch_pause();
    ssize_t written = write(event, &one, sizeof one);
    dv_watch_resume();
    (void)written;  // EAGAIN means that the counter is full, and so that the event is signalled already.
}

// In nanoseconds: how long a thread may run without a sleep, how long it then sleeps, and what took longer than any wait that found
// something to do.
enum { LONGEST_RUN = 50000000, BREATH = 500000, SLEEP = 100000 };

void dv_breathe(int64_t before) {
    static _Thread_local int64_t slept_at;
    if (!dv_thread_is_current()) return;
    const int64_t now = dv_monotonic_nanoseconds();
    if (now - before > SLEEP || slept_at == 0) slept_at = now;
    if (now - slept_at < LONGEST_RUN) return;
    const int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    const struct timespec breath = {0, BREATH};
    if (policy == SCHED_FIFO || policy == SCHED_RR) clock_nanosleep(CLOCK_MONOTONIC, 0, &breath, NULL);
    slept_at = dv_monotonic_nanoseconds();
}

int dv_event_wait(int event, int64_t timeout_nanoseconds) {
    struct pollfd descriptor = {.fd = event, .events = POLLIN};
    const int64_t start = dv_monotonic_nanoseconds();
    for (;;) {
        int64_t left = 0;
        if (timeout_nanoseconds > 0) {
            const int64_t waited = dv_monotonic_nanoseconds() - start;
            left = waited < timeout_nanoseconds ? timeout_nanoseconds - waited : 0;
        }
        const struct timespec timeout = {left / 1000000000, left % 1000000000};
        const int ready = ppoll(&descriptor, 1, timeout_nanoseconds < 0 ? NULL : &timeout, NULL);
        // A signal handler that ran meanwhile is no reason to wake.
        if (ready < 0 && errno == EINTR) continue;
        dv_breathe(start);
        uint64_t count;
        return ready == 1 && read(event, &count, sizeof count) == sizeof count;
    }
}

// MARK: Watching

typedef void (*watcher)(void);
typedef void (*notifier)(const char *function);
enum { RTSAN, RTWATCH, WATCHERS };
static _Atomic(watcher) enter[WATCHERS], leave[WATCHERS], pause_watch, resume_watch;
static _Atomic(notifier) notify;

// The second of a pair is stored first: whoever finds the first finds the second.
static void prepare_pair(_Atomic(watcher) *first, const char *first_name, _Atomic(watcher) *second, const char *second_name) {
    watcher in = (watcher)dlsym(RTLD_DEFAULT, first_name), out = (watcher)dlsym(RTLD_DEFAULT, second_name);
    if (!in || !out) return;
    atomic_store(second, out);
    atomic_store(first, in);
}

void dv_watch_prepare(void) {
    prepare_pair(&enter[RTSAN], "__rtsan_realtime_enter", &leave[RTSAN], "__rtsan_realtime_exit");
    prepare_pair(&enter[RTWATCH], "rtwatch_enter", &leave[RTWATCH], "rtwatch_exit");
    prepare_pair(&pause_watch, "__rtsan_disable", &resume_watch, "__rtsan_enable");
    atomic_store(&notify, (notifier)dlsym(RTLD_DEFAULT, "__rtsan_notify_intercepted_call"));
}

static void call(_Atomic(watcher) *function) {
    watcher known = atomic_load_explicit(function, memory_order_acquire);
    if (known) known();
}

void dv_realtime_enter(void) {
    for (int i = 0; i < WATCHERS; i++) call(&enter[i]);
}

void dv_realtime_exit(void) {
    for (int i = 0; i < WATCHERS; i++) call(&leave[i]);
}

void dv_watch_pause(void) { call(&pause_watch); }

void dv_watch_resume(void) { call(&resume_watch); }

void dv_watch_notify(const char *function) {
    notifier known = atomic_load_explicit(&notify, memory_order_acquire);
    if (known) known(function);
}

static _Atomic(dv_allocation_counter) allocation_counter;

void dv_set_allocation_counter(dv_allocation_counter counter) { atomic_store(&allocation_counter, counter); }

int64_t dv_thread_allocations(void) {
    dv_allocation_counter counter = atomic_load(&allocation_counter);
    return counter ? counter() : -1;
}
