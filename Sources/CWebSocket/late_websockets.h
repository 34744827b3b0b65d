#pragma once
#include <libwebsockets.h>
#include <stdbool.h>

// libwebsockets, loaded when it is first asked for: who embeds the engine and speaks with no server by WebSocket or HTTP
// needs no libwebsockets. What is called below by a function's name goes through a table.

#define LATE_WEBSOCKETS(FUNCTION) \
    FUNCTION(lws_add_http_header_by_name) \
    FUNCTION(lws_add_http_header_content_length) \
    FUNCTION(lws_callback_on_writable) \
    FUNCTION(lws_cancel_service) \
    FUNCTION(lws_client_connect_via_info) \
    FUNCTION(lws_client_http_body_pending) \
    FUNCTION(lws_close_reason) \
    FUNCTION(lws_context_destroy) \
    FUNCTION(lws_context_user) \
    FUNCTION(lws_create_context) \
    FUNCTION(lws_create_vhost) \
    FUNCTION(lws_frame_is_binary) \
    FUNCTION(lws_get_context) \
    FUNCTION(lws_get_socket_fd) \
    FUNCTION(lws_get_vhost_by_name) \
    FUNCTION(lws_get_vhost_listen_port) \
    FUNCTION(lws_hdr_copy) \
    FUNCTION(lws_hdr_custom_copy) \
    FUNCTION(lws_hdr_total_length) \
    FUNCTION(lws_http_client_http_response) \
    FUNCTION(lws_http_client_read) \
    FUNCTION(lws_is_final_fragment) \
    FUNCTION(lws_is_first_fragment) \
    FUNCTION(lws_now_usecs) \
    FUNCTION(lws_remaining_packet_payload) \
    FUNCTION(lws_rx_flow_control) \
    FUNCTION(lws_service) \
    FUNCTION(lws_set_log_level) \
    FUNCTION(lws_set_timeout) \
    FUNCTION(lws_sul_cancel) \
    FUNCTION(lws_sul_schedule) \
    FUNCTION(lws_validity_confirmed) \
    FUNCTION(lws_write)

#define LATE_MEMBER(name) __typeof__(&name) name;
struct late_websockets {
    LATE_WEBSOCKETS(LATE_MEMBER)
};
extern struct late_websockets late_websockets;

/// A context with one host, which can do TLS.
struct lws_context *dv_web_context(const struct lws_context_creation_info *info);

#ifndef LATE_WEBSOCKETS_BY_NAME
#define lws_add_http_header_by_name late_websockets.lws_add_http_header_by_name
#define lws_add_http_header_content_length late_websockets.lws_add_http_header_content_length
#define lws_callback_on_writable late_websockets.lws_callback_on_writable
#define lws_cancel_service late_websockets.lws_cancel_service
#define lws_client_connect_via_info late_websockets.lws_client_connect_via_info
#define lws_client_http_body_pending late_websockets.lws_client_http_body_pending
#define lws_close_reason late_websockets.lws_close_reason
#define lws_context_destroy late_websockets.lws_context_destroy
#define lws_context_user late_websockets.lws_context_user
#define lws_create_context late_websockets.lws_create_context
#define lws_create_vhost late_websockets.lws_create_vhost
#define lws_frame_is_binary late_websockets.lws_frame_is_binary
#define lws_get_context late_websockets.lws_get_context
#define lws_get_socket_fd late_websockets.lws_get_socket_fd
#define lws_get_vhost_by_name late_websockets.lws_get_vhost_by_name
#define lws_get_vhost_listen_port late_websockets.lws_get_vhost_listen_port
#define lws_hdr_copy late_websockets.lws_hdr_copy
#define lws_hdr_custom_copy late_websockets.lws_hdr_custom_copy
#define lws_hdr_total_length late_websockets.lws_hdr_total_length
#define lws_http_client_http_response late_websockets.lws_http_client_http_response
#define lws_http_client_read late_websockets.lws_http_client_read
#define lws_is_final_fragment late_websockets.lws_is_final_fragment
#define lws_is_first_fragment late_websockets.lws_is_first_fragment
#define lws_now_usecs late_websockets.lws_now_usecs
#define lws_remaining_packet_payload late_websockets.lws_remaining_packet_payload
#define lws_rx_flow_control late_websockets.lws_rx_flow_control
#define lws_service late_websockets.lws_service
#define lws_set_log_level late_websockets.lws_set_log_level
#define lws_set_timeout late_websockets.lws_set_timeout
#define lws_sul_cancel late_websockets.lws_sul_cancel
#define lws_sul_schedule late_websockets.lws_sul_schedule
#define lws_validity_confirmed late_websockets.lws_validity_confirmed
#define lws_write late_websockets.lws_write
#endif
