// What a program may do wrong, against the library as it is installed; for sanitizers. Exits with 0 where every mistake
// gets its status.
#include <duplexvoice.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect(int status, int wanted, const char *what) {
    if (status == wanted) return;
    fprintf(stderr, "misuse: %s: %d (%s), not %d\n", what, status, dv_status_text(status), wanted);
    exit(1);
}

enum { FRAMES = 480, DESTROYED = 500, ENGINES = 50 };
static _Atomic dv_processor shared;
static _Atomic int over;

// Any status may come, as the object may be in use, destroyed or made anew at any time.
static void *play(void *unused) {
    (void)unused;
    float sound[FRAMES] = {0};
    dv_processor_report report = {sizeof report};
    while (!atomic_load(&over)) {
        dv_status status = dv_processor_run(atomic_load(&shared), sound, NULL, sound, FRAMES);
        if (status != DV_OK && status != DV_BUSY && status != DV_INVALID_HANDLE) expect(status, DV_OK, "run beside others");
        // Leaves whoever destroys it a moment in which nobody is inside.
        usleep(20);
        status = dv_processor_get_report(atomic_load(&shared), &report);
        if (status != DV_OK && status != DV_BUSY && status != DV_INVALID_HANDLE) expect(status, DV_OK, "report beside others");
    }
    return NULL;
}

// What it does to its own listener has no effect.
static void listen_wrongly(void *context, const float *samples, size_t frames, int64_t time_ns) {
    (void)samples, (void)frames, (void)time_ns;
    expect(dv_listener_close(atomic_load((_Atomic dv_listener *)context)), DV_WRONG_STATE, "close from a listener");
}

