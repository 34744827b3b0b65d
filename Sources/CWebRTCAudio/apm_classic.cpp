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
using webrtc::GainControl;
using webrtc::NoiseSuppression;
using webrtc::StreamConfig;
using webrtc::VoiceDetection;

// The library's "no value yet" in an echo metric, dB.
constexpr int noMetric = -100;

class ClassicApm final : public Apm {
public:
    ClassicApm(int rate, const webrtc_audio_settings &settings) : stream(rate, 1), rendered(rate / 100) {
        for (int each = 0; each < 4; each++) {
            options[each].Set<webrtc::ExtendedFilter>(new webrtc::ExtendedFilter(each & 1));
            options[each].Set<webrtc::DelayAgnostic>(new webrtc::DelayAgnostic(each & 2));
            // The analog gain controller's helper moves a microphone volume that we do not have.
            options[each].Set<webrtc::ExperimentalAgc>(new webrtc::ExperimentalAgc(false));
        }
        apm.reset(AudioProcessing::Create(option(settings)));
        if (!apm) throw std::bad_alloc();
        webrtc::ProcessingConfig streams;
        for (auto &each : streams.streams) each = stream;
        check(apm->Initialize(streams));
        check(apm->echo_cancellation()->enable_metrics(true));
        check(apm->echo_cancellation()->enable_delay_logging(true));
        makeCanceller();
        active = settings;
        set(settings);
    }

    void apply(const webrtc_audio_settings &settings) override {
        // The two flags of `options` are not component setters. Changing them resets nothing.
        if (settings.extended_filter != active.extended_filter || settings.delay_agnostic != active.delay_agnostic)
            apm->SetExtraOptions(option(settings));
        set(settings);
        active = settings;
    }

    void process(float *capture, const float *reference, int delay, webrtc_audio_report *report) override {
        exclusion.processing([&] { processBlock(capture, reference, delay, report); });
    }

    int exclusions() const override { return exclusion.count(); }

private:
    // The library keeps the choice between its plain and its SSE2 routines in process-wide function pointers, and sets them anew, first to
    // plain and then to SSE2, whenever it makes a canceller (WebRtcAec_CreateAec, aec_rdft_init), which it does when one is first switched on
    // and at no other time. An instance that processes meanwhile would round differently for a block: inaudible, but a data race, and no two
    // runs would be the same. So that one step stops all processing.
    void makeCanceller() {
        exclusion.alone([&] { check(apm->echo_cancellation()->Enable(true)); });
    }

    void processBlock(float *capture, const float *reference, int delay, webrtc_audio_report *report) {
        auto *echo = apm->echo_cancellation();
        if (active.echo) {
            const float *from[] = {reference};
            float *to[] = {rendered.data()};
            check(apm->ProcessReverseStream(from, stream, stream, to));
            check(apm->set_stream_delay_ms(delay));
        }
        const float *from[] = {capture};
        float *to[] = {capture};
        check(apm->ProcessStream(from, stream, stream, to));
        if (!report) return;
        if (active.voice_detection) report->voice = apm->voice_detection()->stream_has_voice();
        if (active.noise) report->speech_probability = apm->noise_suppression()->speech_probability();
        if (active.echo) describe(*echo, *report);
    }

    // Order matters only where a component is switched on: its numbers are set first, so that it starts with them.
    // Setters return early when nothing changes, except those tested for here, which would reset or reconfigure.
    void set(const webrtc_audio_settings &s) {
        auto *echo = apm->echo_cancellation();
        if (s.echo) check(echo->set_suppression_level(static_cast<EchoCancellation::SuppressionLevel>(s.echo - 1)));
        if (echo->is_enabled() != (s.echo != 0)) check(echo->Enable(s.echo != 0));

        auto *noise = apm->noise_suppression();
        if (s.noise) check(noise->set_level(static_cast<NoiseSuppression::Level>(s.noise - 1)));
        if (noise->is_enabled() != (s.noise != 0)) check(noise->Enable(s.noise != 0));

        auto *gain = apm->gain_control();
        if (s.gain) {
            auto mode = s.gain == 1 ? GainControl::kAdaptiveDigital : GainControl::kFixedDigital;
            if (gain->mode() != mode) check(gain->set_mode(mode));  // resets the gain control
            check(gain->set_target_level_dbfs(s.target_level));
            check(gain->set_compression_gain_db(s.compression_gain));
            check(gain->enable_limiter(s.limiter));
        }
        if (gain->is_enabled() != (s.gain != 0)) check(gain->Enable(s.gain != 0));

        auto *highPass = apm->high_pass_filter();
        if (highPass->is_enabled() != s.high_pass) check(highPass->Enable(s.high_pass));

        auto *voice = apm->voice_detection();
        if (s.voice_detection)
            check(voice->set_likelihood(static_cast<VoiceDetection::Likelihood>(s.voice_detection - 1)));
        if (voice->is_enabled() != (s.voice_detection != 0)) check(voice->Enable(s.voice_detection != 0));
    }

    const webrtc::Config &option(const webrtc_audio_settings &s) const {
        return options[(s.extended_filter ? 1 : 0) + (s.delay_agnostic ? 2 : 0)];
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
    webrtc::Config options[4];  // made beforehand: building one allocates
    std::unique_ptr<AudioProcessing> apm;
    webrtc_audio_settings active;
};

}  // namespace

std::unique_ptr<Apm> Apm::make(int rate, const webrtc_audio_settings &settings) {
    return std::make_unique<ClassicApm>(rate, settings);
}

bool Apm::rebuildsOnApply() { return false; }

webrtc_audio_capabilities Apm::capabilities() {
    webrtc_audio_capabilities can{};
    can.echo_levels = can.extended_filter = can.delay_agnostic = true;
    can.voice_detection = can.voice_likelihood = can.speech_probability = true;
    can.delay_optional = false;
    return can;
}

const char *Apm::generation() { return "0.3"; }

#endif
