import { serve } from "../servers/servers.ts";
import type { Listening } from "../../../packages/operator/src/http/listen.ts";

/** A folder of statements on an HTTP server: file names without `.txt`, and their contents. */
export class StatementHost {
  readonly files = new Map<string, string | Uint8Array>();
  /** How many requests it has received. */
  requests = 0;
  #server!: Listening;

  static async start(): Promise<StatementHost> {
    const host = new StatementHost();
    host.#server = await serve((request, response) => {
      host.requests++;
      const name = /^\/statements\/([a-z0-9/-]+)\.txt$/.exec(request.url ?? "")?.[1];
      const file = name === undefined ? undefined : host.files.get(name);
      response.writeHead(file === undefined ? 404 : 200, { "Access-Control-Allow-Origin": "*" }).end(file);
    });
    return host;
  }

  get url(): string {
    return `${this.#server.url}/statements`;
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}
