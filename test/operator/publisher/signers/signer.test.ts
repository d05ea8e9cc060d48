import { expect } from "chai";
import { encryptKeystoreJsonSync, keccak256, Transaction, type TransactionLike, Wallet } from "ethers";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { openKeyFile, openSigner, RemoteSigner, signingSender } from "@keyroot/operator/publisher";
import type { Signer, TransactionRequest } from "@keyroot/operator/publisher";
import { ArgumentError, type KeyrootError, TransportError } from "keyroot/internal/errors";
import { encodeAddMerkleTreeRoot, encodeGetMerkleTreeRoot, slotOfUser, USERS_SLOT } from "keyroot/internal/registry";
import { type RpcCall, rpcCaller } from "keyroot/internal/transport";
import { decodeMerkleTreeRoot } from "../../../../packages/keyroot/src/registry/answers.ts";
import { describeOnAnvil, startAnvil } from "../../../support/anvil/anvil.ts";
import { sampleUserID } from "../../../support/samples.ts";
import { serve } from "../../../support/servers/servers.ts";
import { failure, temporaryFolder } from "../../../support/support.ts";
import { freshRegistry } from "../../../support/chain/freshRegistry.ts";
import { OWNER_KEY } from "../../../support/chain/local.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";

const wallet = new Wallet(OWNER_KEY);
const PASSPHRASE = "correct horse battery staple";
/** A key file with the weakest accepted parameters, so that it opens quickly. */
const KEY_FILE = encryptKeystoreJsonSync(wallet, PASSPHRASE, { scrypt: { N: 2 ** 13, r: 8, p: 10 } });
const CONTRACT = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const CHAIN_ID = 31337;
const ROOT = "0123456789abcdef".repeat(4);
const OPTIONS = { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS };

const requestOf = (changes: Partial<TransactionRequest> = {}): TransactionRequest => ({
  from: wallet.address,
  to: CONTRACT,
  data: encodeAddMerkleTreeRoot(ROOT, [sampleUserID(1)]),
  nonce: "0x0",
  gas: "0x30d40",
  maxFeePerGas: "0x2540be400",
  maxPriorityFeePerGas: "0x3b9aca00",
  ...changes,
});

/** One request for each type of transaction. */
const TYPES: [string, TransactionRequest][] = [
  ["EIP-1559 fees", requestOf()],
  ["EIP-1559 fees and an access list", requestOf({ accessList: listOf(1) })],
  ["a gas price", legacy()],
  ["a gas price and an access list", legacy({ accessList: listOf(1) })],
];

function listOf(number: number): { address: string; storageKeys: string[] }[] {
  return [{ address: CONTRACT, storageKeys: [`0x${String(number).padStart(64, "0")}`] }];
}

function legacy(changes: Partial<TransactionRequest> = {}): TransactionRequest {
  return { ...requestOf(changes), maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, gasPrice: "0x2540be400" };
}

let opened: Promise<Signer> | undefined;

/**
 * Opens a copy of the key file at the first call, which takes a third of a second. Later calls return the same signer.
 */
function openOnce(path: string): Promise<Signer> {
  return (opened ??= openKeyFile(path, { passphrase: PASSPHRASE }));
}

/** Returns the error of an operation, and checks that it contains no key, passphrase or URL. */
async function errorOf(work: Promise<unknown>): Promise<KeyrootError> {
  const error = (await failure(work)) as KeyrootError;
  expect(inspect(error, { depth: 10, showHidden: true })).not.to.match(/horse battery|ac0974be|secret-path/);
  return error;
}