// An engine in every wrong way that one thread can go.
static void misuse_engine(void) {
    dv_engine engine = 7;
    dv_far_end far_end = 7;
    int64_t nanoseconds = 0;
    dv_error error;
    float sound[FRAMES] = {0};
    size_t count = 7;
    int32_t descriptor = -1;
    dv_engine_config config = {sizeof config, DV_ENGINE_LOW_DELAY, DV_SOUND_CLIENT};
    config.priority = -1;
    dv_event event = {sizeof event};
    dv_engine_snapshot snapshot = {sizeof snapshot};
    dv_engine_statistics statistics = {sizeof statistics};
    dv_participant participant = {sizeof participant};
    dv_talker_statistics talker = {sizeof talker};
    dv_join_options options = {sizeof options};

    expect(dv_engine_create(&config, NULL, NULL), DV_INVALID_ARGUMENT, "no place for the engine");
    config.size = 8;
    expect(dv_engine_create(&config, &engine, &error), DV_INVALID_SIZE, "engine's size");
    expect(engine == 0 && error.message[0] != 0, 1, "a failure leaves no engine and a sentence");
    config.size = sizeof config;
    config.capture_device = "hw:0";
    expect(dv_engine_create(&config, &engine, &error), DV_INVALID_ARGUMENT, "a card beside own sound");
    config.capture_device = NULL;
    config.last_capture_channel = 2;
    expect(dv_engine_create(&config, &engine, &error), DV_INVALID_ARGUMENT, "channels without a first one");
    config.last_capture_channel = 0;
    expect(dv_engine_create(&config, &engine, &error), DV_OK, "engine");

    // Before the start
    expect(dv_engine_stop(engine, NULL), DV_OK, "stop before start");
    expect(dv_engine_leave(engine, NULL), DV_OK, "leave before start");
    expect(dv_engine_join(engine, "udp://127.0.0.1:9", "x", NULL, &error), DV_WRONG_STATE, "join before start");
    expect(error.code[0] != 0 && error.remedy[0] != 0, 1, "an error has a name and a remedy");
    expect(dv_far_end_open(engine, NULL, &far_end, &error), DV_WRONG_STATE, "far end before start");
    expect(dv_engine_get_statistics(engine, &statistics), DV_WRONG_STATE, "statistics before start");
    expect(dv_send_capture(engine, sound, FRAMES, 0, &count), DV_OK, "sound before start");
    expect(count == 0, 1, "nothing is taken before the start");

    expect(dv_engine_start(engine, &error), DV_OK, "start");
    expect(dv_engine_start(engine, &error), DV_WRONG_STATE, "start twice");
    expect(dv_send_capture(engine, NULL, FRAMES, 0, NULL), DV_INVALID_ARGUMENT, "no capture");
    expect(dv_send_capture(engine, sound, (size_t)-1, 0, NULL), DV_INVALID_ARGUMENT, "too much capture");
    expect(dv_send_reference(engine, NULL, FRAMES, 0, NULL), DV_INVALID_ARGUMENT, "no reference");
    expect(dv_pull_playback(engine, NULL, FRAMES, 0, NULL), DV_INVALID_ARGUMENT, "no playback");
    expect(dv_pull_playback(engine, sound, FRAMES, -1, &count), DV_INVALID_ARGUMENT, "a time before the clock's beginning");
    expect(dv_send_capture(engine, sound, FRAMES, INT64_C(1) << 60, &count), DV_INVALID_ARGUMENT, "another clock's time");
    static _Atomic dv_listener own;
    dv_listener listener = 7;
    expect(dv_engine_listen(engine, 0, 0, listen_wrongly, &own, &listener, &error), DV_INVALID_ARGUMENT, "no point");
    expect(listener == 0, 1, "a failure leaves no listener");
    expect(dv_engine_listen(engine, DV_POINT_CAPTURED, 0, NULL, NULL, &listener, &error), DV_INVALID_ARGUMENT, "no ear");
    expect(dv_engine_listen(engine, DV_POINT_MIX, 0, listen_wrongly, &own, NULL, &error), DV_INVALID_ARGUMENT, "no place");
    expect(dv_engine_listen(engine, DV_POINT_SENT, 1, listen_wrongly, &own, &listener, &error), DV_INVALID_ARGUMENT, "who");
    expect(
        dv_engine_listen(engine, DV_POINT_PARTICIPANT, 0, listen_wrongly, &own, &listener, &error), DV_INVALID_ARGUMENT,
        "nobody");
    expect(dv_listener_close(engine), DV_INVALID_HANDLE, "an engine is no listener");
    expect(dv_engine_listen(engine, DV_POINT_CAPTURED, 0, listen_wrongly, &own, &listener, &error), DV_OK, "listener");
    expect(dv_listener_close(listener), DV_OK, "close");
    expect(dv_listener_close(listener), DV_INVALID_HANDLE, "close twice");
    expect(dv_engine_listen(engine, DV_POINT_CAPTURED, 0, listen_wrongly, &own, &listener, &error), DV_OK, "listener");
    atomic_store(&own, listener);
    // Times that lie ages apart and before each other, as of another clock: what they harm is the echo canceller alone.
    const int64_t times[] = {1, (INT64_C(1) << 60) - 1, INT64_C(1) << 59, 0, 1000, (INT64_C(1) << 60) - 2, 5};
    for (int i = 0; i < 70; i++) {
        expect(dv_send_capture(engine, sound, FRAMES, times[i % 7], NULL), DV_OK, "a wild time of the microphone");
        expect(dv_pull_playback(engine, sound, FRAMES, times[i % 5], NULL), DV_OK, "a wild time of the loudspeaker");
        usleep(2000);
    }
    expect(dv_engine_join(engine, NULL, NULL, NULL, &error), DV_INVALID_ARGUMENT, "no URL");
    expect(dv_engine_join(engine, "duplex://h/path", "x", NULL, &error), DV_INVALID_ARGUMENT, "URL");
    options.interruptible = 2;
    expect(dv_engine_join(engine, "udp://127.0.0.1:9", "x", &options, &error), DV_INVALID_ARGUMENT, "options");
    expect(dv_engine_send(engine, 0, NULL, 1, &error), DV_INVALID_ARGUMENT, "no message");
    expect(dv_engine_send(engine, 0, sound, (size_t)-1, &error), DV_INVALID_ARGUMENT, "a message without end");
    expect(dv_engine_play_stream(engine, NULL, &error), DV_INVALID_ARGUMENT, "no name of a stream");
    expect(dv_engine_play_stream(engine, "", &error), DV_INVALID_ARGUMENT, "an empty name of a stream");
    expect(dv_engine_stop_stream(engine, "\xff", &error), DV_INVALID_ARGUMENT, "a name that is no UTF-8");
    expect(dv_engine_set_stream_volume(engine, "s", 5, &error), DV_INVALID_ARGUMENT, "a volume beyond 4");
    expect(dv_engine_set_stream_muted(engine, "s", 2, &error), DV_INVALID_ARGUMENT, "a mute that is no flag");
    expect(dv_engine_set_stream_muted(engine, "", 1, &error), DV_INVALID_ARGUMENT, "a mute of no name");
    expect(dv_engine_set_participant_muted(engine, 1, 1, &error), DV_WRONG_STATE, "a mute outside a room");
    expect(dv_engine_set_barge_in(engine, 1, DV_BARGE_IN_STAGES, &error), DV_WRONG_STATE, "a barge-in outside a room");
    expect(dv_engine_set_barge_in(engine, 1, 3, &error), DV_INVALID_ARGUMENT, "no policy of barge-in");
    expect(dv_engine_follow_noise(engine, 1, 25, -65, -40, &error), DV_INVALID_ARGUMENT, "a range of the volume");
    expect(dv_engine_follow_noise(engine, 2, 12, -65, -40, &error), DV_INVALID_ARGUMENT, "a switch that is no flag");
    expect(dv_engine_level_talkers(engine, 1, 0, 9, &error), DV_INVALID_ARGUMENT, "a loudness");
    expect(dv_engine_level_talkers(engine, 1, -23, 13, &error), DV_INVALID_ARGUMENT, "a range of talkers' levels");
    expect(dv_engine_publish_stream(engine, "s", 0, NULL, NULL, &error), DV_INVALID_ARGUMENT, "no place for the stream");
    expect(dv_engine_publish_stream(engine, NULL, 0, NULL, &far_end, &error), DV_INVALID_ARGUMENT, "no stream's name");
    expect(dv_engine_publish_stream(engine, "s", 3, NULL, &far_end, &error), DV_INVALID_ARGUMENT, "what is no flag");
    expect(dv_engine_set_role(engine, DV_ROLE_LISTENER, &error), DV_WRONG_STATE, "a role outside a room");
    expect(dv_engine_set_role(engine, 7, &error), DV_INVALID_ARGUMENT, "no role");
    expect(dv_engine_set_attribute(engine, NULL, "x", &error), DV_INVALID_ARGUMENT, "no key");
    expect(dv_engine_set_attribute(engine, "", "x", &error), DV_INVALID_ARGUMENT, "an empty key");
    expect(dv_engine_set_text(engine, "s", "x", 0, &error), DV_WRONG_STATE, "text outside a room");
    expect(dv_engine_append_text(engine, NULL, "x", 0, &error), DV_INVALID_ARGUMENT, "no stream of text");
    expect(dv_engine_append_text(engine, "s", "\xff", 0, &error), DV_INVALID_ARGUMENT, "text that is no UTF-8");
    expect(dv_engine_abandon_text(engine, NULL, &error), DV_INVALID_ARGUMENT, "no stream to abandon");
    expect(dv_engine_add_caption(engine, 1, "x", 0, -1, 0, &error), DV_WRONG_STATE, "captions outside a room");
    expect(dv_engine_add_caption(engine, 0, "x", 0, -1, 0, &error), DV_INVALID_ARGUMENT, "captions of no utterance");
    expect(dv_engine_add_caption(engine, 1, "x", 9, 8, 0, &error), DV_INVALID_ARGUMENT, "words that end before they begin");
    expect(dv_conversation_put_off_end(engine, 1, &error), DV_INVALID_HANDLE, "an engine is no conversation");
    expect(dv_conversation_heard(engine, 1, &nanoseconds), DV_INVALID_HANDLE, "what an engine's answer was heard");
    expect(dv_conversation_heard(0, 1, NULL), DV_INVALID_ARGUMENT, "no place for what was heard");
    expect(dv_conversation_caption(engine, 1, "x"), DV_INVALID_HANDLE, "the words of an engine's answer");
    expect(dv_conversation_caption(0, 1, NULL), DV_INVALID_ARGUMENT, "no words");
    expect(dv_conversation_get_caption(0, 1, NULL, 1, &count, &count), DV_INVALID_ARGUMENT, "no place for words");
    expect(dv_conversation_get_caption(0, 1, NULL, 0, NULL, &count), DV_INVALID_HANDLE, "words of no conversation");
    expect(dv_conversation_report_stages(engine, 1, NULL, &error), DV_INVALID_ARGUMENT, "no stages");
    expect(dv_conversation_latency(engine, 1, NULL), DV_INVALID_HANDLE, "the latency of an engine's answer");
    expect(dv_conversation_end_turn(0, &error), DV_INVALID_HANDLE, "no conversation");
    expect(dv_conversation_set_mode(1, 0, 0, NULL), DV_INVALID_HANDLE, "a conversation that never was");
    expect(dv_engine_interrupt(engine, 1, &error), DV_WRONG_STATE, "interrupt outside a room");
    expect(dv_engine_set_volume(engine, 1, 1, &error), DV_WRONG_STATE, "volume outside a room");
    expect(dv_engine_get_participant(engine, 1, &participant, &error), DV_WRONG_STATE, "participant outside a room");
    expect(dv_engine_get_talker(engine, 1, &talker, &error), DV_ROOM_REFUSED, "talker outside a room");
    expect(dv_engine_get_participants(engine, NULL, 3, &count), DV_INVALID_ARGUMENT, "no place for participants");
    expect(dv_engine_get_snapshot(engine, NULL), DV_INVALID_ARGUMENT, "no snapshot");
    snapshot.size = 4;
    expect(dv_engine_get_snapshot(engine, &snapshot), DV_INVALID_SIZE, "snapshot's size");
    expect(dv_engine_next_event(engine, 0, NULL), DV_INVALID_ARGUMENT, "no event");
    expect(dv_engine_next_event(engine, -2, &event), DV_INVALID_ARGUMENT, "a time-out that is none");
    expect(dv_engine_event_descriptor(engine, NULL), DV_INVALID_ARGUMENT, "no descriptor");
    expect(dv_engine_event_descriptor(engine, &descriptor), DV_OK, "descriptor");
    expect(dv_engine_set_muted(engine, 2, &error), DV_INVALID_ARGUMENT, "muted");
    expect(dv_engine_set_output_volume(engine, -1, &error), DV_INVALID_ARGUMENT, "volume");
    expect(dv_engine_apply(engine, NULL, &error), DV_INVALID_ARGUMENT, "no settings");
    expect(dv_engine_select_devices(engine, "\xff", NULL, &error), DV_INVALID_ARGUMENT, "a name that is no UTF-8");
    expect(dv_engine_apply_preset(engine, 8, &error), DV_INVALID_ARGUMENT, "no preset");
    expect(dv_engine_apply_preset(engine, DV_ENGINE_CAR, &error), DV_OK, "preset");
    dv_meter meter = 7;
    dv_levels levels = {sizeof levels};
    expect(dv_engine_open_meter(engine, 100, NULL, &error), DV_INVALID_ARGUMENT, "no place for the meter");
    expect(dv_engine_open_meter(engine, 0, &meter, &error), DV_INVALID_ARGUMENT, "an interval of nothing");
    expect(meter == 0, 1, "a failure leaves no meter");
    expect(dv_engine_open_meter(engine, 100, &meter, &error), DV_OK, "meter");
    expect(dv_meter_read(engine, &levels), DV_INVALID_HANDLE, "an engine is no meter");
    expect(dv_meter_read(meter, NULL), DV_INVALID_ARGUMENT, "no levels");
    levels.size = 8;
    expect(dv_meter_read(meter, &levels), DV_INVALID_SIZE, "levels' size");
    expect(dv_meter_close(meter), DV_OK, "close a meter");
    expect(dv_meter_close(meter), DV_INVALID_HANDLE, "close a meter twice");

    expect(dv_far_end_open(engine, NULL, NULL, NULL), DV_INVALID_ARGUMENT, "no place for the far end");
    expect(dv_far_end_open(engine, NULL, &far_end, &error), DV_OK, "far end");
    expect(dv_far_end_offer(far_end, NULL, 1, 48000, 1, 0, NULL), DV_INVALID_ARGUMENT, "no sound");
    expect(dv_far_end_offer(far_end, sound, FRAMES, 8000, 1, 0, NULL), DV_INVALID_ARGUMENT, "a far end's rate");
    expect(dv_far_end_offer(far_end, sound, FRAMES, 48000, 1, 0, &count), DV_OK, "offer");
    expect(dv_far_end_take(far_end, sound, FRAMES, NULL, NULL), DV_INVALID_ARGUMENT, "no place for the count");
    expect(dv_far_end_set_volume(far_end, -1), DV_INVALID_ARGUMENT, "a far end's volume");
    expect(dv_far_end_close(engine), DV_INVALID_HANDLE, "an engine is no far end");
    expect(dv_engine_destroy(far_end), DV_INVALID_HANDLE, "a far end is no engine");
    expect(dv_engine_destroy(engine), DV_OK, "destroy under a far end");
    expect(dv_far_end_offer(far_end, sound, FRAMES, 48000, 1, 0, &count), DV_OK, "offer after the engine");
    expect(dv_far_end_close(far_end), DV_OK, "close after the engine");
    expect(dv_far_end_close(far_end), DV_INVALID_HANDLE, "close twice");
    expect(dv_far_end_take(far_end, sound, FRAMES, &count, NULL), DV_INVALID_HANDLE, "take after close");

    expect(dv_engine_destroy(engine), DV_INVALID_HANDLE, "destroy twice");
    expect(dv_engine_start(engine, &error), DV_INVALID_HANDLE, "start after free");
    expect(dv_engine_next_event(engine, -1, &event), DV_INVALID_HANDLE, "event after free");
    expect(dv_send_capture(engine, sound, FRAMES, 0, NULL), DV_INVALID_HANDLE, "capture after free");
    sound[0] = 1;
    expect(dv_pull_playback(engine, sound, FRAMES, 0, NULL), DV_INVALID_HANDLE, "playback after free");
    expect(sound[0] == 0, 1, "and yet silence");
}

