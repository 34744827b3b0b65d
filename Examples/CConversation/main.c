// A conversation in a room: says back what it is told, gives way to whoever speaks into that, and prints how much of it
// was heard. Control-C ends it.
//
//     cc -Wall -Werror main.c $(pkg-config --cflags --libs duplexvoice) -o conversation
//     ./conversation 'duplex://127.0.0.1:7900/?fingerprint=sha256:…' "$TOKEN"
//
// One engine is in the room; a second one has the conversation, with the room in place of a person at its microphone:
//
//     room ══ engine `room` ──> what the room says ──> engine `agent` ══ conversation
//                           <── what the agent says <──
//
// A recogniser, a language model and a synthesiser take the place of `answer`.
#include <duplexvoice.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

enum { BLOCK = 480, BLOCK_NS = 10000000 }; // frames of 48 kHz in 10 ms
// Of what the conversation hears: frames a second, nanoseconds of a frame, frames that are kept.
enum { RATE = 16000, FRAME_NS = 1000000000 / RATE, KEPT = 20 * RATE };

static dv_error error;
static float said[KEPT]; // by the room, in the place of its time
static volatile sig_atomic_t is_over;

static void end(int number) {
    (void)number;
    is_over = 1;
}

// What others wrote, without the control characters that a terminal would obey: ASCII's, and C1 in UTF-8.
static const char *printable(char *text) {
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        if (*c < 0x20 || *c == 0x7F) *c = ' ';
        if (*c == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0) c[0] = c[1] = ' ';
    }
    return text;
}

// Whether a call that writes `error` has failed, which is told.
static int failed(dv_status status) {
    if (status != DV_OK) fprintf(stderr, "%s: %s\n", error.code, printable(error.message));
    return status != DV_OK;
}

// Keeps what the room says.
static void hear(dv_far_end far_end) {
    float sound[BLOCK];
    size_t taken;
    int64_t time_ns;
    while (dv_far_end_take(far_end, sound, BLOCK, &taken, &time_ns) == DV_OK && taken > 0)
        for (size_t i = 0; i < taken; i++) said[((uint64_t)time_ns / FRAME_NS + i) % KEPT] = sound[i];
}

// Says back what was said in a turn.
static void answer(dv_engine room, dv_conversation conversation, const dv_event *turn) {
    uint32_t utterance;
    // Where somebody has gone on speaking the turn is theirs again.
    if (dv_conversation_answer(conversation, turn->turn, &utterance, &error) != DV_OK) return;
    // By this the room drops what is under way of it, where it is interrupted.
    failed(dv_engine_begin_utterance(room, utterance, &error));
    uint64_t at = (uint64_t)turn->time_ns / FRAME_NS, left = (uint64_t)turn->duration_ns / FRAME_NS;
    if (left > KEPT) at += left - KEPT, left = KEPT;
    printf("answers for %.2f s\n", (double)left / RATE);
    while (left > 0) {
        size_t frames = KEPT - at % KEPT, taken;
        if (frames > left) frames = left;
        // All is taken: the queue has room for 30 s.
        if (dv_conversation_say(conversation, said + at % KEPT, frames, RATE, utterance, &taken) || taken == 0) break;
        at += taken, left -= taken;
    }
    dv_conversation_finish(conversation, utterance);
}

// Does what the room's events ask; returns 1 where it is left.
static int follow_room(dv_engine room, dv_conversation conversation) {
    dv_event event = {sizeof event};
    dv_engine_snapshot snapshot = {sizeof snapshot};
    while (dv_engine_next_event(room, 0, &event) == DV_OK && event.kind != DV_EVENT_NONE) {
        if (event.kind == DV_EVENT_LEFT) return fprintf(stderr, "%s: %s\n", event.code, printable(event.text)), 1;
        // Somebody else stops the agent without a word, as by a button; where it says nothing, nothing happens.
        if (event.kind == DV_EVENT_INTERRUPTED && dv_engine_get_snapshot(room, &snapshot) == DV_OK &&
            event.participant == snapshot.own_participant && event.other != snapshot.own_participant)
            dv_conversation_cancel(conversation, &error);
    }
    return 0;
}

// Answers, gives way, and tells what was heard.
static void follow_conversation(dv_engine agent, dv_engine room, dv_conversation conversation) {
    dv_event event = {sizeof event};
    while (dv_engine_next_event(agent, 0, &event) == DV_OK && event.kind != DV_EVENT_NONE) {
        if (event.kind == DV_EVENT_TURN_ENDED) answer(room, conversation, &event);
        // The answer is silent by now; of what is under way to the listeners nothing is heard any more.
        if (event.kind == DV_EVENT_ANSWER_CANCELLED && event.value == DV_END_INTERRUPTED)
            failed(dv_engine_interrupt(room, 0, &error));
        if (event.kind == DV_EVENT_ANSWER_ENDED)
            printf(
                "%.2f s of it were heard%s\n", (double)event.duration_ns / 1e9,
                event.value == DV_END_COMPLETE ? "" : ": it gave way");
    }
}

int main(int count, char **arguments) {
    if (count != 3) return fprintf(stderr, "usage: %s URL TOKEN\n", arguments[0]), 64;
    signal(SIGINT, end);
    setvbuf(stdout, NULL, _IOLBF, 0); // each line at once, into a file too
    // Nothing of what one plays comes back to it, so there is no echo to cancel.
    dv_engine_config config = {sizeof config, DV_ENGINE_HEADSET, DV_SOUND_CLIENT};
    dv_join_options options = {sizeof options, DV_INTERRUPTIBLE_BY_ANYONE};
    dv_engine room, agent;
    dv_conversation conversation;
    dv_far_end far_end;
    if (failed(dv_engine_create(&config, &room, &error)) || failed(dv_engine_start(room, &error)) ||
        failed(dv_engine_set_attribute(room, "dv.kind", "agent", &error)) ||
        failed(dv_engine_join(room, arguments[1], arguments[2], &options, &error)) ||
        failed(dv_engine_create(&config, &agent, &error)) || failed(dv_engine_start(agent, &error)) ||
        failed(dv_conversation_open(agent, NULL, &conversation, &far_end, &error)))
        return 69;

    float sound[BLOCK];
    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    int is_left = 0;
    while (!is_over && !is_left) {
        if ((due.tv_nsec += BLOCK_NS) >= 1000000000) due.tv_sec++, due.tv_nsec -= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        // What is handed in now was heard in the 10 ms before, and what is fetched is played from now on.
        int64_t now = due.tv_sec * INT64_C(1000000000) + due.tv_nsec;
        dv_pull_playback(room, sound, BLOCK, now, NULL);
        dv_send_capture(agent, sound, BLOCK, now - BLOCK_NS, NULL);
        dv_pull_playback(agent, sound, BLOCK, now, NULL);
        dv_send_capture(room, sound, BLOCK, now - BLOCK_NS, NULL);
        hear(far_end);
        is_left = follow_room(room, conversation);
        follow_conversation(agent, room, conversation);
    }
    dv_status closed = dv_conversation_close(conversation), stopped = dv_engine_destroy(agent);
    return dv_engine_destroy(room) || closed || stopped || is_left ? 69 : 0;
}
