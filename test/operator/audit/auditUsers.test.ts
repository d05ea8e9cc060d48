import { expect } from "chai";
import fc from "fast-check";
import { userIDFromBytes } from "keyroot/internal/identity";
import { USER_BYTES } from "../../../packages/operator/src/audit/auditFile.ts";
import { auditUsers } from "../../../packages/operator/src/audit/auditUsers.ts";

/** Users whose ids begin alike, each with one of a few keys. */
const user = fc.record({ begin: fc.nat(2), end: fc.nat(5), key: fc.nat(2) });
type User = typeof user extends fc.Arbitrary<infer T> ? T : never;
const files = fc.array(fc.uniqueArray(user, { selector: ({ begin, end }) => `${begin} ${end}` }), { maxLength: 6 });

const bytesOf = ({ begin, end, key }: User) =>
  Buffer.alloc(USER_BYTES).fill(begin, 0, 4).fill(end, 19, 20).fill(key, 20);
const idOf = (one: User) => userIDFromBytes(bytesOf(one).subarray(0, 20));
const nameOf = (file: number) => `file ${file}`;

describe("auditUsers", () => {
  it("finds the users with different keys in several files, and the first two of these files", () => {
    fc.assert(
      fc.property(files, (files) => {
        const expected: string[] = [];
        const places = Map.groupBy(
          files.flatMap((users, file) => users.map((one) => ({ userID: idOf(one), file, key: one.key }))),
          ({ userID }) => userID,
        );
        for (const [userID, entries] of places) {
          const [first] = entries;
          const other = entries.find(({ key }) => key !== first?.key);
          if (first !== undefined && other !== undefined)
            expected.push(`${userID} ${nameOf(first.file)} and ${nameOf(other.file)}.`);
        }
        const roots = files.map((_, file) => nameOf(file));
        const usersOf = (root: string) => Buffer.concat((files[roots.indexOf(root)] ?? []).map(bytesOf));
        const found = [...auditUsers({ roots, usersOf, others: () => [] })];
        expect(found.map(({ code }) => code)).to.deep.equal(expected.map(() => "USER_TWO_KEYS"));
        expect(
          found.map(({ userID, message }) => `${userID} ${message.split("the files of ")[1]}`).toSorted(),
        ).to.deep.equal(expected.toSorted());
      }),
    );
  });

  it("finds users whose contract's root has a file without them", () => {
    fc.assert(
      fc.property(files, user, fc.nat(7), (files, one, place) => {
        const roots = [...files.map((_, file) => nameOf(file)), "invalid"];
        const usersOf = (root: string) =>
          root === "invalid" ? undefined : Buffer.concat((files[roots.indexOf(root)] ?? []).map(bytesOf));
        const userID = idOf(one);
        const userRoot = roots[place] ?? "invalid";
        const others = () => [{ root: nameOf(9), users: [{ userID, userRoot }] }];
        const found = [...auditUsers({ roots, usersOf, others })].at(-1);
        const isMissing = userRoot !== "invalid" && !files[place]?.some((known) => idOf(known) === userID);
        expect(found).to.include(
          isMissing
            ? { code: "USER_NOT_IN_FILE", root: userRoot, userID }
            : { code: "USER_SUPERSEDED", root: nameOf(9), userID },
        );
      }),
    );
  });
});
