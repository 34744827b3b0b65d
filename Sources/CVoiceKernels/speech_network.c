// The weights of the network that hears whether somebody speaks.

#include "include/CVoiceKernels.h"

static const _Alignas(64) unsigned char speech_network[] = {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc23-extensions"
#embed "speech-network.bin"
#pragma clang diagnostic pop
};

const void *vk_speech_network(size_t *bytes) {
    *bytes = sizeof speech_network;
    return speech_network;
}
