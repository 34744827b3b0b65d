// WebRTC's newer echo canceller, AEC3, as Debian's libtgowt-dev has it, with its high-pass filter and nothing else.
//
// Takes recordings on standard input: sample rate and blocks of 10 ms as two 32-bit numbers, the far end's frames, the
// microphone's frames, as 32-bit floats. Answers each on standard output: the output's frames, and the thread's CPU time of each
// block in nanoseconds as 64-bit numbers. In the machine's byte order. Each recording is processed by a new instance.
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

#include "modules/audio_processing/include/audio_processing.h"
#include "rtc_base/logging.h"

namespace {

uint64_t now() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}

template <typename T>
bool read(std::vector<T> &values) {
    return fread(values.data(), sizeof(T), values.size(), stdin) == values.size();
}

template <typename T>
bool write(const std::vector<T> &values) {
    return fwrite(values.data(), sizeof(T), values.size(), stdout) == values.size();
}

bool process(uint32_t rate, uint32_t blocks) {
    const size_t block = rate / 100;
    std::vector<float> far(block * blocks), microphone(block * blocks), played(block);
    std::vector<uint64_t> times(blocks);
    if (!read(far) || !read(microphone)) return false;

    webrtc::AudioProcessing::Config config;
    config.echo_canceller.enabled = true;
    config.high_pass_filter.enabled = true;
    const auto processing = webrtc::AudioProcessingBuilder().Create();
    processing->ApplyConfig(config);
    const webrtc::StreamConfig stream(int(rate), 1);
    for (size_t number = 0; number < blocks; number++) {
        const float *reference = &far[number * block];
        float *capture = &microphone[number * block], *after = played.data();
        const uint64_t before = now();
        int failed = processing->ProcessReverseStream(&reference, stream, stream, &after);
        processing->set_stream_delay_ms(0);
        failed |= processing->ProcessStream(&capture, stream, stream, &capture);
        times[number] = now() - before;
        if (failed) return false;
    }
    return write(microphone) && write(times) && fflush(stdout) == 0;
}

}  // namespace

int main() {
    rtc::LogMessage::SetLogToStderr(false);
    uint32_t head[2];
    while (fread(head, sizeof head[0], 2, stdin) == 2) {
        if (head[0] % 100 != 0 || head[0] > 48'000 || head[1] > 100'000 || !process(head[0], head[1])) return 1;
    }
}
