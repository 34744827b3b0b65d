// Virtual time: who may advance the card's clock, and when.
//
// Nobody's clock runs; instead, time moves only when every running stream of the card waits in poll. Each says till when
// it waits; the earliest of these becomes the time, and who waited for it is woken. While any program computes, time
// stands, however long it takes.
//
//                   poll ─> wait(T1) ──┐                              ┌─> woken: transfer, compute, poll ─> wait(T3)
//     playback ─────────────────────────┤  all wait: now = min(T1,T2) ├───────────────────────────────────────────
//     capture  ──────────────────────────┘                            └─> waits on
//                        poll ─> wait(T2)
//
// That a program is about to wait shows when it asks for poll descriptors (as snd_pcm_wait and blocking calls do), or
// when poll returned for nothing and it says so. A program that keeps its descriptors shows only the latter, so a short
// real-time timer makes its poll return for nothing once per cycle: the settle time.
//
// One thread that runs both streams waits for one of them, or for both; which, is learned from what it polls.
//
// A stream that is open but does not run holds time still too, since what its program does next must not depend on how
// fast the other one is: while it is being started, or recovers from an xrun. For a second of real time; then it is
// taken for one that is not used.
//
// All of this is under the card's lock, which is shared between processes and survives the death of who holds it.
#pragma once

#include "stream.h"

/// Real time after which a thread that has not said so is asked whether it waits.
#define VC_SETTLE_NS INT64_C(200000)
/// Real time for which a stream that is open but does not run holds time still.
#define VC_GRACE_NS INT64_C(1000000000)

// All do nothing on a card in real time. Real-time safe but for the lock.

void vc_schedule_join(vc_stream *stream);
/// The stream is closed, or the card gone.
void vc_schedule_leave(vc_stream *stream);
/// It has been started.
void vc_schedule_run(vc_stream *stream);
/// It does not run any more.
void vc_schedule_halt(vc_stream *stream);
/// The program uses the stream: it does not wait.
void vc_schedule_touch(vc_stream *stream);
/// The program has been told that there is something to do.
void vc_schedule_serve(vc_stream *stream);
/// The program waits until card time `wanted`. Sees to the stream's timer.
void vc_schedule_wait(vc_stream *stream, int64_t wanted);
