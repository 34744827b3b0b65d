// WebRTC's newer echo canceller, AEC3, of Debian's libtgowt, with its high-pass filter and nothing else. `aec3 gentle`: it always
// suppresses as little as by default it does while it takes the near talker to dominate, the mildest of its own tunings.
//
// Takes recordings on standard input: sample rate and blocks of 10 ms as two 32-bit numbers, the far end's frames, the
// microphone's frames, as 32-bit floats. Answers each on standard output: the output's frames, and the thread's CPU time of each
// block in nanoseconds as 64-bit numbers. In the machine's byte order. Each recording is processed by a new instance.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "api/audio/echo_canceller3_config.h"
#include "api/audio/echo_canceller3_factory.h"
#include "modules/audio_processing/include/audio_processing.h"
#include "rtc_base/logging.h"

namespace {

uint64_t now() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}

// What a stretch of nothing measures: the median, as CPUStopwatch takes it off ours.
uint64_t clockCost() {
    std::vector<uint64_t> times(1'001);
    for (auto &time : times) {
        const uint64_t before = now();
        time = now() - before;
    }
    std::nth_element(times.begin(), times.begin() + 500, times.end());
    return times[500];
}

template <typename T>
bool read(std::vector<T> &values) {
    return fread(values.data(), sizeof(T), values.size(), stdin) == values.size();
}

template <typename T>
bool write(const std::vector<T> &values) {
    return fwrite(values.data(), sizeof(T), values.size(), stdout) == values.size();
}

bool process(uint32_t rate, uint32_t blocks, bool isGentle, uint64_t clock) {
    const size_t block = rate / 100;
    std::vector<float> far(block * blocks), microphone(block * blocks), played(block);
    std::vector<uint64_t> times(blocks);
    if (!read(far) || !read(microphone)) return false;

    webrtc::AudioProcessing::Config config;
    config.echo_canceller.enabled = true;
    config.high_pass_filter.enabled = true;
    webrtc::EchoCanceller3Config canceller;
    if (isGentle) canceller.suppressor.normal_tuning = canceller.suppressor.nearend_tuning;
    webrtc::AudioProcessingBuilder builder;
    if (isGentle) builder.SetEchoControlFactory(std::make_unique<webrtc::EchoCanceller3Factory>(canceller));
    const auto processing = builder.Create();
    processing->ApplyConfig(config);
    const webrtc::StreamConfig stream(int(rate), 1);
    for (size_t number = 0; number < blocks; number++) {
        const float *reference = &far[number * block];
        float *capture = &microphone[number * block], *after = played.data();
        const uint64_t before = now();
        int failed = processing->ProcessReverseStream(&reference, stream, stream, &after);
        processing->set_stream_delay_ms(0);
        failed |= processing->ProcessStream(&capture, stream, stream, &capture);
        const uint64_t took = now() - before;
        times[number] = took > clock ? took - clock : 0;
        if (failed) return false;
    }
    return write(microphone) && write(times) && fflush(stdout) == 0;
}

}  // namespace

int main(int count, char **arguments) {
    rtc::LogMessage::SetLogToStderr(false);
    const bool isGentle = count > 1 && strcmp(arguments[1], "gentle") == 0;
    const uint64_t clock = clockCost();
    uint32_t head[2];
    while (fread(head, sizeof head[0], 2, stdin) == 2) {
        if (head[0] % 100 != 0 || head[0] > 48'000 || head[1] > 100'000 || !process(head[0], head[1], isGentle, clock)) return 1;
    }
}
