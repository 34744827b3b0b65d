#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "card.h"

typedef enum { WHOLE, NUMBER, WORD, TEXT } kind;

typedef struct {
    const char *name;
    kind kind;
    size_t place;
    double least, most, normal;
    const char *normal_text;
} parameter;

#define NEVER (-1.0)
#define LONGEST_S 1e7
#define AT(member) offsetof(vc_settings, member)

// The same names, in capitals, are the arguments in vcard.conf.
static const parameter parameters[] = {
    {"space", WORD, AT(space), 0, 0, 0, "-"},
    {"id", WORD, AT(id), 0, 0, 0, "0"},
    {"rate", WHOLE, AT(rate), 8000, 192000, 48000, NULL},
    {"virtual", WHOLE, AT(is_virtual), 0, 1, 0, NULL},
    {"ppm_playback", NUMBER, AT(ppm_playback), -5000, 5000, 0, NULL},
    {"ppm_capture", NUMBER, AT(ppm_capture), -5000, 5000, 0, NULL},
    {"delay_frames", WHOLE, AT(delay_frames), 0, 96000, 0, NULL},
    {"gain", NUMBER, AT(gain), -100, 100, 1, NULL},
    {"room", TEXT, AT(room), 0, 0, 0, ""},
    {"near", TEXT, AT(near), 0, 0, 0, ""},
    {"near_gain", NUMBER, AT(near_gain), -100, 100, 1, NULL},
    {"near_repeat", WHOLE, AT(near_repeat), 0, 1, 1, NULL},
    {"formats", TEXT, AT(formats), 0, 0, 0, "S16_LE/S32_LE/FLOAT_LE"},
    {"channels", TEXT, AT(channels), 0, 0, 0, "1/2"},
    {"period_frames", WHOLE, AT(period_frames), 0, 16384, 0, NULL},
    {"period_min", WHOLE, AT(period_min), 0, 16384, 0, NULL},
    {"period_max", WHOLE, AT(period_max), 0, 16384, 0, NULL},
    {"buffer_max", WHOLE, AT(buffer_max), 0, 65536, 0, NULL},
    {"granule_frames", WHOLE, AT(granule_frames), 0, 16384, 1, NULL},
    {"interrupts", WHOLE, AT(interrupts), 0, 1, 1, NULL},
    {"jitter_us", WHOLE, AT(jitter_us), 0, 1000000, 0, NULL},
    {"seed", WHOLE, AT(seed), 0, 2147483647, 1, NULL},
    {"setup_error", WHOLE, AT(setup_error), 0, 133, 0, NULL},
    {"setup_error_bits", WHOLE, AT(setup_error_bits), 0, 32, 0, NULL},
    {"start_delay_ms", WHOLE, AT(start_delay_ms), 0, 3600000, 0, NULL},
    {"unplug_after_s", NUMBER, AT(unplug_after_s), NEVER, LONGEST_S, NEVER, NULL},
    {"replug_after_s", NUMBER, AT(replug_after_s), NEVER, LONGEST_S, NEVER, NULL},
    {"stall_after_s", NUMBER, AT(stall_after_s), NEVER, LONGEST_S, NEVER, NULL},
    {"stall_ms", WHOLE, AT(stall_ms), 0, 3600000, 0, NULL},
    {"xrun_after_s", NUMBER, AT(xrun_after_s), NEVER, LONGEST_S, NEVER, NULL},
    {"xrun_at_write", WHOLE, AT(xrun_at_write), 0, 1000000, 0, NULL},
    {"jump_after_s", NUMBER, AT(jump_after_s), NEVER, LONGEST_S, NEVER, NULL},
    {"jump_frames", WHOLE, AT(jump_frames), -48000, 48000, 0, NULL},
};
enum { PARAMETERS = sizeof parameters / sizeof parameters[0] };

/// "PPM_CAPTURE", for error lines.
static const char *argument(const parameter *parameter, char text[32]) {
    size_t i = 0;
    for (; parameter->name[i] && i < 31; i++) text[i] = (char)toupper((unsigned char)parameter->name[i]);
    text[i] = 0;
    return text;
}

static const parameter *find(const char *name) {
    for (int i = 0; i < PARAMETERS; i++)
        if (!strcasecmp(parameters[i].name, name)) return &parameters[i];
    return NULL;
}

static void set_number(vc_settings *settings, const parameter *parameter, double value) {
    char *place = (char *)settings + parameter->place;
    if (parameter->kind == WHOLE)
        *(long *)(void *)place = (long)value;
    else
        *(double *)(void *)place = value;
}

