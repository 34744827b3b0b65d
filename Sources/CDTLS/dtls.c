#include "dtls.h"
