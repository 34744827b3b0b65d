// The doorbell: wakes a stream of the card from its poll, from any thread, process, or the control tool.
//
// A datagram socket with a name in the abstract namespace (unix(7)), which goes with the process; nothing is left in
// the file system.
#pragma once

#include "card.h"

/// A socket that is readable after somebody rang for this direction. Its descriptor or -errno.
int vc_doorbell_open(const vc_access *access, vc_direction direction);

/// Takes everything that rang. True if anything did. Real-time safe.
bool vc_doorbell_answer(int doorbell);

/// Rings for a direction of the card as it was plugged in at `generation`; nothing happens if nobody has it open.
/// From the socket `from`, a doorbell or -1 for one of its own.
void vc_doorbell_ring(const vc_access *access, uint32_t generation, vc_direction direction, int from);
