import { expect } from "chai";
import {
  ArgumentError,
  KeyrootError,
  TransportError,
  VerificationError,
} from "../../../packages/keyroot/src/errors.ts";
import { makeMerkleFile, type MerkleFile } from "../../../packages/keyroot/src/merkle/file.ts";
import { BucketStore } from "../../../packages/operator/src/publisher/files/bucketStore.ts";
import { findFile } from "../../../packages/operator/src/publisher/files/files.ts";
import { FolderStore } from "../../../packages/operator/src/publisher/files/folderStore.ts";
import { openStore } from "../../../packages/operator/src/publisher/files/openStore.ts";
import { sampleRecords, sha256, storedAs, textOf } from "../../../fixtures/samples.ts";
import { closedAfterEach, failure, temporaryFolder } from "../../support/support.ts";
import {
  type BucketServer,
  CREDENTIALS,
  type Gate,
  keepsConditions,
  refuse,
  startBucketServer,
} from "../../support/bucketServer.ts";

const small = makeMerkleFile(sampleRecords(5));
/** Some 0.6 MB: many packets. */
const large = makeMerkleFile(sampleRecords(700));
const nameOf = ({ tree }: MerkleFile) => `${tree.root}.json`;

describe("BucketStore", () => {
  const closing = closedAfterEach();
  const folder = temporaryFolder();
  const before = Object.entries(process.env).filter(([name]) => name.startsWith("AWS_"));
  let server: BucketServer;
  let store: BucketStore;

  const setEnvironment = (variables: Record<string, string | undefined>) => {
    for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) Reflect.deleteProperty(process.env, name);
    Object.assign(process.env, variables);
  };
  /** No configuration of the machine's own, and no question to a cloud that it may run in. */
  const NOTHING = {
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    AWS_EC2_METADATA_DISABLED: "true",
  };
  beforeEach(async () => {
    server = closing(await startBucketServer());
    setEnvironment({ ...NOTHING, ...CREDENTIALS, AWS_REGION: "us-east-1", AWS_ENDPOINT_URL_S3: server.url });
    store = await BucketStore.open(`s3://${server.bucket}/keys/v1`, { attemptMs: 400, requestMs: 2_000 });
  });
  afterEach(() => {
    setEnvironment(Object.fromEntries(before));
  });

  const pathOf = (file: MerkleFile) => `/${server.bucket}/keys/v1/${nameOf(file)}`;
  const object = (file: MerkleFile) => fetch(server.url + pathOf(file));
  const place = (file: MerkleFile, body: string) => fetch(server.url + pathOf(file), { method: "PUT", body });
  /** How a store fails with a file; no error may show who it signs for. */
  const refusal = async (work: Promise<unknown>) => {
    const error = (await failure(work)) as KeyrootError;
    expect(error).to.be.an.instanceof(KeyrootError);
    expect(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`).not.to.match(/AKIASAMPLE|wJalrXUtn/);
    return error;
  };

  describe("put", () => {
    it("stores the file under its root's name, byte for byte, for caches to keep", async () => {
      for (const file of [small, large]) {
        expect(await store.put(file)).to.deep.equal(storedAs(`s3://${server.bucket}/keys/v1/${nameOf(file)}`, file));
        const { headers, ...answer } = await object(file).then(async (got) => ({
          headers: got.headers,
          text: await got.text(),
        }));
        expect(answer.text === textOf(file)).to.be.true;
        expect(headers.get("Content-Type")).to.equal("application/json");
        expect(headers.get("Cache-Control")).to.equal("public, max-age=31536000, immutable");
      }
    });

    it("asks first, stores on the condition that nothing is there, with a checksum, and reads back", async () => {
      await store.put(small);
      const path = pathOf(small);
      expect(server.requests.map(({ line }) => line)).to.deep.equal([`GET ${path}`, `PUT ${path}`, `GET ${path}`]);
      const { headers } = server.requests[1] ?? {};
      const checksum = Buffer.from(sha256(textOf(small)), "hex").toString("base64");
      expect(headers).to.include({ "if-none-match": "*", "x-amz-checksum-sha256": checksum });
    });

    it("writes nothing where the same bytes are there already", async () => {
      await store.put(large);
      server.requests.length = 0;
      await store.put(large);
      expect(server.requests.map(({ line }) => line)).to.deep.equal([`GET ${pathOf(large)}`]);
    });

    it("refuses where other bytes stand under the name, and leaves them as they are", async () => {
      for (const other of [
        "",
        "{}",
        `${textOf(small)}\n`,
        textOf(small).slice(1),
        textOf(small).slice(0, -1),
        textOf(large),
      ]) {
        await place(small, other);
        expect(await refusal(store.put(small)))
          .to.be.an.instanceof(ArgumentError)
          .with.property("code", "FILE_CONFLICT");
        expect((await (await object(small)).text()) === other).to.be.true;
      }
    });

    for (const [same, verdict] of [
      [true, "is content with its bytes"],
      [false, "refuses other bytes"],
    ] as const) {
      it(`${verdict} where somebody is faster by a moment, and the service keeps conditions`, async () => {
        const keeps = keepsConditions({ url: server.url });
        server.gate = async (request, response) => {
          if (request.method !== "PUT" || request.headers["if-none-match"] === undefined) return false;
          await place(small, same ? textOf(small) : "{}");
          return keeps(request, response);
        };
        const put = store.put(small);
        if (same)
          expect(await put)
            .to.have.property("where")
            .that.includes(nameOf(small));
        else expect(await refusal(put)).to.have.property("code", "FILE_CONFLICT");
        expect(await (await object(small)).text()).to.equal(same ? textOf(small) : "{}");
      });
    }

    it("stores without a condition where the service refuses any: 501", async () => {
      server.gate = ({ headers }, response) =>
        headers["if-none-match"] === "*" && refuse(response, 501, "NotImplemented");
      await store.put(small);
      expect(await (await object(small)).text()).to.equal(textOf(small));
    });

    it("lets several writers store the same file at once", async () => {
      server.gate = keepsConditions({ url: server.url });
      const stored = await Promise.all(Array.from({ length: 8 }, () => store.put(large)));
      for (const one of stored) expect(one).to.have.property("sha256", sha256(textOf(large)));
    });

    it("does not believe a service that says stored and keeps other bytes, or none", async () => {
      for (const keep of [undefined, "{}"]) {
        server.gate = async (request, response) => {
          if (request.method !== "PUT" || request.headers["x-amz-checksum-sha256"] === undefined) return false;
          request.resume();
          if (keep !== undefined) await place(small, keep);
          response.writeHead(200).end();
          return true;
        };
        const error = await refusal(store.put(small));
        expect(error).to.be.an.instanceof(TransportError).with.property("code", "FILE_UNWRITABLE");
      }
    });

    it("tries again by itself where the service is busy, or loses the connection", async () => {
      const ill: Gate[] = [
        (_, response) => refuse(response, 503, "SlowDown"),
        (_, response) => refuse(response, 500, "InternalError"),
        (request) => (request.socket.resetAndDestroy(), true),
      ];
      for (const gate of ill) {
        let refusals = 1;
        server.gate = (request, response) => request.method === "PUT" && refusals-- > 0 && gate(request, response);
        const file = makeMerkleFile(sampleRecords(3, ill.indexOf(gate) + 10));
        await store.put(file);
        expect(await (await object(file)).text()).to.equal(textOf(file));
      }
    });

    it("stores once where the answer to the first attempt was lost", async () => {
      const keeps = keepsConditions({ url: server.url });
      let lost = false;
      server.gate = async (request, response) => {
        if (request.method !== "PUT" || lost || request.headers["if-none-match"] === undefined)
          return keeps(request, response);
        lost = true;
        await place(small, textOf(small));
        request.socket.resetAndDestroy();
        return true;
      };
      await store.put(small);
      expect(lost).to.be.true;
    });
  });

  describe("a refusing service", () => {
    const cases: [string, Gate, RegExp][] = [
      ["denies access", (_, response) => refuse(response, 403, "AccessDenied"), /"AccessDenied", HTTP status 403/],
      ["knows no such key", (_, response) => refuse(response, 403, "InvalidAccessKeyId"), /"InvalidAccessKeyId"/],
      ["has no such bucket", (_, response) => refuse(response, 404, "NoSuchBucket"), /"NoSuchBucket"/],
      ["has no room", (_, response) => refuse(response, 507, "StorageFull"), /"StorageFull", HTTP status 507/],
      [
        "answers garbage",
        (_, response) => (response.writeHead(500).end("\u0007<no"), true),
        /HTTP status 500|cannot be/,
      ],
      ["redirects", (_, response) => (response.writeHead(301, { Location: "http://127.0.0.1:1/" }).end(), true), /301/],
    ];
    for (const [what, gate, reason] of cases) {
      it(`${what}: told by its code, at reading and at writing`, async () => {
        server.gate = gate;
        const reading = await refusal(store.put(small));
        expect([reading.code, reading instanceof TransportError]).to.deep.equal(["FILE_UNREADABLE", true]);
        expect(reading.message).to.match(reason);
        server.gate = (request, response) => request.method === "PUT" && gate(request, response);
        const writing = await refusal(store.put(small));
        expect([writing.code, writing instanceof TransportError]).to.deep.equal(["FILE_UNWRITABLE", true]);
        expect(writing.message).to.match(reason);
        server.gate = undefined;
        expect((await object(small)).status).to.equal(404);
      });
    }

    it("is away: told by Node's code", async () => {
      await server.close();
      expect((await refusal(store.put(small))).message).to.include("ECONNREFUSED");
    });

    it("never answers: given up after the time that was set", async () => {
      server.gate = () => true;
      const start = performance.now();
      const error = await refusal(store.put(small));
      expect(error.code).to.be.oneOf(["TIMEOUT", "FILE_UNREADABLE"]);
      expect(performance.now() - start).to.be.within(350, 2_500);
    });

    it("sends a file drop by drop: given up after the time that was set", async () => {
      await store.put(large);
      server.gate = (_, response) => {
        response.writeHead(200, { "Content-Length": textOf(large).length });
        const drip = setInterval(() => response.write(" "), 50);
        response.once("close", () => {
          clearInterval(drip);
        });
        return true;
      };
      const start = performance.now();
      expect((await refusal(store.get(large.tree.root))).code).to.equal("TIMEOUT");
      expect(performance.now() - start).to.be.within(1_900, 3_000);
    });
  });

  describe("get", () => {
    it("returns the bytes that are there", async () => {
      await store.put(large);
      expect(Buffer.from(await store.get(large.tree.root)).toString() === textOf(large)).to.be.true;
    });

    it("says when there are none", async () => {
      const error = await refusal(store.get(small.tree.root));
      expect(error).to.be.an.instanceof(VerificationError).with.property("code", "FILE_NOT_FOUND");
      expect(error.message).to.equal(`s3://${server.bucket}/keys/v1/${nameOf(small)} is not there.`);
    });

    it("says so of one that is gone, which may be put there again", async () => {
      await store.put(small);
      expect((await fetch(server.url + pathOf(small), { method: "DELETE" })).ok).to.be.true;
      expect(await findFile(small.tree.root, store)).to.equal(undefined);
      await store.put(small);
      const found = await findFile(small.tree.root, store);
      expect(Buffer.from(found ?? []).toString()).to.equal(textOf(small));
    });

    it("tells a file that is not there from a bucket that is not, or that it may not read", async () => {
      for (const [status, code] of [
        [404, "NoSuchBucket"],
        [403, "AccessDenied"],
      ] as const) {
        server.gate = (_, response) => refuse(response, status, code);
        expect(await refusal(store.get(small.tree.root)))
          .to.be.an.instanceof(TransportError)
          .with.property("code", "FILE_UNREADABLE");
      }
    });

    it("asks again where an answer ends before its end; says so where all do", async () => {
      await store.put(large);
      let broken = 1;
      server.gate = (request, response) => {
        if (request.method !== "GET" || broken-- <= 0) return false;
        response.writeHead(200, { "Content-Length": textOf(large).length });
        response.write(textOf(large).slice(0, 100_000), () => response.destroy());
        return true;
      };
      expect(Buffer.from(await store.get(large.tree.root)).toString() === textOf(large)).to.be.true;
      broken = Infinity;
      expect(await refusal(store.get(large.tree.root))).to.have.property("code", "FILE_UNREADABLE");
      expect(await refusal(store.put(large))).to.have.property("code", "FILE_UNREADABLE");
    });
  });

  describe("openStore", () => {
    it("opens a bucket with and without a prefix, and a folder", async () => {
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

    it("refuses what is neither", async () => {
      const long = "b".repeat(64);
      for (const out of [
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
        expect(await failure(openStore(out)), out)
          .to.be.an.instanceof(ArgumentError)
          .with.property("code", "ARGUMENT_INVALID");
      }
    });

    it("says what is missing in the environment: a region, credentials", async () => {
      setEnvironment({ ...NOTHING, ...CREDENTIALS, AWS_ENDPOINT_URL_S3: server.url });
      const error = await refusal(openStore(`s3://${server.bucket}`));
      expect([error.code, error.message.includes("AWS_REGION")]).to.deep.equal(["ARGUMENT_INVALID", true]);

      setEnvironment({ ...NOTHING, AWS_REGION: "us-east-1", AWS_ENDPOINT_URL_S3: server.url });
      const put = (await openStore(`s3://${server.bucket}`)).put(small);
      expect((await refusal(put)).message).to.include("CredentialsProviderError");
    });
  });
});
