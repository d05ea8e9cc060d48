import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { buildApp } from "fauxqs";
import { type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { serve } from "./servers.ts";

/** Responds instead of the service. Returns false to let the service respond. */
export type Gate = (request: IncomingMessage, response: ServerResponse) => Promise<boolean> | boolean;

/** An S3-compatible service with one empty bucket, behind a gate that may reject, delay and alter requests. */
export interface BucketServer {
  readonly url: string;
  readonly bucket: string;
  /** The requests so far, such as "PUT /bucket/key". */
  readonly requests: { line: string; headers: IncomingMessage["headers"] }[];
  gate: Gate | undefined;
  close(): Promise<void>;
}

/** The credentials in the SDK's environment. The service accepts any. */
export const CREDENTIALS = { AWS_ACCESS_KEY_ID: "AKIASAMPLE", AWS_SECRET_ACCESS_KEY: "wJalrXUtnFEMIsample" };

/**
 * Returns a function that sets the SDK's variables for the rest of a test, so that the SDK ignores this machine's
 * configuration and sends no request to a cloud's metadata service.
 */
export function bucketEnvironment(): (variables: Record<string, string>) => void {
  const own = (name: string) => name.startsWith("AWS_");
  const set = (variables: Record<string, string | undefined>) => {
    for (const name of Object.keys(process.env).filter(own)) Reflect.deleteProperty(process.env, name);
    Object.assign(process.env, variables);
  };
  const before = Object.fromEntries(Object.entries(process.env).filter(([name]) => own(name)));
  const nothing = { AWS_CONFIG_FILE: "/dev/null", AWS_SHARED_CREDENTIALS_FILE: "/dev/null" };
  afterEach(() => {
    set(before);
  });
  return (variables) => {
    set({ ...nothing, AWS_EC2_METADATA_DISABLED: "true", ...variables });
  };
}

/** Starts the service. It ignores conditions on writing, as several real services do. */
export async function startBucketServer(bucket = "keyroot-files"): Promise<BucketServer> {
  const app = buildApp({ logger: false });
  const service = await app.listen({ host: "127.0.0.1", port: 0 });
  const outer = await serve((request, response) => {
    server.requests.push({ line: `${request.method ?? ""} ${pathOf(request)}`, headers: request.headers });
    const answer = async () =>
      (await server.gate?.(request, response)) === true || (await forward(service, request, response));
    answer().catch(() => response.destroy());
  });
  const server: BucketServer = {
    url: outer.url,
    bucket,
    requests: [],
    gate: undefined,
    async close() {
      await outer.close();
      await app.close();
    },
  };
  const credentials = {
    accessKeyId: CREDENTIALS.AWS_ACCESS_KEY_ID,
    secretAccessKey: CREDENTIALS.AWS_SECRET_ACCESS_KEY,
  };
  const client = new S3Client({ endpoint: service, region: "us-east-1", forcePathStyle: true, credentials });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  return server;
}

/** Adds conditional writes to the service. Like Amazon S3, it then responds with 412 if the object exists. */
export function checkConditions({ url }: Pick<BucketServer, "url">): Gate {
  return async (request, response) => {
    if (request.method !== "PUT" || request.headers["if-none-match"] !== "*") return false;
    const { status } = await fetch(url + pathOf(request), { method: "HEAD" });
    return status === 200 && reject(response, 412, "PreconditionFailed");
  };
}

/** Responds with an error in the form of S3. */
export function reject(response: ServerResponse, status: number, code: string): true {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>No.</Message></Error>`;
  response.writeHead(status, { "Content-Type": "application/xml" }).end(body);
  return true;
}

/** Forwards a request, and its response. */
async function forward(service: string, request: IncomingMessage, response: ServerResponse): Promise<true> {
  const { method, headers, url = "/" } = request;
  const inner = httpRequest(new URL(url, service), { method, headers });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    inner.once("response", resolve).on("error", reject);
  });
  const [answer] = await Promise.all([answered, pipeline(request, inner)]);
  response.writeHead(answer.statusCode ?? 500, answer.headers);
  await pipeline(answer, response);
  return true;
}

function pathOf({ url = "/" }: IncomingMessage): string {
  return new URL(url, "http://x").pathname;
}
