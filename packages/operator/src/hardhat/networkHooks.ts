import type { NetworkHooks } from "hardhat/types/hooks";
import type { ChainType, DefaultChainType, NetworkConnection } from "hardhat/types/network";
import type { RpcCall } from "keyroot/internal/transport";
import type { Listening } from "../http/listen.ts";
import { TEST_CHECKPOINT } from "../testing/testCheckpoint.ts";

/** The properties that the plugin adds to a connection. */
export interface KeyrootConnection {
  /**
   * Starts a simulated beacon endpoint for the connection's chain. The endpoint runs until the connection is closed,
   * and further calls return the same one.
   * @returns the option `beacon` for a verifier. The library accepts it only for chain 31337
   */
  simulateBeacon(): Promise<{ urls: string[]; checkpoint: string }>;
}

declare module "hardhat/types/network" {
  // oxlint-disable-next-line typescript/no-redundant-type-constituents -- as Hardhat's own declaration
  interface NetworkConnection<ChainTypeT extends ChainType | string = DefaultChainType> {
    keyroot: KeyrootConnection;
  }
}

const running = new WeakMap<object, Promise<Listening>>();

const hooks: Pick<NetworkHooks, "newConnection" | "closeConnection"> = {
  async newConnection(context, next) {
    const connection = await next(context);
    connection.keyroot = { simulateBeacon: () => startBeacon(connection) };
    return connection;
  },
  async closeConnection(context, connection, next) {
    await (await running.get(connection))?.close();
    await next(context, connection);
  },
};

/** Adds `connection.keyroot` to every connection of a project. */
export default function networkHooks(): Promise<Partial<NetworkHooks>> {
  return Promise.resolve(hooks);
}

async function startBeacon(connection: Pick<NetworkConnection, "provider">) {
  // Load this module on demand, because the module contains the curve BLS12-381.
  const { SimulatedBeacon } = await import("../testing/simulatedBeacon.ts");
  const call: RpcCall = (method, params) => connection.provider.request({ method, params: [...params] });
  const server = running.get(connection) ?? new SimulatedBeacon({ call }).listen();
  running.set(connection, server);
  return { urls: [(await server).url], checkpoint: TEST_CHECKPOINT };
}
