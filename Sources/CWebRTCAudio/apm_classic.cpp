// libwebrtc-audio-processing 0.3: components with setters of their own.
#include "apm.h"

#if WEBRTC_AUDIO_CLASSIC

#include <webrtc/modules/audio_processing/include/audio_processing.h>
#include <webrtc/modules/interface/module_common_types.h>

#include <vector>

#include "exclusion.h"

namespace {

using webrtc::AudioProcessing;
using webrtc::EchoCancellation;
using webrtc::StreamConfig;

// The library's "no value yet" in an echo metric, dB.
constexpr int noMetric = -100;

class ClassicApm final : public Apm {
public:
    ClassicApm(int rate, webrtc_audio_options options) : stream(rate, 1), rendered(rate / 100) {
        webrtc::Config config;
        config.Set<webrtc::ExtendedFilter>(new webrtc::ExtendedFilter(options.extended_filter));
        config.Set<webrtc::DelayAgnostic>(new webrtc::DelayAgnostic(options.delay_agnostic));
        // The analog gain controller's helper moves a microphone volume that we do not have.
        config.Set<webrtc::ExperimentalAgc>(new webrtc::ExperimentalAgc(false));
        apm.reset(AudioProcessing::Create(config));
        if (!apm) throw std::bad_alloc();
        webrtc::ProcessingConfig streams;
        for (auto &each : streams.streams) each = stream;
        check(apm->Initialize(streams));
        check(apm->echo_cancellation()->enable_metrics(true));
        check(apm->echo_cancellation()->enable_delay_logging(true));
        makeCanceller();
    }

    // The level is set first, so that a canceller that is switched on starts with it.
    void apply(const webrtc_audio_settings &s) override {
        auto *echo = apm->echo_cancellation();
        if (s.echo) check(echo->set_suppression_level(static_cast<EchoCancellation::SuppressionLevel>(s.echo - 1)));
        if (echo->is_enabled() != (s.echo != 0)) check(echo->Enable(s.echo != 0));
        auto *highPass = apm->high_pass_filter();
        if (highPass->is_enabled() != s.high_pass) check(highPass->Enable(s.high_pass));
        active = s;
    }

    void process(float *capture, const float *reference, int delay, webrtc_audio_report *report) override {
        exclusion.processing([&] { processBlock(capture, reference, delay, report); });
    }

    int exclusions() const override { return exclusion.count(); }

private:
    // The library keeps the choice between its plain and its SSE2 routines in process-wide function pointers, and sets
    // them anew, first to plain and then to SSE2, whenever it makes a canceller (WebRtcAec_CreateAec, aec_rdft_init),
    // which it does when one is first switched on and at no other time. An instance that processes meanwhile would
    // round differently for a block: inaudible, but a data race, and no two runs would be the same. So that one step
    // stops all processing.
    void makeCanceller() {
        exclusion.alone([&] { check(apm->echo_cancellation()->Enable(true)); });
    }

    void processBlock(float *capture, const float *reference, int delay, webrtc_audio_report *report) {
        if (active.echo) {
            const float *from[] = {reference};
            float *to[] = {rendered.data()};
            check(apm->ProcessReverseStream(from, stream, stream, to));
            check(apm->set_stream_delay_ms(delay));
        }
        const float *from[] = {capture};
        float *to[] = {capture};
        check(apm->ProcessStream(from, stream, stream, to));
        if (report && active.echo) describe(*apm->echo_cancellation(), *report);
    }

    static void describe(EchoCancellation &echo, webrtc_audio_report &report) {
        report.may_have_echo = echo.stream_has_echo();
        EchoCancellation::Metrics metrics;
        if (echo.GetMetrics(&metrics) == 0) {
            auto known = [](const AudioProcessing::Statistic &s) { return s.instant > noMetric; };
            if (known(metrics.echo_return_loss)) report.echo_return_loss = metrics.echo_return_loss.instant;
            if (known(metrics.echo_return_loss_enhancement))
                report.echo_enhancement = metrics.echo_return_loss_enhancement.instant;
        }
        int median = -1, deviation = -1;
        float poor = -1;
        if (echo.GetDelayMetrics(&median, &deviation, &poor) == 0) {
            if (median >= 0) report.delay_median = median;
            if (deviation >= 0) report.delay_deviation = deviation;
            if (poor >= 0) report.poor_delay_fraction = poor;
        }
    }

    Exclusion exclusion;
    StreamConfig stream;
    std::vector<float> rendered;  // ProcessReverseStream writes the reference somewhere; nobody reads it
    std::unique_ptr<AudioProcessing> apm;
    webrtc_audio_settings active{};
};

}  // namespace

std::unique_ptr<Apm> Apm::make(int rate, webrtc_audio_options options) {
    return std::make_unique<ClassicApm>(rate, options);
}

bool Apm::rebuildsOnApply() { return false; }

bool Apm::hasEchoLevels() { return true; }

const char *Apm::generation() { return "0.3"; }

#endif
