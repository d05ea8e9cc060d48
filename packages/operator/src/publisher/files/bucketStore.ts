import {
  GetObjectCommand,
  type GetObjectCommandOutput,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { hash } from "node:crypto";
import { describeValue } from "keyroot/input";
import { ArgumentError, TransportError, VerificationError } from "keyroot/errors";
import { type MerkleFile, serializeMerkleFile } from "keyroot/merkle";
import { withinTime } from "keyroot/transport";
import type { MerkleFileStore, StoredFile } from "./folderStore.ts";

/** How long a bucket may take. */
export interface BucketTimes {
  /** The most ms of one attempt, and of a pause within it. Default 30,000. */
  attemptMs: number;
  /** The most ms of a request with all attempts that the SDK makes. Default 120,000. */
  requestMs: number;
}

const TIMES: BucketTimes = { attemptMs: 30_000, requestMs: 120_000 };

/** The most bytes that are read of a file: more than any verifier takes (`parseMerkleFile`). */
const MAX_BYTES = 2 ** 29;

/** Names of buckets (Amazon S3 User Guide, "General purpose bucket naming rules"). */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Prefixes of characters that need no escape anywhere (the same guide, "Naming Amazon S3 objects"), no part empty. */
const PREFIX = /^(?:[A-Za-z0-9!_.*'()-]+\/)*[A-Za-z0-9!_.*'()-]+$/;

/** How what stands under a name compares with what should. */
type Standing = "missing" | "same" | "other";

/**
 * A bucket of an S3-compatible service as a store: an object `<root>.json` for each tree, which caches may keep for ever.
 *
 * Where the service is, which region, whose credentials and how many attempts: the AWS SDK finds all of it in its own
 * environment variables and files (AWS SDKs and Tools Reference Guide), and nothing of it gets into an error. The
 * credentials must allow `s3:PutObject`, `s3:GetObject` and `s3:ListBucket`: without the last, a missing object looks
 * like a forbidden one.
 */
export class BucketStore implements MerkleFileStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #requestMs: number;

  private constructor(client: S3Client, bucket: string, prefix: string, requestMs: number) {
    this.#client = client;
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#requestMs = requestMs;
  }

  /**
   * @param address `s3://<bucket>`, `s3://<bucket>/<prefix>`
   * @throws ArgumentError ARGUMENT_INVALID for another address, or where no region is set
   */
  static async open(address: string, times: Partial<BucketTimes> = {}): Promise<BucketStore> {
    const { attemptMs, requestMs } = { ...TIMES, ...times };
    const [, bucket = "", prefix = ""] = /^s3:\/\/([^/]*)(?:\/(.*?))?\/?$/.exec(address) ?? [];
    if (!BUCKET.test(bucket) || (prefix !== "" && !PREFIX.test(prefix)) || /(^|\/)\.{1,2}(\/|$)/.test(prefix)) {
      const message = `A bucket's address is s3://<bucket>/<prefix>, it is not ${describeValue(address)}.`;
      throw new ArgumentError("ARGUMENT_INVALID", message);
    }
    const client = new S3Client({
      // Services of one's own rarely have a name for each bucket.
      forcePathStyle: (process.env["AWS_ENDPOINT_URL_S3"] ?? process.env["AWS_ENDPOINT_URL"]) !== undefined,
      requestHandler: {
        connectionTimeout: attemptMs,
        requestTimeout: attemptMs,
        socketTimeout: attemptMs,
        throwOnRequestTimeout: true,
      },
    });
    try {
      await client.config.region();
    } catch {
      const message = "No region is set for the bucket: set AWS_REGION; for services that have none, to us-east-1.";
      throw new ArgumentError("ARGUMENT_INVALID", message);
    }
    return new BucketStore(client, bucket, prefix === "" ? "" : `${prefix}/`, requestMs);
  }

  async put(file: MerkleFile): Promise<StoredFile> {
    const name = `${file.tree.root}.json`;
    const where = this.#addressOf(name);
    const bytes = Buffer.from([...serializeMerkleFile(file)].join(""));
    let standing = await this.#compare(name, bytes);
    const written = standing === "missing" && (await this.#write(name, bytes));
    if (standing === "missing") standing = await this.#compare(name, bytes);
    if (standing === "same") return { where, bytes: bytes.length, sha256: hash("sha256", bytes) };
    if (standing === "other" && !written) {
      const message = `${where} holds other bytes than this tree's: a file under a root's name never changes.`;
      throw new ArgumentError("FILE_CONFLICT", message);
    }
    throw new TransportError("FILE_UNWRITABLE", `${where} does not read as it was written.`);
  }

  async get(root: string): Promise<Uint8Array> {
    const name = `${root}.json`;
    const bytes = await this.#read(name, MAX_BYTES);
    if (bytes === undefined) {
      const message = `${this.#addressOf(name)} is not there.`;
      throw new VerificationError("file", "FILE_NOT_FOUND", message, { expected: name });
    }
    if (bytes.length <= MAX_BYTES) return bytes;
    const message = `${this.#addressOf(name)} has more than ${MAX_BYTES} bytes, which is no Merkle-tree file.`;
    throw new TransportError("ANSWER_TOO_LARGE", message, { expected: MAX_BYTES });
  }

  async #compare(name: string, bytes: Buffer): Promise<Standing> {
    const standing = await this.#read(name, bytes.length);
    if (standing === undefined) return "missing";
    return bytes.equals(standing) ? "same" : "other";
  }

  /**
   * Reads an object.
   * @returns its bytes; more than `most`, but not all, where it has more; undefined where there is no such object
   */
  #read(name: string, most: number): Promise<Buffer | undefined> {
    return this.#request("FILE_UNREADABLE", "read", name, async (abortSignal) => {
      let bytes: Buffer | undefined;
      const command = new GetObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + name });
      // Read inside of the SDK's attempts, an answer that breaks off is asked for again.
      command.middlewareStack.add(
        (next) => async (args) => {
          const answer = await next(args);
          bytes = await readBeyond(answer.output?.Body, most);
          return answer;
        },
        { step: "deserialize", priority: "high" },
      );
      try {
        await this.#client.send(command, { abortSignal });
        return bytes;
      } catch (error) {
        if (hasStatus(error, 404) && (error as Error).name === "NoSuchKey") return undefined;
        throw error;
      }
    });
  }

  /**
   * Stores what is not there. Not every service knows a condition on writing (`If-None-Match: *`, RFC 9110, section
   * 13.1.2): some refuse it with 501, others pass over it.
   * @returns whether it was stored: not where somebody else was faster
   */
  async #write(name: string, bytes: Buffer): Promise<boolean> {
    const write = (abortSignal: AbortSignal, condition: { IfNoneMatch?: "*" }) => {
      const command = new PutObjectCommand({
        Bucket: this.#bucket,
        Key: this.#prefix + name,
        Body: bytes,
        ContentType: "application/json",
        CacheControl: "public, max-age=31536000, immutable",
        // The service compares it with what has arrived.
        ChecksumSHA256: hash("sha256", bytes, "base64"),
        ...condition,
      });
      return this.#client.send(command, { abortSignal });
    };
    return this.#request("FILE_UNWRITABLE", "written", name, async (abortSignal) => {
      try {
        await write(abortSignal, { IfNoneMatch: "*" });
      } catch (error) {
        if (hasStatus(error, 412) || hasStatus(error, 409)) return false;
        if (!hasStatus(error, 501)) throw error;
        await write(abortSignal, {});
      }
      return true;
    });
  }

  /** Limits a request's time, and tells its failure. */
  #request<T>(
    code: "FILE_UNREADABLE" | "FILE_UNWRITABLE",
    done: string,
    name: string,
    work: (abortSignal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return withinTime("The bucket", this.#requestMs, undefined, async (within) => {
      try {
        return await work(within);
      } catch (error) {
        // Without its cause: errors of the SDK carry requests and answers, with what they were signed by.
        throw new TransportError(code, `${this.#addressOf(name)} cannot be ${done}: ${reasonOf(error)}.`);
      }
    });
  }

  #addressOf(name: string): string {
    return `s3://${this.#bucket}/${this.#prefix}${name}`;
  }
}

/** Reads a body to its end, or until it has more than `most` bytes. */
async function readBeyond(body: GetObjectCommandOutput["Body"], most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (body?.transformToWebStream() ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > most) break;
  }
  return Buffer.concat(chunks);
}

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === status;
}

/** The code that the service, Node or the SDK has for a failure; never its words, which may name more. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "no reason";
  if (error instanceof S3ServiceException) {
    return `${describeValue(error.name)}, HTTP status ${error.$metadata.httpStatusCode ?? "unknown"}`;
  }
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
