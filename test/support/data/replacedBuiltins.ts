/* oxlint-disable no-console, typescript/no-non-null-assertion, typescript/no-confusing-void-expression, typescript/prefer-for-of -- it prints its results, and uses no iterator where built-ins are replaced */
import type { KeyRecord } from "keyroot";

/** The script to run. */
export const SCRIPT = import.meta.filename;

/** The preparation before the functions run. */
export type Preparation = "none" | "merkle-tree-gen before" | "merkle-tree-gen after" | "frozen";

/** Replacements of a method. Each returns a different value than the method. */
type Original = (...args: unknown[]) => unknown;

const REPLACEMENTS: Record<string, (original: Original) => (this: unknown) => unknown> = {
  undefined: () => () => undefined,
  "[]": () => () => [],
  "0": () => () => 0,
  true: () => () => true,
  this: () =>
    function () {
      return this;
    },
  "without the last element": (original) =>
    function (...args: unknown[]) {
      const result = original.apply(this, args);
      if (Array.isArray(result)) result.length = Math.max(0, result.length - 1);
      return typeof result === "number" ? result - 1 : typeof result === "boolean" ? !result : result;
    },
};

type Call = () => unknown;

/** Calls of public functions, by name. Each returns the same value each time, or throws. */
async function makeCalls(): Promise<Record<string, Call>> {
  const keyroot = {
    ...(await import("keyroot")),
    ...(await import("keyroot/merkle")),
    ...(await import("keyroot/records")),
  };
  const auditors = await import("keyroot/auditors");
  const { makeBundle, parseBundle, verifyBundle } = await import("keyroot/bundle");
  const identity = await import("keyroot/internal/identity");
  const { parseJson } = await import("keyroot/internal/input");
  const { PartnerClient } = await import("@keyroot/client/partner");
  const registry = await import("keyroot/internal/registry");
  const safety = await import("keyroot/safety-code");
  const { UserClient } = await import("@keyroot/client/user");
  const { ANY_KEY } = keyroot;
  const input = JSON.parse(process.argv[3] ?? "") as {
    records: [KeyRecord, KeyRecord, KeyRecord];
    wrong: KeyRecord;
    file: string;
    forged: string;
    root: string;
    bundle: object;
    pinned: string;
    query: { userID: string; chainId: number; contract: string };
    answers: Record<string, string>;
    options: { chainId: number; contract: string };
    serviceAnswer: Record<string, unknown>;
    /** The public key of the private key 1, in base64. */
    basePoint: string;
    audited: {
      statement: string;
      keys: string[];
      place: { chainId: number; contract: string };
      time: number;
    };
  };
  const { records, wrong, file, forged, root, bundle, pinned, query } = input;
  const { answers, options, serviceAnswer, audited } = input;
  const [first, second] = records;
  const bytes = new TextEncoder().encode(file);
  const key = Uint8Array.from(atob(first.pubKey), (c) => c.charCodeAt(0));
  const otherKey = Uint8Array.from(atob(second.pubKey), (c) => c.charCodeAt(0));
  const parsed = keyroot.parseMerkleFile(bytes, root);
  const proof = keyroot.makeMerkleProof(parsed, first.userID);
  const swapped = { ...proof, value: JSON.stringify(wrong) };
  const provider = {
    request: ({ method, params }: { method: string; params?: readonly unknown[] }) => {
      const data = JSON.stringify(params ?? "");
      const name =
        method === "eth_call"
          ? data.includes("ee94c797")
            ? "root"
            : "blockNumber"
          : method === "eth_chainId"
            ? "chainId"
            : "code";
      return Promise.resolve((JSON.parse(answers[name] ?? "") as { result: unknown }).result);
    },
  };
  const place = (text: string) => ({
    ...options,
    rpc: provider,
    merkleUrl: "https://files.example",
    trust: keyroot.oneEndpoint(),
    fetch: () => Promise.resolve(new Response(text)),
  });
  const verifier = (text: string, cache?: Map<string, string>) => keyroot.createVerifier({ ...place(text), cache });
  const contacts = [
    { userID: first.userID, expectedPublicKey: first.pubKey },
    { userID: second.userID, expectedPublicKey: ANY_KEY },
  ];
  const holders = [
    { userID: first.userID, publicKey: key },
    { userID: second.userID, publicKey: otherKey },
  ] as const;
  const jwt = `e30.${btoa('{"iat":1,"exp":2}').replaceAll("=", "")}.c2ln`;
  const service = {
    ...{ serviceUrl: "https://keys.example", bizID: "biz_1", retries: 0 },
    fetch: ((url: string) =>
      Promise.resolve(
        new Response(JSON.stringify(url.endsWith("/auth/jwt") ? { jwt } : serviceAnswer)),
      )) as typeof fetch,
  };
  const user = () => new UserClient({ ...service, refreshToken: "kru_x" });
  const partner = () => new PartnerClient({ ...service, serverToken: "krs_x" });
  const { user_id: userID } = serviceAnswer as { user_id: string };
  const statement = new TextEncoder().encode(audited.statement);
  return {
    makeKeyRecord: () => keyroot.makeKeyRecord(first.userID, key),
    parseKeyRecord: () => keyroot.parseKeyRecord(` ${JSON.stringify(first)}`),
    "parseKeyRecord of a duplicate key": () =>
      keyroot.parseKeyRecord(JSON.stringify(first).replace("{", '{"keyID":"",')),
    "parseKeyRecord of another key": () => keyroot.parseKeyRecord(JSON.stringify({ ...first, more: "" })),
    serializeKeyRecord: () => keyroot.serializeKeyRecord(first),
    checkKeyRecord: () => keyroot.checkKeyRecord(first),
    "checkKeyRecord of another id": () => keyroot.checkKeyRecord(wrong),
    checkPublicKey: () => keyroot.checkPublicKey(key),
    "checkPublicKey off the curve": () => keyroot.checkPublicKey(key.with(104, (key[104] ?? 0) ^ 1)),
    checkNewPublicKey: () => identity.checkNewPublicKey(key),
    keyIDOf: () => keyroot.keyIDOf(key),
    deriveUserID: () => keyroot.deriveUserID(new Uint8Array(32).fill(7), "ada@example"),
    isUserID: () => `${keyroot.isUserID(first.userID)} ${keyroot.isUserID("x")}`,
    userIDFromHex: () => keyroot.userIDFromHex("ab".repeat(20)),
    userIDFromBytes: () => keyroot.userIDFromBytes(key.slice(0, 20)),
    userIDToHex: () => keyroot.userIDToHex(first.userID),
    userIDToBytes: () => keyroot.userIDToBytes(first.userID),
    randomUserID: () => keyroot.randomUserID().length,
    packUserIDs: () => identity.packUserIDs([first.userID, second.userID]),
    makeMerkleFile: () => keyroot.makeMerkleFile(records).tree.root,
    serializeMerkleFile: () => [...keyroot.serializeMerkleFile(parsed)].join(""),
    parseMerkleFile: () => keyroot.parseMerkleFile(bytes, root),
    "parseMerkleFile with spaces": () => keyroot.parseMerkleFile(new TextEncoder().encode(`${file} `), root),
    "parseMerkleFile of a changed file": () => keyroot.parseMerkleFile(new TextEncoder().encode(forged), root),
    MerkleTree: () => new keyroot.MerkleTree(["a", "b", "c"]).root,
    "MerkleTree.hashes": () => new keyroot.MerkleTree(["a", "b", "c"]).hashes(1),
    makeMerkleProof: () => keyroot.makeMerkleProof(parsed, first.userID),
    parseMerkleProof: () => keyroot.parseMerkleProof(proof),
    verifyMerkleProof: () => keyroot.verifyMerkleProof(proof, { userID: first.userID, root, expectedPublicKey: key }),
    "verifyMerkleProof of a changed record": () =>
      keyroot.verifyMerkleProof(swapped, { userID: first.userID, root, expectedPublicKey: ANY_KEY }),
    "Verifier.verify": () => verifier(file).verify(first.userID, { expectedPublicKey: first.pubKey }),
    "Verifier.verify of another key": () => verifier(file).verify(first.userID, { expectedPublicKey: second.pubKey }),
    "Verifier.verify with a changed file": () => verifier(forged).verify(first.userID, { expectedPublicKey: ANY_KEY }),
    "Verifier.verifyMany": () => verifier(file).verifyMany(contacts),
    "Verifier.verifyMany with a cache": () => verifier(file, new Map()).verifyMany(contacts),
    "Verifier.verifyMany with a changed file": () => verifier(forged).verifyMany(contacts),
    parseBundle: () => parseBundle(bundle),
    verifyBundle: () =>
      verifyBundle(bundle, { ...query, expectedPublicKey: ANY_KEY, trust: keyroot.pinnedBlock(pinned) }),
    "verifyBundle of another block": () =>
      verifyBundle(bundle, {
        ...{ ...query, expectedPublicKey: ANY_KEY, trust: keyroot.pinnedBlock(pinned.replace(/..$/, "00")) },
      }),
    makeBundle: () => makeBundle(first.userID, { ...place(file), limits: { timeoutMs: 500 } }),
    makeSafetyCode: () => safety.makeSafetyCode(...holders),
    verifySafetyPayload: () =>
      safety.verifySafetyPayload(safety.makeSafetyCode(holders[1], holders[0]).payload, ...holders),
    "UserClient.record": () => user().record(),
    "UserClient.unverifiedPublicKeyOf": () => user().unverifiedPublicKeyOf(userID),
    "PartnerClient.getUser": () => partner().getUser(userID),
    "PartnerClient.listEvents": () => partner().listEvents(),
    "PartnerClient.publicKeyOf": () => partner().publicKeyOf(userID),
    "PartnerClient.createUsers": () => partner().createUsers([{ userID, region: "us-west-2" }]),
    encodeAddMerkleTreeRoot: () => registry.encodeAddMerkleTreeRoot(root, [first.userID, second.userID]),
    slotOfUser: () => registry.slotOfUser(first.userID, 2),
    readMerkleTreeRoots: () =>
      registry.readMerkleTreeRoots(() => Promise.resolve(`0x0002${root}`), options.contract, [
        first.userID,
        second.userID,
      ]),
    verifyStatement: () =>
      auditors.verifyStatement(statement, audited.place, { keys: audited.keys, threshold: 2 }, audited.time * 1000),
    parseJson: () => parseJson('{"a":[1,{"b":"c"}]}', 3),
    "parseJson of a duplicate key": () => parseJson('{"a":1,"a":2}', 3),
  };
}

