import pMap from "p-map";
import { Caller } from "../../test/support/service/caller.ts";
import { type serviceEnvironment, startServiceProcess } from "../../test/support/service/serviceProcess.ts";
import { RANDOM_USER_ID, type Requests } from "./load.ts";

/** The region of the users in the load. */
export const REGION = "us-west-2";
const CREATED_AT_A_TIME = 32;

export interface Contender {
  origin: string;
  requests: Requests;
  /** Returns the processor time that the server's process has used, in µs. */
  cpu: () => Promise<number>;
}

/** Starts the service, with one partner and with users who have a refresh token each. */
export async function startKeyroot(
  cleanup: AsyncDisposableStack,
  environment: Awaited<ReturnType<typeof serviceEnvironment>>,
  tokens: number,
): Promise<{ exchange: Contender; creation: Contender }> {
  const service = cleanup.use(await startServiceProcess(environment));
  const { origin } = service;
  const cpu = () => service.cpu();
  const caller = new Caller(environment.KEYROOT_ADMIN_TOKEN, origin);
  const partner = await caller.createPartner();
  const exchangeOfOne = async () => {
    const { refreshToken: token } = await caller.createUser(partner, REGION);
    return JSON.stringify({ biz_id: partner.bizID, token });
  };
  const bodies = await pMap(Array.from({ length: tokens }), exchangeOfOne, { concurrency: CREATED_AT_A_TIME });
  const headers = { "content-type": "application/json" };
  const creation = JSON.stringify({ user_id_hex: RANDOM_USER_ID, region: REGION });
  return {
    exchange: { origin, cpu, requests: { path: "/v1/public/auth/jwt", headers, bodies, status: 200 } },
    creation: {
      origin,
      cpu,
      requests: {
        path: "/v1/authdBizSrv/users/create",
        headers: { ...headers, authorization: `Bearer ${partner.jwt}` },
        bodies: [creation],
        status: 201,
      },
    },
  };
}