describe("openKeyFile", () => {
  const folder = temporaryFolder();
  const write = async (name: string, text: string) => {
    const path = join(folder.path, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };

  /** The sample in the specification. */
  const sample = {
    crypto: {
      cipher: "aes-128-ctr",
      cipherparams: { iv: "6087dab2f9fdbbfaddc31a909735c1e6" },
      ciphertext: "5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46",
      kdf: "pbkdf2",
      kdfparams: {
        c: 262144,
        dklen: 32,
        prf: "hmac-sha256",
        salt: "ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd",
      },
      mac: "517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2",
    },
    id: "3198bc9c-6672-5ab3-d995-4942343ae5b6",
    version: 3,
  };

  it("opens the sample key file of the Web3 specification", async () => {
    const signer = await openKeyFile(await write("key.json", JSON.stringify(sample)), { passphrase: "testpassword" });
    expect(signer.address).to.equal("0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b");
  });

  it("reads the passphrase from a file, with or without a line end", async () => {
    const path = await write("key.json", KEY_FILE);
    for (const end of ["", "\n", "\r\n"]) {
      const signer = await openKeyFile(path, { file: await write("passphrase", PASSPHRASE + end) });
      expect(signer.address).to.equal(wallet.address);
    }
  });

  it("rejects weak scrypt parameters", async () => {
    // The second parameters are Geth's light ones.
    for (const scrypt of [
      { N: 1024 },
      { N: 4096, r: 8, p: 6 },
      { N: 2 ** 13, r: 8, p: 9 },
      { N: 2 ** 12, r: 8, p: 20 },
    ]) {
      const path = await write("weak.json", encryptKeystoreJsonSync(wallet, PASSPHRASE, { scrypt }));
      const error = await errorOf(openKeyFile(path, { passphrase: PASSPHRASE }));
      expect(error).to.have.property("code", "KEY_FILE_INVALID");
      expect(error.message).to.include("weak scrypt parameters");
    }
  });

  it("rejects weak PBKDF2 parameters before it reads the passphrase", async () => {
    const { crypto } = sample;
    for (const c of [262143, 1, 0, undefined, "many"]) {
      const weak = { ...crypto, kdfparams: { ...crypto.kdfparams, c } };
      for (const file of [
        { ...sample, crypto: weak },
        { Version: 3, CRYPTO: { ...weak, KDF: "PBKDF2" } },
      ]) {
        const path = await write("weak.json", JSON.stringify(file));
        const error = await errorOf(openKeyFile(path, { passphrase: "" }));
        expect(error).to.have.property("code", "KEY_FILE_INVALID");
        expect(error.message).to.include("weak PBKDF2 parameters");
      }
    }
  });

  it("rejects presale wallets and unknown key derivations", async () => {
    const presale = { encseed: "00".repeat(64), ethaddr: wallet.address.slice(2), email: "", btcaddr: "" };
    const unknown = { ...sample, crypto: { ...sample.crypto, kdf: "md5" } };
    for (const file of [presale, unknown, {}, null, []]) {
      const path = await write("other.json", JSON.stringify(file));
      const error = await errorOf(openKeyFile(path, { passphrase: PASSPHRASE }));
      expect(error).to.have.property("code", "KEY_FILE_INVALID");
      expect(error.message).to.include("is not an encrypted key file");
    }
  });

  it("rejects files that others can read or write", async function () {
    // Windows has no POSIX modes.
    if (process.platform === "win32") this.skip();
    const key = await write("key.json", KEY_FILE);
    const passphrase = await write("passphrase", PASSPHRASE);
    for (const path of [key, passphrase]) {
      for (const mode of [0o640, 0o604, 0o620, 0o602]) {
        await chmod(path, mode);
        const error = await errorOf(openKeyFile(key, { file: passphrase }));
        expect(error).to.have.property("code", "FILE_PERMISSIONS");
        expect(error.message).to.include(`chmod 600 ${path}`);
      }
      await chmod(path, 0o600);
    }
    await openKeyFile(key, { file: passphrase });
  });

  it("rejects a wrong passphrase and a damaged or missing file", async () => {
    const good = await write("key.json", KEY_FILE);
    const key = JSON.parse(KEY_FILE) as { Crypto: { mac: string } };
    const damaged = JSON.stringify({ ...key, Crypto: { ...key.Crypto, mac: "00".repeat(32) } });
    const cases: [string, string, string][] = [
      [good, `${PASSPHRASE} `, "KEY_FILE_INVALID"],
      [await write("damaged", damaged), PASSPHRASE, "KEY_FILE_INVALID"],
      [await write("empty", ""), PASSPHRASE, "KEY_FILE_INVALID"],
      [await write("plain", OWNER_KEY), PASSPHRASE, "KEY_FILE_INVALID"],
      [await write("large", " ".repeat(2 ** 16 + 1)), PASSPHRASE, "FILE_UNREADABLE"],
      [join(folder.path, "none"), PASSPHRASE, "FILE_UNREADABLE"],
      [folder.path, PASSPHRASE, "FILE_UNREADABLE"],
      [good, "", "PASSPHRASE_MISSING"],
    ];
    for (const [path, passphrase, code] of cases) {
      const error = await errorOf(openKeyFile(path, { passphrase }));
      expect(error).to.be.an.instanceof(ArgumentError).with.property("code", code);
    }
  });

  it("names the passphrase file in the error if the file is empty", async () => {
    const key = await write("key.json", KEY_FILE);
    for (const text of ["", "\n", "\r\n"]) {
      const file = await write("passphrase", text);
      const error = await errorOf(openKeyFile(key, { file }));
      expect(error).to.have.property("code", "PASSPHRASE_MISSING");
      expect(error.message).to.include(file).and.include(key);
    }
  });

  it("does not show the key when the signer is printed", async () => {
    const signer = await openOnce(await write("key.json", KEY_FILE));
    expect(inspect(signer, { depth: 10, showHidden: true }) + JSON.stringify(signer)).not.to.include("ac0974be");
  });

  for (const [type, request] of TYPES) {
    it(`signs a transaction with ${type}, which ethers can parse`, async () => {
      const signer = await openOnce(await write("key.json", KEY_FILE));
      const { raw, hash } = await signer.sign(request, CHAIN_ID);
      expect(await signer.sign(request, CHAIN_ID)).to.deep.equal({ raw, hash });
      expect(hash).to.equal(keccak256(raw));
      const { from, to, data, chainId, gasLimit, value, accessList } = Transaction.from(raw);
      expect({ from, to, data }).to.deep.equal({ from: request.from, to: request.to, data: request.data });
      expect([chainId, gasLimit, value]).to.deep.equal([BigInt(CHAIN_ID), BigInt(request.gas), 0n]);
      expect(accessList ?? []).to.deep.equal(request.accessList ?? []);
    });
  }
});

describe("openSigner", () => {
  const folder = temporaryFolder();

  it("names the variable of a missing file in the error", async () => {
    const key = join(folder.path, "key.json");
    await writeFile(key, KEY_FILE, { mode: 0o600 });
    const missing = join(folder.path, "none");
    const noKey = await errorOf(openSigner({ KEYROOT_KEY_FILE: missing, KEYROOT_PASSPHRASE: PASSPHRASE }));
    const noPassphrase = await errorOf(openSigner({ KEYROOT_KEY_FILE: key, KEYROOT_PASSPHRASE_FILE: missing }));
    expect(noKey.message).to.include(missing).and.include("Check KEYROOT_KEY_FILE.");
    expect(noPassphrase.message).to.include(missing).and.include("Check KEYROOT_PASSPHRASE_FILE.");
  });

  it("opens the signer that the environment variables select", async () => {
    const path = join(folder.path, "key.json");
    await writeFile(path, KEY_FILE, { mode: 0o600 });
    await writeFile(`${path}.pass`, PASSPHRASE, { mode: 0o600 });
    const url = "http://127.0.0.1:1/secret-path";
    for (const environment of [
      { KEYROOT_KEY_FILE: path, KEYROOT_PASSPHRASE_FILE: `${path}.pass` },
      { KEYROOT_KEY_FILE: path, KEYROOT_PASSPHRASE: PASSPHRASE },
      { KEYROOT_SIGNER_URL: url, KEYROOT_SIGNER_ADDRESS: wallet.address.toLowerCase() },
    ]) {
      expect(await openSigner(environment)).to.have.property("address", wallet.address);
    }
    expect(await openSigner({})).to.be.undefined;

    for (const [environment, code] of [
      [{ KEYROOT_KEY_FILE: path }, "PASSPHRASE_MISSING"],
      [{ KEYROOT_KEY_FILE: path, KEYROOT_SIGNER_URL: url }, "ARGUMENT_INVALID"],
      [{ KEYROOT_SIGNER_URL: url }, "ARGUMENT_INVALID"],
      [{ KEYROOT_SIGNER_URL: url, KEYROOT_SIGNER_ADDRESS: "0x12" }, "ARGUMENT_INVALID"],
      [{ KEYROOT_SIGNER_URL: "secret-path", KEYROOT_SIGNER_ADDRESS: wallet.address }, "ARGUMENT_INVALID"],
    ] as const) {
      expect(await errorOf(openSigner(environment))).to.have.property("code", code);
    }
  });

  it("names an empty environment variable in the error", async () => {
    const path = join(folder.path, "key.json");
    await writeFile(path, KEY_FILE, { mode: 0o600 });
    for (const [environment, code, ...names] of [
      [{ KEYROOT_KEY_FILE: "" }, "ARGUMENT_INVALID", "KEYROOT_KEY_FILE"],
      [{ KEYROOT_KEY_FILE: path, KEYROOT_PASSPHRASE_FILE: "" }, "PASSPHRASE_MISSING", "KEYROOT_PASSPHRASE_FILE", path],
      [{ KEYROOT_KEY_FILE: path, KEYROOT_PASSPHRASE: "" }, "PASSPHRASE_MISSING", "KEYROOT_PASSPHRASE", path],
    ] as const) {
      const error = await errorOf(openSigner(environment));
      expect(error).to.have.property("code", code);
      for (const name of names) expect(error.message).to.include(name);
    }
  });
});

describe("RemoteSigner", () => {
  /** A remote signer that changes requests before it signs them. */
  const signing =
    (
      change: (request: TransactionRequest) => Partial<TransactionRequest> = () => ({}),
      { key = OWNER_KEY, chainId = CHAIN_ID, encode = (raw: string): unknown => raw } = {},
    ): RpcCall =>
    async (method, [params]) => {
      expect(method).to.equal("eth_signTransaction");
      const { gas, nonce, ...rest } = { ...(params as TransactionRequest), ...change(params as TransactionRequest) };
      const transaction = { ...rest, gasLimit: gas, nonce: Number(nonce), chainId } as TransactionLike;
      // The sender is not needed, because the key determines it.
      delete transaction.from;
      return encode(await new Wallet(key).signTransaction(transaction));
    };
  const sign = (call: RpcCall, request = requestOf()) => new RemoteSigner(call, wallet.address).sign(request, CHAIN_ID);

  it("accepts the responses of Web3Signer and Clef", async () => {
    const raw = await sign(signing());
    expect(raw).to.deep.equal(await sign(signing(undefined, { encode: (raw) => ({ raw, tx: {} }) })));
    expect(raw.hash).to.equal(keccak256(raw.raw));
  });

  const others: [string, (request: TransactionRequest) => Partial<TransactionRequest> & { value?: string }][] = [
    ["nonce", () => ({ nonce: "0x1" })],
    ["to", () => ({ to: wallet.address })],
    ["data", ({ data }) => ({ data: `${data.slice(0, -1)}1` })],
    ["value", () => ({ value: "0x1" })],
    ["gasLimit", () => ({ gas: "0x30d41" })],
    ["maxFeePerGas", () => ({ maxFeePerGas: "0x2540be401" })],
    ["maxPriorityFeePerGas", () => ({ maxPriorityFeePerGas: "0x3b9aca01" })],
    ["accessList", () => ({ accessList: [] })],
    ["accessList", () => ({ accessList: listOf(2) })],
  ];
  for (const [field, change] of others) {
    it(`rejects a signed transaction with a different ${field}`, async () => {
      const error = await errorOf(sign(signing(change), requestOf({ accessList: listOf(1) })));
      expect(error).to.be.an.instanceof(TransportError).with.property("code", "SIGNER_MISMATCH");
      expect(error.message).to.include(`differs in ${field}.`);
    });
  }

  it("rejects a signed transaction with a different chain, type or key", async () => {
    const cases = [
      [signing(undefined, { chainId: 1 }), "differs in chainId"],
      [
        signing(() => ({ maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, gasPrice: "0x1" })),
        "differs in type",
      ],
      [signing(undefined, { key: `0x${"17".repeat(32)}` }), "signed with the key of"],
    ] as const;
    for (const [call, words] of cases) {
      const error = await errorOf(sign(call));
      expect([error.code, error.message.includes(words)], error.message).to.deep.equal(["SIGNER_MISMATCH", true]);
    }
  });

  it("rejects a response that is not a signed transaction", async () => {
    const unsigned = Transaction.from({ type: 2, chainId: CHAIN_ID, to: CONTRACT }).unsignedSerialized;
    for (const answer of [null, 7, "", "0x", "0x0", "0x12", {}, { raw: 7 }, [], unsigned]) {
      expect(await errorOf(sign(() => Promise.resolve(answer)))).to.have.property("code", "RPC_ANSWER_INVALID");
    }
    for (const encode of [
      (raw: string) => `${raw}00`,
      (raw: string) => raw.slice(0, -2),
      (raw: string) => raw.slice(2),
    ]) {
      expect(await errorOf(sign(signing(undefined, { encode })))).to.have.property("code", "RPC_ANSWER_INVALID");
    }
  });

  it("fails if the signer rejects the request or does not respond", async () => {
    const silent = await serve(() => undefined);
    const refusing = await serve((_, response) =>
      response.end('{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"denied"}}'),
    );
    const errors = await Promise.all(
      [silent, refusing].map(({ url }) =>
        errorOf(
          sign(rpcCaller(`${url}/secret-path`, { ...OPTIONS, timeoutMs: url === silent.url ? 100 : ENDLESS_MS })),
        ),
      ),
    );
    await Promise.all([silent.close(), refusing.close()]);
    expect(errors.map(({ code }) => code)).to.deep.equal(["TIMEOUT", "RPC_ERROR"]);
  });
});

describe("signingSender", () => {
  const folder = temporaryFolder();
  const openFile = async () => {
    const path = join(folder.path, "key.json");
    await writeFile(path, KEY_FILE, { mode: 0o600 });
    return openOnce(path);
  };

  /** Defines the tests for every signer on every chain. */
  function itPublishes(
    begin: () => { signer: Promise<Signer>; call: RpcCall; contract: string; chainId: number },
  ): void {
    for (const accessList of [false, true]) {
      it(`adds a root ${accessList ? "with" : "without"} an access list`, async () => {
        const { signer, call, contract, chainId } = begin();
        const opened = await signer;
        const nonce = (await call("eth_getTransactionCount", [wallet.address, "latest"])) as string;
        const user = sampleUserID(accessList ? 1 : 2);
        const data = encodeAddMerkleTreeRoot(ROOT, [user]);
        const list = accessList ? [{ address: contract, storageKeys: [slotOfUser(user, USERS_SLOT)] }] : undefined;
        const request = requestOf({ to: contract, nonce, data, accessList: list });
        const { hash } = await opened.sign(request, chainId);
        const send = signingSender(opened, { chainId, contract, owner: wallet.address.toLowerCase() }, call);
        expect(await send(request)).to.equal(hash);
        let receipt: unknown = null;
        while (receipt === null) receipt = await call("eth_getTransactionReceipt", [hash]);
        expect(receipt).to.include({ status: "0x1" });
        const root = await call("eth_call", [{ to: contract, data: encodeGetMerkleTreeRoot(user) }, "latest"]);
        expect(decodeMerkleTreeRoot(root)).to.equal(ROOT);
        // Send the same transaction again. The chain must include it only once.
        await send(request).catch((error: unknown) => {
          expect(error).to.be.an.instanceof(TransportError).with.property("code", "RPC_ERROR");
        });
        expect(Number(await call("eth_getTransactionCount", [wallet.address, "latest"]))).to.equal(Number(nonce) + 1);
      });
    }

    it("rejects a registry with a different owner", async () => {
      const { signer, call, contract, chainId } = begin();
      const opened = await signer;
      expect(() => signingSender(opened, { chainId, contract, owner: CONTRACT }, call))
        .to.throw(ArgumentError)
        .with.property("code", "NOT_OWNER");
    });
  }

  describe("with a key file on Hardhat's chain", () => {
    const fresh = freshRegistry();
    itPublishes(() => ({ ...fresh, signer: openFile() }));
  });

  describeOnAnvil("on Anvil's chain", () => {
    const fresh = freshRegistry(startAnvil);

    describe("with a key file", () => {
      itPublishes(() => ({ ...fresh, signer: openFile() }));
    });
    describe("with a remote signer", () => {
      itPublishes(() => ({ ...fresh, signer: Promise.resolve(new RemoteSigner(fresh.call, wallet.address)) }));
    });
  });
});
