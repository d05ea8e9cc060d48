import { expect } from "chai";
import fc from "fast-check";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type KeyRecord, serializeKeyRecord, userIDToHex } from "keyroot/internal/identity";
import { readRecords } from "../../../../packages/operator/src/publisher/records/readRecords.ts";
import { sampleRecords } from "../../../support/samples.ts";
import { failure, temporaryFolder } from "../../../support/support.ts";

const HEADER = "userID,pubKey,keyID";
const [one, two, three] = sampleRecords(3) as [KeyRecord, KeyRecord, KeyRecord];
const jsonl = (records: readonly KeyRecord[]) => records.map(serializeKeyRecord).join("\n");
const byUser = (records: readonly KeyRecord[]) => records.toSorted((a, b) => (a.userID < b.userID ? -1 : 1));
const csvRow = ({ userID, pubKey, keyID }: KeyRecord) => [userID, pubKey, keyID].join(",");

describe("readRecords", () => {
  const folder = temporaryFolder();
  const read = async (name: string, content: string | Uint8Array) => {
    const path = join(folder.path, name);
    await writeFile(path, content);
    const { records, bad } = await readRecords(path);
    return { records: [...records], bad };
  };
  /** Returns the bad rows as "line: CODE". */
  const badOf = async (name: string, content: string | Uint8Array) =>
    (await read(name, content)).bad.map(({ line, code }) => `${line}: ${code}`);

  describe("JSON lines", () => {
    it("reads one record per line, with any line ends", async () => {
      const anyFile = fc.record({
        records: fc.integer({ min: 0, max: 20 }).map((count) => sampleRecords(count)),
        mark: fc.constantFrom("", "\ufeff"),
        newline: fc.constantFrom("\n", "\r\n", "\n\n", "\r\n \t\r\n"),
        last: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(anyFile, async ({ records, mark, newline, last }) => {
          const content = mark + records.map(serializeKeyRecord).join(newline) + (last ? newline : "");
          expect(await read("users.jsonl", content)).to.deep.equal({ records: byUser(records), bad: [] });
        }),
        { numRuns: 50 },
      );
    });

    it("accepts fields in any order and with any spacing", async () => {
      const { userID, pubKey, keyID } = one;
      const { records } = await read(
        "users.jsonl",
        ` {"keyID" : "${keyID}",\t"userID":"${userID}","pubKey":"${pubKey}"} `,
      );
      expect(records).to.deep.equal([one]);
    });

    it("reads a line end that is split between two chunks", async () => {
      const records = sampleRecords(1000);
      const blank = (length: number) => `${" ".repeat(length)}\r\n`;
      // Streams are read in chunks of 64 KiB.
      for (const shift of [-2, -1, 0, 1, 2]) {
        const content = blank(1022 + shift) + blank(1022).repeat(63) + records.map(serializeKeyRecord).join("\r\n");
        expect(await read("users.jsonl", content)).to.deep.equal({ records: byUser(records), bad: [] });
      }
    });

    it("reports each invalid row with its line number", async () => {
      const lines = [
        serializeKeyRecord(one),
        "",
        "nonsense",
        serializeKeyRecord({ ...two, userID: two.userID.toUpperCase() }),
        serializeKeyRecord({ ...two, userID: two.userID.slice(1) }),
        serializeKeyRecord({ ...two, pubKey: two.pubKey.slice(4) }),
        serializeKeyRecord({ ...two, keyID: three.keyID }),
        serializeKeyRecord({ ...two, pubKey: `BAAA${two.pubKey.slice(4)}` }),
        `{"userID":"${two.userID}"}`,
        serializeKeyRecord(two).replace("{", `{"userID":"${one.userID}",`),
        serializeKeyRecord(three),
      ];
      expect(await badOf("users.jsonl", lines.join("\n"))).to.deep.equal([
        "3: JSON_FORBIDDEN_TOKEN",
        "4: USER_ID_INVALID",
        "5: USER_ID_INVALID",
        "6: PUBLIC_KEY_LENGTH",
        "7: KEY_ID_MISMATCH",
        "8: PUBLIC_KEY_NOT_ON_CURVE",
        "9: RECORD_INVALID",
        "10: JSON_DUPLICATE_KEY",
      ]);
      expect((await read("users.jsonl", lines.join("\n"))).records).to.deep.equal(byUser([one, three]));
    });

    it("reports CSV in a file with another name once", async () => {
      const rows = [HEADER, csvRow(one), csvRow(two)];
      for (const lines of [rows, rows.slice(1), rows.map((row) => row.replaceAll(",", "\t")), ["", '"a";"b"', "c;d"]]) {
        const { records, bad } = await read("users.txt", lines.join("\n"));
        expect(records).to.be.empty;
        expect(bad.map(({ code }) => code)).to.deep.equal(["RECORD_INVALID"]);
        expect(bad[0]?.message).to.contain("whose name ends in .csv");
      }
      const mixed = ["nonsense", serializeKeyRecord(one), csvRow(two)];
      expect(await badOf("users.txt", mixed.join("\n"))).to.deep.equal([
        "1: JSON_FORBIDDEN_TOKEN",
        "3: JSON_FORBIDDEN_TOKEN",
      ]);
    });

    it("reports every record after a user's first record", async () => {
      const again = [one, two, one, { ...two, pubKey: one.pubKey, keyID: one.keyID }];
      const { records, bad } = await read("users.jsonl", jsonl(again));
      expect(records).to.deep.equal(byUser([one, two]));
      expect(bad.map(({ line, code }) => [line, code])).to.deep.equal([
        [3, "DUPLICATE_USER"],
        [4, "DUPLICATE_USER"],
      ]);
      expect(bad[1]?.message).to.contain("line 2");
    });

    it("returns no record for an empty file", async () => {
      for (const content of ["", "\ufeff", "\n", "\r\n \r\n"]) {
        expect(await read("users.jsonl", content)).to.deep.equal({ records: [], bad: [] });
      }
    });

    it("returns no record for binary data", async () => {
      const bytes = Uint8Array.from({ length: 200_000 }, (_, i) => (i * i * 7) % 251);
      const { records, bad } = await read("users.jsonl", bytes);
      expect(records).to.be.empty;
      expect(bad).to.not.be.empty;
      // oxlint-disable-next-line no-control-regex -- control characters must not reach a terminal
      for (const { message } of bad) expect(message).to.not.match(/[\0-\x1f\x7f-\x9f]/);
    });

    it("rejects a line that is too long", async () => {
      const line = serializeKeyRecord(one);
      for (const length of [4097, 2 ** 16, 2 ** 17, 2 ** 17 + 1, 5_000_000]) {
        for (const long of [line.padEnd(length), line.padEnd(2 ** 16).padEnd(length, "x"), " ".repeat(length)]) {
          expect(await badOf("users.jsonl", `${long}\n${serializeKeyRecord(two)}`), `${length}`).to.deep.equal([
            "1: RECORD_INVALID",
          ]);
        }
      }
      expect(await badOf("users.jsonl", line.padEnd(4096))).to.be.empty;
    });
  });

  describe("CSV", () => {
    it("accepts the header's fields in any order", async () => {
      const records = sampleRecords(3);
      const anyOrder = fc.shuffledSubarray(["userID", "pubKey", "keyID"] as const, { minLength: 3 });
      const anyForm = fc.constantFrom(
        (cell: string) => cell,
        (cell: string) => `"${cell}"`,
        (cell: string) => ` ${cell}\t`,
      );
      const anyNewline = fc.constantFrom("\n", "\r\n", "\n\n");
      await fc.assert(
        fc.asyncProperty(anyOrder, anyForm, anyNewline, fc.boolean(), async (order, form, newline, mark) => {
          const rows = [order, ...records.map((record) => order.map((field) => record[field]))];
          const content = rows.map((cells) => cells.map(form).join(",")).join(newline);
          expect(await read("users.CSV", (mark ? "\ufeff" : "") + content + newline)).to.deep.equal({
            records: byUser(records),
            bad: [],
          });
        }),
        { numRuns: 50 },
      );
    });

    it("rejects a file without a header", async () => {
      expect(await read("users.csv", [one, two].map(csvRow).join("\n"))).to.have.property("records").that.is.empty;
      expect(await badOf("users.csv", [one, two].map(csvRow).join("\n"))).to.deep.equal(["1: RECORD_INVALID"]);
    });

    it("rejects an invalid header", async () => {
      for (const header of [
        "userID,keyID",
        `${HEADER},userID`,
        `${HEADER},keyID`,
        "userid,pubkey,keyid",
        "userID|pubKey",
      ]) {
        expect(await badOf("users.csv", `\n${header}\n${csvRow(one)}`), header).to.deep.equal(["2: RECORD_INVALID"]);
      }
    });

    it("counts the bytes of a hex key with a wrong length, with or without 0x", async () => {
      for (const prefix of ["", "0x"]) {
        const { bad } = await read("users.csv", `userID,pubKey\n${one.userID},${prefix}${"ab".repeat(30)}`);
        expect(bad[0]?.message).to.include("30 bytes");
      }
    });

    it("names the column that is missing in the header", async () => {
      const { bad } = await read("users.csv", `userID,PublicKey\n${one.userID},${one.pubKey}`);
      expect(bad[0]?.message).to.include("Rename or add pubKey:");
    });

    it("computes a missing key id, and accepts ids and keys in hex", async () => {
      const hexOf = (base64: string) => Buffer.from(base64, "base64").toString("hex");
      const rows = [
        `${one.userID},${one.pubKey},`,
        `${userIDToHex(two.userID)},${hexOf(two.pubKey)},${two.keyID}`,
        `${userIDToHex(three.userID).toUpperCase()},${hexOf(three.pubKey).toUpperCase()},`,
      ];
      const whole = await read("users.csv", [HEADER, ...rows].join("\n"));
      expect(whole).to.deep.equal({ records: byUser([one, two, three]), bad: [] });
      const withoutColumn = await read("users.csv", `userID,pubKey\n${one.userID},${one.pubKey}`);
      expect(withoutColumn).to.deep.equal({ records: [one], bad: [] });
    });

    it("rejects a key id of another key", async () => {
      const row = [one.userID, one.pubKey, sampleRecords(2).find(({ keyID }) => keyID !== one.keyID)?.keyID].join(",");
      expect(await badOf("users.csv", `${HEADER}\n${row}`)).to.deep.equal(["2: KEY_ID_MISMATCH"]);
    });

    it("accepts semicolons and tabs between cells", async () => {
      for (const separator of [";", "\t"]) {
        const content = [HEADER, csvRow(one)].join("\n").replaceAll(",", separator);
        expect(await read("users.csv", content), separator).to.deep.equal({ records: [one], bad: [] });
      }
    });

    it("ignores other columns, and names them", async () => {
      const path = join(folder.path, "users.csv");
      await writeFile(path, `name,${HEADER},__proto__\n"Ann, Bob",${csvRow(one)},x`);
      const { records, bad, ignoredColumns } = await readRecords(path);
      expect([[...records], bad, ignoredColumns]).to.deep.equal([[one], [], ["name", "__proto__"]]);
    });

    it("takes the number of a line from the last field of a JSON record", async () => {
      const text = `${serializeKeyRecord(one).slice(0, -1)},"line":17}`;
      const path = join(folder.path, "users.jsonl");
      await writeFile(path, text);
      const { records, bad } = await readRecords(path);
      expect([[...records], records.lineOf(one.userID), bad]).to.deep.equal([[one], 17, []]);
      for (const other of ['"line":0', '"line":"17"', '"row":17'])
        expect(await badOf("users.jsonl", text.replace('"line":17', other))).to.deep.equal(["1: RECORD_INVALID"]);
    });

    it("names the encoding UTF-16", async () => {
      for (const mark of ["", "\ufeff"])
        for (const [name, text] of [
          ["users.csv", [HEADER, csvRow(one)].join("\n")],
          ["users.jsonl", jsonl([one])],
        ] as const) {
          const littleEndian = Buffer.from(mark + text, "utf16le");
          for (const content of [littleEndian, Buffer.from(littleEndian).swap16()]) {
            const { records, bad } = await read(name, content);
            expect([records.length, bad.length, bad[0]?.code]).to.deep.equal([0, 1, "RECORD_INVALID"]);
            expect(bad[0]?.message).to.include("UTF-16");
          }
        }
    });

    it("reports rows that end with only a carriage return", async () => {
      const files = [
        [[HEADER, `${csvRow(one)}\r${csvRow(two)}`, csvRow(three)], "2: RECORD_INVALID"],
        [[`${HEADER}\r${csvRow(one)}`, csvRow(two)], "1: RECORD_INVALID"],
        [[`${HEADER}\r${csvRow(one)}\r`], "1: RECORD_INVALID"],
      ] as const;
      for (const [lines, bad] of files) expect(await badOf("users.csv", lines.join("\n"))).to.deep.equal([bad]);
    });

    it("reports each invalid row with its line number", async () => {
      const rows = [HEADER, csvRow(one), `${csvRow(two)},`, `"${two.userID}`, '"a"\u001b,,', ",,", csvRow(three)];
      const { records, bad } = await read("users.csv", rows.join("\n"));
      expect(records).to.deep.equal(byUser([one, three]));
      expect(bad.map(({ line, code }) => `${line}: ${code}`)).to.deep.equal([
        "3: RECORD_INVALID",
        "4: RECORD_INVALID",
        "5: RECORD_INVALID",
        "6: USER_ID_INVALID",
      ]);
      for (const { message } of bad) expect(message).to.not.contain("\u001b");
    });

    it("returns no record for a file with only a header", async () => {
      expect(await read("users.csv", HEADER)).to.deep.equal({ records: [], bad: [] });
    });
  });

  it("reports its progress until the end of the file", async () => {
    const path = join(folder.path, "users.jsonl");
    const content = jsonl(sampleRecords(1000));
    await writeFile(path, content);
    const reported: [number, number][] = [];
    await readRecords(path, (...progress) => reported.push(progress));
    expect(reported.length).to.be.greaterThan(1);
    expect(reported.at(-1)).to.deep.equal([content.length, content.length]);
    expect(reported.map(([done]) => done)).to.deep.equal(reported.map(([done]) => done).toSorted((a, b) => a - b));
  });

  it("fails if the file does not exist or is a folder", async () => {
    for (const path of [join(folder.path, "users.jsonl"), folder.path]) {
      expect(await failure(readRecords(path))).to.include({ name: "ArgumentError", code: "FILE_UNREADABLE" });
    }
  });
});
