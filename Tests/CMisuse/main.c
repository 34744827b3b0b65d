// What a program may do wrong, against the library as it is installed; for sanitizers. Exits with 0 where every mistake gets its status.
#include <duplexvoice.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void expect(int status, int wanted, const char *what) {
    if (status == wanted) return;
    fprintf(stderr, "misuse: %s: %d (%s), not %d\n", what, status, dv_status_text(status), wanted);
    exit(1);
}

enum { FRAMES = 480, DESTROYED = 500 };
static _Atomic dv_processor shared;
static _Atomic int over;

// Any status may come, as the object may be in use, destroyed or made anew at any time.
static void *play(void *unused) {
    (void)unused;
    float sound[FRAMES] = {0};
    dv_processor_report report = {sizeof report};
    while (!atomic_load(&over)) {
        dv_status status = dv_processor_run(atomic_load(&shared), sound, NULL, sound, FRAMES);
        if (status != DV_OK && status != DV_BUSY && status != DV_INVALID_HANDLE) expect(status, DV_OK, "run beside others");
        // Leaves whoever destroys it a moment in which nobody is inside.
        usleep(20);
        status = dv_processor_get_report(atomic_load(&shared), &report);
        if (status != DV_OK && status != DV_BUSY && status != DV_INVALID_HANDLE) expect(status, DV_OK, "report beside others");
    }
    return NULL;
}

int main(void) {
    dv_processor_config config = {sizeof config, 48000};
    config.backend = DV_BACKEND_BYPASS;
    dv_processor processor = 1;
    dv_error error;
    float sound[FRAMES] = {0};

    expect(dv_version() == DV_VERSION, 1, "version");
    expect(dv_processor_create(NULL, NULL, &processor, &error), DV_INVALID_ARGUMENT, "no config");
    expect(processor == 0 && error.message[0] != 0, 1, "a failure leaves no handle and a sentence");
    expect(dv_processor_create(&config, NULL, NULL, NULL), DV_INVALID_ARGUMENT, "no place for the handle");
    config.size = 3;
    expect(dv_processor_create(&config, NULL, &processor, &error), DV_INVALID_SIZE, "size");
    config.size = sizeof config;
    config.sample_rate = 47999;
    expect(dv_processor_create(&config, NULL, &processor, &error), DV_INVALID_ARGUMENT, "rate");
    config.sample_rate = 48000;
    expect(dv_processor_run(0, sound, sound, sound, FRAMES), DV_INVALID_HANDLE, "null handle");
    expect(dv_processor_run(~UINT64_C(0), sound, sound, sound, FRAMES), DV_INVALID_HANDLE, "no handle");
    expect(dv_processor_create(&config, NULL, &processor, &error), DV_OK, "create");
    expect(dv_processor_run(processor, NULL, sound, sound, FRAMES), DV_INVALID_ARGUMENT, "no capture");
    expect(dv_processor_run(processor, sound, sound, NULL, FRAMES), DV_INVALID_ARGUMENT, "no output");
    expect(dv_processor_run(processor, sound, sound, sound, (size_t)-1), DV_INVALID_ARGUMENT, "too many frames");
    expect(dv_processor_run(processor + (UINT64_C(1) << 56), sound, sound, sound, FRAMES), DV_INVALID_HANDLE, "kind");
    expect(dv_processor_delay(processor, NULL), DV_INVALID_ARGUMENT, "no place for the delay");
    expect(dv_processor_get_report(processor, NULL), DV_INVALID_ARGUMENT, "no report");
    expect(dv_processor_destroy(processor), DV_OK, "destroy");
    expect(dv_processor_destroy(processor), DV_INVALID_HANDLE, "destroy twice");
    expect(dv_processor_run(processor, sound, sound, sound, FRAMES), DV_INVALID_HANDLE, "use after free");

    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, play, NULL);
    int destroyed = 0;
    while (destroyed < DESTROYED) {
        dv_processor old = atomic_load(&shared);
        if (old == 0) {
            expect(dv_processor_create(&config, NULL, &old, NULL), DV_OK, "create beside others");
            atomic_store(&shared, old);
        } else if (dv_processor_destroy(old) == DV_OK) {
            destroyed++;
            atomic_store(&shared, 0);
        }
    }
    while (atomic_load(&shared) != 0 && dv_processor_destroy(atomic_load(&shared)) != DV_OK) {}
    atomic_store(&over, 1);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("misuse: every mistake got its status; destroyed %d times under use\n", destroyed);
    return 0;
}
