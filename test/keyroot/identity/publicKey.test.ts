import { expect } from "chai";
import fc from "fast-check";
import { checkNewPublicKey, generateKeyPair } from "keyroot/internal/identity";
import { checkPublicKey, keyIDOf } from "../../../packages/keyroot/src/identity/publicKey.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { samplePublicKeys, sha256 } from "../../support/samples.ts";
import * as curve from "../../support/data/curve41417.ts";

const { BASE, IDENTITY, N, P, encode, multiply } = curve;

const errorOf = (key: unknown) => refusalOf(checkPublicKey, key as Uint8Array);
const errorOfNew = (key: Uint8Array) => refusalOf(checkNewPublicKey, key);

describe("public keys", () => {
  const { privateKey, publicKey } = generateKeyPair();
  const { x, y } = curve.decode(publicKey);

  describe("curve of the tests", () => {
    it("has a base point of order N", () => {
      expect(curve.isOnCurve(BASE)).to.be.true;
      expect(multiply(N, BASE)).to.deep.equal(IDENTITY);
    });

    it("has eight points of small order", () => {
      const orders = curve.pointsOfSmallOrder().map((point) => {
        expect(curve.isOnCurve(point)).to.be.true;
        return [1n, 2n, 4n, 8n].find((order) => multiply(order, point).x === 0n && multiply(order, point).y === 1n);
      });
      expect(orders).to.deep.equal([1n, 2n, 4n, 4n, 8n, 8n, 8n, 8n]);
      expect(new Set(curve.pointsOfSmallOrder().map(({ x, y }) => `${x},${y}`)).size).to.equal(8);
    });
  });

  describe("generateKeyPair", () => {
    it("returns the base point multiplied by the private key", () => {
      expect(privateKey > 0n && privateKey < N).to.be.true;
      expect(encode(multiply(privateKey, BASE))).to.deep.equal(publicKey);
    });

    it("returns a different pair each time", () => {
      expect(generateKeyPair().privateKey).to.not.equal(privateKey);
    });
  });

  describe("checkPublicKey", () => {
    it("accepts the base point and its multiples", () => {
      for (const key of [encode(BASE), ...samplePublicKeys, publicKey]) checkPublicKey(key);
    });

    it("accepts a Buffer", () => {
      checkPublicKey(Buffer.from(publicKey));
    });

    it("rejects values other than 105 bytes", () => {
      for (const key of [new Uint8Array(), publicKey.subarray(1), Uint8Array.of(...publicKey, 0)])
        expect(errorOf(key)).to.equal("PUBLIC_KEY_LENGTH");
      // A value of another type is a mistake in the app's code.
      for (const key of [[...publicKey], Buffer.from(publicKey).toString("base64"), null, undefined, 105])
        expect(errorOf(key)).to.equal("ARGUMENT_INVALID");
    });

    it("rejects any first byte except 0x04", () => {
      for (let prefix = 0; prefix < 256; prefix++) {
        expect(errorOf(publicKey.with(0, prefix))).to.equal(prefix === 4 ? undefined : "PUBLIC_KEY_FORMAT");
      }
    });

    it("rejects coordinates that are not less than the field's prime", () => {
      const { y: four } = BASE;
      const tooLarge = [
        { ...BASE, y: four + P },
        { x: P, y: 1n },
        { x: 0n, y: P + 1n },
        { x: 2n ** 416n - 1n, y },
      ];
      for (const point of tooLarge) {
        expect(errorOf(encode(point))).to.equal("PUBLIC_KEY_FORMAT");
      }
    });

    it("rejects points that are not on the curve", () => {
      const points = [
        { x: 0n, y: 0n },
        { x, y: y === 5n ? 6n : 5n },
        { x: 1n, y: 1n },
        { x: P - 1n, y: P - 1n },
      ];
      for (const point of points) {
        expect(errorOf(encode(point))).to.equal("PUBLIC_KEY_NOT_ON_CURVE");
      }
    });

    it("rejects all points of small order", () => {
      for (const point of curve.pointsOfSmallOrder()) {
        expect(errorOf(encode(point))).to.equal("PUBLIC_KEY_SMALL_ORDER");
      }
    });

    it("agrees with the curve equation for any two coordinates", () => {
      const coordinate = fc.bigInt(0n, P - 1n);
      fc.assert(
        fc.property(coordinate, coordinate, (x, y) => {
          expect(errorOf(encode({ x, y })) !== "PUBLIC_KEY_NOT_ON_CURVE").to.equal(curve.isOnCurve({ x, y }));
        }),
      );
    });

    it("rejects a valid key with one changed bit", () => {
      fc.assert(
        fc.property(fc.nat(104), fc.nat(7), (byte, bit) => {
          const changed = publicKey.with(byte, (publicKey[byte] ?? 0) ^ (1 << bit));
          expect(errorOf(changed)).to.be.oneOf(["PUBLIC_KEY_FORMAT", "PUBLIC_KEY_NOT_ON_CURVE"]);
        }),
      );
    });
  });

  describe("checkNewPublicKey", () => {
    it("accepts a generated key", () => {
      checkNewPublicKey(publicKey);
    });

    it("rejects the keys that checkPublicKey rejects", () => {
      expect(errorOfNew(encode({ x: 1n, y: 1n }))).to.equal("PUBLIC_KEY_NOT_ON_CURVE");
      expect(errorOfNew(encode(IDENTITY))).to.equal("PUBLIC_KEY_SMALL_ORDER");
    });

    it("rejects a valid key plus a point of small order", () => {
      for (const point of curve.pointsOfSmallOrder().slice(1)) {
        const mixed = encode(curve.add(curve.decode(publicKey), point));
        checkPublicKey(mixed);
        expect(errorOfNew(mixed)).to.equal("PUBLIC_KEY_NOT_PRIME_ORDER");
      }
    });

    it("rejects a valid key with swapped coordinates", () => {
      const swapped = encode({ x: y, y: x });
      checkPublicKey(swapped);
      expect(errorOfNew(swapped)).to.equal("PUBLIC_KEY_NOT_PRIME_ORDER");
    });
  });

  describe("keyIDOf", () => {
    it("returns the first half of SHA-256 over the 105 bytes", () => {
      for (const key of samplePublicKeys) {
        expect(Buffer.from(keyIDOf(key)).toString("hex")).to.equal(sha256(key).slice(0, 32));
      }
    });

    it("rejects values other than 105 bytes", () => {
      expect(refusalOf(keyIDOf, publicKey.subarray(1))).to.equal("PUBLIC_KEY_LENGTH");
      for (const key of [Buffer.from(publicKey).toString("base64"), [...publicKey], null])
        expect(refusalOf(keyIDOf, key as unknown as Uint8Array)).to.equal("ARGUMENT_INVALID");
    });
  });
});
