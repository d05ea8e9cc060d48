/**
 * The server for comparison in `npm run bench -- service`: oidc-provider in a separate process, as an authorization
 * server for one confidential client. It creates refresh tokens and starts to listen. Then it sends the parent process
 * its URL and the request bodies that exchange the tokens.
 */
import { exportJWK, generateKeyPair } from "jose";
import { randomBytes } from "node:crypto";
import Provider, { type ClientMetadata, type Configuration, type ResourceServer } from "oidc-provider";
import { Pool } from "pg";
import pMap from "p-map";
import { firstRequest } from "../../test/support/processes/childProcess.ts";
import { serve } from "../../test/support/servers/servers.ts";
import { createTable, PostgresAdapter } from "./oidcAdapter.ts";

const FOUR_HOURS = 4 * 60 * 60;
const YEAR = 365 * 24 * 60 * 60;
const SCOPE = "api";

/**
 * The two formats of access tokens. A JWT is signed and not stored, whereas an opaque token is a row in the database.
 */
const RESOURCES = {
  jwt: "https://keyroot.example/jwt",
  opaque: "https://keyroot.example/opaque",
} as const;

/** The first message that the parent process sends to this process. */
export interface OidcRequest {
  databaseUrl: string;
  connections: number;
  /** The number of refresh tokens for each format of access tokens. */
  tokens: number;
}

/** The response to the first message of the parent process. */
export interface StartedOidcProvider {
  origin: string;
  /** The request bodies of refresh grants, by the format of the access token. */
  forms: Record<keyof typeof RESOURCES, string[]>;
}

const request = await firstRequest<OidcRequest>();
const pool = new Pool({ connectionString: request.databaseUrl, max: request.connections });
await createTable(pool);

const client = {
  client_id: "partner",
  client_secret: randomBytes(32).toString("base64url"),
  grant_types: ["authorization_code", "refresh_token"],
  redirect_uris: ["https://keyroot.example/callback"],
  // By default, oidc-provider does not rotate the refresh tokens of confidential clients.
  token_endpoint_auth_method: "client_secret_post",
} satisfies ClientMetadata;

const { url: origin } = await serve((incoming, response) => void handle(incoming, response));

const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
const configuration: Configuration = {
  adapter: (model) => new PostgresAdapter(model, pool),
  clients: [client],
  clientDefaults: { id_token_signed_response_alg: "EdDSA" },
  jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: "EdDSA", use: "sig", kid: "key" }] },
  cookies: { keys: [randomBytes(32).toString("hex")] },
  findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  features: {
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_ctx, resource): ResourceServer => ({
        scope: SCOPE,
        accessTokenTTL: FOUR_HOURS,
        ...(resource === RESOURCES.jwt
          ? { accessTokenFormat: "jwt", jwt: { sign: { alg: "EdDSA" } } }
          : { accessTokenFormat: "opaque" }),
      }),
    },
  },
  ttl: { AccessToken: FOUR_HOURS, Grant: YEAR, RefreshToken: YEAR },
};
const provider = new Provider(origin, configuration);
const handle = provider.callback();

const registered = await provider.Client.find(client.client_id);
if (registered === undefined) throw new Error("The client is not registered.");
const ready: StartedOidcProvider = {
  origin,
  forms: { jwt: await makeForms("jwt"), opaque: await makeForms("opaque") },
};
process.send?.(ready);

/** Creates refresh tokens, as after a user's consent, and returns the request bodies that exchange the tokens. */
function makeForms(form: keyof typeof RESOURCES): Promise<string[]> {
  const one = async () => {
    const accountId = randomBytes(20).toString("hex");
    const grant = new provider.Grant({ accountId, clientId: client.client_id });
    grant.addResourceScope(RESOURCES[form], SCOPE);
    const grantId = await grant.save();
    const refreshToken = new provider.RefreshToken({
      accountId,
      client: registered,
      grantId,
      gty: "authorization_code",
      resource: RESOURCES[form],
      scope: SCOPE,
    } as never);
    return new URLSearchParams({
      grant_type: "refresh_token",
      client_id: client.client_id,
      client_secret: client.client_secret,
      refresh_token: await refreshToken.save(),
    }).toString();
  };
  return pMap(Array.from({ length: request.tokens }), one, { concurrency: request.connections });
}
