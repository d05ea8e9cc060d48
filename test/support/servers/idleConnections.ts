import { subscribe } from "node:diagnostics_channel";
import type { Server } from "node:http";

/**
 * Keeps idle connections to the servers of this process open. By default, Node's servers close them after 5 s. If a test works
 * for longer without a pause, the server then closes the connection that the next request uses.
 */
subscribe("http.server.request.start", (message) => {
  (message as { server: Server }).server.keepAliveTimeout = 0;
});