static void misuse_tokens(void) {
    const char *secret = "0123456789abcdef0123456789abcdef";
    char token[DV_TOKEN_BYTES];
    dv_error error;
    dv_token_grants grants = {sizeof grants};
    expect(dv_token_create("key", secret, &grants, token, &error), DV_INVALID_ARGUMENT, "a token for nobody");
    expect(token[0] == 0, 1, "and none is made");
    memset(grants.identity, 'a', sizeof grants.identity);
    expect(dv_token_create("key", secret, &grants, token, &error), DV_INVALID_ARGUMENT, "a name without an end");
    strcpy(grants.identity, "anna");
    strcpy(grants.room, "kitchen");
    grants.expires = 2000;
    expect(dv_token_create("key", "short", &grants, token, &error), DV_INVALID_ARGUMENT, "a short secret");
    expect(dv_token_create("key", secret, &grants, NULL, &error), DV_INVALID_ARGUMENT, "no place for the token");
    expect(dv_token_create("key", secret, &grants, token, &error), DV_OK, "token");
    expect(dv_token_check("key", secret, token, 1000, NULL, &error), DV_OK, "check");
    expect(dv_token_check("key", secret, token, 3000, &grants, &error), DV_NOT_PERMITTED, "an old token");
    expect(dv_token_check("key", secret, "", 1000, &grants, &error), DV_NOT_PERMITTED, "no token");
}

