/** Uses the declarations of `@keyroot/client/operator` as a strict program would. It is compiled, never run. */
import { AdminClient, type AuditEntry, type CreatedPartner, type PartnerSummary } from "@keyroot/client/operator";

/** Fails to compile for `any`, which a missing declaration becomes. */
type Typed<T> = 0 extends 1 & T ? never : T;

const admin = new AdminClient({ serviceUrl: "", adminToken: "" });
export const created: Promise<Typed<CreatedPartner>> = admin.createPartner("");
export const users: Promise<Typed<PartnerSummary["users"]>> = admin.getPartner("").then(({ users }) => users);
export const entries: AsyncIterable<Typed<AuditEntry>> = admin.listAuditLog();
// @ts-expect-error -- a name is text
export const name: Promise<{ name: number }> = admin.createPartner("");
