// Keeps all instances from processing while one of them does what the library may not do beside them.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

// A mutex whose owner runs with the priority of whoever waits for it, so that a real-time thread never waits for a
// thread that is not running.
class InheritingMutex {
public:
    InheritingMutex() {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
        const bool failed = pthread_mutex_init(&mutex, &attributes) != 0;
        pthread_mutexattr_destroy(&attributes);
        if (failed) throw std::bad_alloc();
    }
    ~InheritingMutex() { pthread_mutex_destroy(&mutex); }
    InheritingMutex(const InheritingMutex &) = delete;
    InheritingMutex &operator=(const InheritingMutex &) = delete;

    void lock() { pthread_mutex_lock(&mutex); }
    void unlock() { pthread_mutex_unlock(&mutex); }

private:
    pthread_mutex_t mutex;
};

// One instance's part. It holds its own mutex while it processes, which costs an uncontended lock and excludes nobody
// else; an exclusive section holds all. A shared mutex would do the same, but has no owner who could inherit a priority
// while it is shared.
class Exclusion {
public:
    Exclusion() {
        std::lock_guard<InheritingMutex> guard(registry().mutex);
        registry().members.push_back(this);
    }
    ~Exclusion() {
        std::lock_guard<InheritingMutex> guard(registry().mutex);
        auto &members = registry().members;
        members.erase(std::find(members.begin(), members.end(), this));
    }
    Exclusion(const Exclusion &) = delete;
    Exclusion &operator=(const Exclusion &) = delete;

    template <typename Body> void processing(Body body) {
        std::lock_guard<InheritingMutex> guard(own);
        body();
    }

    // No instance processes meanwhile. Whoever is processing is waited for, a block at most.
    template <typename Body> void alone(Body body) {
        std::lock_guard<InheritingMutex> guard(registry().mutex);
        struct Members {
            std::vector<Exclusion *> &members;
            explicit Members(std::vector<Exclusion *> &all) : members(all) { for (auto *each : members) each->own.lock(); }
            ~Members() { for (auto *each : members) each->own.unlock(); }
        } held(registry().members);
        sections++;
        body();
    }

    // How often this instance excluded the others.
    int count() const { return sections; }

private:
    struct Registry {
        InheritingMutex mutex;
        std::vector<Exclusion *> members;
    };
    static Registry &registry() {
        static auto *registry = new Registry;  // outlives every instance
        return *registry;
    }

    InheritingMutex own;
    int sections = 0;
};
