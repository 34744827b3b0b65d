#include <errno.h>

#include "schedule.h"
#include "stream.h"

/// Frames that a converter takes in one go.
enum { BLOCK = VC_HEARING_BLOCK };

static void play(vc_stream *stream, int64_t frame, int count, const float *samples) {
    for (int i = 0; i < count; i++) {
        if (stream->is_running)
            vc_tape_write(&stream->access.card->tape, stream->start + frame + i, samples[i]);
        else
            stream->staged[(frame + i) & (VC_BUFFER_FRAMES - 1)] = samples[i];
    }
}

void vc_stream_play_staged(vc_stream *stream) {
    int64_t end = (int64_t)stream->io.appl_ptr;
    for (int64_t frame = end > VC_BUFFER_FRAMES ? end - VC_BUFFER_FRAMES : 0; frame < end; frame++)
        vc_tape_write(
            &stream->access.card->tape, stream->start + frame, stream->staged[frame & (VC_BUFFER_FRAMES - 1)]);
    atomic_store(&stream->slot->queued_end, end);
}

/// Whether this is the write that is to find the stream run dry.
static bool is_too_late(vc_stream *stream) {
    if (stream->direction != VC_PLAYBACK || !stream->is_running) return false;
    return ++stream->writes == stream->settings.xrun_at_write;
}

snd_pcm_sframes_t vc_stream_transfer(snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas,
    snd_pcm_uframes_t offset, snd_pcm_uframes_t count) {
    vc_stream *stream = io->private_data;
    if (vc_card_is_gone(&stream->access)) return -ENODEV;
    vc_schedule_touch(stream);
    if (is_too_late(stream)) return vc_stream_break_off(stream);
    int64_t frame = (int64_t)io->appl_ptr;
    for (snd_pcm_uframes_t done = 0; done < count;) {
        float block[BLOCK];
        int frames = count - done < BLOCK ? (int)(count - done) : BLOCK;
        if (stream->direction == VC_PLAYBACK) {
            vc_samples_take(&stream->layout, areas, offset + done, frames, block);
            play(stream, frame, frames, block);
        } else {
            vc_microphone_hear(&stream->microphone, frame, frames, block);
            vc_samples_give(&stream->layout, areas, offset + done, frames, block);
        }
        frame += frames;
        done += (snd_pcm_uframes_t)frames;
    }
    if (stream->direction == VC_PLAYBACK) atomic_store(&stream->slot->queued_end, frame);
    if (!stream->access.card->is_virtual) vc_stream_arm(stream, frame);
    return (snd_pcm_sframes_t)count;
}
