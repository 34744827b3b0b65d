// libwebrtc-audio-processing 1.x and 2.x: AudioProcessing::Config and AEC3.
//
// Tried: compiled and run against the AEC3 of Debian's libtgowt-dev (WebRTC of 2023). Not tried: the 1.x and 2.x
// packages themselves, which Debian 12 does not have. Where their versions differ (scoped_refptr or raw pointer from
// Create(), absl or std optional) the code asks the types.
//
// Allocation, counted against libtgowt: 4 in the first seconds of webrtc_audio_process with a far end, 7 or more in
// each webrtc_audio_apply (a log line is built even when nobody reads it), about 1500 when the canceller is switched
// on.
#include "apm.h"

#if WEBRTC_AUDIO_CONFIG

#if __has_include(<api/audio/audio_processing.h>)
#include <api/audio/audio_processing.h>
#else
#include <modules/audio_processing/include/audio_processing.h>
#endif
#if __has_include(<api/scoped_refptr.h>)
#include <api/scoped_refptr.h>
#endif

#include <vector>

namespace {

using webrtc::AudioProcessing;
using webrtc::AudioProcessingBuilder;
using webrtc::StreamConfig;
using Config = AudioProcessing::Config;

class ConfigApm final : public Apm {
public:
    explicit ConfigApm(int rate) : stream(rate, 1), rendered(rate / 100), apm(AudioProcessingBuilder().Create()) {
        if (!apm) throw std::bad_alloc();
    }

    // The library compares with its own copy and reinitialises only the parts that changed.
    void apply(const webrtc_audio_settings &s) override {
        Config config;
        config.echo_canceller.enabled = s.echo != 0;
        config.high_pass_filter.enabled = s.high_pass;
        apm->ApplyConfig(config);
        active = s;
    }

    void process(float *capture, const float *reference, int delay, webrtc_audio_report *report) override {
        if (active.echo) {
            const float *from[] = {reference};
            float *to[] = {rendered.data()};
            check(apm->ProcessReverseStream(from, stream, stream, to));
            check(apm->set_stream_delay_ms(delay));
        }
        const float *from[] = {capture};
        float *to[] = {capture};
        check(apm->ProcessStream(from, stream, stream, to));
        if (!report || !active.echo) return;
        auto statistics = apm->GetStatistics();
        if (statistics.echo_return_loss) report->echo_return_loss = *statistics.echo_return_loss;
        if (statistics.echo_return_loss_enhancement) report->echo_enhancement = *statistics.echo_return_loss_enhancement;
        if (statistics.delay_median_ms)
            report->delay_median = *statistics.delay_median_ms;
        else if (statistics.delay_ms)
            report->delay_median = *statistics.delay_ms;
        if (statistics.delay_standard_deviation_ms) report->delay_deviation = *statistics.delay_standard_deviation_ms;
        if (statistics.residual_echo_likelihood) report->residual_echo = *statistics.residual_echo_likelihood;
    }

private:
    StreamConfig stream;
    std::vector<float> rendered;
    rtc::scoped_refptr<AudioProcessing> apm;
    webrtc_audio_settings active{};
};

}  // namespace

std::unique_ptr<Apm> Apm::make(int rate, webrtc_audio_options) { return std::make_unique<ConfigApm>(rate); }

bool Apm::rebuildsOnApply() { return true; }

bool Apm::hasEchoLevels() { return false; }

const char *Apm::generation() { return "AEC3"; }

#endif
