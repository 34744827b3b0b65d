#include "webrtc_audio.h"
