/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/view/range.h"

enum {
	MOST_CONNECTIONS = 500, /* more than a browser opens: who opens many and says nothing */
	SAYING_S = 5,           /* has no place for longer than this, as long as it did not ask; */
	PATIENCE_S = 120,       /* who did may stop for so long */
	FAREWELL_MS = 2000,     /* at most, for what is still on its way when the trace was taken */
	FAREWELL_STEP_MS = 20,
	FOR_EVER = -1,
};

struct server {
	const struct gt_serving *serving;
	uint64_t taken_bytes; /* from the beginning, without a gap */
};

/* One request, from its first line to its last byte. */
struct request {
	struct gt_range range; /* of the trace that the answer holds; empty for all else */
};

/* Common to all answers: nothing is kept, nobody learns the address, one request each. */
static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status,
                             struct MHD_Response *response)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	(void)MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	(void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static struct MHD_Response *text_of(const char *text, const char *type)
{
	struct MHD_Response *response;
	union {
		const char *text;
		void *buffer;
	} body = {text};

	/* It is only read: the library's parameter is not const by age. */
	response =
		MHD_create_response_from_buffer(strlen(text), body.buffer, MHD_RESPMEM_PERSISTENT);
	if (response)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	return response;
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned status,
                                   const char *text)
{
	return queue(connection, status, text_of(text, "text/plain; charset=utf-8"));
}

static enum MHD_Result not_here(struct MHD_Connection *connection)
{
	return answer_text(connection, MHD_HTTP_NOT_FOUND, "gputrace view has nothing here\n");
}

static void allow_origin(const struct gt_serving *serving, struct MHD_Response *response)
{
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ORIGIN);
	if (serving->origin)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_ORIGIN,
		                              serving->origin);
}

/* Answers browsers, which ask before they let a page of the web fetch from this machine. */
static enum MHD_Result answer_preflight(const struct gt_serving *serving,
                                        struct MHD_Connection *connection)
{
	struct MHD_Response *response = text_of("", "text/plain");

	if (response) {
		allow_origin(serving, response);
		(void)MHD_add_response_header(response, "Access-Control-Allow-Methods",
		                              "GET, HEAD");
		(void)MHD_add_response_header(response, "Access-Control-Allow-Headers", "Range");
		(void)MHD_add_response_header(response, "Access-Control-Allow-Private-Network",
		                              "true");
	}
	return queue(connection, MHD_HTTP_NO_CONTENT, response);
}

/* A part of a file, whose descriptor stays the caller's. */
static struct MHD_Response *part_of(int file, uint64_t begin, uint64_t end)
{
	const int fd = fcntl(file, F_DUPFD_CLOEXEC, 0);
	struct MHD_Response *response = NULL;

	if (fd >= 0)
		response = MHD_create_response_from_fd_at_offset64(end - begin, fd, begin);
	if (fd >= 0 && !response)
		(void)close(fd);
	return response;
}

static void say_range(struct MHD_Response *response, const struct gt_range *range, uint64_t size)
{
	char text[80];

	if (range)
		snprintf(text, sizeof(text), "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, range->begin,
		         range->end - 1, size);
	else
		snprintf(text, sizeof(text), "bytes */%" PRIu64, size);
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_RANGE, text);
}

static enum MHD_Result answer_trace(const struct gt_serving *serving,
                                    struct MHD_Connection *connection, bool body,
                                    struct request *request)
{
	const char *asked =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_RANGE);
	struct gt_range range = {0, serving->trace_bytes};
	const enum gt_range_answer answer = gt_range_read(asked, serving->trace_bytes, &range);
	const unsigned status = answer == GT_RANGE_WHOLE  ? MHD_HTTP_OK
	                        : answer == GT_RANGE_PART ? MHD_HTTP_PARTIAL_CONTENT
	                                                  : MHD_HTTP_RANGE_NOT_SATISFIABLE;
	struct MHD_Response *response = answer == GT_RANGE_OUTSIDE
	                                        ? text_of("", "text/plain")
	                                        : part_of(serving->trace, range.begin, range.end);

	if (!response)
		return MHD_NO;
	allow_origin(serving, response);
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_ACCEPT_RANGES, "bytes");
	if (answer != GT_RANGE_WHOLE)
		say_range(response, answer == GT_RANGE_PART ? &range : NULL, serving->trace_bytes);
	if (answer != GT_RANGE_OUTSIDE) {
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
		                              "application/octet-stream");
		if (body)
			request->range = range;
	}
	return queue(connection, status, response);
}

