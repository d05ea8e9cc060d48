/**
 * Replace this program with your server. The program returns the keys of all users except the first user, who owns the
 * phone. With --swap, the program returns a false key for the first contact.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const [file, attack] = process.argv.slice(2);
const [me, ...others] = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const contacts = others.map(({ userID, pubKey }, i) => ({ name: `Contact ${i + 1}`, userID, publicKey: pubKey }));
if (attack === "--swap") contacts[0].publicKey = me.pubKey;

const server = createServer((_, response) => {
  response.setHeader("Content-Type", "application/json").end(JSON.stringify(contacts));
});
server.listen(8551, "127.0.0.1", () => console.log("The server runs on port 8551 until Ctrl-C."));
