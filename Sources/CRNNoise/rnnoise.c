#include "CRNNoise.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct crnn_suppressor {
    void *library;
    void *state;
    int frame_size;
    float (*process)(void *state, float *output, const float *input);
    void (*destroy)(void *state);
};

static void *open_library(const char *path) {
    // The library's own names for itself must not meet others in this process.
    const int flags = RTLD_NOW | RTLD_LOCAL;
    if (path) return dlopen(path, flags);
    void *library = dlopen("librnnoise.so.0", flags);
    return library ? library : dlopen("librnnoise.so", flags);
}

crnn_suppressor *crnn_create(const char *path, char *reason, size_t size) {
    void *library = open_library(path);
    if (!library) {
        const char *why = dlerror();
        snprintf(reason, size, "%s", why ? why : "it cannot be loaded");
        return NULL;
    }
    // POSIX lets an object's address be a function's where it comes from dlsym.
    void *(*create)(void *model) = (void *(*)(void *))dlsym(library, "rnnoise_create");
    int (*frame_size)(void) = (int (*)(void))dlsym(library, "rnnoise_get_frame_size");
    crnn_suppressor *made = calloc(1, sizeof *made);
    if (made) {
        made->library = library;
        made->process = (float (*)(void *, float *, const float *))dlsym(library, "rnnoise_process_frame");
        made->destroy = (void (*)(void *))dlsym(library, "rnnoise_destroy");
        // Before 0.2 every frame had 480 samples and nobody could ask.
        made->frame_size = frame_size ? frame_size() : 480;
    }
    if (!made || !create || !made->process || !made->destroy) {
        snprintf(reason, size, "%s", made ? "it lacks functions of RNNoise's" : "out of memory");
    } else if (!(made->state = create(NULL))) {
        snprintf(reason, size, "rnnoise_create failed");
    } else {
        return made;
    }
    free(made);
    dlclose(library);
    return NULL;
}

void crnn_destroy(crnn_suppressor *suppressor) {
    if (!suppressor) return;
    suppressor->destroy(suppressor->state);
    dlclose(suppressor->library);
    free(suppressor);
}

int crnn_frame_size(const crnn_suppressor *suppressor) { return suppressor->frame_size; }

float crnn_process(crnn_suppressor *suppressor, float *output, const float *input) {
    return suppressor->process(suppressor->state, output, input);
}