/** The pristine functions that compare results. */
const { stringify } = JSON;
const { isArray } = Array;

async function resultOf(call: Call): Promise<string> {
  let value: unknown;
  try {
    value = await call();
  } catch {
    return "error";
  }
  return describe(value);
}

/** Converts a value with all its contents to text. It uses no method of Array. */
function describe(value: unknown): string {
  if (value instanceof Error) return "error";
  if (value instanceof Map || value instanceof Set) {
    let text = value.constructor.name;
    value.forEach((item: unknown, key: unknown) => (text += `(${describe(key)}:${describe(item)})`));
    return text;
  }
  if (value instanceof Uint8Array) {
    let text = "bytes";
    for (let i = 0; i < value.length; i++) text += `,${value[i]}`;
    return text;
  }
  if (typeof value !== "object" || value === null) return typeof value === "bigint" ? `${value}n` : stringify(value);
  let text = isArray(value) ? `[${value.length}` : "{";
  for (const key in value) text += `${key}:${describe((value as Record<string, unknown>)[key])};`;
  return text;
}

async function loadMerkleTreeGen(): Promise<void> {
  const { makeMerkle } = await import("./merkleTreeGen.ts");
  makeMerkle(["a"]);
}

function freezeAll(): void {
  for (const name of Reflect.ownKeys(globalThis)) {
    const value = Object.getOwnPropertyDescriptor(globalThis, name)?.value as unknown;
    if (typeof value !== "function") continue;
    if (/^[A-Z]/.test(String(name)) && "prototype" in value && value.prototype) Object.freeze(value.prototype);
    if (/^(?:Array|Object|String|Map|Set|Promise|Error|TypeError|RegExp|Uint8Array)$/.test(String(name)))
      Object.freeze(value);
  }
}

