import { expect } from "chai";
import fc from "fast-check";
import { userIDFromBytes } from "keyroot/internal/identity";
import { USER_BYTES } from "../../../packages/operator/src/audit/auditFile.ts";
import { UserIndex } from "../../../packages/operator/src/audit/userIndex.ts";

/** Users whose ids begin alike, each with one of a few keys. */
const user = fc.record({ begin: fc.nat(2), end: fc.nat(5), key: fc.nat(2) });
const files = fc.array(fc.uniqueArray(user, { selector: ({ begin, end }) => `${begin} ${end}` }), { maxLength: 6 });

const bytesOf = ({ begin, end, key }: { begin: number; end: number; key: number }) =>
  Buffer.alloc(USER_BYTES).fill(begin, 0, 4).fill(end, 19, 20).fill(key, 20);

describe("UserIndex", () => {
  it("finds every file of a user", () => {
    fc.assert(
      fc.property(files, (files) => {
        const index = new UserIndex();
        const places = new Map<string, [file: number, key: number][]>();
        for (const [number, users] of files.entries()) {
          expect(index.add(Buffer.concat(users.map(bytesOf)))).to.equal(number);
          for (const one of users) {
            const userID = userIDFromBytes(bytesOf(one).subarray(0, 20));
            places.set(userID, [...(places.get(userID) ?? []), [number, one.key]]);
          }
          expect(index.usersOf(number)).to.deep.equal(
            users.map((one) => userIDFromBytes(bytesOf(one).subarray(0, 20))),
          );
        }
        const several = [...places].filter(([, where]) => where.length > 1);
        const found = Array.from(index.inSeveralFiles(), (users) => [
          users[0]?.userID,
          users.map(({ file, keyID }) => [file, keyID[0]]),
        ]);
        expect(found.toSorted()).to.deep.equal(several.toSorted());
        for (const [userID, where] of places) {
          expect(index.find(userID).map(({ file, keyID }) => [file, keyID[0]])).to.deep.equal(where);
        }
        expect(index.find(userIDFromBytes(Buffer.alloc(20, 9)))).to.deep.equal([]);
        expect(index.count).to.equal(files.flat().length);
      }),
    );
  });
});