static int set_text(vc_settings *settings, const parameter *parameter, const char *text) {
    char **place = (char **)(void *)((char *)settings + parameter->place);
    free(*place);
    *place = strdup(text);
    return *place ? 0 : -ENOMEM;
}

static int read_number(vc_settings *settings, const parameter *parameter, const char *text) {
    char *end, name[32];
    double value = strtod(text, &end);
    bool is_whole = parameter->kind == WHOLE;
    if (end == text || *end || !isfinite(value) || value < parameter->least || value > parameter->most ||
        (is_whole && value != floor(value))) {
        SNDERR("vcard: %s=%s: must be a %snumber from %.15g to %.15g", argument(parameter, name), text,
            is_whole ? "whole " : "", parameter->least, parameter->most);
        return -EINVAL;
    }
    set_number(settings, parameter, value);
    return 0;
}

static int read_word(vc_settings *settings, const parameter *parameter, const char *text) {
    size_t length = strlen(text);
    bool is_good = length <= VC_NAME_LIMIT;
    for (size_t i = 0; i < length; i++)
        is_good = is_good && (isalnum((unsigned char)text[i]) || text[i] == '-' || text[i] == '_');
    if (!is_good) {
        char name[32];
        SNDERR("vcard: %s=%s: must be 1 to %d letters, digits, - or _", argument(parameter, name), text, VC_NAME_LIMIT);
        return -EINVAL;
    }
    return set_text(settings, parameter, text);
}

static int read_parameter(vc_settings *settings, const parameter *parameter, snd_config_t *node) {
    char *text = NULL;
    if (snd_config_get_ascii(node, &text) < 0 || !text) {
        char name[32];
        SNDERR("vcard: %s: must be a text or a number", argument(parameter, name));
        return -EINVAL;
    }
    int error = 0;
    // An argument that was not given arrives empty.
    if (*text) {
        switch (parameter->kind) {
        case WHOLE:
        case NUMBER: error = read_number(settings, parameter, text); break;
        case WORD: error = read_word(settings, parameter, text); break;
        case TEXT: error = set_text(settings, parameter, text); break;
        }
    }
    free(text);
    return error;
}

static int check_together(const vc_settings *settings) {
    bool has_limits = settings->period_frames || settings->period_min || settings->period_max || settings->buffer_max;
    if (has_limits && (strchr(settings->formats, '/') || strchr(settings->channels, '/'))) {
        SNDERR("vcard: PERIOD_FRAMES, PERIOD_MIN, PERIOD_MAX and BUFFER_MAX need one of FORMATS and one of CHANNELS "
               "(now FORMATS=%s,CHANNELS=%s): libasound agrees on a plugin's periods in bytes",
            settings->formats, settings->channels);
        return -EINVAL;
    }
    if (settings->period_frames && (settings->period_min || settings->period_max)) {
        SNDERR("vcard: PERIOD_FRAMES=%ld is the only period there is; leave PERIOD_MIN and PERIOD_MAX out",
            settings->period_frames);
        return -EINVAL;
    }
    if (settings->period_max && settings->period_min > settings->period_max) {
        SNDERR("vcard: PERIOD_MIN=%ld is above PERIOD_MAX=%ld", settings->period_min, settings->period_max);
        return -EINVAL;
    }
    return 0;
}

int vc_settings_read(vc_settings *settings, snd_config_t *configuration) {
    int error = 0;
    memset(settings, 0, sizeof *settings);
    for (int i = 0; i < PARAMETERS && !error; i++) {
        if (parameters[i].normal_text)
            error = set_text(settings, &parameters[i], parameters[i].normal_text);
        else
            set_number(settings, &parameters[i], parameters[i].normal);
    }
    snd_config_iterator_t iterator, next;
    snd_config_for_each(iterator, next, configuration) {
        snd_config_t *node = snd_config_iterator_entry(iterator);
        const char *name;
        if (error || snd_config_get_id(node, &name) < 0) continue;
        if (!strcmp(name, "type") || !strcmp(name, "comment") || !strcmp(name, "hint")) continue;
        const parameter *parameter = find(name);
        if (!parameter) {
            SNDERR("vcard: there is no parameter %s; tools/virtual-card/README.md lists them", name);
            error = -EINVAL;
        } else {
            error = read_parameter(settings, parameter, node);
        }
    }
    if (!error) error = check_together(settings);
    if (error) vc_settings_free(settings);
    return error;
}

void vc_settings_free(vc_settings *settings) {
    for (int i = 0; i < PARAMETERS; i++) {
        if (!parameters[i].normal_text) continue;
        char **text = (char **)(void *)((char *)settings + parameters[i].place);
        free(*text);
        *text = NULL;
    }
}