interface Method {
  name: string;
  owner: object;
  key: PropertyKey;
  descriptor: Omit<PropertyDescriptor, "value"> & { value: (...args: unknown[]) => unknown };
}

/** The methods of arrays that programs can replace. */
function arrayMethods(): Method[] {
  const owners: [string, object][] = [
    ["Array", Array],
    ["Array.prototype", Array.prototype],
  ];
  return owners.flatMap(([ownerName, owner]) =>
    Reflect.ownKeys(owner).flatMap((key) => {
      const descriptor = Object.getOwnPropertyDescriptor(owner, key) as Method["descriptor"];
      if (typeof descriptor.value !== "function" || key === "constructor" || !descriptor.configurable) return [];
      return [{ name: `${ownerName}.${String(key)}`, owner, key, descriptor }];
    }),
  );
}

/** Returns the methods that a call reads. */
async function methodsRead(call: Call, methods: readonly Method[]): Promise<Set<Method>> {
  const read = new Set<Method>();
  for (const method of methods) {
    const get = () => {
      read.add(method);
      return method.descriptor.value as unknown;
    };
    Object.defineProperty(method.owner, method.key, { get, set: () => undefined, configurable: true });
  }
  await resultOf(call);
  for (const { owner, key, descriptor } of methods) Object.defineProperty(owner, key, descriptor);
  return read;
}

