// The weights of the networks: what the residual echo is, in general and while both talk, and whether somebody speaks.

#include "include/CVoiceKernels.h"

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc23-extensions"

static const _Alignas(64) unsigned char residual_echo_network[] = {
#embed "residual-echo-network.bin"
};

static const _Alignas(64) unsigned char double_talk_network[] = {
#embed "double-talk-network.bin"
};

static const _Alignas(64) unsigned char speech_network[] = {
#embed "speech-network.bin"
};

#pragma clang diagnostic pop

const void *vk_residual_echo_network(size_t *bytes) {
    *bytes = sizeof residual_echo_network;
    return residual_echo_network;
}

const void *vk_double_talk_network(size_t *bytes) {
    *bytes = sizeof double_talk_network;
    return double_talk_network;
}

const void *vk_speech_network(size_t *bytes) {
    *bytes = sizeof speech_network;
    return speech_network;
}
