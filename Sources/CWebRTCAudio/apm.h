// What webrtc_audio.cpp asks of either generation of the library.
#pragma once

#include <memory>

#include "webrtc_audio.h"

#if __has_include(<webrtc/modules/audio_processing/include/audio_processing.h>)
#define WEBRTC_AUDIO_CLASSIC 1
#elif __has_include(<api/audio/audio_processing.h>) || __has_include(<modules/audio_processing/include/audio_processing.h>)
#define WEBRTC_AUDIO_CONFIG 1
#else
#error "WebRTC's audio processing headers were not found: install libwebrtc-audio-processing-dev"
#endif

// An error code of the library, thrown inside and turned into a status at the border.
struct LibraryError {
    int code;
};

class Apm {
public:
    virtual ~Apm() = default;

    // Values are in range when these are called; they throw LibraryError or what the library throws.
    virtual void apply(const webrtc_audio_settings &settings) = 0;
    virtual void process(float *capture, const float *reference, int delay, webrtc_audio_report *report) = 0;
    // How often it has stopped the processing of all others.
    virtual int exclusions() const { return 0; }

    static std::unique_ptr<Apm> make(int rate, webrtc_audio_options options);
    // Whether the blocks after apply() allocate anew.
    static bool rebuildsOnApply();
    static bool hasEchoLevels();
    static const char *generation();
};

// The library signals errors by negative numbers; kBadStreamParameterWarning is one that went on all the same.
inline void check(int code) {
    constexpr int badStreamParameterWarning = -13;
    if (code != 0 && code != badStreamParameterWarning) throw LibraryError{code};
}
