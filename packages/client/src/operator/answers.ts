import {
  count,
  list,
  merkleRoot,
  nullable,
  object,
  oneOf,
  secret,
  SERVER_TOKEN_FIELDS,
  serverToken,
  text,
  transactionHash,
  uuid,
} from "../shared/answers.ts";
import {
  type CreatedPartner,
  type CreatedServerToken,
  type PartnerSummary,
  type PublishedBatch,
  type RevokedServerToken,
  type StaffInvitation,
} from "../shared/operations.ts";
import { page } from "../shared/pages.ts";

const bizID = text(/^[\x21-\x7e]{1,64}$/);

const PARTNER_FIELDS = { biz_id: bizID, name: text(), created: count };
export const createdPartner = object<CreatedPartner>(PARTNER_FIELDS);
export const partnerSummary = object<PartnerSummary>({
  ...{ ...PARTNER_FIELDS, suspended: nullable(count), user_limit: nullable(count), users: count },
  ...{ pending_keys: count, published_keys: count, server_tokens: count },
});
export const partnerPage = page("partners", partnerSummary, bizID);

export const createdServerToken = object<CreatedServerToken>({
  ...{ token_id: uuid, token: secret(/^krs_[\x21-\x7e]{1,495}$/), name: nullable(text()), created: count },
});
export const serverTokenPage = page("tokens", serverToken);
export const revokedServerToken = object<RevokedServerToken>({ biz_id: bizID, ...SERVER_TOKEN_FIELDS });

export const invitation = object<StaffInvitation>({
  ...{ person_id: uuid, name: text(), role: oneOf("administrator", "reader") },
  ...{ url: secret(/^https?:\/\/[\x21-\x7e]{1,2000}$/), expires: count },
});

/** The response of an operation that returns no data. */
export const nothing = object<Record<string, never>>({});

export const publishedBatches = object<{ batches: PublishedBatch[] }>({
  // The limit is higher than the number of batches in any real response.
  batches: list(
    object<PublishedBatch>({ root: merkleRoot, users: count, transaction: transactionHash, block: count }),
    2 ** 16,
  ),
});
