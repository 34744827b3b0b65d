#include "exclusion_probe.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "exclusion.h"

namespace {

// Looks for 20 s: far longer than a thread takes to come to its lock.
constexpr int looks = 20000;

// What a sleeping thread waits for: proc_pid_syscall(5) has the call's number and its arguments.
exclusion_wait waiting(int thread) {
    char path[64], text[256];
    std::snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread);
    for (int look = 0; look < looks; look++, usleep(1000)) {
        const int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) return EXCLUSION_UNKNOWN;
        const ssize_t count = read(file, text, sizeof text - 1);
        close(file);
        if (count <= 0) return EXCLUSION_UNKNOWN;
        text[count] = 0;
        long number = -1;
        unsigned long word = 0, operation = 0;
        if (std::sscanf(text, "%ld %lx %lx", &number, &word, &operation) < 3 || number != SYS_futex) continue;
        const int command = static_cast<int>(operation) & FUTEX_CMD_MASK;
        // FUTEX_LOCK_PI2 is 13, and not in every system's headers.
        return command == FUTEX_LOCK_PI || command == 13 ? EXCLUSION_INHERITED : EXCLUSION_PLAIN;
    }
    return EXCLUSION_UNKNOWN;
}

// How a thread waits that runs `body` while another instance excludes all others.
template <typename Body> exclusion_wait behind(Body body) {
    Exclusion first, second;
    std::atomic<int> thread{0};
    exclusion_wait result = EXCLUSION_UNKNOWN;
    std::thread waiter;
    first.alone([&] {
        waiter = std::thread([&] {
            thread = static_cast<int>(gettid());
            body(second);
        });
        while (!thread) usleep(1000);
        result = waiting(thread);
    });
    waiter.join();
    return result;
}

}  // namespace

exclusion_wait exclusion_processing_wait(void) {
    return behind([](Exclusion &instance) { instance.processing([] {}); });
}

exclusion_wait exclusion_alone_wait(void) {
    return behind([](Exclusion &instance) { instance.alone([] {}); });
}
