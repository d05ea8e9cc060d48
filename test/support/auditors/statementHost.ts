import type { Listening } from "@keyroot/operator/shared";
import type { Statement } from "keyroot/auditors";
import { serializeStatement } from "keyroot/internal/auditors";
import { serve } from "../servers/servers.ts";

/** A folder of statements on an HTTP server: file names without `.txt`, and their contents. */
export class StatementHost {
  readonly files = new Map<string, string | Uint8Array>();
  /** Number of requests that the host received. */
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

/** Starts empty hosts for all tests of the surrounding `describe`. Each test begins without files and requests. */
export function statementHosts(count: number): readonly StatementHost[] {
  const hosts: StatementHost[] = [];
  before(async () => {
    for (let i = 0; i < count; i++) hosts.push(await StatementHost.start());
  });
  after(() => Promise.all(hosts.map((host) => host.close())));
  beforeEach(() => {
    for (const host of hosts) {
      host.files.clear();
      host.requests = 0;
    }
  });
  return hosts;
}

/** Returns the text of a statement about a block. The block may be an endpoint's answer. */
export function statementText(
  { chainId, contract }: Pick<Statement, "chainId" | "contract">,
  { number, hash, timestamp }: { number: number | string; hash: string; timestamp: number | string },
  changes: Partial<Statement> = {},
): string {
  return serializeStatement({
    ...{ chainId, contract: contract.toLowerCase(), codeHash: `0x${"c0".repeat(32)}` },
    block: { number: Number(number), hash, timestamp: Number(timestamp) },
    ...{ userCount: 3, rootCount: 2, damagedCount: 0, damagedRoots: [] },
    ...changes,
  });
}
