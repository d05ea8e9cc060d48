import { createSocket } from "node:dgram";
import { once } from "node:events";

const [A, AAAA, IN] = [1, 28, 1];
const [ANSWER, NAME_ERROR] = [0x8180, 0x8183];
const HEADER_BYTES = 12;

/**
 * A name server (RFC 1035) on this machine.
 * @param answer returns the addresses of a name for each question, or undefined if the name does not exist
 */
export async function startNameServer(answer: (name: string, family: 4 | 6) => string[] | undefined) {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    const { name, end } = nameIn(query);
    const type = query.readUInt16BE(end);
    const found = answer(name, type === AAAA ? 6 : 4);
    const records = (found ?? []).map((ip) => recordOf(ip, type));
    const header = Buffer.from(query.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(found === undefined ? NAME_ERROR : ANSWER, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    header.fill(0, 8);
    socket.send(Buffer.concat([header, query.subarray(HEADER_BYTES, end + 4), ...records]), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    async close() {
      const closed = once(socket, "close");
      socket.close();
      await closed;
    },
  };
}

function nameIn(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), end: at + 1 };
}

function recordOf(ip: string, type: number): Buffer {
  const data = type === A ? Buffer.from(ip.split(".").map(Number)) : Buffer.from(ip.replaceAll(":", ""), "hex");
  const head = Buffer.alloc(12);
  // A reference to the name in the question, by its offset.
  head.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(IN, 4);
  head.writeUInt32BE(0, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
