// Compares databases, chain and Merkle-tree files with every call that the service acknowledged while it was being
// killed, and measures each outage. It shares no code with the service, and uses plain SQL, JSON-RPC and the rules of
// docs/formats.md.
//
//     node test/service/faults/failover/checkLedger.mjs < settings.json
//
// The settings are `ledger` (a file), `databases` (URLs of all nodes), `leader` (URL), `bizID`, `rpcUrl`, `contract`
// and `files` (a folder). The ledger has one line of JSON per call, fault and change of leader. One JSON object is
// printed.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

/** Time limit in ms for publishing the remaining keys. A killed publisher's lease lasts 30 s. */
const PUBLISH_TIMEOUT_MS = 540_000;
/** Time limit in ms for the service's first response after a new leader is available. */
const RECOVERY_MS = 5_000;
/** Keccak-256 of `MerkleTreeRootAdded(bytes32,uint256)`, and the selector of `getMerkleTreeRoot(bytes20)`. */
const ROOT_ADDED = "0x1ca258c516ef74770ba0f430be77a01c2ca834514f9313e57774d316b5091368";
const GET_ROOT = "0xee94c797";
const ALPHABET = "ybndrfg8ejkmcpqxot1uwisza345h769";
const TABLES = ["user_ids", "users", "user_tokens", "public_keys", "batches", "events", "audit_entries"];