static enum MHD_Result answer_start(const struct gt_serving *serving,
                                    struct MHD_Connection *connection)
{
	struct MHD_Response *response;

	if (!serving->location)
		return queue(connection, MHD_HTTP_OK,
		             text_of(serving->page, "text/html; charset=utf-8"));
	response = text_of("", "text/plain");
	if (response)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION,
		                              serving->location);
	return queue(connection, MHD_HTTP_FOUND, response);
}

/* Browsers run nothing and show nothing whose type they were not told. */
static const char *type_of(const char *path)
{
	static const struct {
		const char *ending;
		const char *type;
	} types[] = {
		{".html", "text/html; charset=utf-8"},
		{".js", "text/javascript"},
		{".mjs", "text/javascript"},
		{".css", "text/css"},
		{".wasm", "application/wasm"},
		{".json", "application/json"},
		{".map", "application/json"},
		{".svg", "image/svg+xml"},
		{".png", "image/png"},
		{".woff2", "font/woff2"},
	};
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].ending, dot) == 0)
			return types[i].type;
	return "application/octet-stream";
}

/* Below the folder, and nothing that begins with a dot. */
static bool is_below(const char *path)
{
	return *path != '/' && *path != '.' && !strstr(path, "/.");
}

/* Opens a path below the folder, with links nowhere on its way. A descriptor, or negative. */
static int open_below(int folder, const char *path)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
	int at = fcntl(folder, F_DUPFD_CLOEXEC, 0);

	while (at >= 0 && *path) {
		const size_t length = strcspn(path, "/");
		const bool last = path[length] == '\0';
		char name[NAME_MAX + 1];
		int next = -1;

		if (length < sizeof(name)) {
			memcpy(name, path, length);
			name[length] = '\0';
			next = openat(at, name, last ? flags : flags | O_DIRECTORY);
		}
		(void)close(at);
		at = next;
		path += length + strspn(path + length, "/");
	}
	return at;
}

static enum MHD_Result answer_ui(const struct gt_serving *serving,
                                 struct MHD_Connection *connection, const char *path)
{
	const char *name = *path ? path : "index.html";
	struct MHD_Response *response = NULL;
	struct stat status;
	int fd;

	if (!is_below(name))
		return not_here(connection);
	fd = open_below(serving->ui, name);
	if (fd < 0)
		return not_here(connection);
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		response = part_of(fd, 0, (uint64_t)status.st_size);
	(void)close(fd);
	if (!response)
		return not_here(connection);
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type_of(name));
	return queue(connection, MHD_HTTP_OK, response);
}

/* The part behind "/TOKEN/" in a path, "" for "/TOKEN"; NULL for any other. */
static const char *below_token(const struct gt_serving *serving, const char *path)
{
	const size_t length = strlen(serving->token);

	if (*path != '/' || strncmp(path + 1, serving->token, length) != 0)
		return NULL;
	path += 1 + length;
	if (*path == '/')
		return path + 1;
	return *path ? NULL : path;
}

/* Pages of this server itself, as the UI of a folder is: browsers say so when they fetch fonts. */
static bool is_own(struct MHD_Connection *connection, const char *origin)
{
	static const char scheme[] = "http://";
	static const char here[] = "127.0.0.1:";
	const char *host =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);

	return host && strncmp(host, here, strlen(here)) == 0 &&
	       strncmp(origin, scheme, strlen(scheme)) == 0 &&
	       strcmp(origin + strlen(scheme), host) == 0;
}

