import { expect } from "chai";
import { inspect } from "node:util";
import {
  checkClientOptions,
  checkKeyID,
  checkRefreshToken,
  type ClientOptions,
} from "../../packages/client/src/shared/options.ts";
import { refusalOf } from "../support/refusalOf.ts";

const check = (options: Partial<ClientOptions>) =>
  checkClientOptions({ serviceUrl: "https://keys.example", bizID: "biz_1", ...options });
const refusal = (options: object) => refusalOf(check, options);

describe("options of the clients", () => {
  describe("serviceUrl", () => {
    it("may be an https URL", () => {
      for (const serviceUrl of ["https://keys.example", "https://keys.example:8443", "https://[2001:db8::1]/behind"]) {
        expect(check({ serviceUrl }).serviceUrl).to.equal(serviceUrl);
      }
    });

    it("may be an http URL on this machine", () => {
      const local = ["localhost", "localhost.", "keys.localhost", "127.0.0.1", "127.9.9.9", "[::1]", "2130706433"];
      for (const host of local) expect(refusal({ serviceUrl: `http://${host}:8080` }), host).to.be.undefined;
      const remote = [
        "keys.example",
        "10.0.0.1",
        "0.0.0.0",
        "[::2]",
        "127.0.0.1.example",
        "localhost.example",
        "xlocalhost",
      ];
      for (const host of remote) {
        expect(refusal({ serviceUrl: `http://${host}:8080` }), host).to.equal("ARGUMENT_INVALID");
      }
    });

    it("loses trailing slashes", () => {
      expect(check({ serviceUrl: "https://keys.example/" }).serviceUrl).to.equal("https://keys.example");
      expect(check({ serviceUrl: "https://keys.example/a/b//" }).serviceUrl).to.equal("https://keys.example/a/b");
    });

    it("is rejected if it has any other form", () => {
      const others = ["", "keys.example", "/v1", "ftp://keys.example", "file:///", "https://a:b@keys.example"];
      const more = ["https://keys.example/?a", "https://keys.example/#a", undefined, null, 7];
      for (const serviceUrl of [...others, ...more]) expect(refusal({ serviceUrl })).to.equal("ARGUMENT_INVALID");
    });
  });

  describe("bizID, timeoutMs and retries", () => {
    it("have default values", () => {
      expect(check({})).to.include({ timeoutMs: 10_000, retries: 4 });
    });

    it("are rejected if they are invalid", () => {
      for (const bizID of ["", " ", "a\nb", "ü", "x".repeat(201), undefined, 7]) {
        expect(refusal({ bizID })).to.equal("ARGUMENT_INVALID");
      }
      for (const timeoutMs of [0, -1, 1.5, 2 ** 31, NaN, "1"]) {
        expect(refusal({ timeoutMs })).to.equal("ARGUMENT_INVALID");
      }
      for (const retries of [-1, 1.5, 101, Infinity, "1"]) expect(refusal({ retries })).to.equal("ARGUMENT_INVALID");
    });
  });

  describe("refreshToken and serverToken", () => {
    const secret = "d41d8cd98f00b204e9800998ecf8427e";

    it("must begin with the client's prefix", () => {
      expect(checkRefreshToken("serverToken", `krs_${secret}`, "krs_")).to.equal(`krs_${secret}`);
      expect(checkRefreshToken("refreshToken", `kru_us-west-2_${secret}`, "kru_")).to.equal(`kru_us-west-2_${secret}`);
      expect(refusalOf(checkRefreshToken, "refreshToken", `krs_${secret}`, "kru_")).to.equal("ARGUMENT_INVALID");
      expect(refusalOf(checkRefreshToken, "serverToken", `kru_${secret}`, "krs_")).to.equal("ARGUMENT_INVALID");
    });

    it("are not quoted in errors", () => {
      for (const token of [
        secret,
        `krs_${secret}\n`,
        ` krs_${secret}`,
        `krs_${secret.repeat(20)}`,
        [secret],
        undefined,
      ]) {
        expect(() => checkRefreshToken("serverToken", token, "krs_"))
          .to.throw()
          .that.satisfies((error: object) => !JSON.stringify({ ...error, text: inspect(error) }).includes(secret));
      }
    });
  });

  describe("keyID", () => {
    it("is rejected with a description of its form if it is bytes", () => {
      const message = "The keyID argument must be a key id in base64, such as the key_id in a response or event";
      expect(() => checkKeyID(new Uint8Array(16) as never)).to.throw(message);
    });
  });
});