static void misuse_playout(void) {
    dv_playout playout = 7;
    dv_error error;
    dv_playout_config config = {sizeof config, DV_PLAYOUT_ROBUST};
    dv_playout_statistics statistics = {sizeof statistics};
    float sound[FRAMES];
    uint8_t packet[DV_PLAYOUT_PACKET_BYTES];
    expect(dv_playout_create(&config, NULL, &error), DV_INVALID_ARGUMENT, "no place for the jitter buffer");
    config.packets = 5000;
    expect(dv_playout_create(&config, &playout, &error), DV_INVALID_ARGUMENT, "too many packets");
    expect(playout == 0 && error.message[0] != 0, 1, "a failure leaves no jitter buffer and a sentence");
    config.packets = 16;
    expect(dv_playout_create(&config, &playout, &error), DV_OK, "jitter buffer");
    expect(dv_playout_insert(playout, NULL, 12, 0), DV_INVALID_ARGUMENT, "no packet");
    expect(dv_playout_insert(playout, packet, (size_t)-1, 0), DV_INVALID_ARGUMENT, "a packet without end");
    expect(dv_playout_insert_opus(playout, packet, sizeof packet, 0, 0, 0), DV_INVALID_ARGUMENT, "a long payload");
    // Every length of every byte, at times that leap: counted, and heard as silence or as noise.
    unsigned seed = 1;
    for (int round = 0; round < 4000; round++) {
        size_t count = 1 + (seed = seed * 1664525 + 1013904223) / 65536 % sizeof packet;
        for (size_t i = 0; i < count; i++) packet[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
        if (round % 2) packet[0] = 0x80 | (packet[0] & 0x3f);
        int64_t time = (int64_t)round * (round % 50 ? 5000000 : 50000000000);
        dv_status status = dv_playout_insert(playout, packet, count, time);
        if (status != DV_EXHAUSTED) expect(status, DV_OK, "a packet of chance");
        if (round % 3 == 0) expect(dv_playout_insert_opus(playout, packet, 1 + count % 80, (uint16_t)round, (uint32_t)round * 960, time),
                                   status == DV_OK ? DV_OK : DV_EXHAUSTED, "a payload of chance");
        if (round % 2) expect(dv_playout_pull(playout, sound, 1 + count % FRAMES, time), DV_OK, "pull");
    }
    expect(dv_playout_get_statistics(playout, &statistics), DV_OK, "statistics");
    expect(statistics.packets_malformed > 0, 1, "what is no packet is counted");
    statistics.size = 3;
    expect(dv_playout_get_statistics(playout, &statistics), DV_INVALID_SIZE, "statistics' size");
    expect(dv_playout_reset(playout), DV_OK, "reset");
    expect(dv_playout_pull(playout, NULL, FRAMES, 0), DV_INVALID_ARGUMENT, "no sound");
    expect(dv_playout_destroy(playout), DV_OK, "destroy");
    expect(dv_playout_destroy(playout), DV_INVALID_HANDLE, "destroy twice");
    expect(dv_playout_insert(playout, packet, 12, 0), DV_INVALID_HANDLE, "insert after free");
    expect(dv_playout_reset(playout), DV_INVALID_HANDLE, "reset after free");
    sound[0] = 1;
    expect(dv_playout_pull(playout, sound, FRAMES, 0), DV_INVALID_HANDLE, "pull after free");
    expect(sound[0] == 0, 1, "and yet silence");
}

static const char gain_graph[] =
    "{\"type\": \"VoiceGraph\", \"config\": {\"microphoneEnabled\": true, \"speakerEnabled\": true, \"graph\": {"
    "\"config\": {\"sampleRate\": 16000, \"bufferSize\": 160}, \"nodes\": [{\"id\": \"gain\", \"type\": \"Gain\"},"
    "{\"id\": \"meter\", \"type\": \"LevelMeter\"}], \"connections\": ["
    "{\"sourceNode\": \"inputNode\", \"destinationNode\": \"gain\"},"
    "{\"sourceNode\": \"inputNode\", \"destinationNode\": \"meter\"},"
    "{\"sourceNode\": \"gain\", \"destinationNode\": \"outputNode\"}]}}}";
static _Atomic dv_graph shared_graph;
static _Atomic int levels;

// Whatever a listener calls gets its status and never waits for the graph.
static void meet(void *context, const dv_graph_event *event) {
    dv_graph graph = *(dv_graph *)context;
    if (strcmp(event->event, "level") != 0) return;
    atomic_fetch_add(&levels, 1);
    expect(dv_graph_destroy(graph), DV_WRONG_STATE, "destroy from a listener");
    expect(dv_graph_finish(graph, NULL, 0, NULL, NULL), DV_WRONG_STATE, "finish from a listener");
    expect(dv_graph_call_action(graph, "gain", "mute", NULL, 0, NULL), DV_OK, "an action from a listener");
}

static void misuse_graph(void) {
    dv_graph graph = 7;
    dv_error error;
    dv_graph_config config = {sizeof config};
    dv_graph_info info = {sizeof info};
    dv_graph_value value = {"gainDb", NULL, 3};
    float sound[1600] = {0}, output[1600 + 160];
    size_t given = 7;
    uint64_t listener = 0;
    expect(dv_graph_create(NULL, NULL, &graph, &error), DV_INVALID_ARGUMENT, "no description");
    expect(graph == 0 && error.message[0] != 0, 1, "a failure leaves no graph and a sentence");
    expect(dv_graph_create(gain_graph, NULL, NULL, &error), DV_INVALID_ARGUMENT, "no place for the graph");
    expect(dv_graph_create("\xff", NULL, &graph, &error), DV_INVALID_ARGUMENT, "a description that is no UTF-8");
    expect(dv_graph_create("[[[[", NULL, &graph, &error), DV_INVALID_ARGUMENT, "a description that is no JSON");
    config.size = 5;
    expect(dv_graph_create(gain_graph, &config, &graph, &error), DV_INVALID_SIZE, "a graph's size");
    config.size = sizeof config;
    config.dictation = 2;
    expect(dv_graph_create(gain_graph, &config, &graph, &error), DV_INVALID_ARGUMENT, "dictation");
    config.dictation = 0;
    config.node_type_count = 1;
    expect(dv_graph_create(gain_graph, &config, &graph, &error), DV_INVALID_ARGUMENT, "no types of nodes");
    config.node_type_count = 0;
    dv_graph_far_end far = {"agent", 5};
    config.far_ends = &far;
    config.far_end_count = 1;
    expect(dv_graph_create(gain_graph, &config, &graph, &error), DV_INVALID_HANDLE, "a far end that never was");
    config.far_end_count = 0;
    expect(dv_graph_create(gain_graph, &config, &graph, &error), DV_OK, "graph");
    expect(dv_graph_get_info(graph, NULL), DV_INVALID_ARGUMENT, "no info");
    expect(dv_graph_get_info(graph, &info), DV_OK, "info");
    expect(dv_graph_add_listener(graph, NULL, "*", meet, &graph, NULL, &error), DV_INVALID_ARGUMENT, "no node");
    expect(dv_graph_add_listener(graph, "meter", "*", NULL, NULL, NULL, &error), DV_INVALID_ARGUMENT, "no function");
    expect(dv_graph_add_listener(graph, "meter", "tea", meet, &graph, NULL, &error), DV_INVALID_ARGUMENT, "no event");
    expect(dv_graph_add_listener(graph, "meter", "*", meet, &graph, &listener, &error), DV_OK, "listener");
    expect(dv_graph_call_action(graph, "gain", NULL, NULL, 0, &error), DV_INVALID_ARGUMENT, "no action");
    expect(dv_graph_call_action(graph, "gain", "setGain", NULL, 1, &error), DV_INVALID_ARGUMENT, "no arguments");
    expect(dv_graph_call_action(graph, "gain", "setGain", &value, 1, &error), DV_OK, "action");
    value.text = "loud";
    expect(dv_graph_call_action(graph, "gain", "setGain", &value, 1, &error), DV_INVALID_ARGUMENT, "a text");
    int calls = 0;
    while (dv_graph_call_action(graph, "gain", "unmute", NULL, 0, &error) == DV_OK && calls < 4096) calls++;
    expect(calls < 4096, 1, "calls that wait are bounded");
    expect(dv_graph_push(graph, NULL, 1, NULL, 0, NULL, &error), DV_INVALID_ARGUMENT, "no sound for the graph");
    expect(dv_graph_push(graph, sound, (size_t)-1, NULL, 0, NULL, &error), DV_INVALID_ARGUMENT, "too much sound");
    expect(dv_graph_push(graph, sound, 1600, output, 1600, &given, &error), DV_INVALID_ARGUMENT, "too little room");
    expect(dv_graph_push(graph, sound, 1600, output, 1760, &given, &error), DV_OK, "push");
    expect(given == 1600 && atomic_load(&levels) > 0, 1, "all of it came out, and the listener heard of it");
    expect(dv_graph_run_file(graph, NULL, NULL, NULL, &error), DV_INVALID_ARGUMENT, "no file");
    expect(dv_graph_run_file(graph, "/nowhere.wav", NULL, NULL, &error), DV_DEVICE_FAILED, "a file that is not there");
    expect(dv_graph_start(graph, 0, &error), DV_INVALID_HANDLE, "no engine");
    expect(dv_graph_remove_listener(graph, 99), DV_INVALID_ARGUMENT, "a listener that never was");
    expect(dv_graph_remove_listener(graph, listener), DV_OK, "remove");
    expect(dv_graph_finish(graph, output, 1, &given, &error), DV_INVALID_ARGUMENT, "too little room for the end");
    expect(dv_graph_finish(graph, NULL, 0, &given, &error), DV_OK, "finish");
    expect(dv_graph_push(graph, sound, 1600, NULL, 0, NULL, &error), DV_WRONG_STATE, "push after the end");
    expect(dv_graph_stop(graph, &error), DV_OK, "stop what does not run");
    expect(dv_processor_destroy(graph), DV_INVALID_HANDLE, "a graph is no processor");
    expect(dv_graph_destroy(graph), DV_OK, "destroy");
    expect(dv_graph_destroy(graph), DV_INVALID_HANDLE, "destroy twice");
    expect(dv_graph_push(graph, sound, 1600, NULL, 0, NULL, &error), DV_INVALID_HANDLE, "push after free");
    expect(dv_graph_get_info(graph, &info), DV_INVALID_HANDLE, "info after free");
    expect(dv_graph_stop(graph, &error), DV_INVALID_HANDLE, "stop after free");
    expect(dv_graph_remove_listener(graph, listener), DV_INVALID_HANDLE, "remove after free");
}

// Of memory that is gone once the graph is destroyed: a sanitizer sees a call after that.
static void count_events(void *context, const dv_graph_event *event) {
    *(int *)context += (int)event->value_count;
}

static void *push(void *unused) {
    (void)unused;
    float sound[480] = {0};
    while (!atomic_load(&over)) {
        dv_status status = dv_graph_push(atomic_load(&shared_graph), sound, 480, NULL, 0, NULL, NULL);
        if (status != DV_OK && status != DV_WRONG_STATE && status != DV_INVALID_HANDLE) expect(status, DV_OK, "push beside others");
        if (status != DV_OK) usleep(100);
    }
    return NULL;
}

static void destroy_graphs(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, push, NULL);
    for (int round = 0; round < ENGINES; round++) {
        dv_graph graph;
        int *count = calloc(1, sizeof *count);
        expect(dv_graph_create(gain_graph, NULL, &graph, NULL), DV_OK, "graph beside others");
        expect(dv_graph_add_listener(graph, "*", "*", count_events, count, NULL, NULL), DV_OK, "listener beside others");
        atomic_store(&shared_graph, graph);
        usleep(500);
        while (dv_graph_destroy(graph) == DV_BUSY) {}
        free(count);
    }
    atomic_store(&over, 1);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    atomic_store(&over, 0);
}