const settings = await json(process.stdin);
const findings = [];
const lines = readFileSync(settings.ledger, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const calls = lines.filter(({ type }) => type === "call");
const isAcknowledged = ({ status }) => status !== null && status >= 200 && status < 300;

/** Checks that callers received only acknowledgements, 503 with Retry-After, and broken connections. */
function checkCalls() {
  let [refused, broken] = [0, 0];
  for (const { path, status, retryAfter, answer } of calls) {
    if (status === null) broken++;
    else if (status === 503 && /^[1-9]\d*$/.test(retryAfter ?? "")) refused++;
    else if (status < 200 || status > 299)
      findings.push(`${path}: status ${status}, Retry-After ${retryAfter}, ${JSON.stringify(answer)}`);
  }
  return { refused, broken };
}

/** Returns the acknowledged data by user. Two different acknowledgements for one user are a finding. */
function readAcknowledged() {
  const users = new Map();
  const tokens = new Map();
  const keys = new Map();
  const add = (map, key, value, what) => {
    const text = JSON.stringify(value);
    if (!map.has(key)) map.set(key, text);
    else if (map.get(key) !== text) findings.push(`${what} ${key} was acknowledged twice: ${map.get(key)} and ${text}`);
  };
  const addUser = (hex, { user_id, bucket, region, salt, created }) => {
    add(users, zBase32(hex), { user_id, bucket, region, salt, created }, "user");
  };
  const addToken = (hex, token) => {
    add(tokens, createHash("sha256").update(token).digest("hex"), zBase32(hex), "token");
  };
  for (const { path, body, accessToken, answer } of calls.filter(isAcknowledged)) {
    if (path.endsWith("/users/create")) {
      addUser(body.user_id_hex, answer);
    } else if (path.endsWith("/users/createRefreshToken")) {
      addToken(body.user_id_hex, answer.token);
    } else if (path.endsWith("/users/createMany")) {
      for (const [i, { user_id_hex }] of body.users.entries()) {
        addUser(user_id_hex, answer.users[i]);
        addToken(user_id_hex, answer.users[i].token);
      }
    } else if (path.endsWith("/publicKey/register")) {
      const { public_key: pubKey, key_id: keyID } = answer;
      const userID = JSON.parse(Buffer.from(accessToken.split(".")[1], "base64url")).sub;
      if (pubKey !== body.public_key || keyID !== body.key_id)
        findings.push(`key of ${userID}: another key was acknowledged`);
      add(keys, userID, { userID, pubKey, keyID }, "key");
    }
  }
  return { users, tokens, keys };
}

/** Checks that everything that was acknowledged is stored exactly once. */
async function checkDatabase(client, { users, tokens, keys }) {
  const rowsOf = async (text, key) => new Map((await client.query(text)).rows.map((row) => [row[key], row]));
  const owners = await rowsOf("SELECT user_id, biz_id, region FROM user_ids", "user_id");
  const stored = await rowsOf("SELECT user_id, biz_id, bucket, region, salt, created FROM users", "user_id");
  for (const [userID, text] of users) {
    const { biz_id, ...row } = stored.get(userID) ?? {};
    const found = JSON.stringify({ ...row, created: Number(row.created) });
    if (!sameFields(found, text)) findings.push(`user ${userID}: acknowledged ${text}, stored ${found}`);
    if (biz_id !== settings.bizID || owners.get(userID)?.biz_id !== settings.bizID)
      findings.push(`user ${userID}: the id belongs to ${owners.get(userID)?.biz_id}`);
  }
  for (const [userID, { biz_id, region }] of stored) {
    const owner = owners.get(userID);
    if (owner?.biz_id !== biz_id || owner.region !== region) findings.push(`user ${userID} does not own its id`);
  }
  const active = await rowsOf("SELECT token_hash, user_id, revoked FROM user_tokens", "token_hash");
  for (const [hash, text] of tokens) {
    const row = active.get(hash);
    if (row === undefined || row.revoked !== null || JSON.stringify(row.user_id) !== text)
      findings.push(`token of ${text}: stored ${JSON.stringify(row)}`);
  }
  const registered = await rowsOf("SELECT user_id, pub_key, key_id, root FROM public_keys", "user_id");
  for (const [userID, text] of keys) {
    const row = registered.get(userID);
    const found = JSON.stringify({ userID, pubKey: row?.pub_key, keyID: row?.key_id });
    if (found !== text) findings.push(`key of ${userID}: acknowledged ${text}, stored ${found}`);
  }
  return registered;
}

/**
 * Checks that each change has one event in the outbox and each event has a change, and that each event is listed once.
 * @returns the number of events
 */
async function checkEvents(client, { users, keys }) {
  const { rows } = await client.query("SELECT user_id, type, count(*)::int AS events FROM events GROUP BY 1, 2");
  const countOf = new Map(rows.map(({ user_id, type, events }) => [`${type} ${user_id}`, events]));
  const expect = (type, userIDs) => {
    for (const userID of userIDs) {
      const events = countOf.get(`${type} ${userID}`) ?? 0;
      if (events !== 1) findings.push(`${events} events ${type} of ${userID}`);
    }
  };
  expect("user.created", users.keys());
  for (const type of ["refreshToken.created", "key.registered", "key.published"]) expect(type, keys.keys());
  // All events up to the last listed event must have been listed once, in order.
  const listed = calls.filter(({ path, ...call }) => path.endsWith("/events/list") && isAcknowledged(call));
  const ids = listed.flatMap(({ answer }) => answer.events.map(({ id }) => id));
  const last = "SELECT xid, position FROM events WHERE id = ANY($1) ORDER BY xid DESC, position DESC LIMIT 1";
  const stored = await client.query(`SELECT id FROM events WHERE (xid, position) <= (${last})`, [ids]);
  const isListed = new Set(ids);
  if (isListed.size !== ids.length) findings.push(`${ids.length - isListed.size} events were listed twice`);
  const skipped = stored.rows.filter(({ id }) => !isListed.has(id)).length;
  if (skipped > 0) findings.push(`${skipped} events were skipped by events/list`);
  const orphans = await client.query(
    "SELECT user_id, type FROM events e WHERE user_id NOT IN (SELECT user_id FROM users)",
  );
  for (const { user_id, type } of orphans.rows) findings.push(`event ${type} of ${user_id}, who does not exist`);
  return isListed.size;
}

/** Checks that every registered key has one root, which was added once for all users of its file. */
async function checkChain(registered) {
  const logs = await rpc("eth_getLogs", [
    { address: settings.contract, topics: [ROOT_ADDED], fromBlock: "0x0", toBlock: "latest" },
  ]);
  const userOf = new Map();
  const added = new Set();
  for (const { topics, data } of logs) {
    const root = topics[1].slice(2);
    if (added.has(root)) findings.push(`root ${root} was added twice`);
    added.add(root);
    let values;
    try {
      values = JSON.parse(readFileSync(join(settings.files, `${root}.json`), "utf8")).values;
    } catch {
      findings.push(`root ${root} has no file`);
      continue;
    }
    if (rootOf(values) !== root) findings.push(`root ${root}: its file has another root`);
    if (values.length !== Number(data))
      findings.push(`root ${root}: ${values.length} users, added for ${Number(data)}`);
    for (const value of values) {
      const { userID, pubKey, keyID } = JSON.parse(value);
      if (userOf.has(userID)) findings.push(`key of ${userID} was published twice: ${userOf.get(userID)} and ${root}`);
      userOf.set(userID, root);
      const row = registered.get(userID);
      if (row?.pub_key !== pubKey || row.key_id !== keyID) findings.push(`key of ${userID}: another key was published`);
    }
  }
  for (const [userID, { root }] of registered) {
    const data = `${GET_ROOT}${hexOf(userID)}${"0".repeat(24)}`;
    const onChain = (await rpc("eth_call", [{ to: settings.contract, data }, "latest"])).slice(2);
    if (onChain !== root || userOf.get(userID) !== root)
      findings.push(`key of ${userID}: root ${onChain} on the chain, ${root} stored, in file ${userOf.get(userID)}`);
  }
  return logs.length;
}

/** Waits until every key is published. */
async function untilPublished(client) {
  const text = `SELECT count(*)::int AS keys FROM public_keys LEFT JOIN batches USING (root) WHERE block_number IS NULL`;
  for (const started = Date.now(); ; await sleep(500)) {
    const { keys } = (await client.query(text)).rows[0];
    if (keys === 0) return;
    if (Date.now() - started < PUBLISH_TIMEOUT_MS) continue;
    findings.push(`${keys} keys are still unpublished`);
    return;
  }
}

/** Checks that all nodes have the same rows. */
async function checkNodes() {
  let digests = [];
  for (let i = 0; i < 60; i++, await sleep(500)) {
    digests = await Promise.all(settings.databases.map(digestOf));
    if (new Set(digests).size === 1) return;
  }
  findings.push(`the nodes differ: ${digests.join(", ")}`);
}

async function digestOf(connectionString) {
  return withClient(connectionString, async (client) => {
    const digests = [];
    for (const table of TABLES) {
      const text = `SELECT count(*) || ':' || coalesce(md5(string_agg(md5(t::text), '' ORDER BY md5(t::text))), '') AS digest FROM ${table} t`;
      digests.push((await client.query(text)).rows[0].digest);
    }
    return digests.join(" ");
  });
}

/**
 * Returns the longest time without an acknowledgement after each fault. For a new leader, it also returns the time from
 * Patroni's report to the first acknowledgement.
 */
function measureOutages() {
  const faults = lines.filter(({ type }) => type === "fault");
  const acknowledged = calls
    .filter(isAcknowledged)
    .map(({ ended }) => ended)
    .sort((a, b) => a - b);
  return faults.map(({ fault, at }, i) => {
    const end = faults[i + 1]?.at ?? Infinity;
    // The outage begins at the last acknowledgement before the fault and ends at the first one after it.
    const first = Math.max(
      0,
      acknowledged.findLastIndex((time) => time <= at),
    );
    const last = acknowledged.findIndex((time) => time > end);
    const times = acknowledged.slice(first, last === -1 ? undefined : last + 1);
    const outageMs = Math.max(0, ...times.slice(1).map((time, j) => time - times[j]));
    const leaders = lines.filter((line) => line.type === "leader" && line.leads && line.at > at && line.at <= end);
    const waits = leaders.map((leader) => (acknowledged.find((time) => time > leader.at) ?? Infinity) - leader.at);
    const afterLeaderMs = waits.length === 0 ? null : Math.max(...waits);
    if (afterLeaderMs > RECOVERY_MS)
      findings.push(`${fault}: no response within ${RECOVERY_MS / 1000} s of the new leader (${afterLeaderMs} ms)`);
    return { fault, outageMs, afterLeaderMs };
  });
}

function rootOf(values) {
  const hash = (text) => createHash("sha256").update(text).digest("hex");
  let level = values.map(hash);
  while (level.length > 1)
    level = Array.from({ length: Math.ceil(level.length / 2) }, (_, i) =>
      hash(level[2 * i] + (level[2 * i + 1] ?? level[2 * i])),
    );
  return level[0];
}

function zBase32(hex) {
  const bits = BigInt(`0x${hex}`);
  return Array.from({ length: 32 }, (_, i) => ALPHABET[Number((bits >> BigInt(155 - 5 * i)) & 31n)]).join("");
}

function hexOf(userID) {
  const bits = [...userID].reduce((sum, letter) => (sum << 5n) | BigInt(ALPHABET.indexOf(letter)), 0n);
  return bits.toString(16).padStart(40, "0");
}

function sameFields(a, b) {
  const sorted = (text) => JSON.stringify(Object.entries(JSON.parse(text)).sort());
  return sorted(a) === sorted(b);
}

async function rpc(method, params) {
  const response = await fetch(settings.rpcUrl, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = await response.json();
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}

async function withClient(connectionString, work) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const { refused, broken } = checkCalls();
const acknowledged = readAcknowledged();
const [events, roots] = await withClient(settings.leader, async (client) => {
  await untilPublished(client);
  return [await checkEvents(client, acknowledged), await checkChain(await checkDatabase(client, acknowledged))];
});
await checkNodes();
const outages = measureOutages();
for (const userID of acknowledged.keys.keys())
  if (!acknowledged.users.has(userID)) findings.push(`user ${userID} registered a key and was not created`);
const slowestMs = Math.max(0, ...calls.map(({ sent, ended }) => ended - sent));
const { users, tokens, keys } = acknowledged;
const counts = {
  calls: calls.filter(isAcknowledged).length,
  users: users.size,
  tokens: tokens.size,
  keys: keys.size,
  events,
};
process.stdout.write(JSON.stringify({ findings, acknowledged: counts, refused, broken, slowestMs, roots, outages }));
