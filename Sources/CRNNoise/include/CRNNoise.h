// RNNoise where it is installed: found at run time, so that nothing here needs it to be built.
//
// The library's interface is public (rnnoise.h of xiph.org's rnnoise, BSD): frames of 10 ms at 48 kHz, float samples on
// the scale of 16 bits, output one or two frames after the input.

#ifndef CRNNOISE_H
#define CRNNOISE_H

#include <stddef.h>

/// A loaded library. Nothing changes in it once it is open: any thread may use it.
typedef struct crnn_library crnn_library;

/// Loads the library; NULL where that fails, with the reason in `reason`, cut to `size` bytes with the final zero.
/// Allocates, and reads files: not for a real-time thread.
///
/// path: the library's file; NULL for librnnoise.so.0 or librnnoise.so where the dynamic linker looks.
crnn_library *_Nullable crnn_open(const char *_Nullable path, char *_Nonnull reason, size_t size);

/// Gives the library back, after all of its suppressors.
void crnn_close(crnn_library *_Nonnull library);

/// Samples in a frame.
int crnn_frame_size(const crnn_library *_Nonnull library);

/// Makes a suppressor with the library's built-in model; NULL where that fails. Allocates.
void *_Nullable crnn_create(const crnn_library *_Nonnull library);

/// Gives a suppressor back.
void crnn_destroy(const crnn_library *_Nonnull library, void *_Nonnull suppressor);

/// Suppresses a frame's noise and returns the probability, 0...1, that there is speech in it. The library allocates
/// nothing here.
float crnn_process(
    const crnn_library *_Nonnull library, void *_Nonnull suppressor, float *_Nonnull output, const float *_Nonnull input);

#endif
