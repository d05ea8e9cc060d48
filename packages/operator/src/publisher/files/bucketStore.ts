import {
  GetObjectCommand,
  type GetObjectCommandOutput,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { hash } from "node:crypto";
import { describeValue } from "keyroot/internal/input";
import type { MerkleFile } from "keyroot/internal/merkle";
import { withTimeout } from "keyroot/internal/transport";
import { ArgumentError, argumentInvalid, TransportError, VerificationError } from "../../errors.ts";
import { MAX_ACCOUNT_FILE_BYTES } from "../../follow/index.ts";
import { besideFile, type BesideFileOptions, bytesOf, type StoredObject } from "./besideFile.ts";
import {
  ACCOUNT_FILE_CACHE,
  type AccountFileStore,
  type MerkleFileStore,
  type PutOptions,
  type StoredFile,
} from "./merkleFileStore.ts";

/** The time limits for requests to a bucket. */
export interface BucketTimeouts {
  /** The maximum time of one attempt, and the maximum time without data, in ms. Default: 30,000. */
  attemptMs: number;
  /** The maximum time of a request with all attempts of the SDK, in ms. Default: 120,000. */
  requestMs: number;
}

const DEFAULT_TIMEOUTS: BucketTimeouts = { attemptMs: 30_000, requestMs: 120_000 };

/** The maximum number of bytes to read from a file. It is higher than what a verifier accepts (`parseMerkleFile`). */
const MAX_BYTES = 2 ** 29;

/** Cache-Control of objects that never change. */
const FOREVER = "public, max-age=31536000, immutable";

/** Valid bucket names (Amazon S3 User Guide, "General purpose bucket naming rules"). */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/**
 * Matches a valid prefix. It has no empty parts, and only characters that need no escaping (Amazon S3 User Guide,
 * "Naming Amazon S3 objects").
 */
const PREFIX = /^(?:[A-Za-z0-9!_.*'()-]+\/)*[A-Za-z0-9!_.*'()-]+$/;

/** The result of comparing a stored object with the file to store. */
type ObjectState = "missing" | "same" | "other";

/**
 * Stores Merkle-tree files in a bucket of an S3-compatible service. They never change, so caches may keep them forever.
 *
 * The AWS SDK reads the endpoint, region, credentials and number of attempts from its own environment variables and
 * files (AWS SDKs and Tools Reference Guide). Errors do not contain these values.
 *
 * The credentials must allow `s3:PutObject`, `s3:GetObject` and `s3:ListBucket`. Without `s3:ListBucket`, the service
 * reports a missing object as forbidden.
 *
 * If the service rejects checksums, set `AWS_REQUEST_CHECKSUM_CALCULATION` and `AWS_RESPONSE_CHECKSUM_VALIDATION` to
 * `WHEN_REQUIRED`. Each written file is read back and compared in any case.
 * @example
 * ```ts
 * const store = await BucketStore.open("s3://keyroot-files/prod");
 * ```
 */
export class BucketStore implements MerkleFileStore, AccountFileStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #requestMs: number;
  readonly #sendsChecksums: boolean;
  readonly #beside: BesideFileOptions;

  private constructor(
    client: S3Client,
    bucket: string,
    prefix: string,
    { requestMs, sendsChecksums, beside }: { requestMs: number; sendsChecksums: boolean; beside: BesideFileOptions },
  ) {
    this.#beside = beside;
    this.#sendsChecksums = sendsChecksums;
    this.#client = client;
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#requestMs = requestMs;
  }

  /**
   * Opens a bucket.
   * @param address `s3://<bucket>` or `s3://<bucket>/<prefix>`
   * @param beside what to store beside each file
   * @throws ArgumentError ARGUMENT_INVALID for any other address, or if no region is set
   */
  static async open(
    address: string,
    timeouts: Partial<BucketTimeouts> = {},
    beside: BesideFileOptions = {},
  ): Promise<BucketStore> {
    const { attemptMs, requestMs } = { ...DEFAULT_TIMEOUTS, ...timeouts };
    const [, bucket = "", prefix = ""] = /^s3:\/\/([^/]*)(?:\/(.*?))?\/?$/.exec(address) ?? [];
    if (!BUCKET.test(bucket) || (prefix !== "" && !PREFIX.test(prefix)) || /(^|\/)\.{1,2}(\/|$)/.test(prefix))
      throw argumentInvalid(`The address of a bucket must be s3://<bucket>/<prefix>, not ${describeValue(address)}.`);
    const client = new S3Client({
      // Put the bucket in the path, because self-hosted services rarely have a host name per bucket.
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
      const message =
        "No region is set for the bucket. Set AWS_REGION. If the service has no regions, set it to us-east-1.";
      throw argumentInvalid(message);
    }
    const sendsChecksums = (await client.config.requestChecksumCalculation()) !== "WHEN_REQUIRED";
    const folder = prefix === "" ? "" : `${prefix}/`;
    return new BucketStore(client, bucket, folder, { requestMs, sendsChecksums, beside });
  }

  async put(file: MerkleFile, { replace = false }: PutOptions = {}): Promise<StoredFile> {
    const name = `${file.tree.root}.json`;
    const where = this.#addressOf(name);
    const bytes = bytesOf(file);
    let state = await this.#compare(name, bytes);
    const isNeeded = state === "missing" || (state === "other" && replace);
    const written = isNeeded && (await this.#write({ name, bytes, contentType: "application/json" }, { replace }));
    if (isNeeded) state = await this.#compare(name, bytes);
    if (state === "same") {
      const beside = await besideFile(file, this.#beside);
      if (beside !== undefined) await this.#write(beside);
      return { where, bytes: bytes.length, sha256: hash("sha256", bytes) };
    }
    if (state === "other" && !written) {
      const message = `${where} already has different content. It was not overwritten. Find out who changed it.`;
      throw new ArgumentError("FILE_CONFLICT", message);
    }
    throw new TransportError(
      "FILE_UNWRITABLE",
      `${where} does not contain the bytes that Keyroot wrote. Check the storage service.`,
    );
  }

  async get(root: string): Promise<Uint8Array> {
    const name = `${root}.json`;
    const bytes = await this.#read(name, MAX_BYTES);
    if (bytes === undefined) {
      const message = `${this.#addressOf(name)} does not exist.`;
      throw new VerificationError("file", "FILE_NOT_FOUND", message, { expected: name });
    }
    if (bytes.length <= MAX_BYTES) return bytes;
    const message = `${this.#addressOf(name)} has more than ${MAX_BYTES} bytes, the maximum for a Merkle-tree file.`;
    throw new TransportError("ANSWER_TOO_LARGE", message, { expected: MAX_BYTES });
  }

  async putAccountFile(name: string, text: string): Promise<void> {
    const file = { name, bytes: Buffer.from(text), contentType: "text/plain; charset=utf-8" };
    await this.#write(file, { replace: true, cacheControl: ACCOUNT_FILE_CACHE });
  }

  readAccountFile(name: string): Promise<Uint8Array | undefined> {
    return this.#read(name, MAX_ACCOUNT_FILE_BYTES);
  }

  async #compare(name: string, bytes: Buffer): Promise<ObjectState> {
    const existing = await this.#read(name, bytes.length);
    if (existing === undefined) return "missing";
    return bytes.equals(existing) ? "same" : "other";
  }

  /**
   * Reads an object, and stops soon after `maxBytes` bytes.
   * @returns the bytes, or undefined if the object does not exist
   */
  #read(name: string, maxBytes: number): Promise<Buffer | undefined> {
    return this.#request("FILE_UNREADABLE", "read", name, async (abortSignal) => {
      let bytes: Buffer | undefined;
      const command = new GetObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + name });
      // Read the body within the SDK's attempts, so that the SDK repeats a request after an incomplete response.
      command.middlewareStack.add(
        (next) => async (args) => {
          const answer = await next(args);
          bytes = await readBody(answer.output?.Body, maxBytes);
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
   * Writes an object if it does not exist yet (`If-None-Match: *`, RFC 9110, section 13.1.2), or in any case if
   * `replace` is set. A service may reject this condition with status 501, and the object is then written without it.
   * Some services ignore the condition.
   * @returns false if another writer was faster
   */
  async #write(
    { name, bytes, contentType, contentEncoding }: StoredObject,
    { replace = false, cacheControl = FOREVER }: PutOptions & { cacheControl?: string } = {},
  ): Promise<boolean> {
    const write = (abortSignal: AbortSignal, condition: { IfNoneMatch?: "*" }) => {
      const command = new PutObjectCommand({
        Bucket: this.#bucket,
        Key: this.#prefix + name,
        Body: bytes,
        ContentType: contentType,
        ContentEncoding: contentEncoding,
        CacheControl: cacheControl,
        // The service compares this checksum with the received bytes, unless the SDK's variables exclude checksums.
        ...(this.#sendsChecksums && { ChecksumSHA256: hash("sha256", bytes, "base64") }),
        ...condition,
      });
      return this.#client.send(command, { abortSignal });
    };
    return this.#request("FILE_UNWRITABLE", "written", name, async (abortSignal) => {
      try {
        await write(abortSignal, replace ? {} : { IfNoneMatch: "*" });
      } catch (error) {
        if (hasStatus(error, 412) || hasStatus(error, 409)) return false;
        if (!hasStatus(error, 501)) throw error;
        await write(abortSignal, {});
      }
      return true;
    });
  }

  /** Runs a request with a time limit. If the request fails, throws an error that describes the failure. */
  #request<T>(
    code: "FILE_UNREADABLE" | "FILE_UNWRITABLE",
    done: string,
    name: string,
    work: (abortSignal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return withTimeout("The bucket", this.#requestMs, undefined, async (within) => {
      try {
        return await work(within);
      } catch (error) {
        // Omit the cause, because errors of the SDK contain requests with signatures.
        const message = `${this.#addressOf(name)} cannot be ${done}: ${reasonOf(error)}.${this.#remedyOf(code, error)}`;
        throw new TransportError(code, message);
      }
    });
  }

  /** Returns a sentence about a likely cause that the operator can remove, or nothing. */
  #remedyOf(code: "FILE_UNREADABLE" | "FILE_UNWRITABLE", error: unknown): string {
    const { name, $metadata } = error instanceof S3ServiceException ? error : {};
    const status = $metadata?.httpStatusCode;
    if (status === 301 || status === 307 || name === "AuthorizationHeaderMalformed")
      return " The bucket is in another region or at another address. Correct AWS_REGION or AWS_ENDPOINT_URL_S3.";
    if (status === 403 && name === "AccessDenied")
      return code === "FILE_UNREADABLE"
        ? " Allow s3:GetObject for the objects and s3:ListBucket for the bucket. Without s3:ListBucket, the service reports a missing object in this way."
        : " Allow s3:PutObject for the objects.";
    if (code === "FILE_UNREADABLE" && (status === 501 || status === 400))
      return " If the service rejects the header x-amz-checksum-mode, set AWS_RESPONSE_CHECKSUM_VALIDATION=WHEN_REQUIRED.";
    if (this.#sendsChecksums && (status === 501 || status === 400))
      return " If the service rejects the headers of checksums, set AWS_REQUEST_CHECKSUM_CALCULATION=WHEN_REQUIRED.";
    return "";
  }

  #addressOf(name: string): string {
    return `s3://${this.#bucket}/${this.#prefix}${name}`;
  }
}

/** Reads a response body to its end, or until more than `maxBytes` bytes are read. */
async function readBody(body: GetObjectCommandOutput["Body"], maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (body?.transformToWebStream() ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) break;
  }
  return Buffer.concat(chunks);
}

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === status;
}

/**
 * Returns the error code of the service, of Node or of the SDK. It never returns the error's message, because the
 * message may contain secrets.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown reason";
  if (error instanceof S3ServiceException) {
    return `${describeValue(error.name)}, HTTP status ${error.$metadata.httpStatusCode ?? "unknown"}`;
  }
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