static _Atomic dv_engine shared_engine;

// A program's audio thread and one that waits for events, while a third makes engines and destroys them.
static void *call(void *unused) {
    (void)unused;
    float sound[FRAMES] = {0};
    while (!atomic_load(&over)) {
        dv_status status = dv_send_capture(atomic_load(&shared_engine), sound, FRAMES, 0, NULL);
        if (status != DV_OK && status != DV_BUSY && status != DV_INVALID_HANDLE) expect(status, DV_OK, "capture beside others");
        status = dv_pull_playback(atomic_load(&shared_engine), sound, FRAMES, 0, NULL);
        if (status != DV_OK && status != DV_BUSY && status != DV_INVALID_HANDLE) expect(status, DV_OK, "playback beside others");
        usleep(200);
    }
    return NULL;
}

static void *listen(void *unused) {
    (void)unused;
    dv_event event = {sizeof event};
    dv_error error;
    while (!atomic_load(&over)) {
        dv_status status = dv_engine_next_event(atomic_load(&shared_engine), 50, &event);
        if (status != DV_OK && status != DV_INVALID_HANDLE) expect(status, DV_OK, "event beside others");
        status = dv_engine_set_muted(atomic_load(&shared_engine), 1, &error);
        if (status != DV_OK && status != DV_INVALID_HANDLE) expect(status, DV_OK, "mute beside others");
        if (status == DV_INVALID_HANDLE) usleep(200);
    }
    return NULL;
}

