import { randomUserID } from "keyroot/records";
import { PartnerClient } from "@keyroot/client/partner";
const partner = new PartnerClient({ serviceUrl: "https://keys.example", bizID: "biz", serverToken: "token" });
const userID = randomUserID();
await partner.createUser(userID, "us-west-2");
const token = await partner.createUserRefreshToken(userID, "A phone");
token.trim();
