#include "linux_realtime.h"
