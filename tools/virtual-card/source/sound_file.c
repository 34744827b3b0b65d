#include "sound_file.h"

#include <alsa/asoundlib.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// WAV: RIFF chunks as in the IBM and Microsoft "Multimedia Programming Interface and Data Specifications 1.0";
// WAVE_FORMAT_EXTENSIBLE carries the format's number in the first two bytes of its subformat.
enum { WAV_PCM = 1, WAV_FLOAT = 3, WAV_EXTENSIBLE = 0xfffe };

typedef struct {
    const uint8_t *data;
    size_t bytes;
    bool is_float;
} encoded;

static uint32_t little(const uint8_t *at, int bytes) {
    uint32_t value = 0;
    for (int i = bytes - 1; i >= 0; i--) value = value << 8 | at[i];
    return value;
}

static int decode(vc_sound *sound, const encoded *from) {
    size_t width = from->is_float ? 4 : 2;
    sound->count = from->bytes / width;
    sound->samples = malloc((sound->count + 1) * sizeof *sound->samples);
    if (!sound->samples) return -ENOMEM;
    for (size_t i = 0; i < sound->count; i++) {
        uint32_t bits = little(from->data + i * width, (int)width);
        if (from->is_float)
            memcpy(&sound->samples[i], &bits, sizeof bits);
        else
            sound->samples[i] = (float)(int16_t)bits / 32768.0f;
    }
    return 0;
}

/// Why the format chunk at `at` cannot be used, or NULL.
static const char *objection(const uint8_t *at, size_t bytes, long rate, encoded *found) {
    if (bytes < 16) return "its format chunk is too short";
    uint32_t format = little(at, 2), bits = little(at + 14, 2);
    if (format == WAV_EXTENSIBLE && bytes >= 26) format = little(at + 24, 2);
    found->is_float = format == WAV_FLOAT;
    if (!(format == WAV_PCM && bits == 16) && !(format == WAV_FLOAT && bits == 32))
        return "it must be PCM of 16 bits or float of 32";
    if (little(at + 2, 2) != 1) return "it must have one channel";
    if ((long)little(at + 4, 4) != rate) return "its rate must be the card's RATE";
    return NULL;
}

/// Finds the samples. NULL, or what is wrong.
static const char *find_samples(const uint8_t *file, size_t bytes, long rate, encoded *found) {
    bool has_format = false;
    size_t at = 12;
    while (at + 8 <= bytes) {
        size_t size = little(file + at + 4, 4), rest = bytes - at - 8;
        const uint8_t *body = file + at + 8;
        if (size > rest) size = rest; // a writer that was stopped leaves a wrong size
        if (!memcmp(file + at, "fmt ", 4)) {
            const char *wrong = objection(body, size, rate, found);
            if (wrong) return wrong;
            has_format = true;
        } else if (!memcmp(file + at, "data", 4)) {
            found->data = body;
            found->bytes = size;
            return has_format ? NULL : "its format chunk is missing";
        }
        at += 8 + size + (size & 1);
    }
    return "it has no samples";
}

static int slurp(const char *path, uint8_t **bytes, size_t *count) {
    FILE *file = fopen(path, "rb");
    if (!file) return -errno;
    struct stat status;
    int error = fstat(fileno(file), &status) < 0 ? -errno : S_ISREG(status.st_mode) ? 0 : -EINVAL;
    if (!error) {
        *bytes = malloc((size_t)status.st_size + 1);
        if (!*bytes)
            error = -ENOMEM;
        else
            *count = fread(*bytes, 1, (size_t)status.st_size, file);
    }
    fclose(file);
    return error;
}

static bool has_suffix(const char *path, const char *suffix) {
    size_t length = strlen(path), tail = strlen(suffix);
    return length >= tail && !strcmp(path + length - tail, suffix);
}

int vc_sound_read(vc_sound *sound, const char *path, long rate) {
    uint8_t *file = NULL;
    size_t bytes = 0;
    int error = slurp(path, &file, &bytes);
    if (error) {
        SNDERR("vcard: %s: %s", path, snd_strerror(error));
        return error;
    }
    encoded found = {.data = file, .bytes = bytes, .is_float = !has_suffix(path, ".s16")};
    const char *wrong = NULL;
    if (bytes >= 12 && !memcmp(file, "RIFF", 4) && !memcmp(file + 8, "WAVE", 4))
        wrong = find_samples(file, bytes, rate, &found);
    else if (has_suffix(path, ".wav"))
        wrong = "it is not a WAV file";
    if (!wrong && found.bytes < 2) wrong = "it is empty";
    if (wrong) {
        SNDERR("vcard: %s: %s", path, wrong);
        error = -EINVAL;
    } else {
        error = decode(sound, &found);
    }
    free(file);
    return error;
}
