import { expect } from "chai";
import fc from "fast-check";
import {
  checkNewPublicKey,
  checkPublicKey,
  generateKeyPair,
  keyIDOf,
} from "../../../packages/keyroot/src/identity/publicKey.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { samplePublicKeys, sha256 } from "../../../fixtures/samples.ts";
import * as curve from "../../../fixtures/curve41417.ts";

const { BASE, IDENTITY, N, P, encode, multiply } = curve;

const refusal = (key: unknown) =>
  refusalOf(() => {
    checkPublicKey(key as Uint8Array);
  });
const refusalOfNew = (key: Uint8Array) =>
  refusalOf(() => {
    checkNewPublicKey(key);
  });

describe("public key", () => {
  const { privateKey, publicKey } = generateKeyPair();
  const { x, y } = curve.decode(publicKey);

  describe("the curve of these tests", () => {
    it("has its base point on the curve, of order N", () => {
      expect(curve.isOnCurve(BASE)).to.be.true;
      expect(multiply(N, BASE)).to.deep.equal(IDENTITY);
    });

    it("has eight points of small order: 1 of order 1, 1 of 2, 2 of 4, 4 of 8", () => {
      const orders = curve.pointsOfSmallOrder().map((point) => {
        expect(curve.isOnCurve(point)).to.be.true;
        return [1n, 2n, 4n, 8n].find((order) => multiply(order, point).x === 0n && multiply(order, point).y === 1n);
      });
      expect(orders).to.deep.equal([1n, 2n, 4n, 4n, 8n, 8n, 8n, 8n]);
      expect(new Set(curve.pointsOfSmallOrder().map(({ x, y }) => `${x},${y}`)).size).to.equal(8);
    });
  });

  describe("generateKeyPair", () => {
    it("gives the point that the private key makes of the base point", () => {
      expect(privateKey > 0n && privateKey < N).to.be.true;
      expect(encode(multiply(privateKey, BASE))).to.deep.equal(publicKey);
    });

    it("gives another pair each time", () => {
      expect(generateKeyPair().privateKey).to.not.equal(privateKey);
    });
  });

  describe("checkPublicKey", () => {
    it("takes the base point and its multiples", () => {
      for (const key of [encode(BASE), ...samplePublicKeys, publicKey]) checkPublicKey(key);
    });

    it("takes a Buffer", () => {
      checkPublicKey(Buffer.from(publicKey));
    });

    it("refuses any other length, and what is not bytes", () => {
      const others = [new Uint8Array(), publicKey.subarray(1), Uint8Array.of(...publicKey, 0), [...publicKey]];
      for (const key of [...others, Buffer.from(publicKey).toString("base64"), null, undefined, 105]) {
        expect(refusal(key)).to.equal("PUBLIC_KEY_LENGTH");
      }
    });

    it("refuses any first byte but 0x04", () => {
      for (let prefix = 0; prefix < 256; prefix++) {
        expect(refusal(publicKey.with(0, prefix))).to.equal(prefix === 4 ? undefined : "PUBLIC_KEY_FORMAT");
      }
    });

    it("refuses a coordinate that is not below the field's prime, though it names the same point", () => {
      const { y: four } = BASE;
      const tooLarge = [
        { ...BASE, y: four + P },
        { x: P, y: 1n },
        { x: 0n, y: P + 1n },
        { x: 2n ** 416n - 1n, y },
      ];
      for (const point of tooLarge) {
        expect(refusal(encode(point))).to.equal("PUBLIC_KEY_FORMAT");
      }
    });

    it("refuses what is not on the curve", () => {
      const points = [
        { x: 0n, y: 0n },
        { x, y: y === 5n ? 6n : 5n },
        { x: 1n, y: 1n },
        { x: P - 1n, y: P - 1n },
      ];
      for (const point of points) {
        expect(refusal(encode(point))).to.equal("PUBLIC_KEY_NOT_ON_CURVE");
      }
    });

    it("refuses all points of small order", () => {
      for (const point of curve.pointsOfSmallOrder()) {
        expect(refusal(encode(point))).to.equal("PUBLIC_KEY_SMALL_ORDER");
      }
    });

    it("agrees with the curve's equation on any two coordinates", () => {
      const coordinate = fc.bigInt(0n, P - 1n);
      fc.assert(
        fc.property(coordinate, coordinate, (x, y) => {
          expect(refusal(encode({ x, y })) !== "PUBLIC_KEY_NOT_ON_CURVE").to.equal(curve.isOnCurve({ x, y }));
        }),
      );
    });

    it("refuses a good key of which a single bit is changed", () => {
      fc.assert(
        fc.property(fc.nat(104), fc.nat(7), (byte, bit) => {
          const changed = publicKey.with(byte, (publicKey[byte] ?? 0) ^ (1 << bit));
          expect(refusal(changed)).to.be.oneOf(["PUBLIC_KEY_FORMAT", "PUBLIC_KEY_NOT_ON_CURVE"]);
        }),
      );
    });
  });

  describe("checkNewPublicKey", () => {
    it("takes a fresh key", () => {
      checkNewPublicKey(publicKey);
    });

    it("refuses what checkPublicKey refuses", () => {
      expect(refusalOfNew(encode({ x: 1n, y: 1n }))).to.equal("PUBLIC_KEY_NOT_ON_CURVE");
      expect(refusalOfNew(encode(IDENTITY))).to.equal("PUBLIC_KEY_SMALL_ORDER");
    });

    it("refuses a good key plus a point of small order, which checkPublicKey takes", () => {
      for (const point of curve.pointsOfSmallOrder().slice(1)) {
        const mixed = encode(curve.add(curve.decode(publicKey), point));
        checkPublicKey(mixed);
        expect(refusalOfNew(mixed)).to.equal("PUBLIC_KEY_NOT_PRIME_ORDER");
      }
    });

    it("refuses a good key with its coordinates swapped, which is on the curve as well", () => {
      const swapped = encode({ x: y, y: x });
      checkPublicKey(swapped);
      expect(refusalOfNew(swapped)).to.equal("PUBLIC_KEY_NOT_PRIME_ORDER");
    });
  });

  describe("keyIDOf", () => {
    it("is the first half of the SHA-256 of the 105 bytes", () => {
      for (const key of samplePublicKeys) {
        expect(Buffer.from(keyIDOf(key)).toString("hex")).to.equal(sha256(key).slice(0, 32));
      }
    });

    it("is none of anything but 105 bytes: not of a key that is still text", () => {
      for (const key of [Buffer.from(publicKey).toString("base64"), publicKey.subarray(1), [...publicKey], null]) {
        expect(refusalOf(() => keyIDOf(key as Uint8Array))).to.equal("PUBLIC_KEY_LENGTH");
      }
    });
  });
});
