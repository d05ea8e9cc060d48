import { expect } from "chai";
import type { IncomingMessage, ServerResponse } from "node:http";
import { findStored, FolderStore, openStore } from "@keyroot/operator/publisher";
import { ArgumentError, KeyrootError, TransportError } from "keyroot/internal/errors";
import { makeMerkleFile, type MerkleFile } from "keyroot/internal/merkle";
import { BucketStore } from "../../../../packages/operator/src/publisher/files/bucketStore.ts";
import { itStoresFiles } from "../../../support/publisher/storeBehavior.ts";
import { sampleRecords, sha256, textOf } from "../../../support/samples.ts";
import { closedAfterEach, failure, temporaryFolder } from "../../../support/support.ts";
import {
  bucketEnvironment,
  type BucketServer,
  checkConditions,
  CREDENTIALS,
  type Gate,
  reject,
  startBucketServer,
} from "../../../support/servers/bucketServer.ts";

const small = makeMerkleFile(sampleRecords(5));
/** A file of about 0.6 MB. A response needs many packets. */
const large = makeMerkleFile(sampleRecords(700));
const nameOf = ({ tree }: MerkleFile) => `${tree.root}.json`;

describe("BucketStore", () => {
  const closing = closedAfterEach();
  const folder = temporaryFolder();
  let server: BucketServer;
  /** A store with the default time limits. */
  let patient: BucketStore;
  /** A store with short time limits. */
  let store: BucketStore;

  const setEnvironment = bucketEnvironment();
  beforeEach(async () => {
    server = closing(await startBucketServer());
    setEnvironment({ ...CREDENTIALS, AWS_REGION: "us-east-1", AWS_ENDPOINT_URL_S3: server.url });
    patient = await BucketStore.open(`s3://${server.bucket}/keys/v1`);
    store = await BucketStore.open(`s3://${server.bucket}/keys/v1`, { attemptMs: 400, requestMs: 2_000 });
  });
  const pathOf = (file: MerkleFile) => `/${server.bucket}/keys/v1/${nameOf(file)}`;
  const object = (file: MerkleFile) => fetch(server.url + pathOf(file));
  const place = (file: MerkleFile, body: string) => fetch(server.url + pathOf(file), { method: "PUT", body });
  /** Returns the error of an operation, and checks that it does not contain the credentials. */
  const errorOf = async (work: Promise<unknown>) => {
    const error = (await failure(work)) as KeyrootError;
    checkError(error);
    return error;
  };
  const checkError = (error: unknown) => {
    expect(error).to.be.an.instanceof(KeyrootError);
    const { stack, cause } = error as KeyrootError;
    expect(`${stack} ${JSON.stringify(error)} ${String(cause)}`).not.to.match(/AKIASAMPLE|wJalrXUtn/);
  };

  itStoresFiles(large, () => {
    // The server supports conditions, as Amazon S3 does. Some services do not support them.
    server.gate = checkConditions({ url: server.url });
    return {
      store: patient,
      whereOf: (file) => `s3://${server.bucket}/keys/v1/${nameOf(file)}`,
      place,
      read: async (file) => (await object(file)).text(),
      checkError,
    };
  });

  describe("put", () => {
    it("stores a file with headers that allow permanent caching", async () => {
      await store.put(small);
      const { headers } = await object(small);
      expect(headers.get("Content-Type")).to.equal("application/json");
      expect(headers.get("Cache-Control")).to.equal("public, max-age=31536000, immutable");
    });

    it("sends a conditional write with a checksum", async () => {
      await store.put(small);
      const path = pathOf(small);
      expect(server.requests.map(({ line }) => line)).to.deep.equal([`GET ${path}`, `PUT ${path}`, `GET ${path}`]);
      const { headers } = server.requests[1] ?? {};
      const checksum = Buffer.from(sha256(textOf(small)), "hex").toString("base64");
      expect(headers).to.include({ "if-none-match": "*", "x-amz-checksum-sha256": checksum });
    });

    it("does not write if the same bytes are already stored", async () => {
      await store.put(large);
      server.requests.length = 0;
      await store.put(large);
      expect(server.requests.map(({ line }) => line)).to.deep.equal([`GET ${pathOf(large)}`]);
    });

    for (const same of [true, false]) {
      it(`${same ? "accepts the same" : "rejects different"} content that a faster writer stored`, async () => {
        const conditions = checkConditions({ url: server.url });
        server.gate = async (request, response) => {
          if (request.method !== "PUT" || request.headers["if-none-match"] === undefined) return false;
          await place(small, same ? textOf(small) : "{}");
          return conditions(request, response);
        };
        const put = store.put(small);
        if (same)
          expect(await put)
            .to.have.property("where")
            .that.includes(nameOf(small));
        else expect(await errorOf(put)).to.have.property("code", "FILE_CONFLICT");
        expect(await (await object(small)).text()).to.equal(same ? textOf(small) : "{}");
      });
    }

    it("writes without a condition if the service rejects conditions", async () => {
      server.gate = ({ headers }, response) =>
        headers["if-none-match"] === "*" && reject(response, 501, "NotImplemented");
      await store.put(small);
      expect(await (await object(small)).text()).to.equal(textOf(small));
    });

    it("fails if the service did not store the content", async () => {
      for (const keep of [undefined, "{}"]) {
        server.gate = async (request, response) => {
          if (request.method !== "PUT" || request.headers["x-amz-checksum-sha256"] === undefined) return false;
          request.resume();
          if (keep !== undefined) await place(small, keep);
          response.writeHead(200).end();
          return true;
        };
        const error = await errorOf(store.put(small));
        expect(error).to.be.an.instanceof(TransportError).with.property("code", "FILE_UNWRITABLE");
      }
    });

    it("repeats a write if the service or the connection fails", async () => {
      const failing: Gate[] = [
        (_, response) => reject(response, 503, "SlowDown"),
        (_, response) => reject(response, 500, "InternalError"),
        (request) => (request.socket.resetAndDestroy(), true),
      ];
      for (const gate of failing) {
        let refusals = 1;
        server.gate = (request, response) => request.method === "PUT" && refusals-- > 0 && gate(request, response);
        const file = makeMerkleFile(sampleRecords(3, failing.indexOf(gate) + 10));
        await store.put(file);
        expect(await (await object(file)).text()).to.equal(textOf(file));
      }
    });

    it("stores a file once if the first response was lost", async () => {
      const conditions = checkConditions({ url: server.url });
      let lost = false;
      server.gate = async (request, response) => {
        if (request.method !== "PUT" || lost || request.headers["if-none-match"] === undefined)
          return conditions(request, response);
        lost = true;
        await place(small, textOf(small));
        request.socket.resetAndDestroy();
        return true;
      };
      await store.put(small);
      expect(lost).to.be.true;
    });
  });

  describe("with a failing service", () => {
    const cases: [string, Gate, RegExp][] = [
      ["denied access", (_, response) => reject(response, 403, "AccessDenied"), /"AccessDenied", HTTP status 403/],
      ["an unknown access key", (_, response) => reject(response, 403, "InvalidAccessKeyId"), /"InvalidAccessKeyId"/],
      ["a missing bucket", (_, response) => reject(response, 404, "NoSuchBucket"), /"NoSuchBucket"/],
      ["a full service", (_, response) => reject(response, 507, "StorageFull"), /"StorageFull", HTTP status 507/],
      [
        "a malformed response",
        (_, response) => (response.writeHead(500).end("\u0007<no"), true),
        /HTTP status 500|cannot be/,
      ],
      [
        "a redirect",
        (_, response) => (response.writeHead(301, { Location: "http://127.0.0.1:1/" }).end(), true),
        /301/,
      ],
    ];
    for (const [what, gate, reason] of cases) {
      it(`reports the service's code for ${what}`, async () => {
        server.gate = gate;
        const reading = await errorOf(store.put(small));
        expect([reading.code, reading instanceof TransportError]).to.deep.equal(["FILE_UNREADABLE", true]);
        expect(reading.message).to.match(reason);
        server.gate = (request, response) => request.method === "PUT" && gate(request, response);
        const writing = await errorOf(store.put(small));
        expect([writing.code, writing instanceof TransportError]).to.deep.equal(["FILE_UNWRITABLE", true]);
        expect(writing.message).to.match(reason);
        server.gate = undefined;
        expect((await object(small)).status).to.equal(404);
      });
    }

    const hasChecksum = (request: IncomingMessage) =>
      Object.keys(request.headers).some((name) => /^x-amz-(?:checksum|sdk-checksum|trailer)/.test(name));
    const rejecting =
      (status: number, code: string): Gate =>
      (request, response) =>
        hasChecksum(request) && reject(response, status, code);
    const CHECKSUMS = {
      AWS_REQUEST_CHECKSUM_CALCULATION: "WHEN_REQUIRED",
      AWS_RESPONSE_CHECKSUM_VALIDATION: "WHEN_REQUIRED",
    };
    for (const [status, code] of [
      [501, "NotImplemented"],
      [400, "InvalidArgument"],
      [400, "InvalidRequest"],
    ] as const) {
      it(`names the SDK's variables if the service rejects checksums with ${status} ${code}`, async () => {
        server.gate = rejecting(status, code);
        expect((await errorOf(store.put(small))).message).to.include(
          `"${code}", HTTP status ${status}. If the service rejects the header x-amz-checksum-mode, set AWS_RESPONSE_CHECKSUM_VALIDATION=WHEN_REQUIRED.`,
        );
        server.gate = (request, response) => request.method === "PUT" && rejecting(status, code)(request, response);
        expect((await errorOf(store.put(small))).message).to.include(
          `"${code}", HTTP status ${status}. If the service rejects the headers of checksums, set AWS_REQUEST_CHECKSUM_CALCULATION=WHEN_REQUIRED.`,
        );
      });

      it(`stores files without checksums after that, at a service that responds with ${status} ${code}`, async () => {
        setEnvironment({ ...CREDENTIALS, ...CHECKSUMS, AWS_REGION: "us-east-1", AWS_ENDPOINT_URL_S3: server.url });
        const plain = await BucketStore.open(`s3://${server.bucket}/keys/v1`, {}, { brotli: true });
        server.gate = rejecting(status, code);
        await plain.put(small);
        expect(await (await object(small)).text()).to.equal(textOf(small));
        expect(server.requests.filter(({ line }) => line.startsWith("PUT"))).to.have.length(2);
      });
    }

    for (const { what, gate, remedy } of [
      {
        what: "forbidden reading, as of a missing object without s3:ListBucket",
        gate: (_: unknown, response: ServerResponse) => reject(response, 403, "AccessDenied"),
        remedy: "Without s3:ListBucket, the service reports a missing object in this way.",
      },
      {
        what: "forbidden writing",
        gate: (request: IncomingMessage, response: ServerResponse) =>
          request.method === "PUT" && reject(response, 403, "AccessDenied"),
        remedy: "Allow s3:PutObject for the objects.",
      },
      {
        what: "a bucket in another region",
        gate: (_: unknown, response: ServerResponse) => reject(response, 301, "PermanentRedirect"),
        remedy: "Correct AWS_REGION or AWS_ENDPOINT_URL_S3.",
      },
    ])
      it(`names the remedy for ${what}`, async () => {
        server.gate = gate;
        expect((await errorOf(store.put(small))).message).to.include(remedy);
      });

    it("reports Node's error code if the service is not running", async () => {
      await server.close();
      expect((await errorOf(store.put(small))).message).to.include("ECONNREFUSED");
    });

    it("times out if the service never responds", async () => {
      server.gate = () => true;
      const error = await errorOf(store.put(small));
      expect(error.code).to.be.oneOf(["TIMEOUT", "FILE_UNREADABLE"]);
    });

    it("times out if the service sends a file very slowly", async () => {
      await store.put(large);
      server.gate = (_, response) => {
        response.writeHead(200, { "Content-Length": textOf(large).length });
        const drip = setInterval(() => response.write(" "), 50);
        response.once("close", () => {
          clearInterval(drip);
        });
        return true;
      };
      expect((await errorOf(store.get(large.tree.root))).code).to.equal("TIMEOUT");
    });
  });

  describe("get", () => {
    it("reports a deleted object as missing", async () => {
      await store.put(small);
      expect((await fetch(server.url + pathOf(small), { method: "DELETE" })).ok).to.be.true;
      expect(await findStored(small.tree.root, store)).to.equal(undefined);
      await store.put(small);
      const found = await findStored(small.tree.root, store);
      expect(Buffer.from(found ?? []).toString()).to.equal(textOf(small));
    });

    it("distinguishes a missing object from an unavailable bucket", async () => {
      for (const [status, code] of [
        [404, "NoSuchBucket"],
        [403, "AccessDenied"],
      ] as const) {
        server.gate = (_, response) => reject(response, status, code);
        expect(await errorOf(store.get(small.tree.root)))
          .to.be.an.instanceof(TransportError)
          .with.property("code", "FILE_UNREADABLE");
      }
    });

    it("repeats a read whose response is cut short", async () => {
      await store.put(large);
      let cutShort = 1;
      server.gate = (request, response) => {
        if (request.method !== "GET" || cutShort-- <= 0) return false;
        response.writeHead(200, { "Content-Length": textOf(large).length });
        response.write(textOf(large).slice(0, 100_000), () => response.destroy());
        return true;
      };
      expect(Buffer.from(await store.get(large.tree.root)).toString() === textOf(large)).to.be.true;
      cutShort = Infinity;
      expect(await errorOf(store.get(large.tree.root))).to.have.property("code", "FILE_UNREADABLE");
      expect(await errorOf(store.put(large))).to.have.property("code", "FILE_UNREADABLE");
    });
  });

  describe("openStore", () => {
    it("opens a bucket or a folder", async () => {
      for (const [address, prefix] of [
        [`s3://${server.bucket}`, ""],
        [`s3://${server.bucket}/`, ""],
        [`s3://${server.bucket}/a/b-c_d.e/`, "a/b-c_d.e/"],
      ] as const) {
        const opened = await openStore(address);
        expect(await opened.put(small)).to.have.property("where", `s3://${server.bucket}/${prefix}${nameOf(small)}`);
        expect((await fetch(`${server.url}/${server.bucket}/${prefix}${nameOf(small)}`)).status).to.equal(200);
      }
      expect(await openStore(folder.path)).to.be.an.instanceof(FolderStore);
    });

    it("rejects invalid locations", async () => {
      const long = "b".repeat(64);
      for (const location of [
        "",
        "https://x.example",
        "gs://bucket",
        "s3://",
        "s3://B",
        "s3://ab",
        `s3://${long}`,
        "s3://bucket/a//b",
        "s3://bucket/../x",
        "s3://bucket/a?b",
        "s3://bucket/a b",
        "s3://key:secret@bucket",
        "s3:///x",
      ]) {
        expect(await failure(openStore(location)), location)
          .to.be.an.instanceof(ArgumentError)
          .with.property("code", "ARGUMENT_INVALID");
      }
    });

    it("reports a missing region and missing credentials", async () => {
      setEnvironment({ ...CREDENTIALS, AWS_ENDPOINT_URL_S3: server.url });
      const error = await errorOf(openStore(`s3://${server.bucket}`));
      expect([error.code, error.message.includes("AWS_REGION")]).to.deep.equal(["ARGUMENT_INVALID", true]);

      setEnvironment({ AWS_REGION: "us-east-1", AWS_ENDPOINT_URL_S3: server.url });
      const put = (await openStore(`s3://${server.bucket}`)).put(small);
      expect((await errorOf(put)).message).to.include("CredentialsProviderError");
    });
  });
});
