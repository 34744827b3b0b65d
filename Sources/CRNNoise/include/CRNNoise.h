// RNNoise where it is installed: found at run time, so that nothing here needs it to be built.
//
// The library's interface is public (rnnoise.h of xiph.org's rnnoise, BSD): frames of 10 ms at 48 kHz, float samples on the scale of
// 16 bits, output one frame after the input.

#ifndef CRNNOISE_H
#define CRNNOISE_H

#include <stddef.h>

/// A loaded library with one suppressor.
typedef struct crnn_suppressor crnn_suppressor;

/// Loads the library and makes a suppressor with its built-in model; NULL where that fails, with the reason in `reason`, cut to `size` bytes
/// with the final zero. Allocates.
///
/// path: the library's file; NULL for librnnoise.so.0 or librnnoise.so where the dynamic linker looks.
crnn_suppressor *_Nullable crnn_create(const char *_Nullable path, char *_Nonnull reason, size_t size);

/// Gives everything back, NULL included.
void crnn_destroy(crnn_suppressor *_Nullable suppressor);

/// Samples in a frame.
int crnn_frame_size(const crnn_suppressor *_Nonnull suppressor);

/// Suppresses a frame's noise and returns the probability, 0...1, that there is speech in it. The library allocates nothing here.
float crnn_process(crnn_suppressor *_Nonnull suppressor, float *_Nonnull output, const float *_Nonnull input);

#endif