if (import.meta.main) {
  const preparation = process.argv[2] as Preparation;
  // A replaced method may leave a promise behind that nothing waits for.
  process.on("unhandledRejection", () => undefined);
  if (preparation === "merkle-tree-gen before") await loadMerkleTreeGen();
  const calls = await makeCalls();
  if (preparation === "merkle-tree-gen after") await loadMerkleTreeGen();
  if (preparation === "frozen") freezeAll();
  const results: Record<string, string> = {};
  for (const name in calls) results[name] = await resultOf(calls[name]!);
  const wrong: string[] = [];
  let [count, run] = [0, 0];
  if (preparation === "none") {
    const methods = arrayMethods();
    for (const name in calls) {
      // Other functions do not check the methods: a program checks them once, when it creates a verifier.
      if (!/^(?:Verifier|verifyBundle|makeBundle|verifyStatement)/.test(name)) continue;
      const read = await methodsRead(calls[name]!, methods);
      for (const method of methods) {
        for (const kind in REPLACEMENTS) {
          count++;
          // A call that does not read a method returns the same result if the method is replaced.
          if (!read.has(method)) continue;
          run++;
          const { owner, key, descriptor } = method;
          Object.defineProperty(owner, key, {
            ...descriptor,
            value: REPLACEMENTS[kind]?.(descriptor.value),
          });
          const result = await resultOf(calls[name]!);
          Object.defineProperty(owner, key, descriptor);
          if (result !== "error" && result !== results[name]) wrong.push(`${name}, ${method.name}: ${kind}`);
        }
      }
    }
  }
  console.log(JSON.stringify({ results, wrong, count, run }));
}