static void destroy_engines(void) {
    dv_engine_config config = {sizeof config, DV_ENGINE_LOW_DELAY, DV_SOUND_CLIENT};
    config.priority = -1;
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, i == 0 ? call : listen, NULL);
    for (int round = 0; round < ENGINES; round++) {
        dv_engine engine;
        expect(dv_engine_create(&config, &engine, NULL), DV_OK, "engine beside others");
        atomic_store(&shared_engine, engine);
        expect(dv_engine_start(engine, NULL), DV_OK, "start beside others");
        while (dv_engine_destroy(engine) == DV_BUSY) {}
    }
    atomic_store(&over, 1);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    atomic_store(&over, 0);
}

int main(void) {
    misuse_engine();
    misuse_tokens();
    misuse_playout();
    misuse_graph();
    destroy_engines();
    destroy_graphs();
    dv_processor_config config = {sizeof config, 48000};
    config.backend = DV_BACKEND_BYPASS;
    dv_processor processor = 1;
    dv_error error;
    float sound[FRAMES] = {0};

    expect(dv_version() == DV_VERSION, 1, "version");
    expect(dv_processor_create(NULL, NULL, &processor, &error), DV_INVALID_ARGUMENT, "no config");
    expect(processor == 0 && error.message[0] != 0, 1, "a failure leaves no handle and a sentence");
    expect(dv_processor_create(&config, NULL, NULL, NULL), DV_INVALID_ARGUMENT, "no place for the handle");
    config.size = 3;
    expect(dv_processor_create(&config, NULL, &processor, &error), DV_INVALID_SIZE, "size");
    config.size = sizeof config;
    config.sample_rate = 47999;
    expect(dv_processor_create(&config, NULL, &processor, &error), DV_INVALID_ARGUMENT, "rate");
    config.sample_rate = 48000;
    expect(dv_processor_run(0, sound, sound, sound, FRAMES), DV_INVALID_HANDLE, "null handle");
    expect(dv_processor_run(~UINT64_C(0), sound, sound, sound, FRAMES), DV_INVALID_HANDLE, "no handle");
    expect(dv_processor_create(&config, NULL, &processor, &error), DV_OK, "create");
    expect(dv_processor_run(processor, NULL, sound, sound, FRAMES), DV_INVALID_ARGUMENT, "no capture");
    expect(dv_processor_run(processor, sound, sound, NULL, FRAMES), DV_INVALID_ARGUMENT, "no output");
    expect(dv_processor_run(processor, sound, sound, sound, (size_t)-1), DV_INVALID_ARGUMENT, "too many frames");
    expect(dv_processor_run(processor + (UINT64_C(1) << 56), sound, sound, sound, FRAMES), DV_INVALID_HANDLE, "kind");
    expect(dv_processor_delay(processor, NULL), DV_INVALID_ARGUMENT, "no place for the delay");
    expect(dv_processor_get_report(processor, NULL), DV_INVALID_ARGUMENT, "no report");
    expect(dv_processor_destroy(processor), DV_OK, "destroy");
    expect(dv_processor_destroy(processor), DV_INVALID_HANDLE, "destroy twice");
    expect(dv_processor_run(processor, sound, sound, sound, FRAMES), DV_INVALID_HANDLE, "use after free");

    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, play, NULL);
    int destroyed = 0;
    while (destroyed < DESTROYED) {
        dv_processor old = atomic_load(&shared);
        if (old == 0) {
            expect(dv_processor_create(&config, NULL, &old, NULL), DV_OK, "create beside others");
            atomic_store(&shared, old);
        } else if (dv_processor_destroy(old) == DV_OK) {
            destroyed++;
            atomic_store(&shared, 0);
        }
    }
    while (atomic_load(&shared) != 0 && dv_processor_destroy(atomic_load(&shared)) != DV_OK) {}
    atomic_store(&over, 1);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("misuse: every mistake got its status; destroyed %d times under use\n", destroyed);
    return 0;
}