/* A page of any other origin may not even ask. */
static bool is_stranger(const struct gt_serving *serving, struct MHD_Connection *connection)
{
	const char *origin =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ORIGIN);

	if (!origin || (serving->origin && strcmp(origin, serving->origin) == 0))
		return false;
	return serving->ui < 0 || !is_own(connection, origin);
}

static enum MHD_Result answer_request(const struct gt_serving *serving,
                                      struct MHD_Connection *connection, const char *path,
                                      const char *method, struct request *request)
{
	static const char ui[] = "ui/";
	const char *name = below_token(serving, path);
	const bool body = strcmp(method, MHD_HTTP_METHOD_GET) == 0;
	bool is_trace;

	if (!name)
		return not_here(connection);
	if (is_stranger(serving, connection))
		return answer_text(connection, MHD_HTTP_FORBIDDEN,
		                   "gputrace view shows this trace to another page\n");
	is_trace = strcmp(name, serving->trace_name) == 0;
	if (is_trace && strcmp(method, MHD_HTTP_METHOD_OPTIONS) == 0)
		return answer_preflight(serving, connection);
	if (!body && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
		                   "gputrace view can only be read\n");
	if (is_trace)
		return answer_trace(serving, connection, body, request);
	if (!*name)
		return answer_start(serving, connection);
	if (serving->ui >= 0 && strncmp(name, ui, strlen(ui)) == 0)
		return answer_ui(serving, connection, name + strlen(ui));
	return not_here(connection);
}

/* Called for the head of a request, then for what it brings, which is not wanted, then to answer. */
/* NOLINTNEXTLINE(readability-function-size): the parameters are the library's */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **state)
{
	struct server *server = context;

	(void)version;
	(void)data;
	if (!*state) {
		struct request *request = gt_allocate(sizeof(*request));

		*request = (struct request){{0, 0}};
		*state = request;
		(void)MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT,
		                                (unsigned)PATIENCE_S);
		return MHD_YES;
	}
	if (*size > 0) {
		*size = 0;
		return MHD_YES;
	}
	return answer_request(server->serving, connection, path, method, *state);
}

/* Parts count as far as they join what was taken before. */
static void handle_end(void *context, struct MHD_Connection *connection, void **state,
                       enum MHD_RequestTerminationCode how)
{
	struct server *server = context;
	const struct request *request = *state;

	(void)connection;
	if (!request)
		return;
	if (how == MHD_REQUEST_TERMINATED_COMPLETED_OK &&
	    request->range.begin <= server->taken_bytes && request->range.end > server->taken_bytes)
		server->taken_bytes = request->range.end;
	free(*state);
	*state = NULL;
}

static bool has_connections(struct MHD_Daemon *daemon)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

	return info && info->num_connections > 0;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Who has the last bytes on the way shall get them: closing a socket too early can cut them off. */
static void say_farewell(struct MHD_Daemon *daemon)
{
	const uint64_t end = now_ms() + FAREWELL_MS;

	while (has_connections(daemon) && now_ms() < end)
		(void)MHD_run_wait(daemon, FAREWELL_STEP_MS);
}

int gt_serve_check(struct gt_error *err)
{
	(void)err;
	return 0;
}

int gt_serve(int socket, const struct gt_serving *serving, struct gt_error *err)
{
	struct server server = {.serving = serving};
	struct MHD_Daemon *daemon = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, handle, &server, MHD_OPTION_LISTEN_SOCKET, socket,
		MHD_OPTION_NOTIFY_COMPLETED, handle_end, &server, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)MOST_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SAYING_S,
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
	bool alive = true;

	if (!daemon)
		return gt_fail(err, EIO, "libmicrohttpd %s does not start", MHD_get_version());
	while (alive && (serving->ui >= 0 || server.taken_bytes < serving->trace_bytes))
		alive = MHD_run_wait(daemon, FOR_EVER) == MHD_YES;
	if (alive)
		say_farewell(daemon);
	MHD_stop_daemon(daemon);
	return alive ? 0 : gt_fail(err, EIO, "cannot wait for a browser any longer");
}
