#include "CRNNoise.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct crnn_library {
    void *handle;
    int frame_size;
    void *(*create)(void *model);
    float (*process)(void *state, float *output, const float *input);
    void (*destroy)(void *state);
};

static void *open_handle(const char *path) {
    // The library's own names for itself must not meet others in this process.
    const int flags = RTLD_NOW | RTLD_LOCAL;
    if (path) return dlopen(path, flags);
    void *handle = dlopen("librnnoise.so.0", flags);
    return handle ? handle : dlopen("librnnoise.so", flags);
}

crnn_library *crnn_open(const char *path, char *reason, size_t size) {
    void *handle = open_handle(path);
    if (!handle) {
        const char *why = dlerror();
        snprintf(reason, size, "%s", why ? why : "it cannot be loaded");
        return NULL;
    }
    crnn_library *made = calloc(1, sizeof *made);
    if (made) {
        // POSIX lets an object's address be a function's where it comes from dlsym.
        int (*frame_size)(void) = (int (*)(void))dlsym(handle, "rnnoise_get_frame_size");
        made->handle = handle;
        made->create = (void *(*)(void *))dlsym(handle, "rnnoise_create");
        made->process = (float (*)(void *, float *, const float *))dlsym(handle, "rnnoise_process_frame");
        made->destroy = (void (*)(void *))dlsym(handle, "rnnoise_destroy");
        // Before 0.2 every frame had 480 samples and nobody could ask.
        made->frame_size = frame_size ? frame_size() : 480;
        if (made->create && made->process && made->destroy) return made;
    }
    snprintf(reason, size, "%s", made ? "it lacks functions of RNNoise's" : "out of memory");
    free(made);
    dlclose(handle);
    return NULL;
}

void crnn_close(crnn_library *library) {
    dlclose(library->handle);
    free(library);
}

int crnn_frame_size(const crnn_library *library) { return library->frame_size; }

void *crnn_create(const crnn_library *library) { return library->create(NULL); }

void crnn_destroy(const crnn_library *library, void *suppressor) { library->destroy(suppressor); }

float crnn_process(const crnn_library *library, void *suppressor, float *output, const float *input) {
    return library->process(suppressor, output, input);
}
