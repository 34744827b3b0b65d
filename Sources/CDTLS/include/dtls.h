/// DTLS 1.2 by OpenSSL, one connection over datagrams that the caller carries.
#pragma once
